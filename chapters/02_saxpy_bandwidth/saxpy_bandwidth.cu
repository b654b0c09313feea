//! [question]
// saxpy_bandwidth: how much of a GPU's memory bandwidth does y = a * x + y reach?
//
// Two operations for twelve bytes: the work of a SAXPY is moving memory, so its speed is told in
// bytes a second and held against two ceilings, the bandwidth of the data sheet and the bandwidth
// that a plain copy reaches in the same run.
//
// Build and run in this folder:
//
//     nvcc -O2 -std=c++17 -arch=native -I ../../common saxpy_bandwidth.cu -o saxpy_bandwidth
//     ./saxpy_bandwidth
//
// Versions:
//     scalar       one element a thread: the plain one, and on most devices already a fast one
//     grid_stride  just enough threads to fill the device, each striding over the whole array
//     float4       one 16-byte access for four elements: a quarter of the memory instructions
//
// The order of the file is the order of the work: reference, kernels, launchers, check, measure,
// report, main.
//! [question]

//! [includes]
#include "saxpy_kernel.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
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

namespace {

using namespace saxpy;
//! [includes]

//! [reference]
/// What the device must compute, element by element.
std::vector<float> saxpy_reference(float a, const std::vector<float>& x, std::vector<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = a * x[i] + y[i];
    return y;
}
//! [reference]

//! [data]
constexpr float factor = 2.5f;

/// Random multiples of 1/1024 between -32 and 32. With such numbers every product and every sum
/// below fits into a float exactly. So nothing is rounded, whether the compiler fuses multiply and
/// add or not, and each result has one right value, compared without a tolerance.
std::vector<float> exact_values(std::int64_t n, std::uint64_t seed) {
    mf::Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& value : values) {
        value = (static_cast<float>(random.below(65537)) - 32768.0f) / 1024.0f;
    }
    return values;
}
//! [data]

//! [grid stride]
/// Any number of threads covers any n: each takes every (number of threads)-th element.
/// Neighbouring threads still touch neighbouring elements in every round.
__global__ void saxpy_grid_stride(std::int64_t n, float a, const float* __restrict__ x,
                                  float* __restrict__ y) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = first; i < n; i += threads)
        y[i] = a * x[i] + y[i];
}
//! [grid stride]

//! [float4]
/// Four elements a thread by 16-byte accesses, which must begin at a multiple of 16 bytes. Up to
/// three elements before the first such address (`head`) and up to three behind the last whole
/// float4 are left over; the first threads take one of them each.
__global__ void saxpy_float4(std::int64_t n, std::int64_t head, float a,
                             const float* __restrict__ x, float* __restrict__ y) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t vectors = (n - head) / 4;
    if (i < vectors) {
        const float4 xs = reinterpret_cast<const float4*>(x + head)[i];
        float4* const target = reinterpret_cast<float4*>(y + head) + i;
        float4 ys = *target;
        ys.x = a * xs.x + ys.x;
        ys.y = a * xs.y + ys.y;
        ys.z = a * xs.z + ys.z;
        ys.w = a * xs.w + ys.w;
        *target = ys;
    }
    const std::int64_t rest = n - 4 * vectors;
    if (i < rest) {
        const std::int64_t left_over = i < head ? i : 4 * vectors + i;
        y[left_over] = a * x[left_over] + y[left_over];
    }
}
//! [float4]

//! [launchers]
unsigned blocks_for(std::int64_t threads) {
    return static_cast<unsigned>((threads + threads_per_block - 1) / threads_per_block);
}

/// A version of the kernel behind one signature. All do nothing for n = 0: a grid of no blocks
/// would be an invalid launch.
struct Version {
    std::string name;
    std::function<void(std::int64_t n, float a, const float* x, float* y, cudaStream_t)> launch;
};

void launch_scalar(std::int64_t n, float a, const float* x, float* y, cudaStream_t stream) {
    if (n == 0) return;
    saxpy_scalar<<<blocks_for(n), threads_per_block, 0, stream>>>(n, a, x, y);
    CUDA_CHECK_LAUNCH();
}

/// `most_blocks`: as many as the device can hold at once; more would only queue.
void launch_grid_stride(unsigned most_blocks, std::int64_t n, float a, const float* x, float* y,
                        cudaStream_t stream) {
    if (n == 0) return;
    const unsigned blocks = std::min(blocks_for(n), most_blocks);
    saxpy_grid_stride<<<blocks, threads_per_block, 0, stream>>>(n, a, x, y);
    CUDA_CHECK_LAUNCH();
}

/// Elements before the first 16-byte boundary.
std::int64_t elements_to_boundary(const float* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return static_cast<std::int64_t>((16 - address % 16) % 16 / sizeof(float));
}

/// cudaMalloc returns aligned memory, but a caller may pass any part of an array. Where x and y are
/// not misaligned alike, no start suits both, and the scalar kernel does the work.
void launch_float4(std::int64_t n, float a, const float* x, float* y, cudaStream_t stream) {
    if (n == 0) return;
    const std::int64_t head = std::min(elements_to_boundary(y), n);
    if (elements_to_boundary(x) != elements_to_boundary(y)) {
        return launch_scalar(n, a, x, y, stream);
    }
    const std::int64_t vectors = (n - head) / 4;
    const std::int64_t threads = std::max(vectors, n - 4 * vectors);
    saxpy_float4<<<blocks_for(threads), threads_per_block, 0, stream>>>(n, head, a, x, y);
    CUDA_CHECK_LAUNCH();
}

std::vector<Version> versions(const mf::DeviceInfo& device) {
    using namespace std::placeholders;
    int blocks_per_sm = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, saxpy_grid_stride,
                                                             threads_per_block, 0));
    const auto most_blocks = static_cast<unsigned>(device.multiprocessors * blocks_per_sm);
    return {{"scalar", launch_scalar},
            {"grid_stride", std::bind(launch_grid_stride, most_blocks, _1, _2, _3, _4, _5)},
            {"float4", launch_float4}};
}
//! [launchers]

//! [guard]
/// Elements on either side of an array, which must keep their value: a kernel that writes beside
/// the array is wrong, however right its results are.
constexpr std::size_t guard = 8;
constexpr float guard_value = 12345.0f;

/// An array between two guards, its first element `offset` elements behind a 16-byte boundary.
struct Guarded {
    std::size_t begin;
    std::vector<float> host;  ///< guards included; what the device starts from
    mf::DeviceBuffer<float> device;

    Guarded(const std::vector<float>& values, std::size_t offset)
        : begin(guard + offset), host(values.size() + offset + 2 * guard, guard_value) {
        std::copy(values.begin(), values.end(), host.begin() + static_cast<std::ptrdiff_t>(begin));
        device = mf::DeviceBuffer<float>(host);
    }
    float* get() const { return device.get() + begin; }

    /// What the whole buffer must hold once the array holds `values`.
    std::vector<float> host_with(const std::vector<float>& values) const {
        std::vector<float> whole = host;
        std::copy(values.begin(), values.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin));
        return whole;
    }
};
//! [guard]

//! [check]
/// Compares every element of a device buffer, guards included. Equal means ==, so NaN never passes.
mf::CheckResult check_buffer(const std::string& name, const std::vector<float>& expected,
                             const Guarded& actual) {
    const auto place = [&actual](std::size_t index) {
        const auto element =
            static_cast<std::int64_t>(index) - static_cast<std::int64_t>(actual.begin);
        return "y[" + std::to_string(element) + "]";
    };
    return mf::check_equal(name, expected, actual.device.download(), place);
}

/// Runs every version once on n elements; x and y begin so many elements behind a 16-byte boundary.
/// Keeps the first failure of each version in `results`.
void check_versions(const std::vector<Version>& all, std::int64_t n, std::size_t x_offset,
                    std::size_t y_offset, std::uint64_t seed, cudaStream_t stream,
                    std::vector<mf::CheckResult>& results) {
    const std::vector<float> x = exact_values(n, seed);
    const std::vector<float> y = exact_values(n, seed + 1);
    const std::vector<float> expected = saxpy_reference(factor, x, y);
    const Guarded device_x(x, x_offset);
    for (std::size_t v = 0; v < all.size(); ++v) {
        const Guarded device_y(y, y_offset);
        all[v].launch(n, factor, device_x.get(), device_y.get(), stream);
        mf::CheckResult result = check_buffer(all[v].name, device_y.host_with(expected), device_y);
        if (!result.passed) {
            result.message = "n = " + std::to_string(n) + ", x and y " + std::to_string(x_offset) +
                             " and " + std::to_string(y_offset) +
                             " elements behind a 16-byte boundary: " + result.message;
        }
        if (results[v].passed) results[v] = result;
    }
}

/// Sizes around the borders of a vector, of a warp's 32 vectors and of a block, at all alignments;
/// then the size that is measured.
std::vector<mf::CheckResult> check_all_sizes(const std::vector<Version>& all, std::int64_t n,
                                             std::uint64_t seed, cudaStream_t stream) {
    std::vector<mf::CheckResult> results;
    for (const Version& version : all)
        results.push_back({version.name, true, ""});
    for (const std::int64_t small :
         {0, 1, 2, 3, 4, 5, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025}) {
        for (const std::size_t offset : {0, 1, 2, 3}) {
            check_versions(all, small, offset, offset, seed, stream, results);
        }
        check_versions(all, small, 1, 0, seed, stream, results);
    }
    check_versions(all, n, 0, 0, seed, stream, results);
    return results;
}
//! [check]

//! [measure]
/// One version with the y that it works on. In place, y = a * x + y repeated would grow with every
/// launch. So the launches add and subtract a * x by turns: the work stays the same, the values
/// stay bounded, and how many launches there were tells what y must hold afterwards.
struct Timed {
    const Version* version;
    Guarded y;
    std::int64_t launches = 0;

    void launch(std::int64_t n, const float* x, cudaStream_t stream) {
        version->launch(n, launches % 2 == 0 ? factor : -factor, x, y.get(), stream);
        ++launches;
    }
};

/// Times all versions on n elements and verifies what the timed launches left in their buffers.
std::vector<mf::Series> measure_versions(const std::vector<Version>& all, std::int64_t n,
                                         const mf::CommonOptions& options, cudaStream_t stream,
                                         mf::Record& record) {
    const std::vector<float> x = exact_values(n, options.seed);
    const std::vector<float> y = exact_values(n, options.seed + 1);
    const Guarded device_x(x, 0);
    std::vector<Timed> timed;
    for (const Version& version : all)
        timed.push_back({&version, Guarded(y, 0)});

    std::vector<mf::Variant> variants;
    for (Timed& one : timed) {
        variants.push_back(
            {one.version->name, "one launch, arrays in device memory",
             [&one, &device_x, n](cudaStream_t s) { one.launch(n, device_x.get(), s); }});
    }
    auto series = mf::measure_variants(options.plan, stream, variants);

    // As the timed launches left y, and after one launch more: between the two, every element must
    // have changed from y to y + a * x or back.
    const std::vector<float> sum = saxpy_reference(factor, x, y);
    for (Timed& one : timed) {
        for (int i = 0; i < 2; ++i) {
            const std::vector<float>& expected = one.launches % 2 == 0 ? y : sum;
            const auto check = check_buffer(one.version->name, one.y.host_with(expected), one.y);
            record.add_check(check, "after timing");
            mf::require(check);
            one.launch(n, device_x.get(), stream);
        }
    }
    return series;
}
//! [measure]

//! [report]
/// Twelve bytes an element pass through the kernel, in eight bytes of memory: y is read and
/// written.
void report(std::ostream& out, const std::vector<mf::Series>& series, std::int64_t n,
            const mf::Ceilings& ceilings, const mf::CommonOptions& options, mf::Record& record) {
    const double bytes = mf::saxpy_bytes(static_cast<double>(n));
    const double footprint = 2 * sizeof(float) * static_cast<double>(n);
    std::vector<std::optional<mf::Rate>> rates;
    for (const mf::Series& one : series) {
        rates.push_back(mf::rate_of(one, bytes, ceilings, footprint));
    }
    mf::print_series(out, "kernel ms", series, rates);
    record.add_series("kernel ms", series, rates);
    // Each other version against the first, the plain one.
    for (std::size_t i = 1; i < series.size(); ++i) {
        const auto comparison = mf::compare(series[0], series[i], options.plan.order, options.seed);
        mf::print_comparison(out, comparison);
        record.add_comparison("kernel ms", comparison);
    }
}
//! [report]

//! [main]
int run(int argc, char** argv) {
    mf::CommonOptions options;
    std::int64_t n = 4194304;
    mf::OptionParser parser("saxpy_bandwidth", "memory bandwidth of y = a * x + y");
    parser.add_common(options);
    parser.add_number("--n", "N", "elements of x and of y", n, 0, std::uint64_t{1} << 36);
    if (!parser.parse(argc, argv)) return mf::exit_ok;
    const mf::RecordFile record_file(options.json);

    const mf::DeviceInfo device = mf::pick_device(options.device);
    std::ostream& out = mf::report_stream(options);
    mf::print_conditions(out, device);
    const mf::Stream stream;
    mf::Record record("saxpy_bandwidth", argc, argv, device, options);
    record.set_input("random multiples of 1/1024, exact in float", {{"n", n}});

    const std::vector<Version> all = versions(device);
    const auto checks = check_all_sizes(all, n, options.seed, stream);
    out << "n=" << n << ": " << mf::checks_line(checks) << "\n";
    record.add_checks(checks, "before timing");
    for (const mf::CheckResult& check : checks)
        mf::require(check);

    if (n == 0) {
        out << "There is nothing to move: no time, no rate.\n";
    } else {
        const mf::Ceilings ceilings = mf::measure_ceilings(stream, device);
        record.set_ceilings(ceilings);
        const auto series = measure_versions(all, n, options, stream, record);
        mf::print_ceilings(out, ceilings);
        out << "\n";
        report(out, series, n, ceilings, options, record);
    }
    record_file.write(record);
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
//! [main]
