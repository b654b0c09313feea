/// \file
/// What device code may use besides C++: qualifiers, clocks, special registers, block-wide votes.
#pragma once

#include <chrono>
#include <ctime>

#include "emulator/block_state.hpp"
#include "emulator/warp.hpp"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)

namespace emu {

/// Nanoseconds of a steady clock: the emulated device's timer and, at 1 GHz, its cycle counter.
inline unsigned long long globaltimer() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(std::chrono::nanoseconds(now).count());
}

/// The worker that runs the block, which stands for a multiprocessor.
unsigned running_worker();

inline unsigned smid() {
    return running_worker();
}
unsigned nsmid();
unsigned laneid();
unsigned warpid();

/// Ends the kernel with cudaErrorLaunchFailure.
[[noreturn]] void trap();

/// One value agreed on by the block: the number of threads for which `predicate` holds.
int count_in_block(bool predicate, int line, const char* file);

}  // namespace emu

/// Cycles of the emulated device: nanoseconds, at its nominal 1 GHz.
inline long long clock64() {
    return static_cast<long long>(emu::globaltimer());
}

inline void __trap() {
    emu::trap();
}

inline int __syncthreads_count(int predicate, int line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) {
    return emu::count_in_block(predicate != 0, line, file);
}

inline int __syncthreads_or(int predicate, int line = __builtin_LINE(),
                            const char* file = __builtin_FILE()) {
    return __syncthreads_count(predicate, line, file) != 0;
}

inline int __syncthreads_and(int predicate, int line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) {
    return __syncthreads_count(predicate == 0, line, file) == 0;
}
