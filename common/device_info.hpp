/// \file
/// What is known about a device, as plain data. Pure C++; device.hpp fills it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace mf {

struct DeviceInfo {
    int index = 0;
    std::string name;
    bool emulated = false;  ///< the emulator: counts are right, times say nothing about a GPU
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;  ///< 0: unknown
    int clock_khz = 0;         ///< highest SM clock; 0: unknown
    int memory_clock_khz = 0;  ///< 0: unknown
    int memory_bus_bits = 0;   ///< 0: unknown
    bool ecc = false;
    std::optional<double> peak_gb_per_s;  ///< data-sheet bandwidth; none: unknown
    std::string driver_version;           ///< newest CUDA version that the driver supports: "13.0"
    std::string runtime_version;          ///< of the CUDA runtime that the program was built with
    std::string driver_release;           ///< the driver's own version, or "unknown"
    std::string driver_model;             ///< "Linux", "WSL", "WDDM", "TCC" or "emulated"

    std::string compute_capability() const {
        return std::to_string(compute_major) + "." + std::to_string(compute_minor);
    }
};

}  // namespace mf
