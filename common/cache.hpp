/// \file
/// Emptying the caches between samples, so that a sample starts cold.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "buffer.hpp"
#include "check.hpp"

namespace mf {

namespace detail {

/// Reads all words, which are zero; `sink` is written only if they are not, so that the compiler
/// must keep the loads.
template <int>
__global__ void read_all(const uint4* words, std::size_t count, unsigned* sink) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    unsigned any = 0;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const uint4 word = words[i];
        any |= word.x | word.y | word.z | word.w;
    }
    if (any != 0) *sink = any;
}

}  // namespace detail

/// Drives everything else out of the L2 cache by reading a buffer of twice its size. Reading, not
/// writing: lines left dirty would have to be written back during the sample and be charged to it.
/// (The L1 caches are emptied by every launch of a kernel.)
class CacheFlusher {
public:
    /// Where the device does not tell the size of its L2: larger than that of most.
    static constexpr std::size_t bytes_when_unknown = std::size_t{32} << 20;

    CacheFlusher() : words_(flush_bytes() / sizeof(uint4)), sink_(1) {
        CUDA_CHECK(cudaMemset(words_.get(), 0, words_.bytes()));
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    /// Enqueues the flush. It belongs before the start event of a sample, in the same stream.
    void flush(cudaStream_t stream) const {
        constexpr int threads = 256;
        const int blocks = 8 * std::max(1, attribute_or(cudaDevAttrMultiProcessorCount, 1));
        detail::read_all<0>
            <<<blocks, threads, 0, stream>>>(words_.get(), words_.size(), sink_.get());
        CUDA_CHECK_LAUNCH();
    }

    std::size_t bytes() const { return words_.bytes(); }

private:
    static std::size_t flush_bytes() {
        const int l2 = attribute_or(cudaDevAttrL2CacheSize, 0);
        return l2 > 0 ? 2 * static_cast<std::size_t>(l2) : bytes_when_unknown;
    }

    DeviceBuffer<uint4> words_;
    DeviceBuffer<unsigned> sink_;
};

}  // namespace mf
