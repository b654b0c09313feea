#include "function.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "device.hpp"
#include "error.hpp"
#include "kernel_functions.hpp"

namespace emu {
namespace {

/// Registers a thread that let an SM be full. No compiler counted them.
constexpr int assumed_registers = registers_per_sm / max_threads_per_sm;

struct FunctionSettings {
    std::size_t dynamic_shared = 0;  ///< bytes; 0: not set
    int carveout = cudaSharedmemCarveoutDefault;
};

/// Settings by kernel. Never destroyed: launches may come from static objects of the program.
struct AllSettings {
    std::mutex mutex;
    std::unordered_map<const void*, FunctionSettings> by_function;
    std::size_t largest_dynamic_shared = 0;  ///< bytes, over all kernels
};

AllSettings& all_settings() {
    static AllSettings& value = *new AllSettings;
    return value;
}

std::size_t default_dynamic_shared(const void* function) {
    return shared_per_block - std::min(shared_per_block, static_shared_bytes(function));
}

int carveout_of(const void* function) {
    AllSettings& all = all_settings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_function.find(function);
    return found == all.by_function.end() ? cudaSharedmemCarveoutDefault : found->second.carveout;
}

cudaError_t set_dynamic_shared(const void* function, int bytes) {
    if (bytes < 0) return cudaErrorInvalidValue;
    const auto wanted = static_cast<std::size_t>(bytes);
    if (wanted + static_shared_bytes(function) > shared_per_block_opt_in) {
        return cudaErrorInvalidValue;
    }
    AllSettings& all = all_settings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.by_function[function].dynamic_shared = wanted;
    all.largest_dynamic_shared = std::max(all.largest_dynamic_shared, wanted);
    return cudaSuccess;
}

cudaError_t set_carveout(const void* function, int percent) {
    if (percent < cudaSharedmemCarveoutDefault || percent > cudaSharedmemCarveoutMaxShared) {
        return cudaErrorInvalidValue;
    }
    AllSettings& all = all_settings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.by_function[function].carveout = percent;
    return cudaSuccess;
}

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    switch (attribute) {
        case cudaFuncAttributeMaxDynamicSharedMemorySize:
            return set_dynamic_shared(function, value);
        case cudaFuncAttributePreferredSharedMemoryCarveout:
            return set_carveout(function, value);
        default:
            return cudaErrorInvalidValue;
    }
}

cudaFuncAttributes attributes_of(const void* function) {
    cudaFuncAttributes a = {};
    a.sharedSizeBytes = static_shared_bytes(function);
    a.maxThreadsPerBlock = max_threads_per_block;
    a.numRegs = assumed_registers;
    a.ptxVersion = capability_major * 10 + capability_minor;
    a.binaryVersion = a.ptxVersion;
    a.maxDynamicSharedSizeBytes = static_cast<int>(max_dynamic_shared(function));
    a.preferredShmemCarveout = carveout_of(function);
    return a;
}

}  // namespace

std::size_t max_dynamic_shared(const void* function) {
    AllSettings& all = all_settings();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (function == nullptr) return std::max(shared_per_block, all.largest_dynamic_shared);
    const auto found = all.by_function.find(function);
    const bool set = found != all.by_function.end() && found->second.dynamic_shared != 0;
    return set ? found->second.dynamic_shared : default_dynamic_shared(function);
}

int resident_blocks(const void* function, int block_size, std::size_t dynamic_shared) {
    if (block_size > max_threads_per_block) return 0;
    if (dynamic_shared > max_dynamic_shared(function)) return 0;
    const int warps = (block_size + warp_threads - 1) / warp_threads;
    const int by_threads = max_threads_per_sm / (warps * warp_threads);
    const std::size_t shared =
        dynamic_shared + static_shared_bytes(function) + shared_reserved_per_block;
    const int by_shared = static_cast<int>(shared_per_sm / shared);
    return std::min({max_blocks_per_sm, by_threads, by_shared});
}

}  // namespace emu

using emu::api_call;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) {
    return api_call([&] {
        if (attr == nullptr) return cudaErrorInvalidValue;
        if (func == nullptr) return cudaErrorInvalidDeviceFunction;
        *attr = emu::attributes_of(func);
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attr, int value) {
    return api_call([&] { return emu::set_attribute(func, attr, value); });
}

cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache cacheConfig) {
    return api_call([&] {
        if (func == nullptr) return cudaErrorInvalidDeviceFunction;
        if (cacheConfig > cudaFuncCachePreferEqual) {
            return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}
