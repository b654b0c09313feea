//! [question]
// profiling: a program is slow. Which evidence says why, and does the change that it suggests help?
//
// Two tasks are slow here on purpose, each for one reason that the times alone do not name. Each
// comes with its mended twin. The symptoms are what this program measures; the evidence comes from
// a profiler, started by profile.sh; whether the change helped, this program measures again.
//
// Build, run and profile, from the folder that holds common/ and chapters/:
//
//     nvcc -O2 -lineinfo -std=c++17 -arch=native -I common chapters/13_profiling/profiling.cu
//         -o profiling
//     ./profiling
//     sh chapters/13_profiling/profile.sh ./profiling evidence
//
// Task 1, steps of smoothing over an array. Its evidence is a timeline:
//     bounced      uploads and downloads the array in every step
//     waited       keeps the array in device memory, and waits for every step
//     queued       keeps it there, puts all steps into the stream, and waits once
//
// Task 2, a transposed matrix. Its evidence is inside the kernel:
//     conflicting  by way of a tile of 32 x 32 floats in shared memory
//     padded       the same with rows of 33 floats, of which the last is never used
//
// The order of the file is the order of the work: ranges, then each task with its reference,
// kernels, check and measurement, then report and main.
//! [question]

//! [includes]
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "check.hpp"
#include "device.hpp"
#include "options.hpp"
#include "random.hpp"
#include "record.hpp"
#include "stream.hpp"
#include "timing.hpp"
#include "verify.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace {
//! [includes]

//! [ranges]
/// A named piece of the host's work, from construction to the end of the scope: a bar in a
/// profiler's timeline. Where no profiler listens, it costs a look at a pointer; where the toolkit
/// has no NVTX, nothing.
class Range {
public:
#ifdef NVTX_VERSION
    explicit Range(const std::string& name) {
        nvtxRangePushA(name.c_str());
    }
    ~Range() {
        nvtxRangePop();
    }
#else
    explicit Range(const std::string&) {}
    ~Range() {}
#endif
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};
//! [ranges]

//! [smooth reference]
/// Each value becomes the mean, rounded down, of itself and its two neighbours; beyond the ends the
/// last value goes on. `steps` times.
std::vector<unsigned> smooth_reference(std::vector<unsigned> values, int steps) {
    const std::size_t n = values.size();
    std::vector<unsigned> before;
    for (int step = 0; step < steps; ++step) {
        before = values;
        for (std::size_t i = 0; i < n; ++i) {
            const unsigned left = before[i == 0 ? 0 : i - 1];
            const unsigned right = before[i + 1 == n ? i : i + 1];
            values[i] = (left + before[i] + right) / 3;
        }
    }
    return values;
}

/// Values below 2^30, so that the sum of three fits 32 bits.
std::vector<unsigned> random_values(std::size_t n, std::uint64_t seed) {
    mf::Random random(seed);
    std::vector<unsigned> values(n);
    for (unsigned& value : values)
        value = static_cast<unsigned>(random.bits() >> 34);
    return values;
}
//! [smooth reference]

//! [smooth]
constexpr int threads = 256;

/// One step, one value a thread. A step needs its neighbours' values of the step before, which
/// other blocks wrote: between two steps the whole grid must end, so each step is a launch.
__global__ void smooth(std::size_t n, const unsigned* __restrict__ in, unsigned* __restrict__ out) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned left = in[i == 0 ? 0 : i - 1];
    const unsigned right = in[i + 1 == n ? i : i + 1];
    out[i] = (left + in[i] + right) / 3;
}

void launch_smooth(std::size_t n, const unsigned* in, unsigned* out, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
    smooth<<<blocks, threads, 0, stream>>>(n, in, out);
    CUDA_CHECK_LAUNCH();
}
//! [smooth]

//! [pipelines]
/// A way to run all steps.
struct Pipeline {
    std::string name;
    std::string baseline;  ///< what it is compared with; none for the first
    bool copies_each_step;
    bool waits_each_step;
};

const std::vector<Pipeline> pipelines = {{"bounced", "", true, true},
                                         {"waited", "bounced", false, true},
                                         {"queued", "waited", false, false}};

/// The task: from an input in the host's pageable memory to the output there. Every pipeline has
/// memory of its own, so that none can pass with another one's result.
class Smoothing {
public:
    Smoothing(const Pipeline& pipeline, const std::vector<unsigned>& input)
        : pipeline_(pipeline),
          input_(input),
          output_(input.size(), 0xA5A5A5A5u),
          here_(input.size()),
          there_(input.size()) {
        here_.poison();
        there_.poison();
    }

    /// One step at least.
    void run(int steps, cudaStream_t stream) {
        const Range task(pipeline_.name);
        const unsigned* from = input_.data();
        for (int step = 0; step < steps; ++step) {
            const Range one("step");
            if (step == 0 || pipeline_.copies_each_step) {
                CUDA_CHECK(cudaMemcpyAsync(here_.get(), from, here_.bytes(), cudaMemcpyHostToDevice,
                                           stream));
            }
            launch_smooth(input_.size(), here_.get(), there_.get(), stream);
            std::swap(here_, there_);
            if (step + 1 == steps || pipeline_.copies_each_step) {
                CUDA_CHECK(cudaMemcpyAsync(output_.data(), here_.get(), here_.bytes(),
                                           cudaMemcpyDeviceToHost, stream));
                from = output_.data();
            }
            if (pipeline_.waits_each_step) CUDA_CHECK(cudaStreamSynchronize(stream));
        }
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }

    mf::CheckResult check(const std::vector<unsigned>& expected) const {
        return mf::check_equal(pipeline_.name, expected, output_);
    }

private:
    Pipeline pipeline_;
    const std::vector<unsigned>& input_;
    std::vector<unsigned> output_;
    mf::DeviceBuffer<unsigned> here_;
    mf::DeviceBuffer<unsigned> there_;
};
//! [pipelines]

//! [check pipelines]
/// Lengths around the borders of a warp and of a block, with numbers of steps around one and two;
/// then the task that is measured. Keeps the first failure of each pipeline.
std::vector<mf::CheckResult> check_pipelines(const std::vector<Pipeline>& chosen, std::size_t n,
                                             int steps, std::uint64_t seed, cudaStream_t stream) {
    const Range range("check");
    std::vector<std::pair<std::size_t, int>> tasks = {
        {1, 1}, {2, 2}, {3, 3}, {31, 1}, {33, 2}, {255, 3}, {256, 4}, {257, 5}, {1000, 9}};
    tasks.emplace_back(n, steps);
    std::vector<mf::CheckResult> results;
    for (const Pipeline& pipeline : chosen) {
        mf::CheckResult result;
        for (const auto& [length, count] : tasks) {
            const auto input = random_values(length, seed);
            Smoothing smoothing(pipeline, input);
            smoothing.run(count, stream);
            result = smoothing.check(smooth_reference(input, count));
            if (result.passed) continue;
            result.message = std::to_string(length) + " values, " + std::to_string(count) +
                             " steps: " + result.message;
            break;
        }
        results.push_back(result);
    }
    return results;
}
//! [check pipelines]

//! [measure pipelines]
/// task ms: whole tasks by the host's clock, which is right here, since each ends with a wait.
std::vector<mf::Series> measure_pipelines(const std::vector<Pipeline>& chosen,
                                          const std::vector<unsigned>& input, int steps,
                                          const mf::MeasurePlan& plan, cudaStream_t stream,
                                          mf::Record& record) {
    std::vector<Smoothing> tasks;
    for (const Pipeline& pipeline : chosen)
        tasks.emplace_back(pipeline, input);
    std::vector<mf::HostVariant> variants;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        variants.push_back({chosen[i].name, "upload to download of all steps, pageable memory",
                            [&, i] { tasks[i].run(steps, stream); }});
    }
    auto series = mf::measure_host_variants(plan, variants);
    const auto expected = smooth_reference(input, steps);
    for (const Smoothing& task : tasks) {
        const auto check = task.check(expected);
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}

/// kernel ms: one step alone, on values in device memory.
mf::Series measure_step(const std::vector<unsigned>& input, const mf::MeasurePlan& plan,
                        cudaStream_t stream, mf::Record& record) {
    const mf::DeviceBuffer<unsigned> from(input);
    mf::DeviceBuffer<unsigned> to(input.size());
    const auto expected = smooth_reference(input, 1);
    const auto step = [&](cudaStream_t s) {
        const Range range("smooth");
        launch_smooth(input.size(), from.get(), to.get(), s);
    };
    const auto require_right = [&](const char* when) {
        const auto check = mf::check_equal("smooth", expected, to.download());
        record.add_check(check, when);
        mf::require(check);
    };
    to.poison();
    step(stream);
    require_right("before timing");
    to.poison();
    auto series = mf::measure(plan, stream, "smooth", "one launch, values in device memory", step);
    require_right("after timing");
    return series;
}
//! [measure pipelines]

//! [transpose reference]
/// Width and height of the input.
struct Shape {
    int width;
    int height;
};

std::size_t size_of(Shape shape) {
    return static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height);
}

std::vector<float> transpose_reference(const std::vector<float>& in, Shape shape) {
    std::vector<float> out(in.size());
    for (int y = 0; y < shape.height; ++y) {
        for (int x = 0; x < shape.width; ++x) {
            out[static_cast<std::size_t>(x) * shape.height + y] =
                in[static_cast<std::size_t>(y) * shape.width + x];
        }
    }
    return out;
}

std::vector<float> random_matrix(Shape shape, std::uint64_t seed) {
    mf::Random random(seed);
    std::vector<float> values(size_of(shape));
    for (float& value : values)
        value = random.uniform(-1, 1);
    return values;
}
//! [transpose reference]

//! [transpose]
constexpr int tile_side = 32;
constexpr int rows_at_once = 8;

/// A block of 32 x 8 threads moves a tile of 32 x 32. In global memory a warp reads a row and
/// writes a row; the corner is turned in shared memory, where a warp writes a row and reads a
/// column.
template <int pitch>
__device__ void transpose_by_way_of(float (&tile)[tile_side][pitch], const float* in, float* out,
                                    int width, int height) {
    const int left = blockIdx.x * tile_side;
    const int top = blockIdx.y * tile_side;
    const int lane = threadIdx.x;
    for (int row = threadIdx.y; row < tile_side; row += rows_at_once) {
        const int x = left + lane;
        const int y = top + row;
        if (x < width && y < height) tile[row][lane] = in[static_cast<std::size_t>(y) * width + x];
    }
    __syncthreads();  // a column holds what all warps of the block loaded
    for (int row = threadIdx.y; row < tile_side; row += rows_at_once) {
        const int x = top + lane;
        const int y = left + row;
        if (x < height && y < width)
            out[static_cast<std::size_t>(y) * height + x] = tile[lane][row];
    }
}

/// Neighbours in a column are 32 words apart: one bank of the 32 holds the whole column, and hands
/// out one word at a time.
__global__ void transpose_conflicting(const float* __restrict__ in, float* __restrict__ out,
                                      int width, int height) {
    __shared__ float tile[tile_side][tile_side];
    transpose_by_way_of(tile, in, out, width, height);
}

/// Neighbours in a column are 33 words apart: a column lies in 32 banks.
__global__ void transpose_padded(const float* __restrict__ in, float* __restrict__ out, int width,
                                 int height) {
    __shared__ float tile[tile_side][tile_side + 1];
    transpose_by_way_of(tile, in, out, width, height);
}
//! [transpose]

//! [transposers]
using TransposeKernel = void (*)(const float*, float*, int, int);

struct Transposer {
    std::string name;
    TransposeKernel kernel;
    std::string kernel_name;  ///< as a profiler shows it
};

const std::vector<Transposer> transposers = {
    {"conflicting", transpose_conflicting, "transpose_conflicting"},
    {"padded", transpose_padded, "transpose_padded"}};

dim3 grid_for(Shape shape) {
    return dim3((shape.width + tile_side - 1) / tile_side,
                (shape.height + tile_side - 1) / tile_side);
}

void launch(const Transposer& transposer, const float* in, float* out, Shape shape,
            cudaStream_t stream) {
    transposer.kernel<<<grid_for(shape), dim3(tile_side, rows_at_once), 0, stream>>>(
        in, out, shape.width, shape.height);
    CUDA_CHECK_LAUNCH();
}
//! [transposers]

//! [check transposers]
/// Shapes around the borders of a tile, then the one that is measured: one launch each, which a
/// profiler that is to see a timed launch must skip.
std::vector<Shape> shapes_to_check(int n) {
    return {{1, 1}, {1, 100}, {100, 1}, {31, 33}, {32, 32}, {33, 31}, {65, 40}, {64, 96}, {n, n}};
}

mf::CheckResult check_output(const Transposer& transposer, const std::vector<float>& expected,
                             const mf::DeviceBuffer<float>& out, Shape shape) {
    return mf::check_equal(transposer.name, expected, out.download(), [shape](std::size_t i) {
        const auto row_length = static_cast<std::size_t>(shape.height);
        return "row " + std::to_string(i / row_length) + ", column " +
               std::to_string(i % row_length) + " of the result";
    });
}

std::vector<mf::CheckResult> check_transposers(const std::vector<Transposer>& chosen, int n,
                                               std::uint64_t seed, cudaStream_t stream) {
    const Range range("check");
    std::vector<mf::CheckResult> results;
    for (const Transposer& transposer : chosen)
        results.push_back({transposer.name, true, ""});
    for (const Shape shape : shapes_to_check(n)) {
        const auto host = random_matrix(shape, seed);
        const auto expected = transpose_reference(host, shape);
        const mf::DeviceBuffer<float> in(host);
        mf::DeviceBuffer<float> out(host.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            out.poison();
            launch(chosen[i], in.get(), out.get(), shape, stream);
            if (!results[i].passed) continue;
            results[i] = check_output(chosen[i], expected, out, shape);
            if (results[i].passed) continue;
            results[i].message = std::to_string(shape.width) + "x" + std::to_string(shape.height) +
                                 ": " + results[i].message;
        }
    }
    return results;
}
//! [check transposers]

//! [measure transposers]
/// kernel ms: launches on a matrix in device memory; each version writes to memory of its own.
std::vector<mf::Series> measure_transposers(const std::vector<Transposer>& chosen, int n,
                                            const mf::CommonOptions& options, cudaStream_t stream,
                                            mf::Record& record) {
    const Shape shape{n, n};
    const auto host = random_matrix(shape, options.seed);
    const mf::DeviceBuffer<float> in(host);
    std::vector<mf::DeviceBuffer<float>> outputs;
    std::vector<mf::Variant> variants;
    for (const Transposer& transposer : chosen) {
        outputs.emplace_back(host.size()).poison();
        variants.push_back({transposer.name, "one launch, matrix in device memory",
                            [&, out = outputs.back().get()](cudaStream_t s) {
                                const Range range(transposer.name);
                                launch(transposer, in.get(), out, shape, s);
                            }});
    }
    auto series = mf::measure_variants(options.plan, stream, variants);
    const auto expected = transpose_reference(host, shape);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto check = check_output(chosen[i], expected, outputs[i], shape);
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure transposers]

//! [options]
struct Options {
    mf::CommonOptions common;
    int elements = 1 << 18;
    int steps = 20;
    std::optional<int> n;
    std::string variant;  ///< this one only; empty: all
};

/// All variants' names, in the order of the tables.
std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const Pipeline& pipeline : pipelines)
        names.push_back(pipeline.name);
    for (const Transposer& transposer : transposers)
        names.push_back(transposer.name);
    return names;
}

/// False if only --help was asked for.
bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("profiling", "two tasks that are slow, each with its mended twin");
    parser.add_common(options.common);
    std::string names;
    for (const std::string& name : all_names())
        names += (names.empty() ? "" : ", ") + name;
    parser.add_value(
        "--variant", "NAME", "time this one only: " + names, "",
        [&options](const std::string& text) {
            const auto known = all_names();
            options.variant = text;
            return std::count(known.begin(), known.end(), text) > 0;
        },
        "one of " + names);
    parser.add_number("--elements", "N", "values to smooth", options.elements, 1, 1 << 28);
    parser.add_number("--steps", "N", "steps of smoothing", options.steps, 1, 1000);
    parser.add_value(
        "--n", "N", "side of the transposed matrix; measure this one only", "",
        [&options](const std::string& text) {
            std::uint64_t value = 0;
            const bool valid = mf::parse_whole(text, 1, 32768, value);
            if (valid) options.n = static_cast<int>(value);
            return valid;
        },
        "a whole number from 1 to 32768");
    return parser.parse(argc, argv);
}

/// Those of `all` that --variant leaves.
template <typename Variant>
std::vector<Variant> chosen_of(const std::vector<Variant>& all, const Options& options) {
    std::vector<Variant> chosen;
    for (const Variant& variant : all) {
        if (options.variant.empty() || options.variant == variant.name) chosen.push_back(variant);
    }
    return chosen;
}
//! [options]

//! [report]
void report_checks(std::ostream& out, const std::string& what,
                   const std::vector<mf::CheckResult>& checks, mf::Record& record) {
    out << what << ": " << mf::checks_line(checks) << "\n";
    record.add_checks(checks, "before timing");
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}

void report_comparison(std::ostream& out, const std::string& label, const mf::Series& baseline,
                       const mf::Series& variant, const mf::CommonOptions& options,
                       mf::Record& record) {
    const auto comparison = mf::compare(baseline, variant, options.plan.order, options.seed);
    mf::print_comparison(out, comparison);
    record.add_comparison(label, comparison);
}

/// How much of each task its kernels are. A launch-bound kernel is shorter than what was timed.
void report_kernel_share(std::ostream& out, const std::vector<mf::Series>& tasks,
                         const mf::Series& step, int steps) {
    if (!mf::reason_for_no_rates().empty()) return;
    const double kernels_ms = steps * mf::median(step.ms);
    out << "Symptom 1: " << steps << " kernels alone take "
        << (step.launch_bound() ? "at most " : "") << mf::readable(kernels_ms) << " ms:";
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        out << (i == 0 ? " " : ", ") << mf::fixed(100 * kernels_ms / mf::median(tasks[i].ms), 1)
            << " % of " << tasks[i].name;
    }
    out << (step.emulated ? " (emulated)" : "") << ".\n";
}

/// Each element is read once and written once, by both versions: 8 bytes an element.
std::vector<std::optional<mf::Rate>> transpose_rates(const std::vector<mf::Series>& series, int n,
                                                     const mf::Ceilings& ceilings) {
    std::vector<std::optional<mf::Rate>> rates;
    for (const mf::Series& one : series)
        rates.push_back(mf::rate_of(one, 8 * static_cast<double>(n) * n, ceilings));
    return rates;
}

/// How far each version is from a copy, which moves as many bytes and turns nothing.
void report_copy_share(std::ostream& out, const std::vector<mf::Series>& series,
                       const std::vector<std::optional<mf::Rate>>& rates) {
    if (!mf::reason_for_no_rates().empty()) return;
    out << "Symptom 2:";
    for (std::size_t i = 0; i < series.size(); ++i) {
        out << (i == 0 ? " " : ", ") << series[i].name << " reaches "
            << mf::percent_text(rates[i] ? rates[i]->percent_of_copy : std::nullopt);
    }
    out << " of a copy's rate" << (series[0].emulated ? " (emulated)" : "") << ".\n";
}

/// For Nsight Compute: which launch of the kernel is the first timed one. All before it are checks.
void report_timed_launch(std::ostream& out, const std::vector<Transposer>& chosen, int n) {
    const dim3 grid = grid_for({n, n});
    for (const Transposer& transposer : chosen) {
        out << "The first timed launch: --kernel-name " << transposer.kernel_name
            << " --launch-skip " << shapes_to_check(n).size() << " --launch-count 1, a grid of "
            << grid.x << " x " << grid.y << " blocks\n";
    }
}
//! [report]

//! [main]
void task_1(std::ostream& out, const Options& options, cudaStream_t stream, mf::Record& record) {
    const auto chosen = chosen_of(pipelines, options);
    if (chosen.empty()) return;
    const mf::CommonOptions& common = options.common;
    const auto n = static_cast<std::size_t>(options.elements);
    const std::string what =
        std::to_string(n) + " values, " + std::to_string(options.steps) + " steps";
    report_checks(out, what, check_pipelines(chosen, n, options.steps, common.seed, stream),
                  record);

    const auto input = random_values(n, common.seed);
    const auto tasks = measure_pipelines(chosen, input, options.steps, common.plan, stream, record);
    out << "\n";
    mf::print_series(out, "task ms", tasks);
    record.add_series("task ms", tasks);
    for (std::size_t i = 1; i < tasks.size(); ++i)
        report_comparison(out, "task ms", tasks[i - 1], tasks[i], common, record);
    out << "\n";
    if (chosen.size() < pipelines.size()) return;

    const auto step = measure_step(input, common.plan, stream, record);
    mf::print_series(out, "kernel ms", {step});
    record.add_series("kernel ms", step);
    report_kernel_share(out, tasks, step, options.steps);
    out << "\n";
}

/// Short launches, then matrices that fit many a GPU's L2 cache, then some that fit none. The rest
/// is left out where a launch takes longer than a millisecond.
const std::vector<int> default_sides = {1024, 2048, 8192};

/// Returns the measured sides.
std::vector<int> task_2(std::ostream& out, const Options& options, const mf::DeviceInfo& device,
                        cudaStream_t stream, mf::Record& record) {
    const auto chosen = chosen_of(transposers, options);
    if (chosen.empty()) return {};
    const mf::CommonOptions& common = options.common;
    std::optional<mf::Ceilings> ceilings;
    std::vector<int> measured;
    for (const int n : options.n ? std::vector<int>{*options.n} : default_sides) {
        const std::string side = std::to_string(n);
        report_checks(out, side + "x" + side, check_transposers(chosen, n, common.seed, stream),
                      record);
        if (measured.empty()) report_timed_launch(out, chosen, n);
        measured.push_back(n);
        if (!ceilings) {
            ceilings = mf::measure_ceilings(stream, device);
            record.set_ceilings(*ceilings);
        }
        const auto series = measure_transposers(chosen, n, common, stream, record);
        const auto rates = transpose_rates(series, n, *ceilings);
        const std::string label = "kernel ms, n=" + side;
        if (measured.size() == 1) mf::print_ceilings(out, *ceilings);
        out << "\n";
        mf::print_series(out, "kernel ms", series, rates);
        record.add_series(label, series, rates);
        for (std::size_t i = 1; i < series.size(); ++i)
            report_comparison(out, label, series[i - 1], series[i], common, record);
        report_copy_share(out, series, rates);
        out << "\n";
        if (mf::median(series[0].ms) > 1) break;
    }
    return measured;
}

int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    const mf::RecordFile record_file(options.common.json);
    const mf::DeviceInfo device = mf::pick_device(options.common.device);
    std::ostream& out = mf::report_stream(options.common);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("profiling", argc, argv, device, options.common);

    task_1(out, options, stream, record);
    mf::Json sides = mf::Json::array();
    for (const int n : task_2(out, options, device, stream, record))
        sides.push(n);
    record.set_input("random values below 2^30 to smooth; a random matrix of floats to transpose",
                     {{"elements", options.elements}, {"steps", options.steps}, {"n", sides}});
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
