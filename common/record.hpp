/// \file
/// The JSON record of a run: all that is needed to repeat it and to judge it. The format is
/// record.schema.json, "measure-first/record/v1". Times are milliseconds, rates GB/s (10^9 bytes).
#pragma once

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device_info.hpp"
#include "json.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "rates.hpp"
#include "verify.hpp"
#include "whole_file.hpp"

/// The revision of the source and the compiler's command line, where a build passes them.
#ifndef MEASURE_FIRST_REVISION
#define MEASURE_FIRST_REVISION "unknown"
#endif
#ifndef MEASURE_FIRST_FLAGS
#define MEASURE_FIRST_FLAGS "unknown"
#endif

namespace mf {

/// The current time in UTC, as ISO 8601 writes it. A date for people; nothing is timed with it.
inline std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

/// The compilers that made this program.
inline Json compiler_description() {
#ifdef __CUDACC_VER_MAJOR__
    const std::string name = "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
                             std::to_string(__CUDACC_VER_MINOR__) + "." +
                             std::to_string(__CUDACC_VER_BUILD__);
#else
    const std::string name = "C++ compiler";
#endif
#if defined(__clang__)
    const std::string host = std::string("clang ") + __clang_version__;
#elif defined(__GNUC__)
    const std::string host = std::string("g++ ") + __VERSION__;
#else
    const std::string host = "unknown";
#endif
    return {{"name", name},
            {"host", host},
            {"flags", MEASURE_FIRST_FLAGS},
            {"device_debug", device_debug_build}};
}

/// The source's revision: of the environment, where ./course runs the program, else of the build.
inline std::string source_revision() {
    const char* const given = std::getenv("MEASURE_FIRST_REVISION");
    return given != nullptr && *given != '\0' ? given : MEASURE_FIRST_REVISION;
}

/// Collects a run. Fill it, then hand it to a RecordFile.
class Record {
public:
    Record(std::string program, int argc, char** argv, const DeviceInfo& device,
           const CommonOptions& options)
        : program_(std::move(program)),
          command_(argv, argv + argc),
          device_(device),
          options_(options) {}

    /// What was computed on, in words ("mixed pixels") and numbers ({"width", 1003}, …).
    void set_input(const std::string& description, const Json& parameters = Json::object()) {
        input_ =
            Json{{"description", description}, {"seed", options_.seed}, {"parameters", parameters}};
    }

    /// The one thing that was changed against the run before, and what is expected next.
    void set_hypothesis(const std::string& change, const std::string& next) {
        change_ = change;
        next_ = next;
    }

    /// `when`: "before timing" or "after timing".
    void add_check(const CheckResult& check, const std::string& when) {
        all_right_ = all_right_ && check.passed;
        checks_.push(Json{{"name", check.name},
                          {"when", when},
                          {"passed", check.passed},
                          {"message", check.message}});
    }
    void add_checks(const std::vector<CheckResult>& checks, const std::string& when) {
        for (const CheckResult& check : checks)
            add_check(check, when);
    }

    /// `label` names the interval as the table does: "kernel ms".
    void add_series(const std::string& label, const Series& series,
                    const std::optional<Rate>& rate = std::nullopt) {
        series_.push(series_json(label, series, rate));
    }
    void add_series(const std::string& label, const std::vector<Series>& all,
                    const std::vector<std::optional<Rate>>& rates = {}) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            add_series(label, all[i], i < rates.size() ? rates[i] : std::nullopt);
        }
    }

    /// `label`: that of the two series.
    void add_comparison(const std::string& label, const Comparison& comparison) {
        comparisons_.push(Json{{"label", label},
                               {"baseline", comparison.baseline},
                               {"variant", comparison.variant},
                               {"order", words(comparison.order)},
                               {"paired", comparison.paired()},
                               {"samples", comparison.samples},
                               {"ratio", comparison.ratio.estimate},
                               {"low", comparison.ratio.low},
                               {"high", comparison.ratio.high},
                               {"confidence", confidence},
                               {"method", "percentile bootstrap of the median"},
                               {"resamples", bootstrap_resamples},
                               {"seed", comparison.seed},
                               {"verdict", words(comparison.verdict)},
                               {"sentence", comparison.sentence()}});
    }

    void set_ceilings(const Ceilings& ceilings) { ceilings_ = ceilings; }

    /// A result that only this program has.
    void add_extra(const std::string& key, Json value) { extra_.set(key, std::move(value)); }

    std::string text() const {
        if (!input_) throw std::logic_error("Record: set_input was not called");
        Json plan{{"repeats", options_.plan.repeats},
                  {"inner", options_.plan.inner > 0 ? Json(options_.plan.inner) : Json("auto")},
                  {"warm_up_ms", options_.plan.warm_up_ms},
                  {"cold", options_.plan.cold},
                  {"order", words(options_.plan.order)}};
        Json ceilings{{"data_sheet_gb_per_s", ceilings_.data_sheet_gb_per_s},
                      {"copy_gb_per_s", ceilings_.copy_gb_per_s}};
        Json overhead = nullptr;
        if (ceilings_.launch_overhead) {
            overhead = Json{{"single_ms", ceilings_.launch_overhead->single_ms},
                            {"batched_ms", ceilings_.launch_overhead->batched_ms}};
        }
        Json record{{"schema", "measure-first/record/v1"},
                    {"program", program_},
                    {"time", utc_now()},
                    {"command", command_},
                    {"revision", source_revision()},
                    {"compiler", compiler_description()},
                    {"tool", known(attached_tool())},
                    {"emulated", device_.emulated},
                    {"device", device_json()},
                    {"input", *input_},
                    {"plan", plan},
                    {"change", change_},
                    {"next_hypothesis", next_},
                    {"correct", all_right_},
                    {"checks", checks_},
                    {"ceilings", ceilings},
                    {"launch_overhead", overhead},
                    {"series", series_},
                    {"comparisons", comparisons_},
                    {"extra", extra_}};
        return record.text() + "\n";
    }

private:
    /// Null for what the device does not tell: it reports it as 0.
    template <typename T>
    static Json known(const T& value) {
        return value > T() ? Json(value) : Json(nullptr);
    }

    Json device_json() const {
        return {{"index", device_.index},
                {"name", device_.name},
                {"compute_capability", device_.compute_capability()},
                {"multiprocessors", device_.multiprocessors},
                {"memory_bytes", device_.memory_bytes},
                {"l2_bytes", known(device_.l2_bytes)},
                {"clock_khz", known(device_.clock_khz)},
                {"memory_clock_khz", known(device_.memory_clock_khz)},
                {"memory_bus_bits", known(device_.memory_bus_bits)},
                {"ecc", device_.ecc},
                {"driver_release", device_.driver_release},
                {"driver_model", device_.driver_model},
                {"driver_version", device_.driver_version},
                {"runtime_version", device_.runtime_version}};
    }

    static Json series_json(const std::string& label, const Series& series,
                            const std::optional<Rate>& rate) {
        const Summary s = series.summary();
        Json clocks = nullptr;
        if (series.clocks) {
            clocks = Json{{"before_mhz", series.clocks->before_mhz},
                          {"after_mhz", series.clocks->after_mhz},
                          {"drift_percent", series.clocks->drift_percent()},
                          {"drifted", series.clocks->drifted()}};
        }
        Json rate_json = nullptr;
        if (rate) {
            rate_json = Json{{"logical_bytes", rate->logical_bytes},
                             {"gb_per_s", rate->gb_per_s},
                             {"percent_of_data_sheet", rate->percent_of_data_sheet},
                             {"percent_of_copy", rate->percent_of_copy},
                             {"note", rate->note()}};
        }
        return {{"label", label},
                {"name", series.name},
                {"boundary", series.boundary},
                {"timer", series.timer},
                {"emulated", series.emulated},
                {"cold", series.cold},
                {"first_ms", series.first_ms},
                {"warm_up_launches", series.warm_up_launches},
                {"warm_up_ms", series.warm_up_ms},
                {"launches_per_sample", series.launches_per_sample},
                {"enqueue_share", series.enqueue_share},
                {"ms", series.ms},
                {"summary", Json{{"n", s.n},
                                 {"min", s.min},
                                 {"median", s.median},
                                 {"p05", s.p05},
                                 {"p95", s.p95},
                                 {"mean", s.mean},
                                 {"cv", s.cv}}},
                {"clocks", clocks},
                {"rate", rate_json}};
    }

    std::string program_;
    std::vector<std::string> command_;
    DeviceInfo device_;
    CommonOptions options_;
    std::optional<Json> input_;
    std::optional<std::string> change_;
    std::optional<std::string> next_;
    bool all_right_ = true;
    Json checks_ = Json::array();
    Ceilings ceilings_;
    Json series_ = Json::array();
    Json comparisons_ = Json::array();
    Json extra_ = Json::object();
};

/// Where the record goes: the file of --json, standard output for "-", nowhere for "". Make it
/// before measuring: a file that cannot be written is then found in time (UsageError).
class RecordFile {
public:
    explicit RecordFile(const std::string& path) : to_stdout_(path == "-") {
        if (!path.empty() && !to_stdout_) file_ = std::make_unique<WholeFile>(path);
    }

    void write(const Record& record) const {
        if (to_stdout_) std::cout << record.text();  // run_program checks that it arrived
        if (file_) file_->write(record.text());
    }

private:
    bool to_stdout_;
    std::unique_ptr<WholeFile> file_;
};

}  // namespace mf
