#include "device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "error.hpp"
#include "event.hpp"
#include "limits.hpp"
#include "memory.hpp"
#include "scheduler.hpp"
#include "settings.hpp"

namespace emu {
namespace {

constexpr const char* bus_id = "0000:00:00.0";

bool read_visible() {
    const char* const devices = std::getenv("CUDA_VISIBLE_DEVICES");
    if (devices == nullptr) return true;
    // Devices are listed up to the first number that names none; the only one here is number 0.
    char* end = nullptr;
    const long first = std::strtol(devices, &end, 10);
    return end != devices && first == 0 && (*end == '\0' || *end == ',');
}

cudaError_t check_device(int device) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaDeviceProp properties() {
    cudaDeviceProp p = {};
    std::snprintf(p.name, sizeof p.name, "Emulated GPU (%u host threads)", settings().workers);
    std::memcpy(p.uuid.bytes, "emulated-gpu-000", sizeof p.uuid.bytes);
    p.totalGlobalMem = device_memory_limit();
    p.sharedMemPerBlock = shared_per_block;
    p.regsPerBlock = registers_per_block;
    p.warpSize = warp_threads;
    p.memPitch = max_pitch;
    p.maxThreadsPerBlock = max_threads_per_block;
    std::memcpy(p.maxThreadsDim, max_block_size, sizeof p.maxThreadsDim);
    std::memcpy(p.maxGridSize, max_grid_size, sizeof p.maxGridSize);
    p.totalConstMem = constant_memory;
    p.major = capability_major;
    p.minor = capability_minor;
    p.textureAlignment = pitch_alignment;
    p.texturePitchAlignment = warp_threads;
    p.multiProcessorCount = static_cast<int>(settings().workers);
    p.integrated = 0;
    p.canMapHostMemory = 1;
    p.concurrentKernels = 1;
    p.asyncEngineCount = 2;
    p.unifiedAddressing = 1;
    p.maxThreadsPerMultiProcessor = max_threads_per_sm;
    p.streamPrioritiesSupported = 1;
    p.sharedMemPerMultiprocessor = shared_per_sm;
    p.regsPerMultiprocessor = registers_per_sm;
    p.managedMemory = 1;
    p.hostNativeAtomicSupported = 1;
    p.concurrentManagedAccess = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.sharedMemPerBlockOptin = shared_per_block_opt_in;
    p.maxBlocksPerMultiProcessor = max_blocks_per_sm;
    p.reservedSharedMemPerBlock = shared_reserved_per_block;
    p.hostRegisterSupported = 1;
    p.memoryPoolsSupported = 1;
    p.deviceNumaId = -1;
    p.hostNumaId = -1;
    return p;
}

/// False: no such attribute. What the device does not have (textures, caches, a memory clock) is 0.
bool attribute(cudaDeviceAttr which, int& value) {
    const cudaDeviceProp p = properties();
    const auto as_int = [](std::size_t bytes) { return static_cast<int>(bytes); };
    value = 0;
    switch (which) {
        case cudaDevAttrMaxThreadsPerBlock: value = p.maxThreadsPerBlock; break;
        case cudaDevAttrMaxBlockDimX: value = p.maxThreadsDim[0]; break;
        case cudaDevAttrMaxBlockDimY: value = p.maxThreadsDim[1]; break;
        case cudaDevAttrMaxBlockDimZ: value = p.maxThreadsDim[2]; break;
        case cudaDevAttrMaxGridDimX: value = p.maxGridSize[0]; break;
        case cudaDevAttrMaxGridDimY: value = p.maxGridSize[1]; break;
        case cudaDevAttrMaxGridDimZ: value = p.maxGridSize[2]; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: value = as_int(p.sharedMemPerBlock); break;
        case cudaDevAttrTotalConstantMemory: value = as_int(p.totalConstMem); break;
        case cudaDevAttrWarpSize: value = p.warpSize; break;
        case cudaDevAttrMaxPitch: value = as_int(p.memPitch); break;
        case cudaDevAttrMaxRegistersPerBlock: value = p.regsPerBlock; break;
        // clock64() counts the nanoseconds of a steady clock: 1 GHz, in kHz.
        case cudaDevAttrClockRate: value = 1000000; break;
        case cudaDevAttrTextureAlignment: value = as_int(p.textureAlignment); break;
        case cudaDevAttrTexturePitchAlignment: value = as_int(p.texturePitchAlignment); break;
        case cudaDevAttrGpuOverlap: value = 1; break;
        case cudaDevAttrMultiProcessorCount: value = p.multiProcessorCount; break;
        case cudaDevAttrCanMapHostMemory: value = p.canMapHostMemory; break;
        case cudaDevAttrComputeMode: value = cudaComputeModeDefault; break;
        case cudaDevAttrConcurrentKernels: value = p.concurrentKernels; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: value = p.maxThreadsPerMultiProcessor; break;
        case cudaDevAttrAsyncEngineCount: value = p.asyncEngineCount; break;
        case cudaDevAttrUnifiedAddressing: value = p.unifiedAddressing; break;
        case cudaDevAttrComputeCapabilityMajor: value = p.major; break;
        case cudaDevAttrComputeCapabilityMinor: value = p.minor; break;
        case cudaDevAttrStreamPrioritiesSupported: value = p.streamPrioritiesSupported; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            value = as_int(p.sharedMemPerMultiprocessor);
            break;
        case cudaDevAttrMaxRegistersPerMultiprocessor: value = p.regsPerMultiprocessor; break;
        case cudaDevAttrManagedMemory: value = p.managedMemory; break;
        case cudaDevAttrHostNativeAtomicSupported: value = p.hostNativeAtomicSupported; break;
        case cudaDevAttrSingleToDoublePrecisionPerfRatio: value = 2; break;
        case cudaDevAttrConcurrentManagedAccess: value = p.concurrentManagedAccess; break;
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
            value = p.canUseHostPointerForRegisteredMem;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            value = as_int(p.sharedMemPerBlockOptin);
            break;
        case cudaDevAttrHostRegisterSupported: value = p.hostRegisterSupported; break;
        case cudaDevAttrMaxBlocksPerMultiprocessor: value = p.maxBlocksPerMultiProcessor; break;
        case cudaDevAttrReservedSharedMemoryPerBlock:
            value = as_int(p.reservedSharedMemPerBlock);
            break;
        case cudaDevAttrMemoryPoolsSupported: value = p.memoryPoolsSupported; break;
        case cudaDevAttrNumaId: value = p.deviceNumaId; break;
        case cudaDevAttrHostNumaId: value = p.hostNumaId; break;
        default: return which >= 1 && which <= cudaDevAttrOnlyPartialHostNativeAtomicSupported;
    }
    return true;
}

}  // namespace

bool device_visible() {
    static const bool visible = read_visible();
    return visible;
}

}  // namespace emu

using emu::api_call;

cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) return emu::record_error(cudaErrorInvalidValue);
    *count = emu::device_visible() ? 1 : 0;
    return emu::record_error(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
    return api_call([&] {
        if (device == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return api_call([&] { return emu::check_device(device); });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
    return api_call([&] {
        if (device == nullptr || prop == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
    return api_call([&] {
        if (prop == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = emu::check_device(device);
        if (error == cudaSuccess) *prop = emu::properties();
        return error;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
    return api_call([&] {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (device != 0) return cudaErrorInvalidDevice;
        return emu::attribute(attr, *value) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
    return api_call([&] {
        if (device != 0) return cudaErrorInvalidDevice;
        if (pciBusId == nullptr || len <= static_cast<int>(std::strlen(emu::bus_id))) {
            return cudaErrorInvalidValue;
        }
        std::strcpy(pciBusId, emu::bus_id);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
    return api_call([&] {
        if (device == nullptr || pciBusId == nullptr) return cudaErrorInvalidValue;
        if (std::strcmp(pciBusId, emu::bus_id) != 0) return cudaErrorInvalidDevice;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
    return api_call([&] {
        if (canAccessPeer == nullptr) return cudaErrorInvalidValue;
        if (device != 0 || peerDevice != 0) return cudaErrorInvalidDevice;
        *canAccessPeer = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
    return api_call([] { return cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceDisablePeerAccess(int) {
    return api_call([] { return cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    return api_call([&] {
        if (leastPriority != nullptr) *leastPriority = emu::least_stream_priority;
        if (greatestPriority != nullptr) *greatestPriority = emu::greatest_stream_priority;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize() {
    return api_call([] { return emu::Scheduler::instance().wait_for_device(); });
}

cudaError_t cudaDeviceReset() {
    return api_call([] {
        const cudaError_t error = emu::Scheduler::instance().wait_for_device();
        emu::Scheduler::instance().destroy_all_streams();
        emu::destroy_all_events();
        emu::release_all_memory();
        emu::reset_limits();
        return error;
    });
}

cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
    if (runtimeVersion == nullptr) return emu::record_error(cudaErrorInvalidValue);
    *runtimeVersion = emu::runtime_version;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
    if (driverVersion == nullptr) return emu::record_error(cudaErrorInvalidValue);
    *driverVersion = emu::runtime_version;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart() {
    return api_call([] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
    return api_call([] { return cudaSuccess; });
}
