// inspector_cost: the work that inspector_cost.py runs on the plain and on the inspected emulator.
//
//     inspector_cost saxpy|blur|reduction LAUNCHES
//
// prints the milliseconds of the launches, from the first one until the last has ended, and what
// the last one computed.

#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "check.hpp"
#include "program.hpp"

namespace {

constexpr unsigned threads = 256;

__global__ void saxpy(unsigned n, float a, const float* x, float* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void blur(const unsigned char* in, unsigned char* out, int width, int height) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    unsigned sum = 0;
    unsigned count = 0;
    for (int py = max(y - 1, 0); py <= min(y + 1, height - 1); ++py) {
        for (int px = max(x - 1, 0); px <= min(x + 1, width - 1); ++px) {
            sum += in[py * width + px];
            ++count;
        }
    }
    out[y * width + x] = static_cast<unsigned char>(sum / count);
}

__global__ void reduce(unsigned n, const float* in, float* out) {
    __shared__ float sums[threads];
    const unsigned t = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = threads / 2; step > 0; step /= 2) {
        if (t < step) sums[t] += sums[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

/// Runs `launch` as often as asked; milliseconds until all of it has ended.
template <class Launch>
double milliseconds(int launches, const Launch& launch) {
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) {
        launch();
        CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

int body(int argc, char** argv) {
    if (argc != 3) throw mf::UsageError("wants saxpy, blur or reduction, and how many launches");
    const std::string work = argv[1];
    const int launches = std::stoi(argv[2]);
    constexpr unsigned n = 1u << 20;
    constexpr int width = 1003;
    constexpr int height = 769;
    mf::DeviceBuffer<float> in(n);
    mf::DeviceBuffer<float> out(n);
    CUDA_CHECK(cudaMemset(in.get(), 1, n * sizeof(float)));
    CUDA_CHECK(cudaMemset(out.get(), 1, n * sizeof(float)));
    double ms = 0;
    if (work == "saxpy") {
        ms = milliseconds(launches,
                          [&] { saxpy<<<n / threads, threads>>>(n, 0.5f, in.get(), out.get()); });
    } else if (work == "blur") {
        ms = milliseconds(launches, [&] {
            blur<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(
                reinterpret_cast<const unsigned char*>(in.get()),
                reinterpret_cast<unsigned char*>(out.get()), width, height);
        });
    } else if (work == "reduction") {
        ms = milliseconds(launches,
                          [&] { reduce<<<n / threads, threads>>>(n, in.get(), out.get()); });
    } else {
        throw mf::UsageError("no work is called " + work);
    }
    std::vector<float> result(n);
    CUDA_CHECK(cudaMemcpy(result.data(), out.get(), n * sizeof(float), cudaMemcpyDeviceToHost));
    std::printf("%.6f ms, computed %a\n", ms, static_cast<double>(result[n / threads - 1]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, body);
}
