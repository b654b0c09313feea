#include "limits.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>

#include "error.hpp"

namespace emu {
namespace {

constexpr int limit_count = cudaLimitPersistingL2CacheSize + 1;

/// At the start, by cudaLimit: bytes, or counts.
constexpr std::size_t initial_limits[limit_count] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

/// Largest fetch from the second-level cache, in bytes.
constexpr std::size_t max_fetch = 128;

std::atomic<std::size_t> limits[limit_count] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
std::atomic<unsigned> device_flags{cudaDeviceScheduleAuto | cudaDeviceMapHost};
std::atomic<cudaFuncCache> cache_preference{cudaFuncCachePreferNone};

bool known(cudaLimit limit) {
    return limit < limit_count;
}

}  // namespace

void reset_limits() {
    std::copy(std::begin(initial_limits), std::end(initial_limits), std::begin(limits));
    device_flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
    cache_preference = cudaFuncCachePreferNone;
}

}  // namespace emu

using emu::api_call;

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
    return api_call([&] {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (!emu::known(limit)) return cudaErrorInvalidValue;
        *value = emu::limits[limit];
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
    return api_call([&] {
        if (!emu::known(limit)) return cudaErrorInvalidValue;
        if (limit == cudaLimitMaxL2FetchGranularity && value > emu::max_fetch) {
            return cudaErrorInvalidValue;
        }
        emu::limits[limit] = value;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return api_call([&] {
        if ((flags & ~static_cast<unsigned>(cudaDeviceMask)) != 0) return cudaErrorInvalidValue;
        emu::device_flags = flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    return api_call([&] {
        if (flags == nullptr) return cudaErrorInvalidValue;
        *flags = emu::device_flags;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* cacheConfig) {
    return api_call([&] {
        if (cacheConfig == nullptr) return cudaErrorInvalidValue;
        *cacheConfig = emu::cache_preference;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache cacheConfig) {
    return api_call([&] {
        if (cacheConfig > cudaFuncCachePreferEqual) {
            return cudaErrorInvalidValue;
        }
        emu::cache_preference = cacheConfig;
        return cudaSuccess;
    });
}
