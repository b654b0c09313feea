//! [question]
// occupancy: does a kernel get faster if more of its warps fit on an SM?
//
// An SM hides the time that one warp waits by running another. How many it can choose from is its
// occupancy: resident warps over the most that it can hold. The runtime calculates what a kernel's
// block size, registers and shared memory allow. Here that theoretical occupancy is held against
// the one that was achieved, as the blocks' own clocks tell it, and both against the time.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     f=chapters/11_occupancy/occupancy.cu
//     nvcc -O2 -std=c++17 -arch=native -I common $f -o occupancy
//     ./occupancy
//     ./occupancy --threads 256 --work 128
//
// Kernels, each with one or with four things at once that a thread need not wait for in between:
//     memory_1, memory_4          sums floats from memory, one or four loads under way a thread
//     arithmetic_1, arithmetic_4  multiplies and adds, in one or in four independent chains
//
// Two sweeps: shared memory that the kernels ask for and never use lets fewer blocks fit on an SM;
// and for memory_1, blocks from a warp to as large as they can be.
//
// The order of the file is the order of the work: kernels, reference, check; configurations,
// theoretical and achieved occupancy, measure, report, main.
//! [question]

//! [includes]
#include "../10_block_clock/block_waves.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "cache.hpp"
#include "check.hpp"
#include "clock.hpp"
#include "device.hpp"
#include "options.hpp"
#include "random.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

namespace {

using block_clock::BlockTimes;
//! [includes]

//! [task]
/// The work of a launch, the same for every configuration: so many threads, whatever their blocks.
struct Task {
    unsigned threads = 0;  ///< of the whole grid
    unsigned work = 64;    ///< floats that a thread of memory_* reads

    /// Multiplications with addition that a thread of arithmetic_* makes.
    __host__ __device__ unsigned steps() const { return 4 * work; }
    std::size_t floats() const { return static_cast<std::size_t>(threads) * work; }
};
//! [task]

//! [notes]
/// What chapter 10's kernel notes about a block, as two calls around the work.
__device__ inline void note_begin(BlockTimes* times) {
    if (threadIdx.x != 0) return;
    times[blockIdx.x].multiprocessor = block_clock::multiprocessor();
    times[blockIdx.x].start_ns = block_clock::nanoseconds();
    times[blockIdx.x].start = clock64();
}

/// All threads must call it.
__device__ inline void note_end(BlockTimes* times) {
    __syncthreads();
    if (threadIdx.x == 0) times[blockIdx.x].end = clock64();
}
//! [notes]

//! [memory]
/// Each thread sums `work` floats, neighbouring threads neighbouring ones. Within a round the loads
/// do not depend on each other, so that `at_once` of them are under way; without `unroll 1` the
/// compiler would put loads of several rounds together, and both versions would be the same.
template <int at_once>
__global__ void memory(const float* input, float* output, Task task, BlockTimes* times) {
    note_begin(times);
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < task.threads) {
        float sums[at_once] = {};
        const float* next = input + thread;
        unsigned done = 0;
#pragma unroll 1
        for (; done + at_once <= task.work; done += at_once) {
            float values[at_once];
            for (int k = 0; k < at_once; ++k, next += task.threads)
                values[k] = *next;
            for (int k = 0; k < at_once; ++k)
                sums[k] += values[k];
        }
#pragma unroll 1
        for (; done < task.work; ++done, next += task.threads)
            sums[0] += *next;
        float sum = 0;
        for (const float part : sums)
            sum += part;
        output[thread] = sum;
    }
    note_end(times);
}
//! [memory]

//! [arithmetic]
/// Each thread makes `steps` multiplications with addition. Within a chain each needs the result of
/// the one before; the chains do not need each other. nvcc makes one instruction of the two
/// operations. `input` holds factor and summand, so that it cannot know them.
template <int at_once>
__global__ void arithmetic(const float* input, float* output, Task task, BlockTimes* times) {
    note_begin(times);
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < task.threads) {
        const float factor = input[0];
        const float summand = input[1];
        float chains[at_once];
        for (int k = 0; k < at_once; ++k)
            chains[k] = static_cast<float>(thread % 1024);
        for (unsigned done = 0; done < task.steps(); done += at_once) {
#pragma unroll
            for (int k = 0; k < at_once; ++k)
                chains[k] = chains[k] * factor + summand;
        }
        float sum = 0;
        for (const float chain : chains)
            sum += chain;
        output[thread] = sum;
    }
    note_end(times);
}
//! [arithmetic]

//! [kernels]
struct Kernel {
    std::string name;
    void (*function)(const float*, float*, Task, BlockTimes*);
    bool reads_memory;
    int at_once;
};

const std::vector<Kernel> kernels = {{"memory_1", memory<1>, true, 1},
                                     {"memory_4", memory<4>, true, 4},
                                     {"arithmetic_1", arithmetic<1>, false, 1},
                                     {"arithmetic_4", arithmetic<4>, false, 4}};
//! [kernels]

//! [input]
/// Whole numbers from 0 to 255: the sums are exact in any order.
std::vector<float> whole_floats(std::size_t count, std::uint64_t seed) {
    std::vector<float> floats;
    floats.reserve(count);
    for (const unsigned char byte : mf::random_bytes(count, seed))
        floats.push_back(byte);
    return floats;
}

/// Factor 1 and summand 1: each step of a chain adds exactly 1, which tells how many were made.
const std::vector<float> factor_and_summand = {1, 1};
//! [input]

//! [reference]
std::vector<float> memory_reference(const Task& task, const std::vector<float>& input) {
    std::vector<float> sums(task.threads, 0);
    for (std::size_t i = 0; i < input.size(); ++i)
        sums[i % task.threads] += input[i];
    return sums;
}

std::vector<float> arithmetic_reference(const Task& task, int at_once) {
    std::vector<float> sums(task.threads);
    for (unsigned thread = 0; thread < task.threads; ++thread) {
        sums[thread] =
            static_cast<float>(static_cast<unsigned>(at_once) * (thread % 1024) + task.steps());
    }
    return sums;
}
//! [reference]

//! [data]
/// What all configurations of a task work on, and what must come out, a vector a kernel.
struct Data {
    Task task;
    mf::DeviceBuffer<float> memory_input;
    mf::DeviceBuffer<float> arithmetic_input;
    std::vector<std::vector<float>> expected;

    Data(const Task& t, std::uint64_t seed) : task(t), arithmetic_input(factor_and_summand) {
        const std::vector<float> input = whole_floats(task.floats(), seed);
        memory_input = mf::DeviceBuffer<float>(input);
        const std::vector<float> sums = memory_reference(task, input);
        for (const Kernel& kernel : kernels) {
            expected.push_back(kernel.reads_memory ? sums
                                                   : arithmetic_reference(task, kernel.at_once));
        }
    }
    const float* input_of(const Kernel& kernel) const {
        return (kernel.reads_memory ? memory_input : arithmetic_input).get();
    }
};
//! [data]

//! [theoretical]
constexpr int warp_size = 32;

int warps_of(unsigned threads) {
    return (static_cast<int>(threads) + warp_size - 1) / warp_size;
}

int most_warps() {
    return mf::attribute_or(cudaDevAttrMaxThreadsPerMultiProcessor, 0) / warp_size;
}

/// A kernel in blocks of one size that ask for so much shared memory.
struct Configuration {
    std::size_t kernel = 0;  ///< its place among the kernels
    unsigned threads = 0;    ///< of a block
    std::size_t shared_bytes = 0;
    int fit = 0;  ///< blocks that fit on an SM, by the runtime's calculation

    const Kernel& which() const { return kernels[kernel]; }
    std::string name() const {
        return which().name + "/" + std::to_string(fit) + "x" + std::to_string(threads);
    }
    unsigned blocks(const Task& task) const { return (task.threads + threads - 1) / threads; }
    double theoretical() const {
        return static_cast<double>(fit) * warps_of(threads) / most_warps();
    }
};

/// Registers, shared memory, threads and blocks: the scarcest of them decides how many fit.
Configuration configuration_of(std::size_t kernel, unsigned threads, std::size_t shared_bytes) {
    Configuration c{kernel, threads, shared_bytes, 0};
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &c.fit, c.which().function, static_cast<int>(threads), shared_bytes));
    return c;
}
//! [theoretical]

//! [configurations]
/// Lets the kernels ask for all the shared memory there is. The SM's memory is divided between
/// shared memory and L1 cache in the same way for all of them, or they would differ in two things.
void allow_shared_memory() {
    const int most = mf::attribute_or(cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    for (const Kernel& kernel : kernels) {
        CUDA_CHECK(cudaFuncSetAttribute(kernel.function,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, most));
        CUDA_CHECK(cudaFuncSetAttribute(kernel.function,
                                        cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared));
    }
}

/// From one block an SM to as many as fit, by shared memory that nobody uses. The runtime is asked
/// how much lets 1, 2, 4 … blocks fit, then how many do: that may be fewer.
std::vector<Configuration> shared_memory_sweep(unsigned threads) {
    std::vector<Configuration> all;
    for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
        const Configuration full = configuration_of(kernel, threads, 0);
        for (int blocks = 1; blocks < full.fit; blocks *= 2) {
            std::size_t bytes = 0;
            CUDA_CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(
                &bytes, kernels[kernel].function, blocks, static_cast<int>(threads)));
            const Configuration limited = configuration_of(kernel, threads, bytes);
            if (all.empty() || limited.fit != all.back().fit || all.back().kernel != kernel) {
                all.push_back(limited);
            }
        }
        all.push_back(full);
    }
    return all;
}

/// memory_1, which needs occupancy the most, in blocks of all sizes but the one above.
std::vector<Configuration> block_size_sweep(unsigned but_not) {
    std::vector<Configuration> all;
    for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 768u, 1024u}) {
        if (threads != but_not) all.push_back(configuration_of(0, threads, 0));
    }
    return all;
}
//! [configurations]

//! [measured]
/// A configuration with all that was measured on it.
struct Measured {
    Configuration configuration;
    mf::DeviceBuffer<float> output;
    mf::DeviceBuffer<BlockTimes> times;
    mf::Series series;             ///< kernel ms
    std::vector<double> achieved;  ///< occupancy, one a sample

    Measured(const Configuration& c, const Task& task)
        : configuration(c), output(task.threads), times(c.blocks(task)) {
        poison();
    }
    void poison() {
        output.poison();
        times.poison();
    }
    void launch(const Data& data, cudaStream_t stream) const {
        const Configuration& c = configuration;
        c.which().function<<<c.blocks(data.task), c.threads, c.shared_bytes, stream>>>(
            data.input_of(c.which()), output.get(), data.task, times.get());
        CUDA_CHECK_LAUNCH();
    }
    mf::CheckResult check(const Data& data) const {
        return mf::check_equal(
            configuration.name(), data.expected[configuration.kernel], output.download(),
            [](std::size_t thread) { return "thread " + std::to_string(thread); });
    }
    std::string label() const { return "kernel ms, " + configuration.which().name; }
};

std::vector<Measured> prepare(const std::vector<Configuration>& configurations, const Task& task) {
    std::vector<Measured> all;
    for (const Configuration& one : configurations)
        all.emplace_back(one, task);
    return all;
}
//! [measured]

//! [check]
/// Runs each configuration once, into poisoned buffers.
std::vector<mf::CheckResult> check_all(std::vector<Measured>& all, const Data& data,
                                       cudaStream_t stream) {
    std::vector<mf::CheckResult> checks;
    for (Measured& one : all) {
        one.launch(data, stream);
        checks.push_back(one.check(data));
        one.poison();
    }
    return checks;
}

/// One word a kernel; throws for the first wrong result.
void report_checks(std::ostream& out, const std::vector<Measured>& all,
                   const std::vector<mf::CheckResult>& checks) {
    std::vector<mf::CheckResult> of_kernels;
    for (const Kernel& kernel : kernels) {
        mf::CheckResult result{kernel.name, true, ""};
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool own = &all[i].configuration.which() == &kernel;
            if (own && result.passed) result.passed = checks[i].passed;
        }
        of_kernels.push_back(result);
    }
    out << all.size() << " configurations: " << mf::checks_line(of_kernels) << "\n";
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}
//! [check]

//! [achieved]
/// Warps that were resident, averaged over the time in which the SMs had work, over the most that
/// they can hold. A block counts from its first note to its last; an SM from the beginning of its
/// first block to the end of its last one.
double achieved_occupancy(const std::vector<BlockTimes>& times, unsigned threads) {
    double block_clocks = 0;
    double sm_clocks = 0;
    for (const auto& [sm, story] : block_clock::stories_of(times)) {
        for (const block_clock::Placed& block : story.blocks)
            block_clocks += static_cast<double>(block.end - block.start);
        sm_clocks += static_cast<double>(story.span);
    }
    return block_clocks / sm_clocks * warps_of(threads) / most_warps();
}
//! [achieved]

//! [measure]
/// kernel ms by events, then the occupancy of single launches by their blocks' clocks.
void measure(std::vector<Measured>& all, const Data& data, const mf::MeasurePlan& plan,
             cudaStream_t stream, mf::Record& record) {
    const auto require_right = [&] {
        for (Measured& one : all) {
            const auto check = one.check(data);
            record.add_check(check, "after timing");
            mf::require(check);
            one.poison();
        }
    };
    std::vector<mf::Variant> variants;
    for (const Measured& one : all) {
        variants.push_back({one.configuration.name(), "one launch; input in device memory",
                            [&one, &data](cudaStream_t s) { one.launch(data, s); }});
    }
    const auto series = mf::measure_variants(plan, stream, variants);
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].series = series[i];
    require_right();

    std::optional<mf::CacheFlusher> flusher;
    if (plan.cold) flusher.emplace();
    const int repeats = mf::attached_tool().empty() ? plan.repeats : 1;
    for (int round = 0; round < repeats; ++round) {
        for (Measured& one : all) {
            if (flusher) flusher->flush(stream);
            one.launch(data, stream);
            one.achieved.push_back(
                achieved_occupancy(one.times.download(), one.configuration.threads));
        }
    }
    require_right();
}
//! [measure]

//! [rates]
/// Of the kernels that read memory: each float read once, each sum written.
std::optional<mf::Rate> rate_of(const Measured& one, const Task& task,
                                const mf::Ceilings& ceilings) {
    if (!one.configuration.which().reads_memory) return std::nullopt;
    const std::size_t floats = task.floats() + task.threads;
    return mf::rate_of(one.series, static_cast<double>(floats * sizeof(float)), ceilings);
}

/// Of the others: multiplications with addition an SM makes in a cycle of the measured clock.
std::optional<double> steps_per_clock(const Measured& one, const Task& task, double multiprocessors,
                                      const std::optional<double>& mhz) {
    if (one.configuration.which().reads_memory || !mhz) return std::nullopt;
    if (!mf::reason_for_no_rates().empty()) return std::nullopt;
    const double clocks = mf::median(one.series.ms) * *mhz * 1e3;
    return static_cast<double>(task.threads) * task.steps() / clocks / multiprocessors;
}
//! [rates]

//! [report table]
std::string percent(double share) {
    return mf::fixed(100 * share, 1) + " %";
}

/// A row a configuration. "At once": what all threads that fit on an SM can have under way.
void print_table(std::ostream& out, const std::vector<Measured>& all, const Task& task,
                 const mf::Ceilings& ceilings, double multiprocessors,
                 const std::optional<double>& mhz) {
    const bool quotable = mf::reason_for_no_rates().empty();
    std::vector<std::string> headers = {"variant",     "threads",  "shared bytes", "fit on an SM",
                                        "theoretical", "achieved", "kernel ms",    "p05",
                                        "p95",         "at once"};
    if (quotable) headers.insert(headers.end(), {"GB/s", "of copy", "FMA/clock/SM"});
    mf::Table table(headers);
    std::vector<mf::Series> series;
    for (const Measured& one : all) {
        const Configuration& c = one.configuration;
        series.push_back(one.series);
        const mf::Summary time = one.series.summary();
        std::vector<std::string> cells = {
            c.which().name + (one.series.emulated ? " (emulated)" : ""),
            std::to_string(c.threads),
            std::to_string(c.shared_bytes),
            std::to_string(c.fit),
            percent(c.theoretical()),
            percent(mf::median(one.achieved)),
            mf::readable(time.median),
            mf::readable(time.p05),
            mf::readable(time.p95),
            std::to_string(static_cast<unsigned>(c.fit * c.which().at_once) * c.threads)};
        if (quotable) {
            const auto rate = rate_of(one, task, ceilings);
            const auto steps = steps_per_clock(one, task, multiprocessors, mhz);
            cells.push_back(rate ? mf::readable(rate->gb_per_s) : "");
            cells.push_back(rate ? mf::percent_text(rate->percent_of_copy) : "");
            cells.push_back(steps ? mf::readable(*steps) : "");
        }
        table.add_row(cells);
    }
    table.print(out);
    mf::print_series_notes(out, series);
    out << "  Theoretical: what fits, over the " << most_warps()
        << " warps of an SM. Achieved: by the blocks' clocks, median of single launches.\n"
           "  At once: loads or additions that the threads on an SM can have under way.\n";
}
//! [report table]

//! [report verdicts]
/// Each step of the shared-memory sweep, from fewer to more warps: did it help?
void compare_steps(std::ostream& out, const std::vector<Measured>& sweep,
                   const mf::CommonOptions& options, mf::Record& record) {
    for (std::size_t i = 1; i < sweep.size(); ++i) {
        const Measured& fewer = sweep[i - 1];
        const Measured& more = sweep[i];
        if (fewer.configuration.kernel != more.configuration.kernel) continue;
        const auto comparison =
            mf::compare(fewer.series, more.series, options.plan.order, options.seed);
        record.add_comparison(more.label(), comparison);
        out << percent(fewer.configuration.theoretical()) << " to "
            << percent(more.configuration.theoretical()) << ": ";
        mf::print_comparison(out, comparison);
    }
}

/// The lowest occupancy at which a kernel is within 5 % of the best that it reached in the sweep.
/// An emulated SM has one block at a time, so that there is nothing to find.
void report_enough(std::ostream& out, const std::vector<Measured>& sweep, mf::Record& record) {
    if (sweep.front().series.emulated) {
        out << "EMULATED: an SM runs one block after the other, whatever fits.\n";
        return;
    }
    mf::Json enough = mf::Json::array();
    for (const Kernel& kernel : kernels) {
        const auto own = [&kernel](const Measured& one) {
            return &one.configuration.which() == &kernel;
        };
        double best = 0;
        for (const Measured& one : sweep) {
            const double ms = mf::median(one.series.ms);
            if (own(one) && (best == 0 || ms < best)) best = ms;
        }
        const auto first = std::find_if(sweep.begin(), sweep.end(), [&](const Measured& one) {
            return own(one) && mf::median(one.series.ms) <= 1.05 * best;
        });
        const double occupancy = first->configuration.theoretical();
        enough.push(mf::Json{{"kernel", kernel.name}, {"theoretical", occupancy}});
        if (!mf::reason_for_no_rates().empty()) continue;
        out << kernel.name << ": within 5 % of its best time from " << percent(occupancy)
            << " theoretical occupancy on\n";
    }
    record.add_extra("enough", enough);
}
//! [report verdicts]

//! [record]
void fill_record(mf::Record& record, const std::vector<Measured>& all, const Task& task,
                 const mf::Ceilings& ceilings, double multiprocessors,
                 const std::optional<double>& mhz) {
    mf::Json details = mf::Json::array();
    for (const Measured& one : all) {
        const Configuration& c = one.configuration;
        record.add_series(one.label(), one.series, rate_of(one, task, ceilings));
        details.push(
            mf::Json{{"name", c.name()},
                     {"kernel", c.which().name},
                     {"threads", c.threads},
                     {"blocks", c.blocks(task)},
                     {"shared_bytes", c.shared_bytes},
                     {"fit_on_an_sm", c.fit},
                     {"theoretical", c.theoretical()},
                     {"achieved", one.achieved},
                     {"fma_per_clock_and_sm", steps_per_clock(one, task, multiprocessors, mhz)}});
    }
    record.add_extra("occupancy", details);
    record.add_extra("sm_clock_mhz", mhz);
}
//! [record]

//! [options]
struct Options {
    mf::CommonOptions common;
    unsigned threads = 128;
    unsigned work = 64;
};

/// False if only --help was asked for.
bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("occupancy", "theoretical and achieved occupancy, and what they bring");
    parser.add_common(options.common);
    parser.add_number("--threads", "N", "threads a block where shared memory varies",
                      options.threads, 1, 1024);
    // Sums of whole numbers stay below 2^24, where floats are exact.
    parser.add_number("--work", "N", "floats a thread reads; it makes 4 N multiplications",
                      options.work, 1, 16384);
    return parser.parse(argc, argv);
}
//! [options]

//! [main]
int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    const mf::RecordFile record_file(options.common.json);

    const mf::DeviceInfo device = mf::pick_device(options.common.device);
    std::ostream& out = mf::report_stream(options.common);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("occupancy", argc, argv, device, options.common);

    // Four times as many threads as the SMs hold at full occupancy: several waves for all.
    Task task;
    task.threads = 4u * static_cast<unsigned>(device.multiprocessors) *
                   static_cast<unsigned>(most_warps() * warp_size);
    task.work = options.work;
    record.set_input("whole floats from 0 to 255", {{"threads", task.threads},
                                                    {"floats_per_thread", task.work},
                                                    {"steps_per_thread", task.steps()}});

    allow_shared_memory();
    const Data data(task, options.common.seed);
    const std::vector<Configuration> limited = shared_memory_sweep(options.threads);
    std::vector<Configuration> configurations = limited;
    const std::vector<Configuration> sizes = block_size_sweep(options.threads);
    configurations.insert(configurations.end(), sizes.begin(), sizes.end());
    std::vector<Measured> all = prepare(configurations, task);
    const auto checks = check_all(all, data, stream);
    record.add_checks(checks, "before timing");
    report_checks(out, all, checks);

    const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
    record.set_ceilings(ceilings);
    measure(all, data, options.common.plan, stream, record);
    std::optional<double> mhz;
    if (mf::attached_tool().empty()) mhz = mf::sm_clock_mhz(stream);
    fill_record(record, all, task, ceilings, device.multiprocessors, mhz);

    mf::print_ceilings(out, ceilings);
    out << "\n";
    print_table(out, all, task, ceilings, device.multiprocessors, mhz);
    out << "\n";
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(limited.size()), all.end());
    compare_steps(out, all, options.common, record);
    out << "\n";
    report_enough(out, all, record);
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
