/// \file
/// Integer intrinsics: counting and reversing bits, high halves of products, dot products of packed
/// values, funnel shifts.
#pragma once

#include <cstring>

#include "emulator/vector_types.hpp"

inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}

/// Leading zeros; all bits for 0.
inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}

/// Position of the lowest set bit, counted from 1; 0 for 0.
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
    return __builtin_ffsll(x);
}

inline unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}

/// Position of the n-th set bit (n > 0: at or above `base`; n < 0: at or below it; 0: `base` itself
/// if set); 0xffffffff if there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    if (offset == 0) return mask >> (base & 31) & 1 ? base : 0xffffffffu;
    const int step = offset > 0 ? 1 : -1;
    int left = offset > 0 ? offset : -offset;
    for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
        if ((mask >> bit & 1) && --left == 0) return static_cast<unsigned>(bit);
    }
    return 0xffffffffu;
}

/// Four bytes out of the eight of (y, x), chosen by the low three bits of each nibble of
/// `selector`; a nibble's top bit spreads the chosen byte's sign instead.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned nibble = selector >> 4 * i;
        unsigned byte = bytes >> 8 * (nibble & 7) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

// High halves of products; products of the low 24 bits.
inline int __mulhi(int x, int y) {
    return static_cast<int>(static_cast<long long>(x) * y >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
    return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline int __mul24(int x, int y) {
    const long long a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
    const long long b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
    return static_cast<int>(a * b);
}
inline unsigned __umul24(unsigned x, unsigned y) {
    return (x & 0xffffffu) * (y & 0xffffffu);
}
inline int mulhi(int x, int y) {
    return __mulhi(x, y);
}
inline unsigned mulhi(unsigned x, unsigned y) {
    return __umulhi(x, y);
}
inline int mul24(int x, int y) {
    return __mul24(x, y);
}
inline unsigned umul24(unsigned x, unsigned y) {
    return __umul24(x, y);
}

/// |x - y| + z.
inline unsigned __sad(int x, int y, unsigned z) {
    const unsigned difference = x < y ? static_cast<unsigned>(y) - static_cast<unsigned>(x)
                                      : static_cast<unsigned>(x) - static_cast<unsigned>(y);
    return difference + z;
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) {
    return (x < y ? y - x : x - y) + z;
}

// Averages without overflow: rounded down (`h`) or up (`rh`).
inline int __hadd(int x, int y) {
    return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
inline int __rhadd(int x, int y) {
    return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
inline unsigned __uhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
    return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}

// Funnel shifts of the 64 bits (high, low): the upper word of a left shift, the lower word of a
// right one. The shift counts modulo 32, or, with `c`, up to 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31) >> 32);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

namespace emu {

/// sum + the dot product of two packed words' elements, from those at index `a_first`, `b_first`
/// on.
template <int Count, class A, class B, class Sum, class AWord, class BWord>
[[gnu::always_inline]] inline Sum packed_dot(AWord a_word, BWord b_word, Sum sum, int a_first = 0,
                                             int b_first = 0) {
    A a[sizeof(AWord) / sizeof(A)];
    B b[sizeof(BWord) / sizeof(B)];
    std::memcpy(a, &a_word, sizeof a);
    std::memcpy(b, &b_word, sizeof b);
    unsigned total = static_cast<unsigned>(sum);  // wraps, as on the device
    for (int i = 0; i < Count; ++i) {
        total += static_cast<unsigned>(static_cast<Sum>(a[a_first + i]) *
                                       static_cast<Sum>(b[b_first + i]));
    }
    return static_cast<Sum>(total);
}

}  // namespace emu

// c + the sum of the four products of bytes.
inline int __dp4a(int a, int b, int c) {
    return emu::packed_dot<4, signed char, signed char>(a, b, c);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    return emu::packed_dot<4, unsigned char, unsigned char>(a, b, c);
}
inline int __dp4a(char4 a, char4 b, int c) {
    return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
    return c + unsigned(a.x * b.x) + unsigned(a.y * b.y) + unsigned(a.z * b.z) +
           unsigned(a.w * b.w);
}

// c + the two products of a's 16-bit values with b's lower (`lo`) or upper (`hi`) two bytes.
inline int __dp2a_lo(int a, int b, int c) {
    return emu::packed_dot<2, short, signed char>(a, b, c);
}
inline int __dp2a_hi(int a, int b, int c) {
    return emu::packed_dot<2, short, signed char>(a, b, c, 0, 2);
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return emu::packed_dot<2, unsigned short, unsigned char>(a, b, c);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
    return emu::packed_dot<2, unsigned short, unsigned char>(a, b, c, 0, 2);
}
inline int __dp2a_lo(short2 a, char4 b, int c) {
    return c + a.x * b.x + a.y * b.y;
}
inline int __dp2a_hi(short2 a, char4 b, int c) {
    return c + a.x * b.z + a.y * b.w;
}
inline unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
    return c + unsigned(a.x * b.x) + unsigned(a.y * b.y);
}
inline unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
    return c + unsigned(a.x * b.z) + unsigned(a.y * b.w);
}
