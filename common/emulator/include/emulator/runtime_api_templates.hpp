/// \file
/// The overloads that CUDA's runtime has for C++: typed pointers, kernels and variables of the
/// device given by name, and the occupancy calls that take a function.
#pragma once

#include "emulator/runtime_api.h"

namespace emu {

/// A `__device__` or `__constant__` variable as the runtime sees it.
struct Symbol {
    void* address;
    std::size_t size;  ///< bytes
};

template <class T>
Symbol symbol_of(const T& variable) {
    return {const_cast<void*>(reinterpret_cast<const volatile void*>(&variable)), sizeof(T)};
}

cudaError_t symbol_address(void** devPtr, Symbol symbol);
cudaError_t symbol_size(std::size_t* size, Symbol symbol);
cudaError_t copy_to_symbol(Symbol symbol, const void* src, std::size_t count, std::size_t offset,
                           cudaMemcpyKind kind);
cudaError_t copy_to_symbol_async(Symbol symbol, const void* src, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t copy_from_symbol(void* dst, Symbol symbol, std::size_t count, std::size_t offset,
                             cudaMemcpyKind kind);
cudaError_t copy_from_symbol_async(void* dst, Symbol symbol, std::size_t count, std::size_t offset,
                                   cudaMemcpyKind kind, cudaStream_t stream);

/// Finds the block size with the most resident threads, the largest of several equals.
/// `shared_bytes(context, block_size)` gives the dynamic shared memory of a block, in bytes.
cudaError_t max_potential_block_size(int* min_grid_size, int* block_size, const void* function,
                                     std::size_t (*shared_bytes)(const void* context, int),
                                     const void* context, int block_size_limit);

}  // namespace emu

template <class T>
cudaError_t cudaMalloc(T** devPtr, std::size_t size) {
    return cudaMalloc(reinterpret_cast<void**>(devPtr), size);
}

template <class T>
cudaError_t cudaMallocPitch(T** devPtr, std::size_t* pitch, std::size_t width, std::size_t height) {
    return cudaMallocPitch(reinterpret_cast<void**>(devPtr), pitch, width, height);
}

template <class T>
cudaError_t cudaMallocManaged(T** devPtr, std::size_t size,
                              unsigned int flags = cudaMemAttachGlobal) {
    return cudaMallocManaged(reinterpret_cast<void**>(devPtr), size, flags);
}

template <class T>
cudaError_t cudaMallocAsync(T** devPtr, std::size_t size, cudaStream_t stream) {
    return cudaMallocAsync(reinterpret_cast<void**>(devPtr), size, stream);
}

inline cudaError_t cudaMallocHost(void** ptr, std::size_t size, unsigned int flags) {
    return cudaHostAlloc(ptr, size, flags);
}

template <class T>
cudaError_t cudaMallocHost(T** ptr, std::size_t size, unsigned int flags = cudaHostAllocDefault) {
    return cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}

template <class T>
cudaError_t cudaHostAlloc(T** ptr, std::size_t size, unsigned int flags) {
    return cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}

template <class T>
cudaError_t cudaHostGetDevicePointer(T** pDevice, void* pHost, unsigned int flags) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(pDevice), pHost, flags);
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
    return cudaEventCreateWithFlags(event, flags);
}

template <class T>
cudaError_t cudaGetSymbolAddress(void** devPtr, const T& symbol) {
    return emu::symbol_address(devPtr, emu::symbol_of(symbol));
}

template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* size, const T& symbol) {
    return emu::symbol_size(size, emu::symbol_of(symbol));
}

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, std::size_t count,
                               std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return emu::copy_to_symbol(emu::symbol_of(symbol), src, count, offset, kind);
}

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, std::size_t count,
                                    std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
    return emu::copy_to_symbol_async(emu::symbol_of(symbol), src, count, offset, kind, stream);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, std::size_t count,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return emu::copy_from_symbol(dst, emu::symbol_of(symbol), count, offset, kind);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, std::size_t count,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
    return emu::copy_from_symbol_async(dst, emu::symbol_of(symbol), count, offset, kind, stream);
}

template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, T* entry) {
    return cudaFuncGetAttributes(attr, reinterpret_cast<const void*>(entry));
}

template <class T>
cudaError_t cudaFuncSetAttribute(T* func, cudaFuncAttribute attr, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(func), attr, value);
}

template <class T>
cudaError_t cudaFuncSetCacheConfig(T* func, cudaFuncCache cacheConfig) {
    return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(func), cacheConfig);
}

template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, T func, int blockSize,
                                                          std::size_t dynamicSMemSize) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks, reinterpret_cast<const void*>(func), blockSize, dynamicSMemSize);
}

template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, T func,
                                                                   int blockSize,
                                                                   std::size_t dynamicSMemSize,
                                                                   unsigned int flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, reinterpret_cast<const void*>(func), blockSize, dynamicSMemSize, flags);
}

template <class T>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamicSmemSize, T func,
                                                      int numBlocks, int blockSize) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(
        dynamicSmemSize, reinterpret_cast<const void*>(func), numBlocks, blockSize);
}

template <class UnaryFunction, class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T func,
                                                           UnaryFunction blockSizeToDynamicSMemSize,
                                                           int blockSizeLimit = 0) {
    return emu::max_potential_block_size(
        minGridSize, blockSize, reinterpret_cast<const void*>(func),
        [](const void* context, int size) -> std::size_t {
            return (*static_cast<const UnaryFunction*>(context))(size);
        },
        &blockSizeToDynamicSMemSize, blockSizeLimit);
}

template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T func,
                                               std::size_t dynamicSMemSize = 0,
                                               int blockSizeLimit = 0) {
    return emu::max_potential_block_size(
        minGridSize, blockSize, reinterpret_cast<const void*>(func),
        [](const void* context, int) { return *static_cast<const std::size_t*>(context); },
        &dynamicSMemSize, blockSizeLimit);
}

template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, T func,
                                                        std::size_t dynamicSMemSize = 0,
                                                        int blockSizeLimit = 0,
                                                        unsigned int flags = cudaOccupancyDefault) {
    if (flags > cudaOccupancyDisableCachingOverride) return cudaErrorInvalidValue;
    return cudaOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, dynamicSMemSize,
                                              blockSizeLimit);
}
