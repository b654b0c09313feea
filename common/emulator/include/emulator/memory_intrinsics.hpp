/// \file
/// Loads and stores with a cache hint, memory fences, `__nanosleep`, and hints to the optimiser.
#pragma once

#include <sched.h>

#include "emulator/vector_types.hpp"

// The hints change nothing here; what counts is that the same types are accepted as on the device.
#define EMU_HINTED_ACCESS(type)                                            \
    inline type __ldg(const type* from) {                                  \
        return *from;                                                      \
    }                                                                      \
    inline type __ldca(const type* from) {                                 \
        return *from;                                                      \
    }                                                                      \
    inline type __ldcg(const type* from) {                                 \
        return *from;                                                      \
    }                                                                      \
    inline type __ldcs(const type* from) {                                 \
        return *from;                                                      \
    }                                                                      \
    inline type __ldlu(const type* from) {                                 \
        return *from;                                                      \
    }                                                                      \
    inline type __ldcv(const type* from) {                                 \
        asm volatile("" ::: "memory"); /* read again, whatever is known */ \
        return *from;                                                      \
    }                                                                      \
    inline void __stwb(type* to, type value) {                             \
        *to = value;                                                       \
    }                                                                      \
    inline void __stcg(type* to, type value) {                             \
        *to = value;                                                       \
    }                                                                      \
    inline void __stcs(type* to, type value) {                             \
        *to = value;                                                       \
    }                                                                      \
    inline void __stwt(type* to, type value) {                             \
        *to = value;                                                       \
    }

EMU_HINTED_ACCESS(char)
EMU_HINTED_ACCESS(signed char)
EMU_HINTED_ACCESS(short)
EMU_HINTED_ACCESS(int)
EMU_HINTED_ACCESS(long)
EMU_HINTED_ACCESS(long long)
EMU_HINTED_ACCESS(unsigned char)
EMU_HINTED_ACCESS(unsigned short)
EMU_HINTED_ACCESS(unsigned int)
EMU_HINTED_ACCESS(unsigned long)
EMU_HINTED_ACCESS(unsigned long long)
EMU_HINTED_ACCESS(float)
EMU_HINTED_ACCESS(double)
EMU_HINTED_ACCESS(char2)
EMU_HINTED_ACCESS(char4)
EMU_HINTED_ACCESS(short2)
EMU_HINTED_ACCESS(short4)
EMU_HINTED_ACCESS(int2)
EMU_HINTED_ACCESS(int4)
EMU_HINTED_ACCESS(longlong2)
EMU_HINTED_ACCESS(uchar2)
EMU_HINTED_ACCESS(uchar4)
EMU_HINTED_ACCESS(ushort2)
EMU_HINTED_ACCESS(ushort4)
EMU_HINTED_ACCESS(uint2)
EMU_HINTED_ACCESS(uint4)
EMU_HINTED_ACCESS(ulonglong2)
EMU_HINTED_ACCESS(float2)
EMU_HINTED_ACCESS(float4)
EMU_HINTED_ACCESS(double2)
#undef EMU_HINTED_ACCESS

// The instrumentation sees the fence as a call and models nothing: not worth a warning.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
/// Orders this thread's accesses before the fence against those after it. The threads of a block
/// share one host thread, so for them the compiler's order is enough.
inline void __threadfence_block() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// Gives way to other host threads once. The device, too, may wait for no time at all.
inline void __nanosleep(unsigned /*nanoseconds*/) {
    sched_yield();
}

#define __builtin_assume(condition) ((condition) ? static_cast<void>(0) : __builtin_unreachable())
#define __assume(condition) __builtin_assume(condition)
