/// \file
/// What this device can do in this run: the bandwidth of a copy, and what an empty launch costs.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "buffer.hpp"
#include "device_info.hpp"
#include "measure.hpp"
#include "rates.hpp"

namespace mf {

namespace detail {

template <int>
__global__ void do_nothing() {}

}  // namespace detail

inline LaunchOverhead measure_launch_overhead(cudaStream_t stream) {
    const Variant empty{"empty launch", "one launch of a kernel that does nothing",
                        [](cudaStream_t s) {
                            detail::do_nothing<0><<<1, 1, 0, s>>>();
                            CUDA_CHECK_LAUNCH();
                        }};
    MeasurePlan plan;
    plan.warm_up_ms = 20;
    plan.inner = 1;
    const Series single = measure(plan, stream, empty);
    plan.inner = 500;
    const Series batched = measure(plan, stream, empty);
    return {median(single.ms), median(batched.ms)};
}

/// Bandwidth of a copy within the device's memory, read plus write, in GB/s. The buffers are eight
/// times the L2 cache where it is known, so that it plays no part.
inline double copy_gb_per_s(cudaStream_t stream) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    std::size_t free = 0;
    std::size_t total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const std::size_t l2 = static_cast<std::size_t>(attribute_or(cudaDevAttrL2CacheSize, 0));
    const std::size_t wanted = std::min(std::max(8 * l2, 64 * mib), 1024 * mib);
    const std::size_t bytes = std::max(std::min(wanted, free / 4), mib);

    DeviceBuffer<unsigned char> from(bytes);
    DeviceBuffer<unsigned char> to(bytes);
    from.poison();
    MeasurePlan plan;
    plan.repeats = 8;
    plan.warm_up_ms = 50;
    const Series series =
        measure(plan, stream, "copy", "one copy within the device", [&](cudaStream_t s) {
            CUDA_CHECK(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice, s));
        });
    return gb_per_s(2.0 * static_cast<double>(bytes), median(series.ms));
}

/// All ceilings of this run; without the bandwidth of a copy where there is a reason for no
/// rates, and without any that is measured under a tool.
inline Ceilings measure_ceilings(cudaStream_t stream, const DeviceInfo& device) {
    Ceilings ceilings;
    ceilings.data_sheet_gb_per_s = device.peak_gb_per_s;
    ceilings.l2_bytes = device.l2_bytes;
    if (reason_for_no_rates().empty()) ceilings.copy_gb_per_s = copy_gb_per_s(stream);
    if (attached_tool().empty()) ceilings.launch_overhead = measure_launch_overhead(stream);
    return ceilings;
}

}  // namespace mf
