/// \file
/// A guess at the fastest of several devices, from what they say about themselves.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "check.hpp"
#include "device.hpp"
#include "device_info.hpp"

namespace mf {

/// The place in `devices` of the one with the most SMs times clock; among equals the first. A
/// guess: what an SM does in a cycle differs between architectures. No devices: 0.
inline std::size_t fastest_of(const std::vector<DeviceInfo>& devices) {
    const auto speed = [](const DeviceInfo& device) {
        return static_cast<double>(device.multiprocessors) * device.clock_khz;
    };
    std::size_t fastest = 0;
    for (std::size_t i = 1; i < devices.size(); ++i) {
        if (speed(devices[i]) > speed(devices[fastest])) fastest = i;
    }
    return fastest;
}

/// The number of that device, for pick_device, which also says so where there is none.
inline int fastest_device() {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    std::vector<DeviceInfo> devices;
    for (int index = 0; index < count; ++index)
        devices.push_back(describe_device(index));
    return static_cast<int>(fastest_of(devices));
}

}  // namespace mf
