/// \file
/// What a program prints about its measurements. Pure C++.
#pragma once

#include <iostream>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "compare.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "rates.hpp"
#include "sampling.hpp"
#include "table.hpp"
#include "units.hpp"

namespace mf {

/// Where a program prints: standard output, or standard error when that carries the record.
inline std::ostream& report_stream(const CommonOptions& options) {
    return options.json == "-" ? std::cerr : std::cout;
}

/// Percent, or "unknown".
inline std::string percent_text(const std::optional<double>& percent) {
    return percent ? fixed(*percent, 1) + " %" : "unknown";
}

namespace detail {

inline std::vector<std::string> series_headers(const std::string& label) {
    return {"variant", label, "min", "p05", "p95", "cv", "samples", "launches", "first ms"};
}

inline std::vector<std::string> series_cells(const Series& series) {
    const Summary s = series.summary();
    return {series.name + (series.emulated ? " (emulated)" : ""),
            readable(s.median),
            readable(s.min),
            readable(s.p05),
            readable(s.p95),
            fixed(100 * s.cv, 1) + " %",
            std::to_string(s.n),
            std::to_string(series.launches_per_sample),
            readable(series.first_ms)};
}

}  // namespace detail

/// What must be known beside the times of these series: each sentence once.
inline void print_series_notes(std::ostream& out, const std::vector<Series>& all) {
    std::set<std::string> said;
    const auto say = [&](const std::string& sentence) {
        if (said.insert(sentence).second) out << "  " << sentence << "\n";
    };
    for (const Series& series : all) {
        say("Times: median ms a launch, by " + series.timer + "; \"launches\" a sample; inside: " +
            series.boundary + (series.cold ? "; caches emptied before each sample." : "."));
        if (series.emulated)
            say("EMULATED times: this computer's, not to be held against a GPU's.");
        if (series.launch_bound()) {
            say(series.name +
                ": launch-bound, the host launched no faster than the device worked.");
        }
        if (!series.launch_bound() && series.timer == "CUDA events" &&
            series.sample_ms() < least_sample_ms / 2) {
            say(series.name + ": samples of " + readable(1e3 * series.sample_ms()) +
                " us contain the launch itself, about an empty launch's time.");
        }
        if (series.clocks && !series.emulated) {
            const ClockPair& clocks = *series.clocks;
            say("SM clock " + fixed(clocks.before_mhz, 0) + " MHz before, " +
                fixed(clocks.after_mhz, 0) + " MHz after" +
                (clocks.drifted() ? ": DRIFTED by " + fixed(clocks.drift_percent(), 1) +
                                        " %, above 5 %: repeat the run."
                                  : "."));
        }
    }
    if (const std::string reason = reason_for_no_rates(); !reason.empty()) say(reason);
}

/// Times of series under `label`, for instance "kernel ms".
inline void print_series(std::ostream& out, const std::string& label,
                         const std::vector<Series>& all) {
    Table table(detail::series_headers(label));
    for (const Series& series : all)
        table.add_row(detail::series_cells(series));
    table.print(out);
    print_series_notes(out, all);
}

/// Times and rates; `rates[i]` belongs to `all[i]`.
inline void print_series(std::ostream& out, const std::string& label,
                         const std::vector<Series>& all,
                         const std::vector<std::optional<Rate>>& rates) {
    if (!reason_for_no_rates().empty()) return print_series(out, label, all);
    auto headers = detail::series_headers(label);
    for (const char* const header : {"GB/s", "of data sheet", "of copy"})
        headers.push_back(header);
    Table table(headers);
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto cells = detail::series_cells(all[i]);
        if (i < rates.size() && rates[i]) {
            cells.push_back(readable(rates[i]->gb_per_s));
            cells.push_back(percent_text(rates[i]->percent_of_data_sheet));
            cells.push_back(percent_text(rates[i]->percent_of_copy));
        }
        table.add_row(cells);
    }
    table.print(out);
    print_series_notes(out, all);
    for (std::size_t i = 0; i < all.size() && i < rates.size(); ++i) {
        if (!rates[i]) continue;
        const std::string bytes = readable_bytes(rates[i]->logical_bytes);
        out << "  " << all[i].name << ": " << bytes << " logical bytes a launch, GB = 10^9 bytes"
            << (rates[i]->note().empty() ? "" : "; " + rates[i]->note()) << ".\n";
    }
}

/// The verdict, in words; none where the times must not be quoted.
inline void print_comparison(std::ostream& out, const Comparison& comparison) {
    const bool quotable = reason_for_no_rates().empty();
    out << (quotable ? comparison.sentence() : "no verdict") << "\n";
}

/// What this device can do in this run.
inline void print_ceilings(std::ostream& out, const Ceilings& ceilings) {
    const auto rate = [](const std::optional<double>& value) {
        return value ? readable(*value) + " GB/s" : std::string("unknown");
    };
    if (reason_for_no_rates().empty()) {
        out << "Ceilings: data sheet " << rate(ceilings.data_sheet_gb_per_s)
            << ", copy in this run " << rate(ceilings.copy_gb_per_s) << " (read + write)\n";
    }
    if (ceilings.launch_overhead) {
        out << "An empty launch: " << readable(us_of_ms(ceilings.launch_overhead->single_ms))
            << " us alone between two events (part of a sample of one launch, so of every cold "
               "one), "
            << readable(us_of_ms(ceilings.launch_overhead->batched_ms)) << " us in a batch\n";
    }
}

}  // namespace mf
