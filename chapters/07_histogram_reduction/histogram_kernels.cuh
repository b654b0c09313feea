//! [kernel question]
// The kernels of histogram_reduction, with their references and launchers. In a file of its own
// because the programs of later chapters time the same kernels.
//! [kernel question]

//! [kernel includes]
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace histogram {
//! [kernel includes]

//! [reference]
/// One bin for each value that a pixel can have.
constexpr int bins = 256;

/// Threads a block, in all kernels here. Equal to the bins, so that in histogram_block each thread
/// clears one bin and merges one.
constexpr int threads = 256;
static_assert(threads == bins, "histogram_block gives each thread one bin");

/// A bin counts in 32 bits. One pixel more, all of one value, and a bin would start again at 0.
constexpr std::uint64_t most_pixels = 4294967295u;

inline std::vector<unsigned> histogram_reference(const std::vector<unsigned char>& pixels) {
    std::vector<unsigned> counts(bins, 0);
    for (const unsigned char pixel : pixels)
        ++counts[pixel];
    return counts;
}

inline std::uint64_t sum_reference(const std::vector<unsigned char>& pixels) {
    return std::accumulate(pixels.begin(), pixels.end(), std::uint64_t{0});
}
//! [reference]

//! [global]
/// One pixel a thread; all threads of the grid add to the same 256 counters in global memory. Where
/// pixels are equal, their additions meet at one counter.
__global__ void histogram_global(const unsigned char* pixels, unsigned* counts, std::size_t n) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[pixels[i]], 1u);
}
//! [global]

//! [block]
/// One pixel a thread; each block counts its 256 pixels in shared memory and then adds what it
/// found to the result: at most one global addition a bin and block.
__global__ void histogram_block(const unsigned char* pixels, unsigned* counts, std::size_t n) {
    __shared__ unsigned local[bins];
    local[threadIdx.x] = 0;
    __syncthreads();  // nobody counts before all bins are clear

    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[pixels[i]], 1u);
    __syncthreads();  // nobody merges before all have counted

    const unsigned found = local[threadIdx.x];
    if (found > 0) atomicAdd(&counts[threadIdx.x], found);
}
//! [block]

//! [reduce]
/// Writes one partial sum a block. Threads beyond n bring a 0 and stay: every thread must reach
/// every barrier. 256 pixels of at most 255 sum to 65280, so 32 bits hold a partial sum with ease;
/// the sum of the partial sums needs 64.
__global__ void reduce_blocks(const unsigned char* pixels, unsigned* partial, std::size_t n) {
    __shared__ unsigned sums[threads];
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? pixels[i] : 0;
    __syncthreads();

    // The upper half of what is left is added to the lower half: 128, 64, … 1.
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();  // outside the branch: all threads wait, not only those that added
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
//! [reduce]

//! [kernel launchers]
inline std::size_t blocks_for(std::size_t n) {
    return (n + threads - 1) / threads;
}

using HistogramKernel = void (*)(const unsigned char*, unsigned*, std::size_t);

inline void clear(unsigned* counts, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(counts, 0, bins * sizeof(unsigned), stream));
}

/// Adds the pixels' counts to `counts`; clear them first. No pixels, no launch: a grid of no blocks
/// is an error.
inline void launch_histogram(HistogramKernel kernel, const unsigned char* pixels, unsigned* counts,
                             std::size_t n, cudaStream_t stream) {
    if (n == 0) return;
    kernel<<<static_cast<unsigned>(blocks_for(n)), threads, 0, stream>>>(pixels, counts, n);
    CUDA_CHECK_LAUNCH();
}

/// Writes blocks_for(n) partial sums.
inline void launch_reduce_blocks(const unsigned char* pixels, unsigned* partial, std::size_t n,
                                 cudaStream_t stream) {
    if (n == 0) return;
    reduce_blocks<<<static_cast<unsigned>(blocks_for(n)), threads, 0, stream>>>(pixels, partial, n);
    CUDA_CHECK_LAUNCH();
}

/// The host's part of the sum.
inline std::uint64_t merge(const std::vector<unsigned>& partial) {
    return std::accumulate(partial.begin(), partial.end(), std::uint64_t{0});
}

}  // namespace histogram
//! [kernel launchers]
