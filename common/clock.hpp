/// \file
/// The SM clock, measured on the device itself: cycles (clock64) against nanoseconds (globaltimer).
/// What nvidia-smi reports is sampled by the driver and may be seconds old.
#pragma once

#include <cuda_runtime.h>

#include "buffer.hpp"
#include "check.hpp"
#include "units.hpp"

namespace mf {

/// The device's nanosecond clock. It advances in steps, on some devices of about a microsecond.
__device__ inline unsigned long long global_timer_ns() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

namespace detail {

/// Lets one thread spin for at least `ns` and reports the cycles and the nanoseconds it took. Both
/// ends wait for a step of the nanosecond clock, so that its coarseness does not enter the result.
/// The template parameter only lets the header be included from several sources.
template <int>
__global__ void count_cycles(unsigned long long ns, unsigned long long* cycles_and_ns) {
    unsigned long long before = global_timer_ns();
    unsigned long long start = global_timer_ns();
    while (start == before)
        start = global_timer_ns();
    const long long first_cycle = clock64();

    unsigned long long end = start;
    while (end - start < ns)
        end = global_timer_ns();
    for (before = end; end == before;)
        end = global_timer_ns();
    const long long last_cycle = clock64();

    cycles_and_ns[0] = static_cast<unsigned long long>(last_cycle - first_cycle);
    cycles_and_ns[1] = end - start;
}

}  // namespace detail

/// The clock of the SM that runs it, in MHz, measured over a millisecond; waits for `stream`. The
/// reading belongs directly after work: an idle device lowers its clock.
inline double sm_clock_mhz(cudaStream_t stream) {
    constexpr unsigned long long measured_ns = 1000000;
    DeviceBuffer<unsigned long long> result(2);
    detail::count_cycles<0><<<1, 1, 0, stream>>>(measured_ns, result.get());
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const auto cycles_and_ns = result.download();
    if (cycles_and_ns[0] == 0 || cycles_and_ns[1] == 0) {
        throw MeasurementRefused("SM clock: the device's counters did not advance");
    }
    return mhz_of_cycles(static_cast<double>(cycles_and_ns[0]),
                         static_cast<double>(cycles_and_ns[1]));
}

}  // namespace mf
