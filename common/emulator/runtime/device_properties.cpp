#include "device_properties.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include "device.hpp"
#include "memory.hpp"
#include "settings.hpp"

namespace emu {
namespace {

struct Attribute {
    cudaDeviceAttr which;
    int value;
};

/// The attributes that are not 0.
std::vector<Attribute> attributes() {
    const cudaDeviceProp p = device_properties();
    return {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(p.sharedMemPerBlock)},
        {cudaDevAttrTotalConstantMemory, static_cast<int>(p.totalConstMem)},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxPitch, static_cast<int>(p.memPitch)},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        // clock64() counts the nanoseconds of a steady clock: 1 GHz, in kHz.
        {cudaDevAttrClockRate, 1000000},
        {cudaDevAttrTextureAlignment, static_cast<int>(p.textureAlignment)},
        {cudaDevAttrTexturePitchAlignment, static_cast<int>(p.texturePitchAlignment)},
        {cudaDevAttrGpuOverlap, 1},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
        {cudaDevAttrConcurrentKernels, p.concurrentKernels},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
         static_cast<int>(p.sharedMemPerMultiprocessor)},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrManagedMemory, p.managedMemory},
        {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
        {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(p.sharedMemPerBlockOptin)},
        {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, static_cast<int>(p.reservedSharedMemPerBlock)},
        {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported},
        {cudaDevAttrNumaId, p.deviceNumaId},
        {cudaDevAttrHostNumaId, p.hostNumaId},
    };
}

}  // namespace

cudaDeviceProp device_properties() {
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

bool device_attribute(cudaDeviceAttr which, int& value) {
    static const std::vector<Attribute>& known = *new std::vector<Attribute>(attributes());
    if (which < 1 || which > cudaDevAttrOnlyPartialHostNativeAtomicSupported) return false;
    value = 0;
    for (const Attribute& attribute : known) {
        if (attribute.which == which) value = attribute.value;
    }
    return true;
}

}  // namespace emu
