//! [question]
// roofline: which ceiling is a kernel under, and how far below it?
//
// A kernel moves bytes and makes operations. Neither can take less time than the device needs for
// them, so the time is at least the larger of two: bytes over bandwidth, operations over the rate
// of arithmetic. Operations over bytes, the kernel's intensity, say which of the two it is. This
// program measures both ceilings and places kernels of the course under them.
//
// Build and run, from the folder that holds common/ and chapters/:
//
//     nvcc -O2 -std=c++17 -arch=native -I common chapters/12_roofline/roofline.cu -o roofline
//     ./roofline --plot roofline.svg
//
// Ceilings: a copy within the device's memory, fp32 multiplications with addition, reads of shared
// memory.
//
// Kernels with a place under the roofs:
//     vector_add  chapter 05: one addition for twelve bytes
//     saxpy       chapter 02: two operations for the same bytes
//     fma_N       N multiplications with addition for eight bytes, from 2 to 128
// Kernels without one, since they count in integers:
//     blur_direct, blur_tiled  chapter 06
//     histogram_block, reduce_blocks  chapter 07
//
// The order of the file is the order of the work: ceilings, kernels, check, measure, place, report,
// main.
//! [question]

//! [includes]
#include "../02_saxpy_bandwidth/saxpy_kernel.cuh"
#include "../05_vector_add/add_kernel.cuh"
#include "../06_box_blur/blur_kernels.cuh"
#include "../07_histogram_reduction/histogram_kernels.cuh"
#include "roofline_plot.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
#include "whole_file.hpp"

namespace {
//! [includes]

//! [counts]
/// What a launch does, counted from its text: every input read once, every output written once.
/// Rereading that caches or shared memory answer is not counted as bytes of memory.
struct Counts {
    double flop = 0;          ///< operations on floats; a multiplication with addition is two
    double memory_bytes = 0;  ///< read and written
    double shared_bytes = 0;  ///< read from and written to shared memory
    double footprint = 0;     ///< bytes of memory touched, each counted once
};

/// A kernel with the data that it works on.
struct Kernel {
    std::string name;
    Counts counts;
    std::function<void(cudaStream_t)> launch;
    /// Compares what all launches until now must have left, every element, and poisons the output
    /// where the kernel does not work in place.
    std::function<mf::CheckResult(cudaStream_t)> check;
};
//! [counts]

//! [fma ceiling]
constexpr int threads = 256;
constexpr int chains = 8;          ///< of a thread; each step of one waits for the step before it
constexpr int chain_steps = 2048;  ///< of each chain

/// Multiplications with addition and next to nothing else: no memory but for the result. Eight
/// chains a thread and full SMs give the arithmetic units something to start in every cycle.
/// Factor and summand come from the host, so that the compiler cannot know them.
__global__ void fma_ceiling(float factor, float summand, float* output) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float values[chains];
#pragma unroll
    for (int k = 0; k < chains; ++k)
        values[k] = static_cast<float>((thread + k) % 1024);
#pragma unroll 8
    for (int step = 0; step < chain_steps; ++step) {
#pragma unroll
        for (int k = 0; k < chains; ++k)
            values[k] = values[k] * factor + summand;
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < chains; ++k)
        sum += values[k];
    output[thread] = sum;
}
//! [fma ceiling]

//! [shared ceiling]
constexpr int rows = 4;  ///< of 256 float4, 16 KiB in all
constexpr int rounds = 500;

/// Reads of shared memory, 16 bytes each. Neighbouring threads read neighbouring cells, without a
/// bank conflict; the column moves on in each round, so that no read can be left out.
__global__ void shared_ceiling(const float4* input, float* output) {
    __shared__ float4 cells[rows][threads];
    for (int row = 0; row < rows; ++row)
        cells[row][threadIdx.x] = input[row * threads + threadIdx.x];
    __syncthreads();

    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        const unsigned column = (threadIdx.x + round) % threads;
#pragma unroll
        for (int row = 0; row < rows; ++row) {
            const float4 cell = cells[row][column];
            sum.x += cell.x;
            sum.y += cell.y;
            sum.z += cell.z;
            sum.w += cell.w;
        }
    }
    output[blockIdx.x * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
//! [shared ceiling]

//! [fma steps]
/// One float read and one written, with so many multiplications with addition between: the one
/// number that changes is the intensity.
template <int steps>
__global__ void fma_steps(std::size_t n, float factor, float summand, const float* __restrict__ x,
                          float* __restrict__ y) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
#pragma unroll
    for (int step = 0; step < steps; ++step)
        value = value * factor + summand;
    y[i] = value;
}
//! [fma steps]

//! [data]
/// What all kernels read. Floats are whole numbers from 0 to 255, so that every result is exact,
/// whether multiplication and addition are rounded together or not.
struct Data {
    std::vector<float> x;
    std::vector<float> b;
    mf::GrayImage picture;
    mf::DeviceBuffer<float> device_x;
    mf::DeviceBuffer<float> device_b;
    mf::DeviceBuffer<unsigned char> device_pixels;

    /// `n` floats in each array, and about n pixels: whole rows of 1024, if there are so many.
    Data(std::size_t n, std::uint64_t seed)
        : x(whole_floats(n, seed)), b(whole_floats(n, seed + 1)), device_x(x), device_b(b) {
        const std::size_t width = std::min<std::size_t>(n, 1024);
        picture.width = static_cast<int>(width);
        picture.height = static_cast<int>(n / width);
        picture.pixels = mf::random_bytes(n / width * width, seed + 2);
        device_pixels = mf::DeviceBuffer<unsigned char>(picture.pixels);
    }
    std::size_t n() const { return x.size(); }
    std::size_t pixels() const { return picture.pixels.size(); }

    static std::vector<float> whole_floats(std::size_t count, std::uint64_t seed) {
        const std::vector<unsigned char> bytes = mf::random_bytes(count, seed);
        return {bytes.begin(), bytes.end()};
    }
};

unsigned blocks_for(std::size_t all_threads) {
    return static_cast<unsigned>((all_threads + threads - 1) / threads);
}
//! [data]

//! [output kernel]
/// A kernel that writes `expected` into a buffer of its own, whatever was there before.
template <typename T>
Kernel output_kernel(const std::string& name, const Counts& counts, std::vector<T> expected,
                     std::function<void(T* output, cudaStream_t)> launch) {
    const auto output = std::make_shared<mf::DeviceBuffer<T>>(expected.size());
    output->poison();
    const auto check = [name, output, expected = std::move(expected)](cudaStream_t) {
        mf::CheckResult result = mf::check_equal(name, expected, output->download());
        output->poison();
        return result;
    };
    return {name, counts, [=](cudaStream_t s) { launch(output->get(), s); }, check};
}
//! [output kernel]

//! [ceilings]
/// As many threads as the device holds at once, if nothing else limits them.
unsigned resident_threads(const mf::DeviceInfo& device) {
    return static_cast<unsigned>(device.multiprocessors *
                                 mf::attribute_or(cudaDevAttrMaxThreadsPerMultiProcessor, 0));
}

/// Factor 1 and summand 1: each step adds exactly 1, which tells how many were made.
Kernel make_fma_ceiling(unsigned all_threads) {
    const unsigned blocks = all_threads / threads;
    std::vector<float> expected(static_cast<std::size_t>(blocks) * threads, 0);
    for (unsigned thread = 0; thread < expected.size(); ++thread) {
        for (unsigned k = 0; k < chains; ++k)
            expected[thread] += static_cast<float>((thread + k) % 1024 + chain_steps);
    }
    Counts counts;
    counts.flop = 2.0 * chains * chain_steps * static_cast<double>(expected.size());
    counts.memory_bytes = counts.footprint = 4.0 * static_cast<double>(expected.size());
    return output_kernel<float>("fma_ceiling", counts, expected, [=](float* y, cudaStream_t s) {
        fma_ceiling<<<blocks, threads, 0, s>>>(1, 1, y);
        CUDA_CHECK_LAUNCH();
    });
}

Kernel make_shared_ceiling(unsigned all_threads, std::uint64_t seed) {
    const unsigned blocks = all_threads / threads;
    // A thread sums 8000 numbers from 0 to 255: below 2^24, where floats are exact.
    const std::vector<float> cells = Data::whole_floats(4 * rows * threads, seed);
    std::vector<float> columns(threads, 0);
    for (std::size_t i = 0; i < cells.size(); ++i)
        columns[i / 4 % threads] += cells[i];
    std::vector<float> expected(static_cast<std::size_t>(blocks) * threads, 0);
    for (std::size_t thread = 0; thread < threads; ++thread) {
        for (std::size_t round = 0; round < rounds; ++round)
            expected[thread] += columns[(thread + round) % threads];
    }
    for (std::size_t thread = threads; thread < expected.size(); ++thread)
        expected[thread] = expected[thread - threads];

    Counts counts;
    const double all = static_cast<double>(expected.size());
    counts.shared_bytes = sizeof(float4) * rows * (rounds + 1.0) * all;
    counts.memory_bytes = (sizeof(float4) * rows + 4.0) * all;
    counts.footprint = sizeof(float4) * rows * threads + 4.0 * all;
    const auto input = std::make_shared<mf::DeviceBuffer<float>>(cells);
    const auto launch = [=](float* y, cudaStream_t s) {
        shared_ceiling<<<blocks, threads, 0, s>>>(reinterpret_cast<const float4*>(input->get()), y);
        CUDA_CHECK_LAUNCH();
    };
    return output_kernel<float>("shared_ceiling", counts, expected, launch);
}
//! [ceilings]

//! [float kernels]
/// In place: launches add and subtract 2 x by turns, so that their number tells what y must hold.
/// Looked at twice, with a launch between: one of the two states is not the one before the first.
Kernel make_saxpy(const Data& data) {
    struct State {
        mf::DeviceBuffer<float> y;
        std::uint64_t launches = 0;
    };
    const auto state = std::make_shared<State>();
    state->y = mf::DeviceBuffer<float>(data.b);
    const auto launch = [&data, state](cudaStream_t s) {
        const float factor = state->launches++ % 2 == 0 ? 2 : -2;
        saxpy::saxpy_scalar<<<blocks_for(data.n()), saxpy::threads_per_block, 0, s>>>(
            static_cast<std::int64_t>(data.n()), factor, data.device_x.get(), state->y.get());
        CUDA_CHECK_LAUNCH();
    };
    const auto check = [&data, state, launch](cudaStream_t s) {
        mf::CheckResult result{"saxpy", true, ""};
        for (int i = 0; i < 2 && result.passed; ++i) {
            std::vector<float> expected = data.b;
            const float factor = state->launches % 2 == 0 ? 0 : 2;
            for (std::size_t j = 0; j < expected.size(); ++j)
                expected[j] += factor * data.x[j];
            result = mf::check_equal("saxpy", expected, state->y.download());
            if (i == 0) launch(s);
        }
        return result;
    };
    const double n = static_cast<double>(data.n());
    return {"saxpy", {2 * n, mf::saxpy_bytes(n), 0, 8 * n}, launch, check};
}

Kernel make_vector_add(const Data& data) {
    std::vector<float> expected = data.x;
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] += data.b[i];
    const double n = static_cast<double>(data.n());
    return output_kernel<float>(
        "vector_add", {n, 12 * n, 0, 12 * n}, expected, [&data](float* y, cudaStream_t s) {
            vector_add::add_scalar<<<blocks_for(data.n()), vector_add::threads, 0, s>>>(
                data.n(), data.device_x.get(), data.device_b.get(), y);
            CUDA_CHECK_LAUNCH();
        });
}

template <int steps>
Kernel make_fma_steps(const Data& data) {
    std::vector<float> expected = data.x;
    for (float& value : expected)
        value += steps;
    const double n = static_cast<double>(data.n());
    return output_kernel<float>("fma_" + std::to_string(steps), {2 * steps * n, 8 * n, 0, 8 * n},
                                expected, [&data](float* y, cudaStream_t s) {
                                    fma_steps<steps><<<blocks_for(data.n()), threads, 0, s>>>(
                                        data.n(), 1, 1, data.device_x.get(), y);
                                    CUDA_CHECK_LAUNCH();
                                });
}
//! [float kernels]

//! [integer kernels]
/// Shared memory of the tiled blur: 18x18 cells of a byte written a block, nine read a pixel.
Kernel make_blur(const std::string& name, blur::BlurKernel kernel, bool tiled, const Data& data,
                 const mf::GrayImage& expected) {
    const auto side = [](int pixels) {
        return static_cast<double>((pixels + blur::block_side - 1) / blur::block_side);
    };
    const double n = static_cast<double>(data.pixels());
    Counts counts{0, mf::image_filter_bytes(n), 0, 2 * n};
    if (tiled) {
        counts.shared_bytes = 9 * n + side(data.picture.width) * side(data.picture.height) *
                                          blur::tile_side * blur::tile_side;
    }
    return output_kernel<unsigned char>(
        name, counts, expected.pixels, [&data, kernel](unsigned char* out, cudaStream_t s) {
            blur::launch(kernel, data.device_pixels.get(), out, data.picture.width,
                         data.picture.height, s);
        });
}

/// Without clearing the bins between launches: they must hold the counts times the launches. A
/// block clears 256 bins of 4 bytes, adds to one a pixel (read and written), and reads all.
Kernel make_histogram(const Data& data) {
    struct State {
        mf::DeviceBuffer<unsigned> counts{histogram::bins};
        unsigned launches = 0;
    };
    const auto state = std::make_shared<State>();
    CUDA_CHECK(cudaMemset(state->counts.get(), 0, state->counts.bytes()));
    const auto launch = [&data, state](cudaStream_t s) {
        ++state->launches;
        histogram::launch_histogram(histogram::histogram_block, data.device_pixels.get(),
                                    state->counts.get(), data.pixels(), s);
    };
    const auto check =
        [state, expected = histogram::histogram_reference(data.picture.pixels)](cudaStream_t) {
            std::vector<unsigned> all = expected;
            for (unsigned& count : all)
                count *= state->launches;  // modulo 2^32, as the bins count
            return mf::check_equal("histogram_block", all, state->counts.download());
        };
    const double n = static_cast<double>(data.pixels());
    const double blocks = static_cast<double>(histogram::blocks_for(data.pixels()));
    const double bins = 4.0 * histogram::bins;
    return {"histogram_block", {0, n + bins, 2 * bins * blocks + 8 * n, n + bins}, launch, check};
}

/// A block writes 256 sums, reads two and writes one for each of 255 additions, and reads the last.
Kernel make_reduction(const Data& data) {
    const std::size_t blocks = histogram::blocks_for(data.pixels());
    std::vector<unsigned> expected(blocks, 0);
    for (std::size_t i = 0; i < data.pixels(); ++i)
        expected[i / histogram::threads] += data.picture.pixels[i];
    const double shared = 4.0 * (256 + 3 * 255 + 1) * static_cast<double>(blocks);
    const double bytes = static_cast<double>(data.pixels() + 4 * blocks);
    return output_kernel<unsigned>("reduce_blocks", {0, bytes, shared, bytes}, expected,
                                   [&data](unsigned* partial, cudaStream_t s) {
                                       histogram::launch_reduce_blocks(data.device_pixels.get(),
                                                                       partial, data.pixels(), s);
                                   });
}
//! [integer kernels]

//! [all kernels]
std::vector<Kernel> course_kernels(const Data& data) {
    const mf::GrayImage blurred = blur::blur_reference(data.picture);
    return {make_vector_add(data),
            make_saxpy(data),
            make_fma_steps<2>(data),
            make_fma_steps<8>(data),
            make_fma_steps<32>(data),
            make_fma_steps<128>(data),
            make_blur("blur_direct", blur::blur_direct, false, data, blurred),
            make_blur("blur_tiled", blur::blur_tiled, true, data, blurred),
            make_histogram(data),
            make_reduction(data)};
}
//! [all kernels]

//! [check]
/// Runs each kernel once and looks at all of its output; throws for a wrong one.
void check_all(std::ostream& out, const std::vector<Kernel>& kernels, cudaStream_t stream,
               mf::Record& record) {
    std::vector<mf::CheckResult> checks;
    for (const Kernel& kernel : kernels) {
        kernel.launch(stream);
        checks.push_back(kernel.check(stream));
    }
    record.add_checks(checks, "before timing");
    out << mf::checks_line(checks) << "\n";
    for (const mf::CheckResult& check : checks)
        mf::require(check);
}
//! [check]

//! [measure]
/// Times the kernels, interleaved, and verifies what the timed launches left.
std::vector<mf::Series> measure_all(const std::vector<Kernel>& kernels, const mf::MeasurePlan& plan,
                                    cudaStream_t stream, mf::Record& record) {
    std::vector<mf::Variant> variants;
    for (const Kernel& kernel : kernels)
        variants.push_back({kernel.name, "one launch, data in device memory", kernel.launch, {}});
    auto series = mf::measure_variants(plan, stream, variants);
    for (const Kernel& kernel : kernels) {
        const auto check = kernel.check(stream);
        record.add_check(check, "after timing");
        mf::require(check);
    }
    return series;
}
//! [measure]

//! [roofs]
/// Giga a second: of operations, or of bytes.
double giga_per_s(double count, const mf::Series& series) {
    return count / (mf::require_time(mf::median(series.ms), series.name) * 1e6);
}

/// What the device reached in this run. GB/s, and GFLOP/s of fp32.
struct Roofs {
    double copy_gb_per_s;
    double shared_gb_per_s;
    double fma_gflop_per_s;

    /// The intensity from which on arithmetic is the lower roof, in FLOP/byte.
    double ridge() const { return fma_gflop_per_s / copy_gb_per_s; }
    double attainable(double flop_per_byte) const {
        return std::min(fma_gflop_per_s, flop_per_byte * copy_gb_per_s);
    }
};

/// A count a launch, for each clock of an SM, by the clock measured around the series. None on the
/// emulator, which has no such clock.
std::optional<double> per_clock_and_sm(double count, const mf::Series& series, int sms) {
    if (series.emulated || !series.clocks) return std::nullopt;
    const double mhz = (series.clocks->before_mhz + series.clocks->after_mhz) / 2;
    return giga_per_s(count, series) * 1e3 / mhz / sms;
}
//! [roofs]

//! [position]
/// Where a kernel is under the roofs.
struct Position {
    double flop_per_byte;
    double gflop_per_s;
    double attainable_gflop_per_s;
    bool below_memory_roof;

    double percent() const { return 100 * gflop_per_s / attainable_gflop_per_s; }
};

const char* const integer_reason =
    "the operations are on integers. They are no FLOP, run in other units and at other rates, so "
    "neither an intensity nor a height under the fp32 roof exists";

/// None for a kernel without floating-point operations.
std::optional<Position> position_of(const Kernel& kernel, const mf::Series& series,
                                    const Roofs& roofs) {
    if (kernel.counts.flop == 0) return std::nullopt;
    Position position{};
    position.flop_per_byte = kernel.counts.flop / kernel.counts.memory_bytes;
    position.gflop_per_s = giga_per_s(kernel.counts.flop, series);
    position.attainable_gflop_per_s = roofs.attainable(position.flop_per_byte);
    position.below_memory_roof = position.flop_per_byte < roofs.ridge();
    return position;
}
//! [position]

//! [results]
/// A kernel with its times and what follows from them; without rates only the times.
struct Result {
    const Kernel* kernel;
    mf::Series series;
    std::optional<mf::Rate> rate;
    std::optional<Position> position;

    bool counts_floats() const { return kernel->counts.flop > 0; }
};

std::vector<Result> results_of(const std::vector<Kernel>& kernels,
                               const std::vector<mf::Series>& series, const mf::Ceilings& ceilings,
                               const std::optional<Roofs>& roofs) {
    std::vector<Result> results;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Counts& counts = kernels[i].counts;
        Result result{&kernels[i], series[i], std::nullopt, std::nullopt};
        result.rate = mf::rate_of(series[i], counts.memory_bytes, ceilings, counts.footprint);
        if (roofs) result.position = position_of(kernels[i], series[i], *roofs);
        results.push_back(result);
    }
    return results;
}
//! [results]

//! [report ceilings]
void report_ceilings(std::ostream& out, const std::vector<Kernel>& kernels,
                     const std::vector<mf::Series>& series, const std::optional<Roofs>& roofs,
                     int sms) {
    mf::print_series(out, "ceiling ms", series);
    if (!roofs) return;
    out << "fp32 multiplication with addition: " << mf::readable(roofs->fma_gflop_per_s)
        << " GFLOP/s";
    if (const auto rate = per_clock_and_sm(kernels[0].counts.flop / 2, series[0], sms))
        out << ", " << mf::readable(*rate) << " FMA a clock and SM";
    out << "\nshared memory: " << mf::readable(roofs->shared_gb_per_s) << " GB/s";
    if (const auto rate = per_clock_and_sm(kernels[1].counts.shared_bytes, series[1], sms))
        out << ", " << mf::readable(*rate) << " bytes a clock and SM";
    out << "\nridge: " << mf::readable(roofs->ridge())
        << " FLOP/byte; below it the copy is the lower roof, above it arithmetic\n";
}
//! [report ceilings]

//! [report kernels]
std::vector<std::string> time_cells(const mf::Series& series) {
    const mf::Summary time = series.summary();
    return {series.name + (series.emulated ? " (emulated)" : ""), mf::readable(time.median),
            mf::readable(time.p05), mf::readable(time.p95)};
}

/// "Of roof": of what is attainable at this intensity. Above 100 % is left above 100 %.
void report_placed(std::ostream& out, const std::vector<Result>& results) {
    const bool placed = std::any_of(results.begin(), results.end(),
                                    [](const Result& r) { return r.position.has_value(); });
    std::vector<std::string> headers = {"variant", "kernel ms", "p05", "p95"};
    for (const char* const header :
         {"FLOP/byte", "GFLOP/s", "attainable", "of roof", "lower roof"}) {
        if (placed) headers.push_back(header);
    }
    mf::Table table(headers);
    for (const Result& result : results) {
        if (!result.counts_floats()) continue;
        auto cells = time_cells(result.series);
        if (const auto& position = result.position) {
            cells.push_back(mf::readable(position->flop_per_byte));
            cells.push_back(mf::readable(position->gflop_per_s));
            cells.push_back(mf::readable(position->attainable_gflop_per_s));
            cells.push_back(mf::percent_text(position->percent()));
            cells.push_back(position->below_memory_roof ? "copy" : "arithmetic");
        }
        table.add_row(cells);
    }
    table.print(out);
}

/// What can be said about integer kernels: their bytes against the ceilings of bytes.
void report_refused(std::ostream& out, const std::vector<Result>& results,
                    const std::optional<Roofs>& roofs) {
    std::vector<std::string> headers = {"variant", "kernel ms", "p05", "p95"};
    for (const char* const header : {"GB/s", "of copy", "shared GB/s", "of shared", "GFLOP/s"}) {
        if (roofs) headers.push_back(header);
    }
    mf::Table table(headers);
    std::string refused;
    for (const Result& result : results) {
        if (result.counts_floats()) continue;
        refused += (refused.empty() ? "" : ", ") + result.kernel->name;
        auto cells = time_cells(result.series);
        if (roofs && result.rate) {
            const double shared = giga_per_s(result.kernel->counts.shared_bytes, result.series);
            cells.push_back(mf::readable(result.rate->gb_per_s));
            cells.push_back(mf::percent_text(result.rate->percent_of_copy));
            cells.push_back(shared > 0 ? mf::readable(shared) : "none");
            cells.push_back(shared > 0 ? mf::percent_text(100 * shared / roofs->shared_gb_per_s)
                                       : "none");
            cells.push_back("refused");
        }
        table.add_row(cells);
    }
    table.print(out);
    out << "  No position for " << refused << ": " << integer_reason << ".\n";
}
//! [report kernels]

//! [report notes]
void report_notes(std::ostream& out, const std::vector<Result>& results) {
    std::vector<mf::Series> series;
    for (const Result& result : results)
        series.push_back(result.series);
    mf::print_series_notes(out, series);
    for (const Result& result : results) {
        if (result.rate && !result.rate->note().empty())
            out << "  " << result.kernel->name << ": " << result.rate->note() << ".\n";
    }
}
//! [report notes]

//! [report verdicts]
/// Pairs with the same bytes and more operations: does the time follow the operations?
void compare_operations(std::ostream& out, const std::vector<Result>& results,
                        const mf::CommonOptions& options, mf::Record& record) {
    for (std::size_t i = 1; i < results.size(); ++i) {
        const Counts& fewer = results[i - 1].kernel->counts;
        const Counts& more = results[i].kernel->counts;
        if (more.flop == 0 || fewer.memory_bytes != more.memory_bytes) continue;
        const auto comparison =
            mf::compare(results[i - 1].series, results[i].series, options.plan.order, options.seed);
        record.add_comparison("kernel ms", comparison);
        out << mf::fixed(more.flop / fewer.flop, 0) << " times the operations: ";
        mf::print_comparison(out, comparison);
    }
}
//! [report verdicts]

//! [plot]
/// The picture, of the kernels that have a position; the others are named below it.
std::string plot_of(const std::vector<Result>& results, const Roofs& roofs,
                    const mf::DeviceInfo& device) {
    roofline::Plot plot;
    plot.title = "Roofline of " + device.name + (device.emulated ? ": EMULATED, not a GPU" : "");
    plot.memories = {{"copy", roofs.copy_gb_per_s}, {"shared memory", roofs.shared_gb_per_s}};
    plot.peak_name = "fp32 FMA";
    plot.peak_gflop_per_s = roofs.fma_gflop_per_s;
    std::string refused;
    for (const Result& result : results) {
        if (const auto& position = result.position) {
            plot.marks.push_back(
                {result.kernel->name, position->flop_per_byte, position->gflop_per_s});
        } else {
            refused += (refused.empty() ? "" : ", ") + result.kernel->name;
        }
    }
    plot.notes = {"Without a position, since they count in integers: " + refused + ".",
                  "Roofs measured in the same run; driver " + device.driver_release + ", runtime " +
                      device.runtime_version + ", " + mf::utc_now() + "."};
    return roofline::svg(plot);
}
//! [plot]

//! [record]
void fill_record(mf::Record& record, const std::vector<Kernel>& ceiling_kernels,
                 const std::vector<mf::Series>& ceiling_series, const std::vector<Result>& results,
                 const std::optional<Roofs>& roofs, int sms) {
    record.add_series("ceiling ms", ceiling_series);
    mf::Json positions = mf::Json::array();
    for (const Result& result : results) {
        record.add_series("kernel ms", result.series, result.rate);
        const Counts& counts = result.kernel->counts;
        mf::Json one{{"name", result.kernel->name},
                     {"flop", counts.flop},
                     {"memory_bytes", counts.memory_bytes},
                     {"shared_bytes", counts.shared_bytes},
                     {"flop_per_byte", nullptr},
                     {"gflop_per_s", nullptr},
                     {"attainable_gflop_per_s", nullptr},
                     {"lower_roof", nullptr},
                     {"refused", nullptr}};
        if (const auto& position = result.position) {
            one.set("flop_per_byte", position->flop_per_byte);
            one.set("gflop_per_s", position->gflop_per_s);
            one.set("attainable_gflop_per_s", position->attainable_gflop_per_s);
            one.set("lower_roof", position->below_memory_roof ? "copy" : "arithmetic");
        }
        if (!result.counts_floats()) one.set("refused", integer_reason);
        positions.push(one);
    }
    record.add_extra("positions", positions);
    mf::Json measured = nullptr;
    if (roofs) {
        const double fma = ceiling_kernels[0].counts.flop / 2;
        const double shared = ceiling_kernels[1].counts.shared_bytes;
        measured = mf::Json{
            {"copy_gb_per_s", roofs->copy_gb_per_s},
            {"shared_gb_per_s", roofs->shared_gb_per_s},
            {"fma_gflop_per_s", roofs->fma_gflop_per_s},
            {"ridge_flop_per_byte", roofs->ridge()},
            {"fma_per_clock_and_sm", per_clock_and_sm(fma, ceiling_series[0], sms)},
            {"shared_bytes_per_clock_and_sm", per_clock_and_sm(shared, ceiling_series[1], sms)}};
    }
    record.add_extra("roofs", measured);
}
//! [record]

//! [options]
struct Options {
    mf::CommonOptions common;
    std::size_t n = 0;  ///< 0: by the device
    std::string plot;
};

/// False if only --help was asked for.
bool parse(int argc, char** argv, Options& options) {
    mf::OptionParser parser("roofline", "measured ceilings, and kernels of the course under them");
    parser.add_common(options.common);
    parser.add_number("--n", "N",
                      "floats an array, and pixels (default: 64 for each thread the device holds)",
                      options.n, 1, std::uint64_t{1} << 29);
    parser.add_text("--plot", "FILE", "write the picture (SVG)", options.plot);
    return parser.parse(argc, argv);
}
//! [options]

//! [main]
int run(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) return mf::exit_ok;
    mf::refuse_one_file(options.common.json, options.plot, "--plot");
    const mf::RecordFile record_file(options.common.json);
    std::optional<mf::WholeFile> plot_file;
    if (!options.plot.empty()) plot_file.emplace(options.plot);

    const mf::DeviceInfo device = mf::pick_device(options.common.device);
    std::ostream& out = mf::report_stream(options.common);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    const unsigned resident = resident_threads(device);
    const Data data(options.n > 0 ? options.n : std::size_t{64} * resident, options.common.seed);
    mf::Record record("roofline", argc, argv, device, options.common);
    record.set_input(
        "whole floats from 0 to 255, random pixels",
        {{"n", data.n()}, {"width", data.picture.width}, {"height", data.picture.height}});

    const std::vector<Kernel> ceiling_kernels = {
        make_fma_ceiling(resident), make_shared_ceiling(resident, options.common.seed)};
    const std::vector<Kernel> kernels = course_kernels(data);
    out << "n=" << data.n() << ":\n";
    check_all(out, ceiling_kernels, stream, record);
    check_all(out, kernels, stream, record);

    const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
    record.set_ceilings(ceilings);
    const auto ceiling_series = measure_all(ceiling_kernels, options.common.plan, stream, record);
    const auto series = measure_all(kernels, options.common.plan, stream, record);
    std::optional<Roofs> roofs;
    if (ceilings.copy_gb_per_s) {
        roofs = Roofs{*ceilings.copy_gb_per_s,
                      giga_per_s(ceiling_kernels[1].counts.shared_bytes, ceiling_series[1]),
                      giga_per_s(ceiling_kernels[0].counts.flop, ceiling_series[0])};
    }
    const std::vector<Result> results = results_of(kernels, series, ceilings, roofs);
    fill_record(record, ceiling_kernels, ceiling_series, results, roofs, device.multiprocessors);

    mf::print_ceilings(out, ceilings);
    out << "\n";
    report_ceilings(out, ceiling_kernels, ceiling_series, roofs, device.multiprocessors);
    out << "\n";
    report_placed(out, results);
    out << "\n";
    report_refused(out, results, roofs);
    report_notes(out, results);
    out << "\n";
    compare_operations(out, results, options.common, record);
    if (plot_file && roofs) plot_file->write(plot_of(results, *roofs, device));
    if (plot_file && !roofs) out << "No plot: " << mf::reason_for_no_rates() << "\n";
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
