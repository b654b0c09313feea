#include <algorithm>

#include "device.hpp"
#include "error.hpp"
#include "function.hpp"
#include "kernel_functions.hpp"
#include "settings.hpp"

namespace emu {
namespace {

/// Shared memory is handed out in units of so many bytes.
constexpr std::size_t shared_granularity = 128;

cudaError_t active_blocks(int* blocks, const void* function, int block_size,
                          std::size_t dynamic_shared) {
    if (blocks == nullptr || block_size <= 0) return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    *blocks = resident_blocks(function, block_size, dynamic_shared);
    return cudaSuccess;
}

cudaError_t available_dynamic_shared(std::size_t* bytes, const void* function, int blocks,
                                     int block_size) {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (resident_blocks(function, block_size, 0) < blocks) return cudaErrorInvalidValue;
    const std::size_t share =
        shared_per_sm / static_cast<std::size_t>(blocks) / shared_granularity * shared_granularity;
    const std::size_t taken = shared_reserved_per_block + static_shared_bytes(function);
    *bytes = std::min(max_dynamic_shared(function), share - std::min(share, taken));
    return cudaSuccess;
}

}  // namespace

cudaError_t max_potential_block_size(int* min_grid_size, int* block_size, const void* function,
                                     std::size_t (*shared_bytes)(const void*, int),
                                     const void* context, int block_size_limit) {
    return api_call([&] {
        if (min_grid_size == nullptr || block_size == nullptr) return cudaErrorInvalidValue;
        if (function == nullptr) return cudaErrorInvalidDeviceFunction;
        const int limit = block_size_limit <= 0 ? max_threads_per_block
                                                : std::min(block_size_limit, max_threads_per_block);
        int best_threads = 0;
        int best_blocks = 0;
        *block_size = 0;
        // Whole warps, but for the limit itself.
        for (int size = limit; size > 0; size = (size - 1) / warp_threads * warp_threads) {
            const int blocks = resident_blocks(function, size, shared_bytes(context, size));
            if (blocks * size > best_threads) {
                best_threads = blocks * size;
                best_blocks = blocks;
                *block_size = size;
            }
        }
        *min_grid_size = best_blocks * static_cast<int>(settings().workers);
        return cudaSuccess;
    });
}

}  // namespace emu

using emu::api_call;

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func,
                                                          int blockSize,
                                                          std::size_t dynamicSMemSize) {
    return api_call(
        [&] { return emu::active_blocks(numBlocks, func, blockSize, dynamicSMemSize); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func,
                                                                   int blockSize,
                                                                   std::size_t dynamicSMemSize,
                                                                   unsigned int flags) {
    return api_call([&] {
        if (flags > cudaOccupancyDisableCachingOverride) return cudaErrorInvalidValue;
        return emu::active_blocks(numBlocks, func, blockSize, dynamicSMemSize);
    });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamicSmemSize,
                                                      const void* func, int numBlocks,
                                                      int blockSize) {
    return api_call(
        [&] { return emu::available_dynamic_shared(dynamicSmemSize, func, numBlocks, blockSize); });
}
