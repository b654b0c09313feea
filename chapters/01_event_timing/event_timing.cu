//! [question]
// event_timing: which clock sees the work of a launch, and what does each of them really measure?
//
// A launch puts work into a queue and returns. A clock around it may therefore measure the queue
// instead of the work. This program launches kernels of known length, from 1 us to 100 ms, and
// holds three ways of timing them against each other:
//
//     bare_launch     the host's clock around the launch, nothing waited for: the trap
//     host_with_wait  the host's clock around the launch and the wait for its end
//     events          two marks in the stream, which the device stamps as it reaches them
//
// Then it tries what goes wrong with events, and prints what the runtime answers.
//
// Build and run in this folder:
//
//     nvcc -O2 -std=c++17 -arch=native -I ../../common event_timing.cu -o event_timing
//     ./event_timing
//
// The order of the file is the order of the work: kernels, the three clocks, check, measure, the
// mistakes, report, main.
//! [question]

//! [includes]
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "cache.hpp"
#include "check.hpp"
#include "clock.hpp"
#include "device.hpp"
#include "gate.hpp"
#include "options.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace {

using Nanoseconds = unsigned long long;  // what the device's clock counts in
//! [includes]

//! [kernels]
/// What a spin leaves behind: a launch that never ran must not pass for a fast one.
struct Proof {
    unsigned long long launches;
    Nanoseconds shortest;
};

/// Keeps one thread busy for at least `length` by the device's own clock. A second copy of the
/// kernel (`copy` = 1) serves to see a first launch after other kernels have been launched.
template <int copy>
__global__ void spin(Nanoseconds length, Proof* proof) {
    const Nanoseconds start = mf::global_timer_ns();
    Nanoseconds spent = 0;
    while (spent < length)
        spent = mf::global_timer_ns() - start;
    ++proof->launches;
    if (spent < proof->shortest) proof->shortest = spent;
}

/// Nothing at all: what remains is the launch.
__global__ void empty() {}
//! [kernels]

//! [spins]
using SpinKernel = void (*)(Nanoseconds, Proof*);

/// Spins of one length, and the proof that every one of them ran.
class Spins {
public:
    explicit Spins(Nanoseconds length, SpinKernel kernel = spin<0>)
        : kernel_(kernel), length_(length), proof_(std::vector<Proof>{{0, ~Nanoseconds{0}}}) {}

    void launch(cudaStream_t stream) {
        kernel_<<<1, 1, 0, stream>>>(length_, proof_.get());
        CUDA_CHECK_LAUNCH();
        ++launches_;
    }

    /// A launch with more threads than a block may have: it must fail and leave no trace.
    cudaError_t launch_too_large(cudaStream_t stream) const {
        const int threads = mf::attribute_or(cudaDevAttrMaxThreadsPerBlock, 1024) + 1;
        kernel_<<<1, threads, 0, stream>>>(length_, proof_.get());
        return cudaGetLastError();
    }

    double length_ms() const { return mf::ms_of_ns(static_cast<double>(length_)); }

    /// Waits for the device. All launches must have run, and none of them shorter than asked for.
    mf::CheckResult check(const std::string& name) const {
        const Proof proof = proof_.download()[0];
        const bool passed = proof.launches == launches_ && proof.shortest >= length_;
        return {name, passed,
                passed ? ""
                       : std::to_string(launches_) + " launches of " + std::to_string(length_) +
                             " ns expected, " + std::to_string(proof.launches) + " found, of " +
                             std::to_string(proof.shortest) + " ns or more"};
    }

private:
    SpinKernel kernel_;
    Nanoseconds length_;
    mf::DeviceBuffer<Proof> proof_;
    unsigned long long launches_ = 0;
};
//! [spins]

//! [bare launch]
using HostClock = std::chrono::steady_clock;  // it never steps back, unlike the time of day

double ms_since(HostClock::time_point start) {
    return std::chrono::duration<double, std::milli>(HostClock::now() - start).count();
}

/// The trap: the host has queued the work when the clock stops, and the work goes on.
double bare_launch_ms(Spins& spins, int launches, cudaStream_t stream) {
    const auto start = HostClock::now();
    for (int i = 0; i < launches; ++i)
        spins.launch(stream);
    return ms_since(start);
}
//! [bare launch]

//! [host with wait]
/// Right for whoever wants to know how long the host waits: launch, work and wake-up.
double host_with_wait_ms(Spins& spins, int launches, cudaStream_t stream) {
    const auto start = HostClock::now();
    for (int i = 0; i < launches; ++i)
        spins.launch(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return ms_since(start);
}
//! [host with wait]

//! [events]
/// Both marks go into the stream of the work. The device stamps each when it gets there; the host
/// asks for the difference after the second one has been reached.
double events_ms(Spins& spins, int launches, cudaStream_t stream) {
    const mf::Event start;  // the owner creates the event here and destroys it at the end
    const mf::Event stop;
    CUDA_CHECK(cudaEventRecord(start, stream));
    for (int i = 0; i < launches; ++i)
        spins.launch(stream);
    CUDA_CHECK(cudaEventRecord(stop, stream));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}
//! [events]

//! [methods]
struct Method {
    std::string name;
    std::string boundary;
    const char* timer;
    bool holds_work;  ///< the interval ends after the work does
    double (*time_ms)(Spins& spins, int launches, cudaStream_t stream);
};

const std::vector<Method> methods = {
    {"events", "two events in the stream of the work", "CUDA events", true, events_ms},
    {"host_with_wait", "launch and wait for its end", "host steady clock", true, host_with_wait_ms},
    {"bare_launch", "launch without a wait", "host steady clock", false, bare_launch_ms}};

/// One length of the sweep; each method has spins of its own, so that each is verified by itself.
struct Length {
    Nanoseconds ns;
    std::vector<Spins> spins;
    std::vector<mf::Series> series;

    explicit Length(Nanoseconds length) : ns(length) {
        for (std::size_t i = 0; i < methods.size(); ++i)
            spins.emplace_back(length);
    }
    std::string text() const { return std::to_string(ns / 1000) + " us"; }
};

/// 1 us, 10 us, 100 us … up to the longest.
std::vector<Length> sweep_to(std::uint64_t longest_us) {
    std::vector<Length> lengths;
    for (std::uint64_t us = 1; us <= longest_us; us *= 10)
        lengths.emplace_back(us * 1000);
    return lengths;
}
//! [methods]

//! [check]
/// What each method launches must run, at every length.
std::vector<mf::CheckResult> check_methods(std::vector<Length>& lengths, cudaStream_t stream) {
    std::vector<mf::CheckResult> results;
    for (std::size_t i = 0; i < methods.size(); ++i) {
        mf::CheckResult result{methods[i].name, true, ""};
        for (Length& length : lengths) {
            methods[i].time_ms(length.spins[i], 1, stream);
            const auto check = length.spins[i].check(methods[i].name);
            if (result.passed) result = check;
        }
        results.push_back(result);
    }
    return results;
}
//! [check]

//! [first launch]
/// A kernel's code may be loaded when it is launched for the first time. Host with wait, in ms.
struct FirstLaunch {
    double first_ms = 0;
    std::vector<double> later_ms;
};

FirstLaunch time_first_launch(Spins& never_launched, int repeats, cudaStream_t stream) {
    FirstLaunch result;
    result.first_ms = host_with_wait_ms(never_launched, 1, stream);
    for (int i = 0; i < repeats; ++i)
        result.later_ms.push_back(host_with_wait_ms(never_launched, 1, stream));
    return result;
}
//! [first launch]

//! [holds work]
/// No interval that holds a spin can be shorter than it. A microsecond and a percent are left for
/// the steps of the two clocks and their rates.
mf::CheckResult check_holds_work(const Length& length, std::size_t i) {
    const double shortest_ms = length.series[i].summary().min;
    const double length_ms = length.spins[i].length_ms();
    const bool passed = shortest_ms >= 0.99 * length_ms - 0.001;
    return {methods[i].name + " " + length.text(), passed,
            passed ? ""
                   : "an interval of " + mf::readable(shortest_ms) +
                         " ms does not hold a spin of " + mf::readable(length_ms) + " ms"};
}
//! [holds work]

//! [measure]
/// Samples of the three methods, interleaved. The stream is empty before each sample, or a bare
/// launch would leave its work to the next one's interval.
void measure_length(Length& length, const mf::MeasurePlan& plan, cudaStream_t stream,
                    mf::Record& record) {
    std::optional<mf::CacheFlusher> flusher;
    if (plan.cold) flusher.emplace();
    std::vector<mf::Subject> subjects;
    for (std::size_t i = 0; i < methods.size(); ++i) {
        mf::Subject subject;
        subject.name = methods[i].name;
        subject.boundary = methods[i].boundary;
        subject.prepare = [&flusher, stream] {
            if (flusher) flusher->flush(stream);
            CUDA_CHECK(cudaStreamSynchronize(stream));
        };
        subject.time = [&method = methods[i], &spins = length.spins[i], stream](int launches) {
            return mf::TimedInterval{method.time_ms(spins, launches, stream), 0};
        };
        subject.least_ms = 0;  // a bare launch may take the host less than a microsecond
        subjects.push_back(std::move(subject));
    }
    length.series = mf::measure_subjects(plan, stream, subjects, "");
    for (std::size_t i = 0; i < methods.size(); ++i) {
        length.series[i].timer = methods[i].timer;
        auto check = length.spins[i].check(methods[i].name + " " + length.text());
        if (check.passed && methods[i].holds_work) check = check_holds_work(length, i);
        record.add_check(check, "after timing");
        mf::require(check);
    }
}
//! [measure]

//! [resolution]
/// Many events in a row with nothing between them: the time from each to the next, and the
/// smallest difference between two such times, which is a step of the device's stamps.
struct Resolution {
    std::vector<double> between_us;
    double step_us = 0;
};

Resolution measure_resolution(cudaStream_t stream) {
    const std::vector<mf::Event> events(256);
    for (int round = 0; round < 2; ++round) {  // the first round warms up
        for (const mf::Event& event : events)
            event.record(stream);
        events.back().synchronize();
    }
    Resolution result;
    for (std::size_t i = 1; i < events.size(); ++i) {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, events[i - 1], events[i]));
        result.between_us.push_back(mf::us_of_ms(ms));
    }
    std::vector<double> sorted = result.between_us;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const double step = sorted[i] - sorted[i - 1];
        if (step > 0 && (result.step_us == 0 || step < result.step_us)) result.step_us = step;
    }
    if (result.step_us == 0) {
        throw mf::MeasurementRefused("event resolution: all intervals of a row are the same");
    }
    return result;
}
//! [resolution]

//! [empty launches]
/// Is an empty kernel launched at all? Then many launches take longer than few.
std::vector<mf::Series> measure_empty_launches(int repeats, cudaStream_t stream) {
    std::vector<mf::Series> all;
    for (const int launches : {1, 10, 100, 1000}) {
        mf::MeasurePlan plan;
        plan.repeats = repeats;
        plan.inner = launches;
        plan.warm_up_ms = 20;
        all.push_back(
            mf::measure(plan, stream, "empty", "launches of an empty kernel", [](cudaStream_t s) {
                empty<<<1, 1, 0, s>>>();
                CUDA_CHECK_LAUNCH();
            }));
        if (!mf::attached_tool().empty()) break;  // then a sample is one launch in any case
    }
    return all;
}
//! [empty launches]

//! [finding]
/// What one of the mistakes below led to. The check fails where the runtime answers otherwise than
/// this chapter says.
struct Finding {
    mf::CheckResult check;
    std::string sentence;
};

Finding finding(const std::string& name, bool as_expected, const std::string& sentence) {
    return {{name, as_expected, as_expected ? "" : "unexpected: " + sentence}, sentence};
}

std::string ms_text(double ms) {
    return mf::readable(ms) + " ms";
}

double elapsed_ms(const mf::Event& start, const mf::Event& stop) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}
//! [finding]

//! [failed launch]
/// A refused launch leaves an empty interval, whose time looks wonderfully short. Its status is all
/// there is to report.
Finding failed_launch(const Spins& spins, cudaStream_t stream) {
    const cudaError_t status = spins.launch_too_large(stream);
    return finding("failed_launch", status != cudaSuccess,
                   std::string("a block with a thread too many: ") + cudaGetErrorName(status) +
                       ". Nothing ran, so there is no time to print.");
}
//! [failed launch]

//! [not ready]
/// The gate keeps the work from ending before it is asked about, however late the host comes.
Finding elapsed_before_wait(Spins& spins, cudaStream_t stream) {
    const mf::Event start;
    const mf::Event stop;
    start.record(stream);
    mf::Gate gate(stream);
    spins.launch(stream);
    stop.record(stream);
    float ms = 0;
    const cudaError_t early = cudaEventElapsedTime(&ms, start, stop);
    static_cast<void>(cudaGetLastError());  // taken note of; the next check must not find it
    gate.open();
    stop.synchronize();
    const cudaError_t late = cudaEventElapsedTime(&ms, start, stop);
    return finding("not_ready", early == cudaErrorNotReady && late == cudaSuccess,
                   std::string("the time asked for before the stop event was reached: ") +
                       cudaGetErrorName(early) + "; after the wait: " + cudaGetErrorName(late) +
                       ".");
}
//! [not ready]

//! [wrong stream]
/// Events in another stream are reached without regard to the work.
Finding events_in_wrong_stream(Spins& spins, cudaStream_t stream) {
    const mf::Stream other;
    const mf::Event start;
    const mf::Event stop;
    const mf::Event other_start;
    const mf::Event other_stop;
    mf::Gate gate(stream);
    other_start.record(other);
    start.record(stream);
    spins.launch(stream);
    stop.record(stream);
    other_stop.record(other);
    other_stop.synchronize();
    const bool work_done = cudaEventQuery(stop) == cudaSuccess;
    static_cast<void>(cudaGetLastError());
    gate.open();
    stop.synchronize();
    const double right_ms = elapsed_ms(start, stop);
    return finding(
        "wrong_stream", !work_done && right_ms >= 0.99 * spins.length_ms(),
        "a spin of " + ms_text(spins.length_ms()) +
            " between events in another stream: " + ms_text(elapsed_ms(other_start, other_stop)) +
            ", over before the work began; in its own stream: " + ms_text(right_ms) + ".");
}
//! [wrong stream]

//! [host work]
/// The device stamps the first event while the host is still busy with something else.
Finding host_work_between_events(Spins& spins, cudaStream_t stream) {
    constexpr int host_ms = 5;
    const mf::Event start;
    const mf::Event stop;
    start.record(stream);
    start.synchronize();
    std::this_thread::sleep_for(std::chrono::milliseconds(host_ms));
    spins.launch(stream);
    stop.record(stream);
    stop.synchronize();
    const double ms = elapsed_ms(start, stop);
    return finding("host_work", ms >= 0.99 * (host_ms + spins.length_ms()),
                   "a spin of " + ms_text(spins.length_ms()) + " with " + std::to_string(host_ms) +
                       " ms of host code between the start event and the launch: " + ms_text(ms) +
                       ".");
}
//! [host work]

//! [destroyed]
/// An event may be destroyed before it is reached: the runtime frees it when it has been.
Finding destroyed_before_reached(Spins& spins, cudaStream_t stream) {
    mf::Gate gate(stream);
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaEventCreate(&event));
    CUDA_CHECK(cudaEventRecord(event, stream));
    spins.launch(stream);
    const cudaError_t destroyed = cudaEventDestroy(event);
    gate.open();
    const cudaError_t finished = cudaStreamSynchronize(stream);
    return finding("destroyed", destroyed == cudaSuccess && finished == cudaSuccess,
                   std::string("an event destroyed before it was reached: ") +
                       cudaGetErrorName(destroyed) +
                       "; the stream's work after it: " + cudaGetErrorName(finished) + ".");
}
//! [destroyed]

//! [two devices]
/// The events of two devices belong to two clocks. `device` is the current one.
Finding events_of_two_devices(int device, cudaStream_t stream) {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    if (count < 2) return finding("two_devices", true, "skipped, there is one device.");
    CUDA_CHECK(cudaSetDevice((device + 1) % count));
    const mf::Event there;
    there.record(nullptr);
    there.synchronize();
    CUDA_CHECK(cudaSetDevice(device));
    const mf::Event here;
    here.record(stream);
    here.synchronize();
    float ms = 0;
    const cudaError_t status = cudaEventElapsedTime(&ms, here, there);
    static_cast<void>(cudaGetLastError());
    return finding(
        "two_devices", status == cudaErrorInvalidResourceHandle,
        std::string("the time between events of two devices: ") + cudaGetErrorName(status) + ".");
}
//! [two devices]

//! [mistakes]
std::vector<Finding> try_mistakes(int device, Spins& spins, cudaStream_t stream) {
    std::vector<Finding> findings = {events_in_wrong_stream(spins, stream),
                                     host_work_between_events(spins, stream),
                                     destroyed_before_reached(spins, stream)};
    // compute-sanitizer takes every failed call for a mistake of the program: there, none fails.
    if (mf::attached_tool().empty()) {
        findings.push_back(failed_launch(spins, stream));
        findings.push_back(elapsed_before_wait(spins, stream));
        findings.push_back(events_of_two_devices(device, stream));
    }
    // The device has gone on as if nothing had happened.
    findings.push_back({spins.check("all_ran"), "every launch that was not refused has run."});
    return findings;
}
//! [mistakes]

//! [report sweep]
/// One row a length; the ratios hold the two host clocks against the events.
void report_sweep(std::ostream& out, const std::vector<Length>& lengths,
                  const mf::CommonOptions& options, mf::Record& record) {
    const bool quotable = mf::reason_for_no_rates().empty();
    mf::Table table({"spin", "events us", "host_with_wait us", "bare_launch us", "wait : events",
                     "95 % interval", "bare : events"});
    for (const Length& length : lengths) {
        const std::string label = "spin " + length.text();
        std::vector<std::string> cells = {length.text()};
        for (const mf::Series& series : length.series)
            cells.push_back(mf::readable(mf::us_of_ms(series.summary().median)));
        record.add_series(label, length.series);
        std::vector<mf::Comparison> against_events;
        for (std::size_t i = 1; i < length.series.size(); ++i) {
            against_events.push_back(
                mf::compare(length.series[0], length.series[i], options.plan.order, options.seed));
            record.add_comparison(label, against_events.back());
        }
        const mf::Interval& wait = against_events[0].ratio;
        if (quotable) {
            cells.push_back(mf::fixed(wait.estimate, 3));
            cells.push_back(mf::fixed(wait.low, 3) + " to " + mf::fixed(wait.high, 3));
            cells.push_back(mf::readable(against_events[1].ratio.estimate));
        }
        table.add_row(cells);
    }
    table.print(out);
    mf::print_series_notes(out, lengths.back().series);
}
//! [report sweep]

//! [report costs]
void report_first_launch(std::ostream& out, const FirstLaunch& first, const Spins& spins,
                         mf::Record& record) {
    out << "First launch of a kernel that spins " << ms_text(spins.length_ms()) << ": "
        << ms_text(first.first_ms) << "; later ones: median " << ms_text(mf::median(first.later_ms))
        << " (host with wait)\n";
    record.add_extra("first_launch", {{"first_ms", first.first_ms}, {"later_ms", first.later_ms}});
}

void report_empty_launches(std::ostream& out, const std::vector<mf::Series>& all,
                           mf::Record& record) {
    mf::Table table({"empty kernels between two events", "us", "us a launch"});
    mf::Json rows = mf::Json::array();
    for (const mf::Series& series : all) {
        table.add_row({std::to_string(series.launches_per_sample),
                       mf::readable(mf::us_of_ms(series.sample_ms())),
                       mf::readable(mf::us_of_ms(mf::median(series.ms)))});
        rows.push({{"launches", series.launches_per_sample}, {"ms_a_launch", series.ms}});
    }
    table.print(out);
    record.add_extra("empty_launches", rows);
    mf::Ceilings ceilings;
    ceilings.launch_overhead = {{mf::median(all.front().ms), mf::median(all.back().ms)}};
    record.set_ceilings(ceilings);
}

void report_resolution(std::ostream& out, const Resolution& resolution, mf::Record& record) {
    const double between_us = mf::median(resolution.between_us);
    out << "Two events with nothing between them: median " << mf::readable(between_us)
        << " us; smallest step seen: " << mf::readable(1e3 * resolution.step_us)
        << " ns; documented resolution: about 0.5 us\n";
    record.add_extra("event_resolution",
                     {{"between_us", resolution.between_us}, {"step_us", resolution.step_us}});
}
//! [report costs]

//! [report mistakes]
void report_mistakes(std::ostream& out, const std::vector<Finding>& findings, mf::Record& record) {
    mf::Json sentences = mf::Json::object();
    for (const Finding& one : findings) {
        out << "  " << one.check.name << ": " << one.sentence << "\n";
        record.add_check(one.check, "after timing");
        sentences.set(one.check.name, one.sentence);
    }
    record.add_extra("findings", sentences);
    for (const Finding& one : findings)
        mf::require(one.check);
}
//! [report mistakes]

//! [main]
int run(int argc, char** argv) {
    mf::CommonOptions options;
    options.plan.inner = 1;  // a bare launch is one launch
    std::uint64_t longest_us = 100000;
    mf::OptionParser parser("event_timing", "what host clocks and events measure of a launch");
    parser.add_common(options);
    parser.add_number("--longest", "US", "longest kernel in microseconds", longest_us, 1, 10000000);
    if (!parser.parse(argc, argv)) return mf::exit_ok;
    const mf::RecordFile record_file(options.json);

    const mf::DeviceInfo device = mf::pick_device(options.device);
    std::ostream& out = mf::report_stream(options);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("event_timing", argc, argv, device, options);
    record.set_input("kernels that spin for a known time", {{"longest_us", longest_us}});

    std::vector<Length> lengths = sweep_to(longest_us);
    const auto checks = check_methods(lengths, stream);
    out << lengths.front().text() << " to " << lengths.back().text() << ": "
        << mf::checks_line(checks) << "\n\n";
    record.add_checks(checks, "before timing");
    for (const mf::CheckResult& check : checks)
        mf::require(check);

    constexpr Nanoseconds short_spin = 10000;
    Spins never_launched(short_spin, spin<1>);
    const auto first = time_first_launch(never_launched, options.plan.repeats, stream);
    const auto first_check = never_launched.check("first_launch");
    record.add_check(first_check, "after timing");
    mf::require(first_check);
    for (Length& length : lengths)
        measure_length(length, options.plan, stream, record);
    const auto empties = measure_empty_launches(options.plan.repeats, stream);
    const auto resolution = measure_resolution(stream);
    constexpr Nanoseconds one_ms = 1000000;
    Spins spins(one_ms);
    const auto findings = try_mistakes(device.index, spins, stream);

    report_sweep(out, lengths, options, record);
    out << "\n";
    report_first_launch(out, first, never_launched, record);
    out << "\n";
    report_empty_launches(out, empties, record);
    report_resolution(out, resolution, record);
    out << "\nMistakes, and what comes of them:\n";
    report_mistakes(out, findings, record);
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
