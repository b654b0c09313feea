/// \file
/// Casts between bit patterns and numbers, and conversions with a chosen rounding: `rn` to nearest
/// even, `rz` towards zero, `ru` up, `rd` down. As on the device, a value that the integer type
/// cannot hold becomes its nearest bound, and NaN becomes 0 (its sign bit alone in 64 bits).
#pragma once

#include <math.h>

#include <cfenv>
#include <cstring>
#include <limits>
#include <type_traits>

namespace emu {

/// The same bits as another type.
template <class To, class From>
[[gnu::always_inline]] inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

/// Computes `work()` while `mode`, one of <cfenv>'s, is the processor's rounding mode.
template <class Work>
[[gnu::noinline]] auto with_rounding(int mode, Work work) {
    const int before = std::fegetround();
    std::fesetround(mode);
    const auto result = work();
    std::fesetround(before);
    return result;
}

/// A value whose origin the compiler cannot see: what is computed from it is computed at run time,
/// and no multiplication that made it is fused into a following addition.
template <class T>
[[gnu::always_inline]] inline T opaque(T value) {
    asm volatile("" : "+m"(value));
    return value;
}

/// A number without a fraction as `Integer`, held to its bounds.
template <class Integer, class Real>
inline Integer saturate(Real whole) {
    using Bounds = std::numeric_limits<Integer>;
    if (whole != whole) return sizeof(Integer) == 8 ? Integer(1) << 63 : Integer(0);
    // One past the maximum is a power of two: exact, unlike the maximum itself.
    const Real limit = Real(2) * Real(Integer(1) << (Bounds::digits - 1));
    if (whole >= limit) return Bounds::max();
    if (whole < Real(Bounds::min())) return Bounds::min();
    return static_cast<Integer>(whole);
}

}  // namespace emu

inline int __float_as_int(float x) {
    return emu::bits_as<int>(x);
}
inline unsigned __float_as_uint(float x) {
    return emu::bits_as<unsigned>(x);
}
inline float __int_as_float(int x) {
    return emu::bits_as<float>(x);
}
inline float __uint_as_float(unsigned x) {
    return emu::bits_as<float>(x);
}
inline long long __double_as_longlong(double x) {
    return emu::bits_as<long long>(x);
}
inline double __longlong_as_double(long long x) {
    return emu::bits_as<double>(x);
}
inline int __double2hiint(double x) {
    return static_cast<int>(__double_as_longlong(x) >> 32);
}
inline int __double2loint(double x) {
    return static_cast<int>(__double_as_longlong(x));
}
inline double __hiloint2double(int high, int low) {
    return __longlong_as_double(static_cast<long long>(static_cast<unsigned long long>(high) << 32 |
                                                       static_cast<unsigned>(low)));
}

#define EMU_REAL_TO_INTEGER(real, real_type, name, integer) \
    inline integer __##real##2##name##_rn(real_type x) {    \
        return emu::saturate<integer>(::rint(x));           \
    }                                                       \
    inline integer __##real##2##name##_rz(real_type x) {    \
        return emu::saturate<integer>(::trunc(x));          \
    }                                                       \
    inline integer __##real##2##name##_ru(real_type x) {    \
        return emu::saturate<integer>(::ceil(x));           \
    }                                                       \
    inline integer __##real##2##name##_rd(real_type x) {    \
        return emu::saturate<integer>(::floor(x));          \
    }
EMU_REAL_TO_INTEGER(float, float, int, int)
EMU_REAL_TO_INTEGER(float, float, uint, unsigned)
EMU_REAL_TO_INTEGER(float, float, ll, long long)
EMU_REAL_TO_INTEGER(float, float, ull, unsigned long long)
EMU_REAL_TO_INTEGER(double, double, int, int)
EMU_REAL_TO_INTEGER(double, double, uint, unsigned)
EMU_REAL_TO_INTEGER(double, double, ll, long long)
EMU_REAL_TO_INTEGER(double, double, ull, unsigned long long)
#undef EMU_REAL_TO_INTEGER

#define EMU_DIRECTED(name, from, to, suffix, mode)                                               \
    inline to __##name##_##suffix(from x) {                                                      \
        return emu::with_rounding(mode,                                                          \
                                  [x] { return emu::opaque(static_cast<to>(emu::opaque(x))); }); \
    }
#define EMU_TO_REAL(name, from, to)                 \
    inline to __##name##_rn(from x) {               \
        return static_cast<to>(x);                  \
    }                                               \
    EMU_DIRECTED(name, from, to, rz, FE_TOWARDZERO) \
    EMU_DIRECTED(name, from, to, ru, FE_UPWARD)     \
    EMU_DIRECTED(name, from, to, rd, FE_DOWNWARD)
EMU_TO_REAL(int2float, int, float)
EMU_TO_REAL(uint2float, unsigned, float)
EMU_TO_REAL(ll2float, long long, float)
EMU_TO_REAL(ull2float, unsigned long long, float)
EMU_TO_REAL(ll2double, long long, double)
EMU_TO_REAL(ull2double, unsigned long long, double)
EMU_TO_REAL(double2float, double, float)
#undef EMU_TO_REAL
#undef EMU_DIRECTED

inline double __int2double_rn(int x) {
    return x;
}
inline double __uint2double_rn(unsigned x) {
    return x;
}
