//! [kernel question]
// Two further versions of the reduction of chapter 07, each with one change against the version
// before it, and a kernel that does nothing in a grid of the same size. In a file of its own
// because later chapters build on them.
//! [kernel question]

//! [kernel includes]
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "../07_histogram_reduction/histogram_kernels.cuh"
#include "check.hpp"

namespace reduction {

/// As in chapter 07, so that the versions differ in their work alone.
constexpr int threads = histogram::threads;
//! [kernel includes]

//! [two pixels]
/// Pixels a block in the two versions below: two a thread.
constexpr std::size_t two_a_thread = 2 * threads;

/// The sum of this thread's two pixels, one block's width apart, so that neighbouring threads read
/// neighbouring pixels both times. A pixel beyond n counts as 0.
__device__ inline unsigned sum_of_two(const unsigned char* pixels, std::size_t n) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * two_a_thread + threadIdx.x;
    const unsigned first = i < n ? pixels[i] : 0;
    const unsigned second = i + threads < n ? pixels[i + threads] : 0;
    return first + second;
}
//! [two pixels]

//! [first add]
/// Each thread adds two pixels while it loads them. In reduce_blocks half of the threads only
/// loaded and never added; here all add once, and half as many blocks do.
__global__ void reduce_first_add(const unsigned char* pixels, unsigned* partial, std::size_t n) {
    __shared__ unsigned sums[threads];
    sums[threadIdx.x] = sum_of_two(pixels, n);
    __syncthreads();

    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
//! [first add]

//! [shuffle]
constexpr int warp_size = 32;
constexpr int warps = threads / warp_size;

/// The sum of a warp's 32 values, in lane 0; the other lanes get sums of no use. All lanes must
/// call it. Values pass from register to register: no shared memory, no barrier of the block.
__device__ inline unsigned sum_of_warp(unsigned value) {
    for (int offset = warp_size / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, offset);
    return value;
}

/// Each warp sums its own 64 pixels, then the first warp sums the warps' sums: one barrier instead
/// of nine.
__global__ void reduce_shuffle(const unsigned char* pixels, unsigned* partial, std::size_t n) {
    __shared__ unsigned warp_sums[warps];
    const unsigned lane = threadIdx.x % warp_size;
    const unsigned warp = threadIdx.x / warp_size;

    const unsigned of_warp = sum_of_warp(sum_of_two(pixels, n));
    if (lane == 0) warp_sums[warp] = of_warp;
    __syncthreads();

    if (warp != 0) return;
    const unsigned of_block = sum_of_warp(lane < warps ? warp_sums[lane] : 0);
    if (lane == 0) partial[blockIdx.x] = of_block;
}
//! [shuffle]

//! [empty]
/// Nothing: what it takes is the launch, and starting and ending that many blocks.
__global__ void empty(const unsigned char*, unsigned*, std::size_t) {}
//! [empty]

//! [kernel launchers]
using Kernel = void (*)(const unsigned char*, unsigned*, std::size_t);

inline std::size_t blocks_for(std::size_t n, std::size_t pixels_per_block) {
    return (n + pixels_per_block - 1) / pixels_per_block;
}

/// Writes blocks_for(n, pixels_per_block) partial sums; no pixels, no launch.
inline void launch(Kernel kernel, std::size_t pixels_per_block, const unsigned char* pixels,
                   unsigned* partial, std::size_t n, cudaStream_t stream) {
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>(blocks_for(n, pixels_per_block));
    kernel<<<blocks, threads, 0, stream>>>(pixels, partial, n);
    CUDA_CHECK_LAUNCH();
}

}  // namespace reduction
//! [kernel launchers]
