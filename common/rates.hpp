/// \file
/// Bytes a second, and what they may be held against. Pure C++.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>

#include "plan.hpp"
#include "units.hpp"

namespace mf {

/// nvcc -G compiles device code without optimisation: its times describe the debugger's needs.
#ifdef __CUDACC_DEBUG__
constexpr bool device_debug_build = true;
#else
constexpr bool device_debug_build = false;
#endif

/// The tool that the program runs under, or an empty text: it would measure the tool's work with
/// its own. Told by the variables that the emulator's inspector, compute-sanitizer and the Nsight
/// profilers set for the programs they start; CUDA_INJECTION64_PATH names any such tool's library.
inline std::string attached_tool() {
    if (std::getenv("EMULATOR_INSPECTED") != nullptr) return "the inspector";
    if (std::getenv("NV_SANITIZER_INJECTION_PORT_BASE") != nullptr) return "compute-sanitizer";
    const bool profiler = std::getenv("NV_NSIGHT_INJECTION_PORT_BASE") != nullptr ||
                          std::getenv("CUDA_INJECTION64_PATH") != nullptr;
    return profiler ? "a profiler" : "";
}

/// Why this run's times must not be quoted, as a sentence; empty where they may.
inline std::string reason_for_no_rates() {
    if (device_debug_build) {
        return "Built with -G (device debugging): no rates, and no times to quote.";
    }
    const std::string tool = attached_tool();
    return tool.empty() ? "" : "Run under " + tool + ": no rates, and no times to quote.";
}

/// What a launch costs when its kernel does nothing, in ms.
struct LaunchOverhead {
    double single_ms = 0;   ///< one empty launch between two events: part of every cold sample
    double batched_ms = 0;  ///< each of many in a row: no batched time can be shorter
};

/// What a figure is held against.
struct Ceilings {
    std::optional<double> data_sheet_gb_per_s;  ///< from the device's attributes; none: unknown
    std::optional<double> copy_gb_per_s;        ///< a large copy within the device, in this run
    std::size_t l2_bytes = 0;                   ///< 0: unknown
    std::optional<LaunchOverhead> launch_overhead;
};

/// Where the bytes probably came from.
enum class Residency {
    memory,           ///< nothing speaks against the device's memory
    possibly_cached,  ///< the data would fit into the L2 cache, and it was not emptied
    cached            ///< faster than the memory can be: the caches delivered part of it
};

/// A rate from a series' median time.
struct Rate {
    double logical_bytes = 0;  ///< counted bytes a launch
    double gb_per_s = 0;
    std::optional<double> percent_of_data_sheet;
    std::optional<double> percent_of_copy;
    Residency residency = Residency::memory;

    /// What must be said beside the figure; empty where nothing must.
    std::string note() const {
        switch (residency) {
            case Residency::cached:
                return "cache-resident: faster than the memory can be";
            case Residency::possibly_cached:
                return "may be cache-resident: the data fit the L2";
            case Residency::memory:
                break;
        }
        return "";
    }
};

/// The rate of `logical_bytes` a launch, moved in the series' median time. `footprint_bytes`: how
/// much memory that touches, where it is less than the logical bytes (saxpy reads and writes y: 12
/// n logical bytes in 8 n bytes of memory); 0: the same. None where there is a reason for no rates.
inline std::optional<Rate> rate_of(const Series& series, double logical_bytes,
                                   const Ceilings& ceilings, double footprint_bytes = 0) {
    if (!reason_for_no_rates().empty()) return std::nullopt;
    Rate rate;
    rate.logical_bytes = logical_bytes;
    rate.gb_per_s = gb_per_s(logical_bytes, median(series.ms));
    rate.percent_of_data_sheet = percent_of(rate.gb_per_s, ceilings.data_sheet_gb_per_s);
    rate.percent_of_copy = percent_of(rate.gb_per_s, ceilings.copy_gb_per_s);

    const double footprint = footprint_bytes > 0 ? footprint_bytes : logical_bytes;
    if (rate.percent_of_data_sheet.value_or(0) > 100) {
        rate.residency = Residency::cached;
    } else if (!series.cold && footprint <= static_cast<double>(ceilings.l2_bytes)) {
        rate.residency = Residency::possibly_cached;
    }
    return rate;
}

}  // namespace mf
