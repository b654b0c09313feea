// emulator_speed: what does the emulator cost against plain loops on the same cores?
//
// Two kernels that stand for the two kinds of work: saxpy, a map without a barrier, against a C++
// loop shared by as many threads as the emulator has workers; and a tree reduction of 2^24 bytes,
// 256 threads a block, nine barriers, against one loop on one core. All in one run, interleaved, so
// that the ratios hold on a machine whose speed drifts. The results are compared before anything is
// printed. Run by hand; speed is not a test.
//
//     ninja -C build tests/benchmarks/emulator_speed.emulator
//     build/tests/benchmarks/emulator_speed.emulator

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "buffer.hpp"
#include "check.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "measure.hpp"
#include "program.hpp"
#include "random.hpp"

namespace {

constexpr int block_threads = 256;

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void sum_tree(const unsigned char* in, unsigned* block_sums, int n) {
    __shared__ unsigned partial[block_threads];
    const unsigned t = threadIdx.x;
    const int i = blockIdx.x * block_threads + t;
    partial[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned stride = block_threads / 2; stride > 0; stride /= 2) {
        if (t < stride) partial[t] += partial[t + stride];
        __syncthreads();
    }
    if (t == 0) block_sums[blockIdx.x] = partial[0];
}

void saxpy_range(std::size_t begin, std::size_t end, float a, const float* x, float* y) {
    for (std::size_t i = begin; i < end; ++i)
        y[i] = a * x[i] + y[i];
}

/// The plain loop, shared by `threads` host threads.
void saxpy_on_threads(unsigned threads, float a, const std::vector<float>& x,
                      std::vector<float>& y) {
    std::vector<std::thread> others;
    const std::size_t share = (x.size() + threads - 1) / threads;
    for (unsigned k = 1; k < threads; ++k) {
        others.emplace_back(saxpy_range, std::min(k * share, x.size()),
                            std::min((k + 1) * share, x.size()), a, x.data(), y.data());
    }
    saxpy_range(0, std::min(share, x.size()), a, x.data(), y.data());
    for (std::thread& other : others)
        other.join();
}

void print_ratio(const char* what, const std::vector<mf::Series>& series, double target) {
    const mf::Interval ratio = mf::paired_ratio(series[0].ms, series[1].ms, 1);
    std::printf(
        "%s: %s %.3f ms, %s %.3f ms; ratio %.2f (95 %% interval %.2f to %.2f; target: at "
        "most %.0f)\n",
        what, series[0].name.c_str(), series[0].summary().median, series[1].name.c_str(),
        series[1].summary().median, ratio.estimate, ratio.low, ratio.high, target);
}

void compare_saxpy(unsigned threads) {
    constexpr int n = 1 << 22;
    const std::vector<float> x(n, 1.0f);
    std::vector<float> y(n, 2.0f);
    const mf::DeviceBuffer<float> device_x(x);
    mf::DeviceBuffer<float> device_y(y);
    int plain_runs = 0;
    int kernel_runs = 0;
    mf::MeasurePlan plan;
    plan.inner = 1;
    const auto series =
        mf::measure_host_variants(plan, {{"plain loop", "the loop on all threads",
                                          [&] {
                                              saxpy_on_threads(threads, 0.5f, x, y);
                                              ++plain_runs;
                                          }},
                                         {"kernel", "one launch and the wait for it", [&] {
                                              saxpy<<<n / block_threads, block_threads>>>(
                                                  n, 0.5f, device_x.get(), device_y.get());
                                              CUDA_CHECK(cudaDeviceSynchronize());
                                              ++kernel_runs;
                                          }}});
    const std::vector<float> result = device_y.download();
    for (int i = 0; i < n; ++i) {
        if (y[i] != 2.0f + 0.5f * plain_runs || result[i] != 2.0f + 0.5f * kernel_runs) {
            throw std::runtime_error("saxpy: wrong result");
        }
    }
    print_ratio("saxpy, 2^22 floats", series, 3);
}

void compare_tree() {
    constexpr int n = 1 << 24;
    const std::vector<unsigned char> bytes = mf::random_bytes(n, 1);
    const mf::DeviceBuffer<unsigned char> device_bytes(bytes);
    mf::DeviceBuffer<unsigned> block_sums(n / block_threads);
    volatile std::uint64_t sum = 0;
    mf::MeasurePlan plan;
    plan.inner = 1;
    plan.repeats = 10;
    const auto series = mf::measure_host_variants(
        plan, {{"plain loop", "one loop on one core",
                [&] { sum = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}); }},
               {"kernel", "one launch and the wait for it", [&] {
                    sum_tree<<<n / block_threads, block_threads>>>(device_bytes.get(),
                                                                   block_sums.get(), n);
                    CUDA_CHECK(cudaDeviceSynchronize());
                }}});
    const std::vector<unsigned> sums = block_sums.download();
    if (std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}) != sum) {
        throw std::runtime_error("tree reduction: wrong sum");
    }
    print_ratio("tree reduction, 2^24 bytes", series, 100);
}

int run(int, char**) {
    const mf::DeviceInfo device = mf::pick_device(0);
    const unsigned threads = static_cast<unsigned>(device.multiprocessors);
    std::printf("%s: %u workers\n", device.name.c_str(), threads);
    compare_saxpy(threads);
    compare_tree();
    return mf::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, run);
}
