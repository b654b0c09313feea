#include <algorithm>

#include "device.hpp"
#include "error.hpp"
#include "memory.hpp"
#include "scheduler.hpp"

namespace emu {
namespace {

cudaError_t make(const char* made_by, MemoryKind kind, unsigned flags, std::size_t size,
                 void** address) {
    if (address == nullptr) return cudaErrorInvalidValue;
    *address = nullptr;
    // Nothing asked for is nothing given, and no error.
    return size == 0 ? cudaSuccess : allocate(made_by, kind, flags, size, address);
}

/// Frees as CUDA does: only after all work of the device, which may still use the memory.
cudaError_t free_after_work(void* address, MemoryKind kind, MemoryKind or_kind) {
    if (address == nullptr) return cudaSuccess;
    const cudaError_t error = Scheduler::instance().wait_for_device();
    return error != cudaSuccess ? error : release(address, kind, or_kind);
}

bool pinned(const Allocation& allocation) {
    return allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered;
}

bool find_live(const void* address, Allocation& found) {
    return find_allocation(address, found) && !found.released;
}

/// For the hints about managed memory: the range must lie in such an allocation.
cudaError_t check_managed(const void* address, std::size_t count) {
    Allocation found;
    if (count == 0 || !find_live(address, found) || found.kind != MemoryKind::managed) {
        return cudaErrorInvalidValue;
    }
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - found.begin);
    return count > found.size - offset ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t check_location(int device) {
    return device == 0 || device == cudaCpuDeviceId ? cudaSuccess : cudaErrorInvalidDevice;
}

int device_of(cudaMemLocation location) {
    return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

}  // namespace
}  // namespace emu

using emu::api_call;
using emu::MemoryKind;

cudaError_t cudaMalloc(void** devPtr, std::size_t size) {
    return api_call([&] { return emu::make("cudaMalloc", MemoryKind::device, 0, size, devPtr); });
}

cudaError_t cudaMallocPitch(void** devPtr, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
    return api_call([&] {
        if (pitch == nullptr) return cudaErrorInvalidValue;
        if (width > emu::max_pitch) return cudaErrorMemoryAllocation;
        *pitch = (width + emu::pitch_alignment - 1) / emu::pitch_alignment * emu::pitch_alignment;
        std::size_t size = 0;
        if (__builtin_mul_overflow(*pitch, height, &size)) return cudaErrorMemoryAllocation;
        return emu::make("cudaMallocPitch", MemoryKind::device, 0, size, devPtr);
    });
}

cudaError_t cudaMallocManaged(void** devPtr, std::size_t size, unsigned int flags) {
    return api_call([&] {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
            return cudaErrorInvalidValue;
        }
        return emu::make("cudaMallocManaged", MemoryKind::managed, flags, size, devPtr);
    });
}

cudaError_t cudaMallocAsync(void** devPtr, std::size_t size, cudaStream_t stream) {
    return api_call([&] {
        if (!emu::Scheduler::instance().find_stream(stream)) return cudaErrorInvalidResourceHandle;
        return emu::make("cudaMallocAsync", MemoryKind::device, 0, size, devPtr);
    });
}

cudaError_t cudaFree(void* devPtr) {
    return api_call(
        [&] { return emu::free_after_work(devPtr, MemoryKind::device, MemoryKind::managed); });
}

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t stream) {
    return api_call([&] {
        auto& scheduler = emu::Scheduler::instance();
        if (!scheduler.find_stream(stream)) return cudaErrorInvalidResourceHandle;
        if (devPtr == nullptr) return cudaSuccess;
        const cudaError_t error = emu::prepare_release(devPtr);
        if (error != cudaSuccess) return error;
        const auto operation = std::make_shared<emu::Operation>(emu::Engine::device_copy);
        operation->work = [devPtr](cudaError_t) {
            emu::release(devPtr, MemoryKind::device, MemoryKind::device);
        };
        return scheduler.enqueue(stream, operation);
    });
}

cudaError_t cudaMallocHost(void** ptr, std::size_t size) {
    return api_call([&] { return emu::make("cudaMallocHost", MemoryKind::pinned, 0, size, ptr); });
}

cudaError_t cudaHostAlloc(void** ptr, std::size_t size, unsigned int flags) {
    return api_call([&] {
        const unsigned known =
            cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
        if ((flags & ~known) != 0) return cudaErrorInvalidValue;
        return emu::make("cudaHostAlloc", MemoryKind::pinned, flags, size, ptr);
    });
}

cudaError_t cudaFreeHost(void* ptr) {
    return api_call(
        [&] { return emu::free_after_work(ptr, MemoryKind::pinned, MemoryKind::pinned); });
}

cudaError_t cudaHostRegister(void* ptr, std::size_t size, unsigned int flags) {
    return api_call([&] {
        const unsigned known =
            cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
        if (ptr == nullptr || size == 0) return cudaErrorInvalidValue;
        if ((flags & ~known) != 0) return cudaErrorInvalidValue;
        return emu::enter("cudaHostRegister", MemoryKind::registered, flags, ptr, size);
    });
}

cudaError_t cudaHostUnregister(void* ptr) {
    return api_call([&] {
        if (ptr == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = emu::Scheduler::instance().wait_for_device();
        return error != cudaSuccess ? error : emu::withdraw(ptr);
    });
}

cudaError_t cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags) {
    return api_call([&] {
        emu::Allocation found;
        if (pDevice == nullptr || flags != 0) return cudaErrorInvalidValue;
        if (!emu::find_live(pHost, found) || !emu::pinned(found)) return cudaErrorInvalidValue;
        *pDevice = pHost;  // one address space
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned int* pFlags, void* pHost) {
    return api_call([&] {
        emu::Allocation found;
        if (pFlags == nullptr || !emu::find_live(pHost, found) || !emu::pinned(found)) {
            return cudaErrorInvalidValue;
        }
        // With one address space all pinned memory is mapped.
        *pFlags = found.flags | cudaHostAllocMapped;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return api_call([&] {
        if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
        *total = emu::device_memory_limit();
        *free = *total - std::min(*total, emu::device_memory_in_use());
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
    return api_call([&] {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        void* const address = const_cast<void*>(ptr);
        *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
        emu::Allocation found;
        if (!emu::find_live(ptr, found)) return cudaSuccess;
        switch (found.kind) {
            case MemoryKind::device:
            case MemoryKind::symbol:
                *attributes = {cudaMemoryTypeDevice, 0, address, nullptr};
                break;
            case MemoryKind::pinned:
            case MemoryKind::registered:
                *attributes = {cudaMemoryTypeHost, 0, address, address};
                break;
            case MemoryKind::managed:
                *attributes = {cudaMemoryTypeManaged, 0, address, address};
                break;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPrefetchAsync(const void* devPtr, std::size_t count, int dstDevice,
                                 cudaStream_t stream) {
    return api_call([&] {
        if (!emu::Scheduler::instance().find_stream(stream)) return cudaErrorInvalidResourceHandle;
        const cudaError_t error = emu::check_managed(devPtr, count);
        return error != cudaSuccess ? error : emu::check_location(dstDevice);
    });
}

cudaError_t cudaMemPrefetchAsync(const void* devPtr, std::size_t count, cudaMemLocation location,
                                 unsigned int, cudaStream_t stream) {
    return cudaMemPrefetchAsync(devPtr, count, emu::device_of(location), stream);
}

cudaError_t cudaMemAdvise(const void* devPtr, std::size_t count, cudaMemoryAdvise advice,
                          int device) {
    return api_call([&] {
        if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) {
            return cudaErrorInvalidValue;
        }
        const cudaError_t error = emu::check_managed(devPtr, count);
        return error != cudaSuccess ? error : emu::check_location(device);
    });
}

cudaError_t cudaMemAdvise(const void* devPtr, std::size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
    return cudaMemAdvise(devPtr, count, advice, emu::device_of(location));
}
