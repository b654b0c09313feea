/// \file
/// Mathematical functions that CUDA offers beyond C++'s own <cmath>: for host and device code
/// alike. min, max, reciprocal roots, functions of multiples of pi, norms, the normal distribution.
#pragma once

// The C headers: they put the overloads for float and double into the global namespace too.
#include <math.h>
#include <stdlib.h>

// min and max, for exactly the pairs of types that CUDA has: integers of mixed signs compare as
// unsigned; of a number and a NaN the result is the number.
#define EMU_INTEGER_MIN_MAX(result, left, right)   \
    inline constexpr result min(left a, right b) { \
        const result x = static_cast<result>(a);   \
        const result y = static_cast<result>(b);   \
        return y < x ? y : x;                      \
    }                                              \
    inline constexpr result max(left a, right b) { \
        const result x = static_cast<result>(a);   \
        const result y = static_cast<result>(b);   \
        return x < y ? y : x;                      \
    }
#define EMU_SIGNED_AND_UNSIGNED_MIN_MAX(type)                        \
    EMU_INTEGER_MIN_MAX(type, type, type)                            \
    EMU_INTEGER_MIN_MAX(unsigned type, unsigned type, unsigned type) \
    EMU_INTEGER_MIN_MAX(unsigned type, type, unsigned type)          \
    EMU_INTEGER_MIN_MAX(unsigned type, unsigned type, type)
#define EMU_FLOATING_MIN_MAX(result, left, right)  \
    inline constexpr result min(left a, right b) { \
        const result x = a;                        \
        const result y = b;                        \
        return x < y || y != y ? x : y;            \
    }                                              \
    inline constexpr result max(left a, right b) { \
        const result x = a;                        \
        const result y = b;                        \
        return y < x || y != y ? x : y;            \
    }

EMU_SIGNED_AND_UNSIGNED_MIN_MAX(int)
EMU_SIGNED_AND_UNSIGNED_MIN_MAX(long)
EMU_SIGNED_AND_UNSIGNED_MIN_MAX(long long)
EMU_FLOATING_MIN_MAX(float, float, float)
EMU_FLOATING_MIN_MAX(double, double, double)
EMU_FLOATING_MIN_MAX(double, float, double)
EMU_FLOATING_MIN_MAX(double, double, float)

#undef EMU_FLOATING_MIN_MAX
#undef EMU_SIGNED_AND_UNSIGNED_MIN_MAX
#undef EMU_INTEGER_MIN_MAX

inline constexpr unsigned umin(unsigned a, unsigned b) {
    return min(a, b);
}
inline constexpr unsigned umax(unsigned a, unsigned b) {
    return max(a, b);
}
inline constexpr long long llmin(long long a, long long b) {
    return min(a, b);
}
inline constexpr long long llmax(long long a, long long b) {
    return max(a, b);
}
inline constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return min(a, b);
}
inline constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return max(a, b);
}

// Reciprocal roots. The float versions round once from double.
inline double rsqrt(double x) {
    return 1.0 / ::sqrt(x);
}
inline float rsqrtf(float x) {
    return static_cast<float>(1.0 / ::sqrt(static_cast<double>(x)));
}
inline float rsqrt(float x) {
    return rsqrtf(x);
}
inline double rcbrt(double x) {
    return 1.0 / ::cbrt(x);
}
inline float rcbrtf(float x) {
    return static_cast<float>(1.0 / ::cbrt(static_cast<double>(x)));
}
inline float rcbrt(float x) {
    return rcbrtf(x);
}

/// Sine and cosine of pi times `x`, exact at multiples of one half.
inline void sincospi(double x, double* sine, double* cosine) {
    if (!::isfinite(x)) {
        *sine = *cosine = NAN;
        return;
    }
    // x = half_turns / 2 + rest with |rest| <= 1/4; both steps are exact.
    const double reduced = ::fmod(x, 2.0);
    const double half_turns = ::rint(2.0 * reduced);
    const double angle = M_PI * (reduced - 0.5 * half_turns);
    const double s = ::sin(angle), c = ::cos(angle);
    switch (static_cast<int>(half_turns) & 3) {
        case 0:
            *sine = s;
            *cosine = c;
            break;
        case 1:
            *sine = c;
            *cosine = -s;
            break;
        case 2:
            *sine = -s;
            *cosine = -c;
            break;
        default:
            *sine = -c;
            *cosine = s;
            break;
    }
}
inline void sincospif(float x, float* sine, float* cosine) {
    double s, c;
    sincospi(static_cast<double>(x), &s, &c);
    *sine = static_cast<float>(s);
    *cosine = static_cast<float>(c);
}
inline void sincospi(float x, float* sine, float* cosine) {
    sincospif(x, sine, cosine);
}
inline double sinpi(double x) {
    double s, c;
    sincospi(x, &s, &c);
    return s;
}
inline double cospi(double x) {
    double s, c;
    sincospi(x, &s, &c);
    return c;
}
inline float sinpif(float x) {
    return static_cast<float>(sinpi(static_cast<double>(x)));
}
inline float cospif(float x) {
    return static_cast<float>(cospi(static_cast<double>(x)));
}
inline float sinpi(float x) {
    return sinpif(x);
}
inline float cospi(float x) {
    return cospif(x);
}

// Lengths of vectors and their reciprocals.
inline double rhypot(double a, double b) {
    return 1.0 / ::hypot(a, b);
}
inline double norm3d(double a, double b, double c) {
    return ::hypot(::hypot(a, b), c);
}
inline double rnorm3d(double a, double b, double c) {
    return 1.0 / norm3d(a, b, c);
}
inline double norm4d(double a, double b, double c, double d) {
    return ::hypot(::hypot(a, b), ::hypot(c, d));
}
inline double rnorm4d(double a, double b, double c, double d) {
    return 1.0 / norm4d(a, b, c, d);
}
inline double norm(int n, const double* p) {
    double length = 0;
    for (int i = 0; i < n; ++i)
        length = ::hypot(length, p[i]);
    return length;
}
inline double rnorm(int n, const double* p) {
    return 1.0 / norm(n, p);
}

inline float rhypotf(float a, float b) {
    return static_cast<float>(rhypot(a, b));
}
inline float norm3df(float a, float b, float c) {
    return static_cast<float>(norm3d(a, b, c));
}
inline float rnorm3df(float a, float b, float c) {
    return static_cast<float>(rnorm3d(a, b, c));
}
inline float norm4df(float a, float b, float c, float d) {
    return static_cast<float>(norm4d(a, b, c, d));
}
inline float rnorm4df(float a, float b, float c, float d) {
    return static_cast<float>(rnorm4d(a, b, c, d));
}
inline float normf(int n, const float* p) {
    double length = 0;
    for (int i = 0; i < n; ++i)
        length = ::hypot(length, static_cast<double>(p[i]));
    return static_cast<float>(length);
}
inline float rnormf(int n, const float* p) {
    return 1.0f / normf(n, p);
}

/// Cumulative distribution of the standard normal distribution.
inline double normcdf(double x) {
    return 0.5 * ::erfc(-x * M_SQRT1_2);
}
inline float normcdff(float x) {
    return static_cast<float>(normcdf(static_cast<double>(x)));
}
inline float normcdf(float x) {
    return normcdff(x);
}

/// x / y; the device's version is approximate, this one is not.
inline float fdividef(float x, float y) {
    return x / y;
}
