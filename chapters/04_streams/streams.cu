//! [question]
// streams: how much of the copies can hide behind the kernel, and behind each other?
//
// A device copies in both directions and computes, all at the same time, if it is told that one
// need not wait for the other. This program adds two vectors that lie in host memory: first with
// all stages in one stream, one after the other; then in pieces over several streams, so that one
// piece is copied while another is computed.
//
// Build and run in this folder:
//
//     nvcc -O2 -std=c++17 -arch=native -I ../../common streams.cu -o streams
//     ./streams
//     ./streams --streams 4 --chunks 16 --steps 500
//
// Schedules:
//     one_stream          whole vectors, one stage after the other
//     one_stream_chunked  in pieces, still one after the other: what cutting alone costs
//     pipeline            in pieces over several streams, pinned host memory
//     pipeline_pageable   the same with ordinary host memory
//
// The order of the file is the order of the work: reference, kernel, schedules, check,
// dependencies, measure, report, main.
//! [question]

//! [includes]
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../03_copy_cost/affine.cuh"
#include "buffer.hpp"
#include "check.hpp"
#include "device.hpp"
#include "gate.hpp"
#include "options.hpp"
#include "random.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace {
//! [includes]

//! [reference]
/// Two vectors of random numbers in both kinds of host memory, and their sum, to each element of
/// which `steps` steps of a chain have been applied.
struct Input {
    std::vector<unsigned> a;
    std::vector<unsigned> b;
    std::vector<unsigned> sum;
    mf::PinnedBuffer<unsigned> pinned_a;
    mf::PinnedBuffer<unsigned> pinned_b;
    int steps;

    Input(std::int64_t n, int steps_, std::uint64_t seed)
        : a(static_cast<std::size_t>(n)),
          b(a.size()),
          sum(a.size()),
          pinned_a(a.size()),
          pinned_b(a.size()),
          steps(steps_) {
        mf::Random random(seed);
        const Affine all_steps = repeated(chain_step, static_cast<std::uint64_t>(steps));
        for (std::size_t i = 0; i < a.size(); ++i) {
            pinned_a[i] = a[i] = static_cast<unsigned>(random.bits());
            pinned_b[i] = b[i] = static_cast<unsigned>(random.bits());
            sum[i] = all_steps(a[i] + b[i]);
        }
    }
    std::int64_t n() const { return static_cast<std::int64_t>(a.size()); }
};
//! [reference]

//! [kernel]
constexpr int threads_per_block = 256;

/// c = a + b, and then so many steps on it: 0 for the addition alone.
__global__ void add(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                    unsigned* __restrict__ c, std::int64_t n, int steps) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned value = a[i] + b[i];
    for (int step = 0; step < steps; ++step)
        value = value * chain_step.multiplier + chain_step.addend;
    c[i] = value;
}

void launch_add(const unsigned* a, const unsigned* b, unsigned* c, std::int64_t n, int steps,
                cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((n + threads_per_block - 1) / threads_per_block);
    add<<<blocks, threads_per_block, 0, stream>>>(a, b, c, n, steps);
    CUDA_CHECK_LAUNCH();
}
//! [kernel]

//! [chunks]
/// Elements begin … end - 1.
struct Chunk {
    std::int64_t begin;
    std::int64_t end;
};

/// Every piece begins at a multiple of 128 bytes. A warp that begins elsewhere asks for 32 numbers
/// that lie in five sectors of 32 bytes instead of four.
constexpr std::int64_t chunk_unit = 128 / sizeof(unsigned);

/// 0 … n in `count` pieces or fewer, all of one size but the last, which may be shorter.
std::vector<Chunk> chunks_of(std::int64_t n, std::int64_t count) {
    const std::int64_t share = (n + count - 1) / count;
    const std::int64_t size = (share + chunk_unit - 1) / chunk_unit * chunk_unit;
    std::vector<Chunk> chunks;
    for (std::int64_t begin = 0; begin < n; begin += size)
        chunks.push_back({begin, std::min(begin + size, n)});
    return chunks;
}
//! [chunks]

//! [arrays]
/// Device memory for one schedule and host memory for its result, both poisoned, so that a piece
/// that was forgotten is seen.
struct Arrays {
    mf::DeviceBuffer<unsigned> a;
    mf::DeviceBuffer<unsigned> b;
    mf::DeviceBuffer<unsigned> c;
    mf::PinnedBuffer<unsigned> pinned_c;
    std::vector<unsigned> pageable_c;

    explicit Arrays(std::size_t n) : a(n), b(n), c(n), pinned_c(n), pageable_c(n) { poison(); }

    void poison() {
        a.poison();
        b.poison();
        c.poison();
        std::fill(pinned_c.begin(), pinned_c.end(), 0xA5A5A5A5u);
        std::fill(pageable_c.begin(), pageable_c.end(), 0xA5A5A5A5u);
    }
};

/// Where a schedule reads and writes on the host.
struct HostSide {
    const unsigned* a;
    const unsigned* b;
    unsigned* c;
};

HostSide host_side(const Input& input, Arrays& arrays, bool pinned) {
    if (pinned) return {input.pinned_a.get(), input.pinned_b.get(), arrays.pinned_c.get()};
    return {input.a.data(), input.b.data(), arrays.pageable_c.data()};
}
//! [arrays]

//! [stages]
void copy_in(const HostSide& host, const Arrays& arrays, const Chunk& chunk, cudaStream_t stream) {
    const std::size_t bytes = static_cast<std::size_t>(chunk.end - chunk.begin) * sizeof(unsigned);
    CUDA_CHECK(cudaMemcpyAsync(arrays.a.get() + chunk.begin, host.a + chunk.begin, bytes,
                               cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(arrays.b.get() + chunk.begin, host.b + chunk.begin, bytes,
                               cudaMemcpyHostToDevice, stream));
}

void compute(const Arrays& arrays, const Chunk& chunk, int steps, cudaStream_t stream) {
    launch_add(arrays.a.get() + chunk.begin, arrays.b.get() + chunk.begin,
               arrays.c.get() + chunk.begin, chunk.end - chunk.begin, steps, stream);
}

void copy_out(const HostSide& host, const Arrays& arrays, const Chunk& chunk, cudaStream_t stream) {
    const std::size_t bytes = static_cast<std::size_t>(chunk.end - chunk.begin) * sizeof(unsigned);
    CUDA_CHECK(cudaMemcpyAsync(host.c + chunk.begin, arrays.c.get() + chunk.begin, bytes,
                               cudaMemcpyDeviceToHost, stream));
}
//! [stages]

//! [schedule]
/// One way of arranging the stages. Everything begins after what `main` holds at the call, and
/// ends before what is put into `main` later, whatever streams lie between: fork and join.
class Schedule {
public:
    Schedule(std::string name, const Input& input, bool pinned, std::int64_t chunks,
             std::size_t streams)
        : name_(std::move(name)),
          input_(&input),
          pinned_(pinned),
          chunks_(chunks_of(input.n(), chunks)),
          arrays_(input.a.size()),
          streams_(streams),
          finished_(streams) {}

    void enqueue(cudaStream_t main) {
        const HostSide host = host_side(*input_, arrays_, pinned_);
        forked_.record(main);
        for (const mf::Stream& stream : streams_)
            CUDA_CHECK(cudaStreamWaitEvent(stream, forked_, 0));
        for (std::size_t i = 0; i < chunks_.size(); ++i) {
            const cudaStream_t stream =
                streams_.empty() ? main : streams_[i % streams_.size()].get();
            copy_in(host, arrays_, chunks_[i], stream);
            compute(arrays_, chunks_[i], input_->steps, stream);
            copy_out(host, arrays_, chunks_[i], stream);
        }
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            finished_[i].record(streams_[i]);
            CUDA_CHECK(cudaStreamWaitEvent(main, finished_[i], 0));
        }
    }

    /// Everything again from poisoned memory.
    void poison() { arrays_.poison(); }

    /// The result on the host; all work must have been waited for.
    mf::CheckResult check(const std::string& name) const {
        if (!pinned_) return mf::check_equal(name, input_->sum, arrays_.pageable_c);
        const std::vector<unsigned> result(arrays_.pinned_c.begin(), arrays_.pinned_c.end());
        return mf::check_equal(name, input_->sum, result);
    }

    const std::string& name() const { return name_; }
    bool pinned() const { return pinned_; }
    std::size_t chunks() const { return chunks_.size(); }
    std::size_t streams() const { return streams_.size(); }

private:
    std::string name_;
    const Input* input_;
    bool pinned_;
    std::vector<Chunk> chunks_;
    Arrays arrays_;
    std::vector<mf::Stream> streams_;  ///< none: everything in the main stream
    mf::Event forked_;
    std::vector<mf::Event> finished_;
};

std::vector<Schedule> schedules(const Input& input, std::int64_t chunks, std::size_t streams) {
    std::vector<Schedule> all;
    all.emplace_back("one_stream", input, true, 1, 0);
    all.emplace_back("one_stream_chunked", input, true, chunks, 0);
    all.emplace_back("pipeline", input, true, chunks, streams);
    all.emplace_back("pipeline_pageable", input, false, chunks, streams);
    return all;
}
//! [schedule]

//! [check]
void require_all(const std::vector<mf::CheckResult>& checks) {
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}

/// Every schedule once, on sizes that leave no rest, a short last piece, and fewer pieces.
void check_schedules(std::ostream& out, std::vector<Schedule>& all, std::int64_t n,
                     cudaStream_t stream, mf::Record& record) {
    std::vector<mf::CheckResult> checks;
    for (Schedule& schedule : all) {
        schedule.enqueue(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        checks.push_back(schedule.check(schedule.name()));
    }
    out << "n=" << n << ": " << mf::checks_line(checks) << "\n";
    record.add_checks(checks, "before timing");
    require_all(checks);
}

/// Around one unit a piece, and around one block a piece.
std::vector<std::int64_t> sizes_around(std::int64_t chunks) {
    std::vector<std::int64_t> sizes = {1};
    for (const std::int64_t whole : {chunk_unit * chunks, threads_per_block * chunks})
        sizes.insert(sizes.end(), {whole - 1, whole, whole + 1});
    return sizes;
}
//! [check]

//! [reached]
/// Asks until the event is reached or the time is over.
bool is_reached(const mf::Event& event, std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    cudaError_t answer = cudaEventQuery(event);
    while (answer == cudaErrorNotReady && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
        answer = cudaEventQuery(event);
    }
    if (answer == cudaErrorNotReady) {
        static_cast<void>(
            cudaGetLastError());  // an answer, no error: the next check must not find it
        return false;
    }
    CUDA_CHECK(answer);
    return true;
}
//! [reached]

//! [dependency]
/// d = a + (a + b) in two streams: the second sum needs the first. The gate keeps the first one
/// from beginning, so that a second one that does not wait is seen to be wrong.
mf::CheckResult check_dependency(const Input& input) {
    const mf::DeviceBuffer<unsigned> a(input.a);
    const mf::DeviceBuffer<unsigned> b(input.b);
    mf::DeviceBuffer<unsigned> c(input.a.size());
    mf::DeviceBuffer<unsigned> d(input.a.size());
    c.poison();
    d.poison();
    const mf::Stream producer;
    const mf::Stream consumer;
    const mf::Event produced(cudaEventDisableTiming);  // for waiting only, so without a time
    const mf::Event consumed(cudaEventDisableTiming);

    mf::Gate gate(producer);
    launch_add(a.get(), b.get(), c.get(), input.n(), 0, producer);
    produced.record(producer);
    CUDA_CHECK(cudaStreamWaitEvent(consumer, produced, 0));
    launch_add(a.get(), c.get(), d.get(), input.n(), 0, consumer);

    // Time enough for a consumer that does not wait to finish before the producer begins.
    consumed.record(consumer);
    is_reached(consumed, std::chrono::milliseconds(50));
    gate.open();
    consumer.synchronize();

    std::vector<unsigned> expected(input.a.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = input.a[i] + (input.a[i] + input.b[i]);
    return mf::check_equal("dependency", expected, d.download());
}
//! [dependency]

//! [legacy events]
/// What two events in the legacy default stream enclose: is the second one reached, within so long,
/// while a stream still holds work that was put there between them?
bool legacy_event_reached_during(const mf::Stream& work, std::chrono::milliseconds patience) {
    const mf::Event start;
    const mf::Event stop;
    start.record(nullptr);
    mf::Gate gate(work);
    stop.record(nullptr);
    return is_reached(stop, patience);
}

std::vector<mf::CheckResult> check_legacy_events(std::ostream& out) {
    using std::chrono::milliseconds;
    const mf::Stream blocking(cudaStreamDefault);
    const mf::Stream non_blocking(cudaStreamNonBlocking);
    const bool early = legacy_event_reached_during(blocking, milliseconds(50));
    const bool free = legacy_event_reached_during(non_blocking, milliseconds(10000));
    const auto says = [](bool reached) { return reached ? "does not wait" : "waits"; };
    out << "An event in the legacy default stream " << says(early) << " for a blocking stream and "
        << says(free) << " for a non-blocking one.\n";
    return {{"legacy_blocking", !early, early ? "the event was reached too early" : ""},
            {"legacy_non_blocking", free, free ? "" : "the event was held up"}};
}
//! [legacy events]

//! [measure stages]
/// Four events in the one stream, one between each stage and the next.
struct StageTimes {
    double h2d_ms = 0;
    double kernel_ms = 0;
    double d2h_ms = 0;
    double total_ms = 0;
};

StageTimes time_stages(const Input& input, Arrays& arrays, cudaStream_t stream) {
    const mf::Event start;
    const mf::Event copied_in;
    const mf::Event computed;
    const mf::Event copied_out;
    const HostSide host = host_side(input, arrays, true);
    const Chunk all{0, input.n()};
    start.record(stream);
    copy_in(host, arrays, all, stream);
    copied_in.record(stream);
    compute(arrays, all, input.steps, stream);
    computed.record(stream);
    copy_out(host, arrays, all, stream);
    copied_out.record(stream);
    copied_out.synchronize();  // the last of the stream: the others have been reached before
    const auto between = [](const mf::Event& from, const mf::Event& to) {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, from, to));
        return static_cast<double>(ms);
    };
    return {between(start, copied_in), between(copied_in, computed), between(computed, copied_out),
            between(start, copied_out)};
}

/// The inputs on the device, the sums there, the sums on the host, and that the times add up.
std::vector<mf::CheckResult> check_stages(const Input& input, const Arrays& arrays,
                                          const StageTimes& times) {
    auto h2d = mf::check_equal("H2D", input.a, arrays.a.download());
    if (h2d.passed) h2d = mf::check_equal("H2D", input.b, arrays.b.download());
    const std::vector<unsigned> result(arrays.pinned_c.begin(), arrays.pinned_c.end());
    const double sum_ms = times.h2d_ms + times.kernel_ms + times.d2h_ms;
    // Each time is a float, rounded by itself.
    const double tolerance_ms = 1e-6 * times.total_ms + 1e-6;
    const bool adds_up =
        sum_ms - times.total_ms <= tolerance_ms && times.total_ms - sum_ms <= tolerance_ms;
    return {h2d,
            mf::check_equal("kernel", input.sum, arrays.c.download()),
            mf::check_equal("D2H", input.sum, result),
            {"total", adds_up,
             adds_up ? ""
                     : "stages of " + mf::readable(sum_ms) + " ms in all, total of " +
                           mf::readable(times.total_ms) + " ms"}};
}

/// A series for each stage and one for the total, from the same passes.
std::vector<mf::Series> measure_stages(const Input& input, const mf::MeasurePlan& plan,
                                       cudaStream_t stream, mf::Record& record) {
    Arrays arrays(input.a.size());
    const auto before = check_stages(input, arrays, time_stages(input, arrays, stream));
    record.add_checks(before, "before timing");
    require_all(before);
    arrays.poison();

    std::vector<StageTimes> samples;
    std::unique_ptr<mf::CacheFlusher> flusher;
    if (plan.cold) flusher = std::make_unique<mf::CacheFlusher>();
    mf::Subject subject;
    subject.name = "total";
    subject.prepare = [&] {
        if (flusher) flusher->flush(stream);
    };
    subject.time = [&](int passes) {
        StageTimes sum;
        for (int pass = 0; pass < passes; ++pass) {
            const StageTimes times = time_stages(input, arrays, stream);
            sum.h2d_ms += times.h2d_ms;
            sum.kernel_ms += times.kernel_ms;
            sum.d2h_ms += times.d2h_ms;
            sum.total_ms += times.total_ms;
        }
        samples.push_back(sum);
        return mf::TimedInterval{sum.total_ms, 0};
    };
    const mf::Series total = mf::measure_subjects(plan, stream, {subject}, "CUDA events").front();

    const auto stage = [&](const std::string& name, const std::string& boundary,
                           double StageTimes::*ms) {
        mf::Series series = total;
        series.name = name;
        series.boundary = boundary;
        series.first_ms = samples.front().*ms;
        for (std::size_t i = 0; i < series.ms.size(); ++i) {
            // The samples are the last passes; those before them were the warm-up.
            const StageTimes& sample = samples[samples.size() - series.ms.size() + i];
            series.ms[i] = sample.*ms / series.launches_per_sample;
        }
        return series;
    };
    const auto checks = check_stages(input, arrays, time_stages(input, arrays, stream));
    record.add_checks(checks, "after timing");
    require_all(checks);
    return {stage("H2D", "both vectors to the device, pinned", &StageTimes::h2d_ms),
            stage("kernel", "one launch", &StageTimes::kernel_ms),
            stage("D2H", "the sum to the host, pinned", &StageTimes::d2h_ms),
            stage("total", "all three stages in one stream", &StageTimes::total_ms)};
}
//! [measure stages]

//! [measure schedules]
/// total ms: fork, all pieces, join, between two events in the main stream.
std::vector<mf::Series> measure_schedules(std::vector<Schedule>& all, const mf::MeasurePlan& plan,
                                          cudaStream_t stream, mf::Record& record) {
    std::vector<mf::Variant> variants;
    for (Schedule& schedule : all) {
        schedule.poison();
        variants.push_back(
            {schedule.name(),
             (schedule.chunks() == 1 ? std::string("whole vectors")
                                     : std::to_string(schedule.chunks()) + " pieces") +
                 ", " +
                 (schedule.streams() == 0
                      ? std::string("one stream")
                      : std::to_string(schedule.streams()) + " streams joined") +
                 (schedule.pinned() ? ", pinned" : ", pageable") + " host memory",
             [&schedule](cudaStream_t s) { schedule.enqueue(s); }});
    }
    const auto series = mf::measure_variants(plan, stream, variants);
    for (const Schedule& schedule : all) {
        const auto check = schedule.check(schedule.name());
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure schedules]

//! [host work]
/// Work for the host that does not need the device: the sum of squares of a vector.
std::uint64_t sum_of_squares(const std::vector<unsigned>& values) {
    return std::accumulate(
        values.begin(), values.end(), std::uint64_t{0},
        [](std::uint64_t sum, std::uint64_t value) { return sum + value * value; });
}

/// overlap ms: the pipeline and the host's work, alone, one after the other, and together. All end
/// with a wait, so the host's clock is the right one.
std::vector<mf::Series> measure_overlap(const Input& input, std::int64_t chunks,
                                        std::size_t streams, const mf::MeasurePlan& plan,
                                        cudaStream_t stream, mf::Record& record) {
    const std::uint64_t expected = sum_of_squares(input.a);
    struct Way {
        std::string name;
        std::string boundary;
        bool gpu;
        bool cpu;
        bool wait_first;
        std::unique_ptr<Schedule> schedule;
        std::uint64_t sum = 0;
    };
    std::vector<Way> ways;
    const auto add_way = [&](const std::string& name, const std::string& boundary, bool gpu,
                             bool cpu, bool wait_first) {
        ways.push_back({name, boundary, gpu, cpu, wait_first,
                        std::make_unique<Schedule>(name, input, true, chunks, streams), 0});
    };
    add_way("gpu_alone", "pipeline and wait", true, false, true);
    add_way("cpu_alone", "sum of squares on one thread of the host", false, true, false);
    add_way("in_turn", "pipeline, wait, sum of squares", true, true, true);
    add_way("together", "pipeline enqueued, sum of squares, wait", true, true, false);

    const auto run_way = [&input, stream](Way& way) {
        if (way.gpu) way.schedule->enqueue(stream);
        if (way.wait_first) CUDA_CHECK(cudaStreamSynchronize(stream));
        if (way.cpu) way.sum = sum_of_squares(input.a);
        if (way.gpu) CUDA_CHECK(cudaStreamSynchronize(stream));
    };
    const auto check_ways = [&](const char* when) {
        for (Way& way : ways) {
            auto check =
                way.gpu ? way.schedule->check(way.name) : mf::CheckResult{way.name, true, ""};
            if (check.passed && way.cpu) {
                check = mf::check_equal(way.name, std::vector<std::uint64_t>{expected},
                                        std::vector<std::uint64_t>{way.sum});
            }
            record.add_check(check, when);
            mf::require(check);
            way.schedule->poison();
            way.sum = 0;
        }
    };
    std::vector<mf::HostVariant> variants;
    for (Way& way : ways) {
        run_way(way);
        variants.push_back({way.name, way.boundary, [&way, &run_way] { run_way(way); }});
    }
    check_ways("before timing");
    const auto series = mf::measure_host_variants(plan, variants);
    check_ways("after timing");
    return series;
}
//! [host work]

//! [report schedules]
double median_ms(const mf::Series& series) {
    return series.summary().median;
}

/// Prints the verdict; true if the variant is faster for certain.
bool report_verdict(std::ostream& out, const std::string& label, const mf::Series& baseline,
                    const mf::Series& variant, const mf::CommonOptions& options,
                    mf::Record& record) {
    const auto comparison = mf::compare(baseline, variant, options.plan.order, options.seed);
    out << label << ": ";
    mf::print_comparison(out, comparison);
    record.add_comparison(label, comparison);
    return comparison.verdict == mf::Verdict::faster;
}

/// The least that a pipeline can take: its longest stage. With one copy engine both copies are one
/// stage.
double longest_stage_ms(const std::vector<mf::Series>& stages, int copy_engines) {
    const double h2d = median_ms(stages[0]);
    const double kernel = median_ms(stages[1]);
    const double d2h = median_ms(stages[2]);
    return copy_engines >= 2 ? std::max({h2d, kernel, d2h}) : std::max(h2d + d2h, kernel);
}

/// Everything against one stream; and where the pipeline is faster, how much of what could be
/// hidden is hidden.
void report_totals(std::ostream& out, const std::vector<mf::Series>& stages,
                   const std::vector<mf::Series>& totals, const mf::CommonOptions& options,
                   mf::Record& record) {
    const mf::Series& one_stream = totals[0];
    const mf::Series& pipeline = totals[2];
    report_verdict(out, "total ms", one_stream, totals[1], options, record);
    const bool faster = report_verdict(out, "total ms", one_stream, pipeline, options, record);
    report_verdict(out, "total ms", pipeline, totals[3], options, record);

    const int copy_engines = mf::attribute_or(cudaDevAttrAsyncEngineCount, 1);
    const double least = longest_stage_ms(stages, copy_engines);
    record.add_extra("copy_engines", copy_engines);
    record.add_extra("longest_stage_ms", least);
    if (!mf::reason_for_no_rates().empty()) return;
    out << "Overlap: ";
    if (faster && median_ms(one_stream) > least) {
        const double percent =
            100 * (median_ms(one_stream) - median_ms(pipeline)) / (median_ms(one_stream) - least);
        out << mf::fixed(percent, 1) << " % of what could be hidden is hidden";
        record.add_extra("overlap_percent", percent);
    } else {
        out << "none for certain";
    }
    out << "; the longest stage alone takes " << mf::readable(least) << " ms (" << copy_engines
        << " copy engine" << (copy_engines == 1 ? "" : "s") << ")\n";
}
//! [report schedules]

//! [report overlap]
/// The shorter of the two can disappear behind the longer one, and no more.
void report_overlap(std::ostream& out, const std::vector<mf::Series>& ways,
                    const mf::CommonOptions& options, mf::Record& record) {
    const mf::Series& in_turn = ways[2];
    const mf::Series& together = ways[3];
    const bool faster = report_verdict(out, "overlap ms", in_turn, together, options, record);
    if (!mf::reason_for_no_rates().empty()) return;
    if (!faster) {
        out << "Overlap of host and device: none for certain\n";
        return;
    }
    const double shorter = std::min(median_ms(ways[0]), median_ms(ways[1]));
    const double percent = 100 * (median_ms(in_turn) - median_ms(together)) / shorter;
    out << "Overlap of host and device: " << mf::fixed(percent, 1)
        << " % of the shorter of the two is hidden\n";
    record.add_extra("host_overlap_percent", percent);
}
//! [report overlap]

//! [options]
struct Options {
    mf::CommonOptions common;
    std::int64_t n = 2097152;
    std::size_t streams = 4;
    std::int64_t chunks = 8;
    int steps = 0;
};

/// False if only --help was asked for.
bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("streams", "copies and kernels at the same time");
    parser.add_common(options.common);
    parser.add_number("--n", "N", "elements of each vector", options.n, 1, std::uint64_t{1} << 32);
    parser.add_number("--streams", "N", "streams of the pipeline", options.streams, 1, 64);
    parser.add_number("--chunks", "N", "pieces of the vectors", options.chunks, 1, 4096);
    parser.add_number("--steps", "N", "further work an element", options.steps, 0, 1000000);
    return parser.parse(argc, argv);
}
//! [options]

//! [main]
int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    const mf::CommonOptions& common = options.common;
    const mf::RecordFile record_file(common.json);

    const mf::DeviceInfo device = mf::pick_device(common.device);
    std::ostream& out = mf::report_stream(common);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("streams", argc, argv, device, common);
    record.set_input("random 32-bit numbers", {{"n", options.n},
                                               {"streams", options.streams},
                                               {"chunks", options.chunks},
                                               {"steps", options.steps}});

    for (const std::int64_t n : sizes_around(options.chunks)) {
        const Input small(n, options.steps, common.seed);
        auto all = schedules(small, options.chunks, options.streams);
        check_schedules(out, all, n, stream, record);
    }
    const Input input(options.n, options.steps, common.seed);
    auto all = schedules(input, options.chunks, options.streams);
    check_schedules(out, all, options.n, stream, record);
    const auto dependency = check_dependency(Input(1000, 0, common.seed));
    out << mf::checks_line({dependency}) << "\n";
    record.add_check(dependency, "before timing");
    mf::require(dependency);
    const auto legacy = check_legacy_events(out);
    record.add_checks(legacy, "before timing");
    require_all(legacy);

    const auto stages = measure_stages(input, common.plan, stream, record);
    const auto totals = measure_schedules(all, common.plan, stream, record);
    const auto overlap =
        measure_overlap(input, options.chunks, options.streams, common.plan, stream, record);

    out << "\nn=" << options.n << ", 12 bytes an element across the bus, " << options.steps
        << " steps an element\n\n";
    mf::print_series(out, "stage ms", stages);
    record.add_series("stage ms", stages);
    out << "\n";
    mf::print_series(out, "total ms", totals);
    record.add_series("total ms", totals);
    report_totals(out, stages, totals, common, record);
    out << "\n";
    mf::print_series(out, "overlap ms", overlap);
    record.add_series("overlap ms", overlap);
    report_overlap(out, overlap, common, record);
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
