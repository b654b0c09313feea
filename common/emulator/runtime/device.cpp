#include "device.hpp"

#include <cstdlib>
#include <cstring>

#include "device_properties.hpp"
#include "error.hpp"
#include "event.hpp"
#include "limits.hpp"
#include "memory.hpp"
#include "scheduler.hpp"

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

}  // namespace

bool device_visible() {
    static const bool visible = read_visible();
    return visible;
}

}  // namespace emu

using emu::api_call;
using emu::device_call;

cudaError_t cudaGetDeviceCount(int* count) {
    if (count == nullptr) return emu::record_error(cudaErrorInvalidValue);
    *count = emu::device_visible() ? 1 : 0;
    return emu::record_error(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
    return device_call([&] {
        if (device == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return device_call([&] { return emu::check_device(device); });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
    return device_call([&] {
        if (device == nullptr || prop == nullptr) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
    return device_call([&] {
        if (prop == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = emu::check_device(device);
        if (error == cudaSuccess) *prop = emu::device_properties();
        return error;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
    return device_call([&] {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (device != 0) return cudaErrorInvalidDevice;
        return emu::device_attribute(attr, *value) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
    return device_call([&] {
        if (device != 0) return cudaErrorInvalidDevice;
        if (pciBusId == nullptr || len <= static_cast<int>(std::strlen(emu::bus_id))) {
            return cudaErrorInvalidValue;
        }
        std::strcpy(pciBusId, emu::bus_id);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
    return device_call([&] {
        if (device == nullptr || pciBusId == nullptr) return cudaErrorInvalidValue;
        if (std::strcmp(pciBusId, emu::bus_id) != 0) return cudaErrorInvalidDevice;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
    return device_call([&] {
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
    return device_call([] {
        // Whether a kernel has failed is no matter here.
        emu::Scheduler::instance().wait_for_device();
        emu::Scheduler::instance().destroy_all_streams();
        emu::destroy_all_events();
        emu::release_all_memory();
        emu::reset_limits();
        emu::give_up_context();
        return cudaSuccess;
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
