/// \file
/// Floating-point intrinsics: arithmetic with a chosen rounding that is never fused (`__fadd_rn`,
/// …) and the device's fast approximations (`__expf`, …), which here are as exact as the host's
/// library.
#pragma once

#include "emulator/conversions.hpp"
#include "emulator/math.hpp"

// Every function for to-nearest-even plus the three directed roundings.
#define EMU_ROUNDED_1(name, type, expression)                          \
    inline type name##_rn(type a) {                                    \
        return emu::opaque(expression);                                \
    }                                                                  \
    EMU_ROUNDED_DIRECTED_1(name##_rz, type, FE_TOWARDZERO, expression) \
    EMU_ROUNDED_DIRECTED_1(name##_ru, type, FE_UPWARD, expression)     \
    EMU_ROUNDED_DIRECTED_1(name##_rd, type, FE_DOWNWARD, expression)
#define EMU_ROUNDED_DIRECTED_1(name, type, mode, expression) \
    inline type name(type value) {                           \
        return emu::with_rounding(mode, [value] {            \
            const type a = emu::opaque(value);               \
            return emu::opaque(expression);                  \
        });                                                  \
    }
#define EMU_ROUNDED_2(name, type, expression)                          \
    inline type name##_rn(type a, type b) {                            \
        return emu::opaque(expression);                                \
    }                                                                  \
    EMU_ROUNDED_DIRECTED_2(name##_rz, type, FE_TOWARDZERO, expression) \
    EMU_ROUNDED_DIRECTED_2(name##_ru, type, FE_UPWARD, expression)     \
    EMU_ROUNDED_DIRECTED_2(name##_rd, type, FE_DOWNWARD, expression)
#define EMU_ROUNDED_DIRECTED_2(name, type, mode, expression) \
    inline type name(type left, type right) {                \
        return emu::with_rounding(mode, [left, right] {      \
            const type a = emu::opaque(left);                \
            const type b = emu::opaque(right);               \
            return emu::opaque(expression);                  \
        });                                                  \
    }
#define EMU_ROUNDED_FMA(name, type)                          \
    inline type name##_rn(type a, type b, type c) {          \
        return ::fma(a, b, c);                               \
    }                                                        \
    EMU_ROUNDED_DIRECTED_FMA(name##_rz, type, FE_TOWARDZERO) \
    EMU_ROUNDED_DIRECTED_FMA(name##_ru, type, FE_UPWARD)     \
    EMU_ROUNDED_DIRECTED_FMA(name##_rd, type, FE_DOWNWARD)
#define EMU_ROUNDED_DIRECTED_FMA(name, type, mode)                                     \
    inline type name(type a, type b, type c) {                                         \
        return emu::with_rounding(mode, [a, b, c] {                                    \
            return emu::opaque(::fma(emu::opaque(a), emu::opaque(b), emu::opaque(c))); \
        });                                                                            \
    }

EMU_ROUNDED_2(__fadd, float, a + b)
EMU_ROUNDED_2(__fsub, float, a - b)
EMU_ROUNDED_2(__fmul, float, a* b)
EMU_ROUNDED_2(__fdiv, float, a / b)
EMU_ROUNDED_1(__frcp, float, 1.0f / a)
EMU_ROUNDED_1(__fsqrt, float, ::sqrt(a))
EMU_ROUNDED_FMA(__fmaf, float)
EMU_ROUNDED_2(__dadd, double, a + b)
EMU_ROUNDED_2(__dsub, double, a - b)
EMU_ROUNDED_2(__dmul, double, a* b)
EMU_ROUNDED_2(__ddiv, double, a / b)
EMU_ROUNDED_1(__drcp, double, 1.0 / a)
EMU_ROUNDED_1(__dsqrt, double, ::sqrt(a))
EMU_ROUNDED_FMA(__fma, double)

#undef EMU_ROUNDED_DIRECTED_FMA
#undef EMU_ROUNDED_FMA
#undef EMU_ROUNDED_DIRECTED_2
#undef EMU_ROUNDED_2
#undef EMU_ROUNDED_DIRECTED_1
#undef EMU_ROUNDED_1

inline float __frsqrt_rn(float x) {
    return rsqrtf(x);
}

/// x held to [0, 1]; NaN gives 0.
inline float __saturatef(float x) {
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

/// x / y; 0 for a divisor between 2^126 and 2^128, as the device's approximation has it.
inline float __fdividef(float x, float y) {
    const float magnitude = ::fabsf(y);
    if (magnitude > 0x1p126f && ::isfinite(magnitude)) return x * 0.0f;
    return x / y;
}

namespace emu {

inline float fast_exp(float x) {
    return ::expf(x);
}
inline float fast_exp10(float x) {
    return ::powf(10.0f, x);
}
inline float fast_log(float x) {
    return ::logf(x);
}
inline float fast_log2(float x) {
    return ::log2f(x);
}
inline float fast_log10(float x) {
    return ::log10f(x);
}
inline float fast_pow(float x, float y) {
    return ::powf(x, y);
}
inline float fast_sin(float x) {
    return ::sinf(x);
}
inline float fast_cos(float x) {
    return ::cosf(x);
}
inline float fast_tan(float x) {
    return ::tanf(x);
}
inline float fast_tanh(float x) {
    return ::tanhf(x);
}
inline void fast_sincos(float x, float* sine, float* cosine) {
    *sine = ::sinf(x);
    *cosine = ::cosf(x);
}

}  // namespace emu

// Macros, because the system's <math.h> declares functions of these names for its own use.
#define __expf ::emu::fast_exp
#define __exp10f ::emu::fast_exp10
#define __logf ::emu::fast_log
#define __log2f ::emu::fast_log2
#define __log10f ::emu::fast_log10
#define __powf ::emu::fast_pow
#define __sinf ::emu::fast_sin
#define __cosf ::emu::fast_cos
#define __tanf ::emu::fast_tan
#define __tanhf ::emu::fast_tanh
#define __sincosf ::emu::fast_sincos
