/// \file
/// Choosing the device and asking what it is. Only cudaDeviceGetAttribute is asked for numbers:
/// CUDA 13 took the clocks and others out of cudaDeviceProp.
#pragma once

#include <cuda_runtime.h>

#include <fstream>
#include <ostream>
#include <sstream>
#include <string>

#include "check.hpp"
#include "device_info.hpp"
#include "units.hpp"

namespace mf {

namespace detail {

inline int device_attribute(cudaDeviceAttr attribute, int device) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

/// The driver's own version ("580.159.03") from what its kernel module says about itself.
inline std::string driver_release() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line;
    std::getline(file, line);
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        const bool numeric = word.find_first_not_of("0123456789.") == std::string::npos;
        if (numeric && word.find('.') != std::string::npos) return word;
    }
    return "unknown";
}

inline std::string driver_model(int device) {
#ifdef _WIN32
    return device_attribute(cudaDevAttrTccDriver, device) != 0 ? "TCC" : "WDDM";
#else
    static_cast<void>(device);
    return std::ifstream("/dev/dxg").good() ? "WSL" : "Linux";
#endif
}

}  // namespace detail

/// True where the current device is the emulator.
inline bool is_emulated_name(const std::string& name) {
    return name.rfind("Emulated", 0) == 0;
}

/// Everything the course reports about device number `index`.
inline DeviceInfo describe_device(int index) {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
    const auto attribute = [index](cudaDeviceAttr a) { return detail::device_attribute(a, index); };

    DeviceInfo info;
    info.index = index;
    info.name = properties.name;
    info.emulated = is_emulated_name(info.name);
    info.compute_major = attribute(cudaDevAttrComputeCapabilityMajor);
    info.compute_minor = attribute(cudaDevAttrComputeCapabilityMinor);
    info.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    info.memory_bytes = properties.totalGlobalMem;
    info.l2_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
    info.clock_khz = attribute(cudaDevAttrClockRate);
    info.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate);
    info.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
    info.ecc = attribute(cudaDevAttrEccEnabled) != 0;
    // A peak of the emulator would be a peak of nothing.
    if (!info.emulated)
        info.peak_gb_per_s = peak_gb_per_s(info.memory_clock_khz, info.memory_bus_bits);

    int driver = 0;
    int runtime = 0;
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    info.driver_version = version_text(driver);
    info.runtime_version = version_text(runtime);
    info.driver_release = info.emulated ? "none" : detail::driver_release();
    info.driver_model = info.emulated ? "emulated" : detail::driver_model(index);
    return info;
}

/// Makes device number `index` the current one and creates its context, so that neither its start
/// nor its failure happens inside a measurement. Throws NoDevice where the machine has no usable
/// device at all, UsageError where it has some but not this one.
inline DeviceInfo pick_device(int index) {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    if (count == 0) throw NoDevice("no usable CUDA device: none is visible");
    if (index < 0 || index >= count) {
        throw UsageError("--device " + std::to_string(index) + ": there " +
                         (count == 1 ? "is one device, number 0"
                                     : "are " + std::to_string(count) + " devices, 0 to " +
                                           std::to_string(count - 1)) +
                         " (CUDA_VISIBLE_DEVICES renumbers them)");
    }
    CUDA_CHECK(cudaSetDevice(index));
    CUDA_CHECK(cudaFree(nullptr));
    return describe_device(index);
}

/// The device that is current, described.
inline DeviceInfo current_device() {
    int index = 0;
    CUDA_CHECK(cudaGetDevice(&index));
    return describe_device(index);
}

/// The conditions of a run, before anything is measured.
inline void print_conditions(std::ostream& out, const DeviceInfo& device) {
    out << "Device " << device.index << ": " << device.name << ", compute capability "
        << device.compute_capability() << ", " << device.multiprocessors << " SMs, "
        << readable_bytes(static_cast<double>(device.memory_bytes)) << " memory, L2 "
        << (device.l2_bytes > 0 ? readable_bytes(static_cast<double>(device.l2_bytes)) : "unknown")
        << ", ECC " << (device.ecc ? "on" : "off") << "\n";
    out << "Driver " << device.driver_release << " (" << device.driver_model << ", CUDA up to "
        << device.driver_version << "), runtime " << device.runtime_version
        << ", data-sheet bandwidth "
        << (device.peak_gb_per_s ? readable(*device.peak_gb_per_s) + " GB/s" : "unknown") << "\n";
    if (device.emulated) {
        out << "EMULATED: results and counts are right; times are this computer's, not a GPU's.\n";
    }
}

}  // namespace mf
