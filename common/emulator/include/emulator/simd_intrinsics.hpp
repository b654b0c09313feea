/// \file
/// Arithmetic on the four bytes or two 16-bit halves of a word (`__vadd4`, `__vcmpeq2`, …). In the
/// names `s` and `u` before the count mean signed and unsigned, `ss` and `us` saturating.
#pragma once

#include <cstring>
#include <limits>

namespace emu {

/// Applies `operation` to each pair of elements of type `T`; results wrap to the element's size.
template <class T, class Operation>
[[gnu::always_inline]] inline unsigned lanewise(unsigned a_word, unsigned b_word,
                                                Operation operation) {
    constexpr unsigned count = 4 / sizeof(T);
    T a[count], b[count], result[count];
    std::memcpy(a, &a_word, 4);
    std::memcpy(b, &b_word, 4);
    for (unsigned i = 0; i < count; ++i) {
        result[i] = static_cast<T>(operation(static_cast<int>(a[i]), static_cast<int>(b[i])));
    }
    unsigned word;
    std::memcpy(&word, result, 4);
    return word;
}

/// `value` held to what an element of type `T` can hold.
template <class T>
[[gnu::always_inline]] inline int clamp_to(int value) {
    constexpr int low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return value < low ? low : value > high ? high : value;
}

/// Sum over the elements of |a - b|.
template <class T>
[[gnu::always_inline]] inline unsigned sum_of_differences(unsigned a_word, unsigned b_word) {
    constexpr unsigned count = 4 / sizeof(T);
    T a[count], b[count];
    std::memcpy(a, &a_word, 4);
    std::memcpy(b, &b_word, 4);
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i)
        sum += a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];
    return sum;
}

}  // namespace emu

#define EMU_LANEWISE(name, type, expression)                                        \
    inline unsigned name(unsigned a_word, unsigned b_word) {                        \
        return emu::lanewise<type>(a_word, b_word,                                  \
                                   [](int a, int b) -> int { return expression; }); \
    }
#define EMU_LANEWISE_UNARY(name, type, expression)                                         \
    inline unsigned name(unsigned word) {                                                  \
        return emu::lanewise<type>(word, 0, [](int a, int) -> int { return expression; }); \
    }
// One comparison in both its forms: all bits of the element set, or just its lowest.
#define EMU_COMPARISON(suffix, count, type, comparison)            \
    EMU_LANEWISE(__vcmp##suffix##count, type, comparison ? -1 : 0) \
    EMU_LANEWISE(__vset##suffix##count, type, comparison ? 1 : 0)
#define EMU_SIMD(count, s, u)                                                \
    EMU_LANEWISE(__vadd##count, u, a + b)                                    \
    EMU_LANEWISE(__vaddss##count, s, emu::clamp_to<s>(a + b))                \
    EMU_LANEWISE(__vaddus##count, u, emu::clamp_to<u>(a + b))                \
    EMU_LANEWISE(__vsub##count, u, a - b)                                    \
    EMU_LANEWISE(__vsubss##count, s, emu::clamp_to<s>(a - b))                \
    EMU_LANEWISE(__vsubus##count, u, emu::clamp_to<u>(a - b))                \
    EMU_LANEWISE(__vavgs##count, s, (a + b + (a + b >= 0)) >> 1)             \
    EMU_LANEWISE(__vavgu##count, u, (a + b + 1) >> 1)                        \
    EMU_LANEWISE(__vhaddu##count, u, (a + b) >> 1)                           \
    EMU_LANEWISE(__vmaxs##count, s, a < b ? b : a)                           \
    EMU_LANEWISE(__vmaxu##count, u, a < b ? b : a)                           \
    EMU_LANEWISE(__vmins##count, s, b < a ? b : a)                           \
    EMU_LANEWISE(__vminu##count, u, b < a ? b : a)                           \
    EMU_LANEWISE(__vabsdiffs##count, s, a < b ? b - a : a - b)               \
    EMU_LANEWISE(__vabsdiffu##count, u, a < b ? b - a : a - b)               \
    EMU_LANEWISE_UNARY(__vabs##count, s, a < 0 ? -a : a)                     \
    EMU_LANEWISE_UNARY(__vabsss##count, s, emu::clamp_to<s>(a < 0 ? -a : a)) \
    EMU_LANEWISE_UNARY(__vneg##count, s, -a)                                 \
    EMU_LANEWISE_UNARY(__vnegss##count, s, emu::clamp_to<s>(-a))             \
    EMU_COMPARISON(eq, count, u, a == b)                                     \
    EMU_COMPARISON(ne, count, u, a != b)                                     \
    EMU_COMPARISON(ges, count, s, a >= b)                                    \
    EMU_COMPARISON(geu, count, u, a >= b)                                    \
    EMU_COMPARISON(gts, count, s, a > b)                                     \
    EMU_COMPARISON(gtu, count, u, a > b)                                     \
    EMU_COMPARISON(les, count, s, a <= b)                                    \
    EMU_COMPARISON(leu, count, u, a <= b)                                    \
    EMU_COMPARISON(lts, count, s, a < b)                                     \
    EMU_COMPARISON(ltu, count, u, a < b)                                     \
    inline unsigned __vsads##count(unsigned a, unsigned b) {                 \
        return emu::sum_of_differences<s>(a, b);                             \
    }                                                                        \
    inline unsigned __vsadu##count(unsigned a, unsigned b) {                 \
        return emu::sum_of_differences<u>(a, b);                             \
    }

EMU_SIMD(4, signed char, unsigned char)
EMU_SIMD(2, short, unsigned short)

#undef EMU_SIMD
#undef EMU_COMPARISON
#undef EMU_LANEWISE_UNARY
#undef EMU_LANEWISE
