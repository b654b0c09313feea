//! [question]
// copy_cost: when does a GPU pay, if the data must be brought to it and back?
//
// Adding one to every element of an array is a perfect task for a GPU, and often a bad idea: each
// element crosses the bus twice for a single addition. This program measures the parts and the
// whole, does the same work on the host's processor, and searches for the size and for the amount
// of work at which the GPU begins to pay.
//
// Build and run in this folder:
//
//     nvcc -O2 -std=c++17 -arch=native -I ../../common copy_cost.cu -o copy_cost
//     ./copy_cost
//
// Ways of doing the task, data in host memory before and after:
//     gpu_pageable  upload, kernel, download; ordinary host memory
//     gpu_pinned    the same with page-locked host memory
//     cpu_one       one thread of the host
//     cpu_all       all threads of the host
// and, for the search, one with the data on the device before and after:
//     gpu_resident  the kernel and the wait for it
//
// The order of the file is the order of the work: reference, kernels, host threads, the ways,
// check, measure, search, report, main.
//! [question]

//! [includes]
#include <cuda_runtime.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "affine.cuh"
#include "buffer.hpp"
#include "check.hpp"
#include "device.hpp"
#include "options.hpp"
#include "random.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace {
//! [includes]

//! [reference]
/// The two changes to an element are of the same kind: adding one, and a step of a chain.
constexpr Affine plus_one{1, 1};
//! [reference]

//! [kernels]
constexpr int threads_per_block = 256;

/// One read, one addition and one write an element.
__global__ void increment(unsigned* values, std::int64_t n) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1;
}

/// One read, `steps` multiplications and additions, and one write an element.
__global__ void chain(unsigned* values, std::int64_t n, int steps) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned value = values[i];
    for (int step = 0; step < steps; ++step)
        value = value * chain_step.multiplier + chain_step.addend;
    values[i] = value;
}
//! [kernels]

//! [work]
unsigned blocks_for(std::int64_t n) {
    return static_cast<unsigned>((n + threads_per_block - 1) / threads_per_block);
}

/// The same change to every element, on either processor.
struct Work {
    std::function<void(unsigned* values, std::int64_t n, cudaStream_t)> launch;
    std::function<void(unsigned* begin, unsigned* end)> on_host;
    Affine once;  ///< what it makes of an element
};

Work increment_work() {
    return {[](unsigned* values, std::int64_t n, cudaStream_t stream) {
                increment<<<blocks_for(n), threads_per_block, 0, stream>>>(values, n);
                CUDA_CHECK_LAUNCH();
            },
            [](unsigned* begin, unsigned* end) {
                for (; begin != end; ++begin)
                    *begin += 1;
            },
            plus_one};
}

Work chain_work(int steps) {
    return {[steps](unsigned* values, std::int64_t n, cudaStream_t stream) {
                chain<<<blocks_for(n), threads_per_block, 0, stream>>>(values, n, steps);
                CUDA_CHECK_LAUNCH();
            },
            [steps](unsigned* begin, unsigned* end) {
                for (; begin != end; ++begin) {
                    unsigned value = *begin;
                    for (int step = 0; step < steps; ++step)
                        value = chain_step(value);
                    *begin = value;
                }
            },
            repeated(chain_step, static_cast<std::uint64_t>(steps))};
}
//! [work]

//! [host threads]
/// The host's threads, started once: to start them for every task would cost more than a small task
/// does.
class HostThreads {
public:
    using Share = std::function<void(std::int64_t begin, std::int64_t end)>;

    explicit HostThreads(unsigned count) : count_(count) {
        for (unsigned i = 1; i < count; ++i)
            threads_.emplace_back([this, i] { serve(i); });
    }
    ~HostThreads() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
        }
        start_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }
    HostThreads(const HostThreads&) = delete;
    HostThreads& operator=(const HostThreads&) = delete;

    unsigned count() const { return count_; }

    /// Calls `share` for parts that together are 0 … n, one part a thread, the calling one among
    /// them, and waits for all. A part that takes a microsecond is not worth waking a thread for.
    void divide(std::int64_t n, const Share& share) {
        if (n < 2 * least_share || count_ == 1) return share(0, n);
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            share_ = &share;
            n_ = n;
            busy_ = count_ - 1;
            ++round_;
        }
        start_.notify_all();
        call(share, 0, n);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

private:
    static constexpr std::int64_t least_share = 4096;

    void call(const Share& share, unsigned index, std::int64_t n) const {
        share(n * index / count_, n * (index + 1) / count_);
    }

    void serve(unsigned index) {
        std::unique_lock<std::mutex> lock(mutex_);
        for (std::uint64_t seen = 0;;) {
            start_.wait(lock, [&] { return stop_ || round_ != seen; });
            if (stop_) return;
            seen = round_;
            const Share& share = *share_;
            const std::int64_t n = n_;
            lock.unlock();
            call(share, index, n);
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }

    unsigned count_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable start_;
    std::condition_variable done_;
    const Share* share_ = nullptr;
    std::int64_t n_ = 0;
    unsigned busy_ = 0;
    std::uint64_t round_ = 0;
    bool stop_ = false;
};
//! [host threads]

//! [task]
/// One task of n elements, done in every way. Each way has arrays of its own and counts how often
/// it was done, so that none can pass with another one's result.
class Task {
public:
    Task(Work work, std::int64_t n, std::uint64_t seed, HostThreads& threads, cudaStream_t stream)
        : work_(std::move(work)), threads_(&threads), stream_(stream) {
        mf::Random random(seed);
        initial_.resize(static_cast<std::size_t>(n));
        for (unsigned& value : initial_)
            value = static_cast<unsigned>(random.bits());
        pageable_ = cpu_one_ = cpu_all_ = initial_;
        pinned_ = mf::PinnedBuffer<unsigned>(initial_.size());
        std::copy(initial_.begin(), initial_.end(), pinned_.begin());
        for_pageable_ = mf::DeviceBuffer<unsigned>(initial_.size());
        for_pinned_ = mf::DeviceBuffer<unsigned>(initial_.size());
        resident_ = mf::DeviceBuffer<unsigned>(initial_);
        for_pageable_.poison();
        for_pinned_.poison();
    }

    void gpu_pageable() { roundtrip(pageable_.data(), for_pageable_, done_.gpu_pageable); }
    void gpu_pinned() { roundtrip(pinned_.get(), for_pinned_, done_.gpu_pinned); }
    void gpu_resident() {
        enqueue_resident(stream_);
        CUDA_CHECK(cudaStreamSynchronize(stream_));
    }
    void enqueue_resident(cudaStream_t stream) {
        work_.launch(resident_.get(), n(), stream);
        ++done_.gpu_resident;
    }
    void cpu_one() {
        work_.on_host(cpu_one_.data(), cpu_one_.data() + n());
        ++done_.cpu_one;
    }
    void cpu_all() {
        threads_->divide(n(), [this](std::int64_t begin, std::int64_t end) {
            work_.on_host(cpu_all_.data() + begin, cpu_all_.data() + end);
        });
        ++done_.cpu_all;
    }

    std::int64_t n() const { return static_cast<std::int64_t>(initial_.size()); }
    double bytes() const { return static_cast<double>(initial_.size() * sizeof(unsigned)); }

    /// Every element of every way's array against the reference.
    std::vector<mf::CheckResult> check() const {
        return {check_way("gpu_pageable", pageable_, done_.gpu_pageable),
                check_way("gpu_pinned", std::vector<unsigned>(pinned_.begin(), pinned_.end()),
                          done_.gpu_pinned),
                check_way("gpu_resident", resident_.download(), done_.gpu_resident),
                check_way("cpu_one", cpu_one_, done_.cpu_one),
                check_way("cpu_all", cpu_all_, done_.cpu_all)};
    }

private:
    void roundtrip(unsigned* host, const mf::DeviceBuffer<unsigned>& device, std::uint64_t& done) {
        CUDA_CHECK(
            cudaMemcpyAsync(device.get(), host, device.bytes(), cudaMemcpyHostToDevice, stream_));
        work_.launch(device.get(), n(), stream_);
        CUDA_CHECK(
            cudaMemcpyAsync(host, device.get(), device.bytes(), cudaMemcpyDeviceToHost, stream_));
        CUDA_CHECK(cudaStreamSynchronize(stream_));
        ++done;
    }

    mf::CheckResult check_way(const std::string& name, const std::vector<unsigned>& actual,
                              std::uint64_t done) const {
        const Affine all = repeated(work_.once, done);
        std::vector<unsigned> expected = initial_;
        for (unsigned& value : expected)
            value = all(value);
        return mf::check_equal(name, expected, actual);
    }

    struct Done {
        std::uint64_t gpu_pageable = 0;
        std::uint64_t gpu_pinned = 0;
        std::uint64_t gpu_resident = 0;
        std::uint64_t cpu_one = 0;
        std::uint64_t cpu_all = 0;
    };

    Work work_;
    HostThreads* threads_;
    cudaStream_t stream_;
    std::vector<unsigned> initial_;
    std::vector<unsigned> pageable_;
    std::vector<unsigned> cpu_one_;
    std::vector<unsigned> cpu_all_;
    mf::PinnedBuffer<unsigned> pinned_;
    mf::DeviceBuffer<unsigned> for_pageable_;
    mf::DeviceBuffer<unsigned> for_pinned_;
    mf::DeviceBuffer<unsigned> resident_;
    Done done_;
};
//! [task]

//! [ways]
struct Way {
    std::string name;
    std::string boundary;
    void (Task::*run)();
};

const Way gpu_pageable{"gpu_pageable", "upload, kernel, download, wait; pageable host memory",
                       &Task::gpu_pageable};
const Way gpu_pinned{"gpu_pinned", "upload, kernel, download, wait; pinned host memory",
                     &Task::gpu_pinned};
const Way gpu_resident{"gpu_resident", "kernel and wait, data on the device", &Task::gpu_resident};
const Way cpu_one{"cpu_one", "one thread of the host", &Task::cpu_one};
const Way cpu_all{"cpu_all", "all threads of the host", &Task::cpu_all};

/// What all runs so far left, in every way's array.
void verify(const Task& task, const std::string& label, mf::Record& record) {
    for (mf::CheckResult check : task.check()) {
        check.name += " " + label;
        record.add_check(check, "after timing");
        mf::require(check);
    }
}

/// Times these ways of one task and verifies what all of their runs left.
std::vector<mf::Series> measure_ways(Task& task, const std::vector<Way>& ways,
                                     const std::string& label, const mf::MeasurePlan& plan,
                                     mf::Record& record) {
    std::vector<mf::HostVariant> variants;
    for (const Way& way : ways) {
        variants.push_back({way.name, way.boundary, [&task, &way] { (task.*way.run)(); }});
    }
    const auto series = mf::measure_host_variants(plan, variants);
    verify(task, label, record);
    record.add_series(label, series);
    return series;
}
//! [ways]

//! [copies]
/// One way across the bus, without a kernel. `source` and `target` are host memory; the device's
/// buffer lies between them.
struct Copies {
    std::vector<unsigned> pageable_source;
    std::vector<unsigned> pageable_target;
    mf::PinnedBuffer<unsigned> pinned_source;
    mf::PinnedBuffer<unsigned> pinned_target;
    mf::DeviceBuffer<unsigned> from_pageable;
    mf::DeviceBuffer<unsigned> from_pinned;

    Copies(std::int64_t n, std::uint64_t seed)
        : pageable_source(static_cast<std::size_t>(n)),
          pageable_target(pageable_source.size()),
          pinned_source(pageable_source.size()),
          pinned_target(pageable_source.size()),
          from_pageable(pageable_source.size()),
          from_pinned(pageable_source.size()) {
        mf::Random random(seed);
        for (unsigned& value : pageable_source)
            value = static_cast<unsigned>(random.bits());
        std::copy(pageable_source.begin(), pageable_source.end(), pinned_source.begin());
        from_pageable.poison();
        from_pinned.poison();
    }

    /// The uploads come first: what they brought is what the downloads fetch.
    std::vector<mf::HostVariant> variants(cudaStream_t stream) {
        const auto copy = [stream](unsigned* to, const unsigned* from, std::size_t bytes,
                                   cudaMemcpyKind kind) {
            return [=] {
                CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
                CUDA_CHECK(cudaStreamSynchronize(stream));
            };
        };
        const std::size_t bytes = from_pinned.bytes();
        return {{"upload_pageable", "one copy to the device and the wait; pageable host memory",
                 copy(from_pageable.get(), pageable_source.data(), bytes, cudaMemcpyHostToDevice)},
                {"upload_pinned", "one copy to the device and the wait; pinned host memory",
                 copy(from_pinned.get(), pinned_source.get(), bytes, cudaMemcpyHostToDevice)},
                {"download_pageable", "one copy to the host and the wait; pageable host memory",
                 copy(pageable_target.data(), from_pageable.get(), bytes, cudaMemcpyDeviceToHost)},
                {"download_pinned", "one copy to the host and the wait; pinned host memory",
                 copy(pinned_target.get(), from_pinned.get(), bytes, cudaMemcpyDeviceToHost)}};
    }

    std::vector<mf::CheckResult> check() const {
        const std::vector<unsigned>& expected = pageable_source;
        return {mf::check_equal("upload_pageable", expected, from_pageable.download()),
                mf::check_equal("upload_pinned", expected, from_pinned.download()),
                mf::check_equal("download_pageable", expected, pageable_target),
                mf::check_equal("download_pinned", expected, pinned_target)};
    }
};
//! [copies]

//! [check]
void require_all(const std::vector<mf::CheckResult>& checks) {
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}

/// Every way twice on one size; both kinds of work.
void check_size(std::ostream& out, std::int64_t n, const mf::CommonOptions& options,
                HostThreads& threads, cudaStream_t stream, mf::Record& record) {
    for (const bool increments : {true, false}) {
        constexpr int steps = 3;
        Task task(increments ? increment_work() : chain_work(steps), n, options.seed, threads,
                  stream);
        for (int i = 0; i < 2; ++i) {
            for (const Way* const way :
                 {&gpu_pageable, &gpu_pinned, &gpu_resident, &cpu_one, &cpu_all})
                (task.*(way->run))();
        }
        const auto checks = task.check();
        out << "n=" << n << (increments ? " increment: " : " chain of 3: ")
            << mf::checks_line(checks) << "\n";
        record.add_checks(checks, "before timing");
        require_all(checks);
    }
}
//! [check]

//! [measure parts]
/// kernel ms: the kernel alone, by events.
mf::Series measure_kernel(Task& task, const mf::MeasurePlan& plan, cudaStream_t stream,
                          mf::Record& record) {
    const auto series =
        mf::measure(plan, stream, gpu_resident.name, "one launch, data on the device",
                    [&task](cudaStream_t s) { task.enqueue_resident(s); });
    verify(task, "kernel ms", record);
    return series;
}

/// copy ms: the copies alone, by the host's clock with the wait inside. Copies of pageable memory
/// keep the host busy, so events would time the host's work as well.
std::vector<mf::Series> measure_copies(std::ostream& out, Copies& copies,
                                       const mf::MeasurePlan& plan, cudaStream_t stream,
                                       mf::Record& record) {
    const auto variants = copies.variants(stream);
    for (const mf::HostVariant& variant : variants)
        variant.work();
    const auto before = copies.check();
    out << mf::checks_line(before) << "\n";
    record.add_checks(before, "before timing");
    require_all(before);
    auto series = mf::measure_host_variants(plan, variants);
    const auto after = copies.check();
    record.add_checks(after, "after timing");
    require_all(after);
    return series;
}
//! [measure parts]

//! [search]
/// One row of a search: a size, or a number of steps.
struct Row {
    std::int64_t parameter;
    std::vector<mf::Series> series;  ///< in the order of `searched`
};

const std::vector<Way> searched = {gpu_resident, gpu_pinned, cpu_one, cpu_all};

/// Many points, so fewer samples for each.
mf::MeasurePlan search_plan(const mf::MeasurePlan& plan) {
    mf::MeasurePlan shorter = plan;
    shorter.repeats = std::min(plan.repeats, 8);
    shorter.warm_up_ms = 10;
    return shorter;
}

/// The slowest way's median, in ms.
double slowest_ms(const Row& row) {
    double slowest = 0;
    for (const mf::Series& series : row.series)
        slowest = std::max(slowest, series.summary().median);
    return slowest;
}

/// Four times as much in every row, until the slowest way takes longer than the limit.
template <typename MakeTask>
std::vector<Row> search(std::int64_t from, std::int64_t to, double limit_ms,
                        const std::string& name, const mf::MeasurePlan& plan, mf::Record& record,
                        MakeTask&& make_task) {
    std::vector<Row> rows;
    for (std::int64_t parameter = from; parameter <= to; parameter *= 4) {
        Task task = make_task(parameter);
        const std::string label = name + "=" + std::to_string(parameter) + " task ms";
        rows.push_back({parameter, measure_ways(task, searched, label, search_plan(plan), record)});
        if (slowest_ms(rows.back()) > limit_ms) break;
    }
    return rows;
}

/// The first parameter from which on way `gpu` is faster than way `cpu` in every row.
std::optional<std::int64_t> pays_from(const std::vector<Row>& rows, std::size_t gpu,
                                      std::size_t cpu, const mf::CommonOptions& options) {
    std::optional<std::int64_t> from;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
        const auto comparison =
            mf::compare(row->series[cpu], row->series[gpu], options.plan.order, options.seed);
        if (comparison.verdict != mf::Verdict::faster) break;
        from = row->parameter;
    }
    return from;
}
//! [search]

//! [report parts]
void report_kernel(std::ostream& out, const mf::Series& kernel, const Task& task,
                   const mf::Ceilings& ceilings, mf::Record& record) {
    const auto rate = mf::rate_of(kernel, 2 * task.bytes(), ceilings, task.bytes());
    mf::print_series(out, "kernel ms", {kernel}, {rate});
    record.add_series("kernel ms", kernel, rate);
}

/// Bytes are counted once, in the direction of the copy; neither the device's memory nor a copy
/// within it is what limits them.
void report_copies(std::ostream& out, const std::vector<mf::Series>& copies, double bytes,
                   const mf::CommonOptions& options, mf::Record& record) {
    mf::Table table({"variant", "copy ms", "min", "p95", "GB/s one way"});
    std::vector<std::optional<mf::Rate>> rates;
    for (const mf::Series& series : copies) {
        rates.push_back(mf::rate_of(series, bytes, {}));
        const mf::Summary s = series.summary();
        table.add_row({series.name, mf::readable(s.median), mf::readable(s.min),
                       mf::readable(s.p95),
                       rates.back() ? mf::readable(rates.back()->gb_per_s) : std::string("-")});
    }
    table.print(out);
    mf::print_series_notes(out, copies);
    record.add_series("copy ms", copies, rates);
    for (const std::size_t pageable : {0, 2}) {
        const auto comparison =
            mf::compare(copies[pageable], copies[pageable + 1], options.plan.order, options.seed);
        out << "copy ms: ";
        mf::print_comparison(out, comparison);
        record.add_comparison("copy ms", comparison);
    }
}

/// Everybody against gpu_pinned, the best that can be done with both copies.
void report_task(std::ostream& out, const std::vector<mf::Series>& ways,
                 const mf::CommonOptions& options, mf::Record& record) {
    mf::print_series(out, "task ms", ways);
    const mf::Series& pinned = ways[1];
    for (const std::size_t other : {0, 2, 3}) {
        const auto comparison = mf::compare(ways[other], pinned, options.plan.order, options.seed);
        out << "task ms: ";
        mf::print_comparison(out, comparison);
        record.add_comparison("task ms", comparison);
    }
}
//! [report parts]

//! [report search]
void report_search(std::ostream& out, const std::vector<Row>& rows, const std::string& parameter) {
    std::vector<std::string> headers = {parameter};
    for (const Way& way : searched)
        headers.push_back(way.name + " us");
    mf::Table table(headers);
    for (const Row& row : rows) {
        std::vector<std::string> cells = {std::to_string(row.parameter)};
        for (const mf::Series& series : row.series)
            cells.push_back(mf::readable(mf::us_of_ms(series.summary().median)));
        table.add_row(cells);
    }
    table.print(out);
}

/// "from n = 4096 on", or that it does not happen in the rows that were measured.
std::string from_text(const std::vector<Row>& rows, std::size_t gpu, std::size_t cpu,
                      const std::string& parameter, const mf::CommonOptions& options,
                      mf::Json& found) {
    const auto from = pays_from(rows, gpu, cpu, options);
    found.set(searched[gpu].name + " against " + searched[cpu].name + " by " + parameter, from);
    return searched[gpu].name + " is faster than " + searched[cpu].name +
           (from ? " from " + parameter + " = " + std::to_string(*from) + " on"
                 : " nowhere for certain up to " + parameter + " = " +
                       std::to_string(rows.back().parameter));
}
//! [report search]

//! [report rules]
/// The three rules, with the numbers of this machine and this run.
void report_rules(std::ostream& out, const std::vector<Row>& sizes, const std::vector<Row>& steps,
                  const mf::Series& kernel, const std::vector<mf::Series>& copies,
                  const mf::CommonOptions& options, mf::Record& record) {
    if (const std::string reason = mf::reason_for_no_rates(); !reason.empty()) {
        out << "  " << reason << "\n";
        return;
    }
    enum { resident, pinned, one, all };  // positions in `searched`
    mf::Json found = mf::Json::object();
    const auto line = [&](const std::vector<Row>& rows, std::size_t gpu, std::size_t cpu,
                          const std::string& parameter) {
        out << "     " << from_text(rows, gpu, cpu, parameter, options, found) << "\n";
    };
    out << "  1. Much work for each byte that is copied, at the measured size:\n";
    line(steps, pinned, one, "steps");
    line(steps, pinned, all, "steps");
    const double copies_ms = mf::median(copies[1].ms) + mf::median(copies[3].ms);
    const double kernels = copies_ms / mf::median(kernel.ms);
    out << "  2. Data that stay on the device: one upload and one download, pinned, take as long "
           "as "
        << mf::readable(kernels) << " launches of the kernel (" << mf::readable(copies_ms)
        << " ms against " << mf::readable(mf::median(kernel.ms)) << " ms)\n";
    out << "  3. Small tasks to the CPU: with one addition an element,\n";
    for (const std::size_t gpu : {resident, pinned}) {
        line(sizes, gpu, one, "n");
        line(sizes, gpu, all, "n");
    }
    record.add_extra("pays_from", found);
    record.add_extra("copies_in_kernels", kernels);
}
//! [report rules]

//! [main]
int run(int argc, char** argv) {
    mf::CommonOptions options;
    std::int64_t n = 1048576;
    int limit_ms = 10;
    mf::OptionParser parser("copy_cost",
                            "when a GPU pays for adding one to an array in host memory");
    parser.add_common(options);
    parser.add_number("--n", "N", "elements", n, 1, std::uint64_t{1} << 32);
    parser.add_number("--limit", "MS", "end a search once a task takes so long", limit_ms, 1,
                      10000);
    if (!parser.parse(argc, argv)) return mf::exit_ok;
    const mf::RecordFile record_file(options.json);

    const mf::DeviceInfo device = mf::pick_device(options.device);
    std::ostream& out = mf::report_stream(options);
    mf::print_conditions(out, device);
    HostThreads threads(std::max(1u, std::thread::hardware_concurrency()));
    out << "Host: " << threads.count() << " threads\n";
    const mf::Stream stream;
    mf::Record record("copy_cost", argc, argv, device, options);
    record.set_input("random 32-bit numbers", {{"n", n}, {"host_threads", threads.count()}});

    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{257}, std::int64_t{8195}, n})
        check_size(out, size, options, threads, stream, record);
    Copies copies(n, options.seed);
    const auto copy_series = measure_copies(out, copies, options.plan, stream, record);

    const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
    record.set_ceilings(ceilings);
    const auto make_task = [&](const Work& work, std::int64_t size) {
        return Task(work, size, options.seed, threads, stream);
    };
    Task task = make_task(increment_work(), n);
    const auto kernel = measure_kernel(task, options.plan, stream, record);
    const auto ways = measure_ways(task, {gpu_pageable, gpu_pinned, cpu_one, cpu_all}, "task ms",
                                   options.plan, record);

    mf::print_ceilings(out, ceilings);
    out << "\nn=" << n << ", " << mf::readable_bytes(task.bytes()) << "\n\n";
    report_kernel(out, kernel, task, ceilings, record);
    out << "\n";
    report_copies(out, copy_series, task.bytes(), options, record);
    out << "\n";
    report_task(out, ways, options, record);

    constexpr std::int64_t smallest = 1024;
    constexpr std::int64_t largest = std::int64_t{1} << 26;
    const auto sizes = search(smallest, largest, limit_ms, "n", options.plan, record,
                              [&](std::int64_t size) { return make_task(increment_work(), size); });
    constexpr std::int64_t most_steps = 16384;
    const auto steps = search(
        1, most_steps, limit_ms, "steps", options.plan, record,
        [&](std::int64_t count) { return make_task(chain_work(static_cast<int>(count)), n); });
    out << "\nOne addition an element, median us a task:\n";
    report_search(out, sizes, "n");
    out << "\nn=" << n << ", so many steps an element, median us a task:\n";
    report_search(out, steps, "steps");
    out << "\nThree rules, with the numbers of this run:\n";
    report_rules(out, sizes, steps, kernel, copy_series, options, record);
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
