/// \file
/// Integer intrinsics against plain definitions.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "support.hpp"

using namespace conformance;

namespace {

/// Words that show a wrong sign, width or order.
std::vector<unsigned> interesting_words() {
    std::vector<unsigned> words{0,          1,          2,          0x7F,       0x80,
                                0xFF,       0x100,      0x7FFF,     0x8000,     0xFFFF,
                                0x12345678, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF,
                                0x80808080, 0x7F7F7F7F, 0x01FE7F80, 0x00FF00FF, 0xDEADBEEF};
    unsigned state = 1;
    for (int i = 0; i < 12; ++i)
        words.push_back(state = state * 1664525u + 1013904223u);
    return words;
}

constexpr int words_count = 32;

// ---- One word in, one out -------------------------------------------------------------------

struct Counts {
    int ones, leading, lowest, wide_ones, wide_leading, wide_lowest;
    unsigned reversed;
    unsigned long long wide_reversed;
};

__global__ void count_bits(const unsigned* words, Counts* out) {
    const unsigned word = words[threadIdx.x];
    const unsigned long long wide = static_cast<unsigned long long>(word) << 13;
    Counts& mine = out[threadIdx.x];
    mine.ones = __popc(word);
    mine.leading = __clz(static_cast<int>(word));
    mine.lowest = __ffs(static_cast<int>(word));
    mine.wide_ones = __popcll(wide);
    mine.wide_leading = __clzll(static_cast<long long>(wide));
    mine.wide_lowest = __ffsll(static_cast<long long>(wide));
    mine.reversed = __brev(word);
    mine.wide_reversed = __brevll(wide);
}

template <class Word>
Word reversed(Word word) {
    Word result = 0;
    for (unsigned bit = 0; bit < 8 * sizeof word; ++bit) {
        if (word >> bit & 1) result |= Word(1) << (8 * sizeof word - 1 - bit);
    }
    return result;
}

template <class Word>
int highest_bit(Word word) {  // counted from 1; 0 for none
    int bit = 0;
    for (; word != 0; word >>= 1)
        ++bit;
    return bit;
}

template <class Word>
int lowest_bit(Word word) {
    int bit = 1;
    if (word == 0) return 0;
    for (; !(word & 1); word >>= 1)
        ++bit;
    return bit;
}

template <class Word>
int ones(Word word) {
    int count = 0;
    for (; word != 0; word &= word - 1)
        ++count;
    return count;
}

}  // namespace

TEST_CASE("counting and reversing bits", "[integers]") {
    const std::vector<unsigned> words = interesting_words();
    const DeviceArray<unsigned> device_words(words);
    const DeviceArray<Counts> out(words_count);
    count_bits<<<1, words_count>>>(device_words.get(), out.get());
    REQUIRE_COMPLETES();
    const std::vector<Counts> counts = out.download();
    for (int i = 0; i < words_count; ++i) {
        const unsigned word = words[i];
        const unsigned long long wide = static_cast<unsigned long long>(word) << 13;
        INFO("word " << word);
        CHECK(counts[i].ones == ones(word));
        CHECK(counts[i].leading == 32 - highest_bit(word));
        CHECK(counts[i].lowest == lowest_bit(word));
        CHECK(counts[i].wide_ones == ones(wide));
        CHECK(counts[i].wide_leading == 64 - highest_bit(wide));
        CHECK(counts[i].wide_lowest == lowest_bit(wide));
        CHECK(counts[i].reversed == reversed(word));
        CHECK(counts[i].wide_reversed == reversed(wide));
    }
}

namespace {

// ---- Two words in, one out: the device's function and its definition side by side --------------

/// `device` is an expression of the words a and b on the device, `definition` one on the host.
#define BINARY(name, device, definition)                           \
    struct name {                                                  \
        static __device__ unsigned apply(unsigned a, unsigned b) { \
            return static_cast<unsigned>(device);                  \
        }                                                          \
        static unsigned expected(unsigned a, unsigned b) {         \
            return static_cast<unsigned>(definition);              \
        }                                                          \
    };

template <class Function>
__global__ void apply_to_pairs(const unsigned* words, unsigned* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        Function::apply(words[blockIdx.x], words[threadIdx.x]);
}

template <class Function>
void check_pairs(const char* name) {
    INFO(name);
    const std::vector<unsigned> words = interesting_words();
    const DeviceArray<unsigned> device_words(words), out(words_count * words_count);
    apply_to_pairs<Function><<<words_count, words_count>>>(device_words.get(), out.get());
    REQUIRE_COMPLETES();
    const std::vector<unsigned> actual = out.download();
    for (int i = 0; i < words_count * words_count; ++i) {
        const unsigned a = words[i / words_count], b = words[i % words_count];
        const unsigned expected = Function::expected(a, b);
        if (actual[i] != expected) {
            FAIL(name << " of " << a << " and " << b << " is " << actual[i] << ", expected "
                      << expected);
        }
    }
}

#define CHECK_PAIRS(name) check_pairs<name>(#name)

using Wide = long long;
using UnsignedWide = unsigned long long;

Wide as_int(unsigned word) {
    return static_cast<int>(word);
}
Wide low_24(unsigned word) {
    return static_cast<int>(word << 8) >> 8;
}
Wide magnitude(Wide x) {
    return x < 0 ? -x : x;
}
unsigned both_shifted_left(unsigned low, unsigned high, unsigned by) {
    return by == 0 ? high : by >= 32 ? low : high << by | low >> (32 - by);
}
unsigned both_shifted_right(unsigned low, unsigned high, unsigned by) {
    return by == 0 ? low : by >= 32 ? high : low >> by | high << (32 - by);
}

BINARY(HighProduct, __mulhi(int(a), int(b)), as_int(a) * as_int(b) >> 32)
BINARY(UnsignedHighProduct, __umulhi(a, b), UnsignedWide(a) * b >> 32)
BINARY(Product24, __mul24(int(a), int(b)), low_24(a) * low_24(b))
BINARY(UnsignedProduct24, __umul24(a, b), (a & 0xFFFFFF) * (b & 0xFFFFFF))
BINARY(Difference, __sad(int(a), int(b), 5u), magnitude(as_int(a) - as_int(b)) + 5)
BINARY(UnsignedDifference, __usad(a, b, 5u), magnitude(Wide(a) - Wide(b)) + 5)
BINARY(Average, __hadd(int(a), int(b)), (as_int(a) + as_int(b)) >> 1)
BINARY(AverageUp, __rhadd(int(a), int(b)), (as_int(a) + as_int(b) + 1) >> 1)
BINARY(UnsignedAverage, __uhadd(a, b), (Wide(a) + Wide(b)) >> 1)
BINARY(UnsignedAverageUp, __urhadd(a, b), (Wide(a) + Wide(b) + 1) >> 1)
BINARY(FunnelLeft, __funnelshift_l(a, b, a ^ b), both_shifted_left(a, b, (a ^ b) % 32))
BINARY(FunnelRight, __funnelshift_r(a, b, a ^ b), both_shifted_right(a, b, (a ^ b) % 32))
BINARY(FunnelLeftClamped, __funnelshift_lc(a, b, (a ^ b) % 64),
       both_shifted_left(a, b, (a ^ b) % 64))
BINARY(FunnelRightClamped, __funnelshift_rc(a, b, (a ^ b) % 64),
       both_shifted_right(a, b, (a ^ b) % 64))
BINARY(LeastMixed, min(int(a), b), std::min(a, b))
BINARY(GreatestMixed, max(a, int(b)), std::max(a, b))
BINARY(Least, min(int(a), int(b)), std::min(int(a), int(b)))
BINARY(Greatest, max(int(a), int(b)), std::max(int(a), int(b)))

}  // namespace

TEST_CASE("products, differences and averages", "[integers]") {
    CHECK_PAIRS(HighProduct);
    CHECK_PAIRS(UnsignedHighProduct);
    CHECK_PAIRS(Product24);
    CHECK_PAIRS(UnsignedProduct24);
    CHECK_PAIRS(Difference);
    CHECK_PAIRS(UnsignedDifference);
    CHECK_PAIRS(Average);
    CHECK_PAIRS(AverageUp);
    CHECK_PAIRS(UnsignedAverage);
    CHECK_PAIRS(UnsignedAverageUp);
}

TEST_CASE("shifts of two words", "[integers]") {
    CHECK_PAIRS(FunnelLeft);
    CHECK_PAIRS(FunnelRight);
    CHECK_PAIRS(FunnelLeftClamped);
    CHECK_PAIRS(FunnelRightClamped);
}

TEST_CASE("least and greatest of integers", "[integers]") {
    CHECK_PAIRS(LeastMixed);
    CHECK_PAIRS(GreatestMixed);
    CHECK_PAIRS(Least);
    CHECK_PAIRS(Greatest);
}

namespace {

// ---- Packed bytes and halves -------------------------------------------------------------------

/// Element `i` of a word of elements `T`.
template <class T>
Wide element(unsigned word, int i) {
    return static_cast<T>(word >> 8 * sizeof(T) * i);
}

template <class T>
unsigned with_element(Wide value, int i) {
    const UnsignedWide mask = (UnsignedWide(1) << 8 * sizeof(T)) - 1;
    return static_cast<unsigned>((static_cast<UnsignedWide>(value) & mask) << 8 * sizeof(T) * i);
}

template <class T>
Wide clamped(Wide value) {
    return std::min<Wide>(std::max<Wide>(value, std::numeric_limits<T>::min()),
                          std::numeric_limits<T>::max());
}

template <class T, class Formula>
unsigned lanewise(unsigned a, unsigned b, Formula formula) {
    unsigned result = 0;
    for (int i = 0; i < int(4 / sizeof(T)); ++i) {
        result |= with_element<T>(formula(element<T>(a, i), element<T>(b, i)), i);
    }
    return result;
}

template <class A, class B, class Sum>
unsigned dot(unsigned a, unsigned b, int count, int b_first, unsigned start) {
    Wide sum = static_cast<Sum>(start);
    for (int i = 0; i < count; ++i)
        sum += element<A>(a, i) * element<B>(b, b_first + i);
    return static_cast<unsigned>(sum);
}

using S1 = signed char;
using U1 = unsigned char;
using S2 = short;
using U2 = unsigned short;

constexpr unsigned minus_seven = 0xFFFFFFF9u;

BINARY(Dot4, __dp4a(int(a), int(b), 1000), (dot<S1, S1, int>(a, b, 4, 0, 1000)))
BINARY(UnsignedDot4, __dp4a(a, b, 1000u), (dot<U1, U1, unsigned>(a, b, 4, 0, 1000)))
BINARY(Dot4WithLargeStart, __dp4a(int(a), int(b), int(a)), (dot<S1, S1, int>(a, b, 4, 0, a)))
BINARY(Dot2Low, __dp2a_lo(int(a), int(b), -7), (dot<S2, S1, int>(a, b, 2, 0, minus_seven)))
BINARY(Dot2High, __dp2a_hi(int(a), int(b), -7), (dot<S2, S1, int>(a, b, 2, 2, minus_seven)))
BINARY(UnsignedDot2Low, __dp2a_lo(a, b, 7u), (dot<U2, U1, unsigned>(a, b, 2, 0, 7)))
BINARY(UnsignedDot2High, __dp2a_hi(a, b, 7u), (dot<U2, U1, unsigned>(a, b, 2, 2, 7)))

__device__ char4 as_char4(unsigned word) {
    return make_char4(static_cast<signed char>(word), static_cast<signed char>(word >> 8),
                      static_cast<signed char>(word >> 16), static_cast<signed char>(word >> 24));
}
__device__ uchar4 as_uchar4(unsigned word) {
    return make_uchar4(word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24);
}
BINARY(VectorDot4, __dp4a(as_char4(a), as_char4(b), 3), (dot<S1, S1, int>(a, b, 4, 0, 3)))
BINARY(UnsignedVectorDot4, __dp4a(as_uchar4(a), as_uchar4(b), 3u),
       (dot<U1, U1, unsigned>(a, b, 4, 0, 3)))

unsigned permuted(unsigned x, unsigned y, unsigned selector) {
    const UnsignedWide bytes = UnsignedWide(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        result |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    }
    return result;
}
BINARY(Permuted, __byte_perm(a, b, 0x3715), permuted(a, b, 0x3715))
BINARY(PermutedAnyhow, __byte_perm(a, b, (a ^ b) & 0x7777), permuted(a, b, (a ^ b) & 0x7777))

#define LANEWISE(name, function, type, formula) \
    BINARY(name, function(a, b),                \
           (lanewise<type>(a, b, [](Wide x, Wide y) -> Wide { return formula; })))
#define LANEWISE_BOTH(name, function, s, formula) \
    LANEWISE(name##4, function##4, s##1, formula) \
    LANEWISE(name##2, function##2, s##2, formula)

LANEWISE_BOTH(Sums, __vadd, U, x + y)
LANEWISE_BOTH(Differences, __vsub, U, x - y)
LANEWISE_BOTH(Equal, __vcmpeq, U, x == y ? -1 : 0)
LANEWISE_BOTH(Different, __vcmpne, U, x != y ? -1 : 0)
LANEWISE_BOTH(SignedGreater, __vcmpgts, S, x > y ? -1 : 0)
LANEWISE_BOTH(UnsignedGreater, __vcmpgtu, U, x > y ? -1 : 0)
LANEWISE_BOTH(SignedAtLeast, __vcmpges, S, x >= y ? -1 : 0)
LANEWISE_BOTH(UnsignedAtMost, __vcmpleu, U, x <= y ? -1 : 0)
LANEWISE_BOTH(SignedLess, __vcmplts, S, x < y ? -1 : 0)
LANEWISE_BOTH(EqualAsOne, __vseteq, U, x == y ? 1 : 0)
LANEWISE_BOTH(UnsignedLessAsOne, __vsetltu, U, x < y ? 1 : 0)
LANEWISE_BOTH(SignedMinima, __vmins, S, std::min(x, y))
LANEWISE_BOTH(UnsignedMinima, __vminu, U, std::min(x, y))
LANEWISE_BOTH(SignedMaxima, __vmaxs, S, std::max(x, y))
LANEWISE_BOTH(UnsignedMaxima, __vmaxu, U, std::max(x, y))
LANEWISE_BOTH(UnsignedDistances, __vabsdiffu, U, magnitude(x - y))
LANEWISE_BOTH(UnsignedAverages, __vavgu, U, (x + y + 1) >> 1)
LANEWISE_BOTH(UnsignedAveragesDown, __vhaddu, U, (x + y) >> 1)
LANEWISE(SignedSaturatedSums4, __vaddss4, S1, clamped<S1>(x + y))
LANEWISE(SignedSaturatedSums2, __vaddss2, S2, clamped<S2>(x + y))
LANEWISE(UnsignedSaturatedSums4, __vaddus4, U1, clamped<U1>(x + y))
LANEWISE(UnsignedSaturatedSums2, __vaddus2, U2, clamped<U2>(x + y))
LANEWISE(SignedSaturatedDifferences4, __vsubss4, S1, clamped<S1>(x - y))
LANEWISE(SignedSaturatedDifferences2, __vsubss2, S2, clamped<S2>(x - y))
LANEWISE(UnsignedSaturatedDifferences4, __vsubus4, U1, clamped<U1>(x - y))
LANEWISE(UnsignedSaturatedDifferences2, __vsubus2, U2, clamped<U2>(x - y))
BINARY(Magnitudes, (__vabs4(a) ^ __vabs2(b)),
       (lanewise<S1>(a, 0, [](Wide x, Wide) { return magnitude(x); }) ^
        lanewise<S2>(b, 0, [](Wide x, Wide) { return magnitude(x); })))
BINARY(Negatives, (__vneg4(a) ^ __vneg2(b)),
       (lanewise<S1>(a, 0, [](Wide x, Wide) { return -x; }) ^
        lanewise<S2>(b, 0, [](Wide x, Wide) { return -x; })))

template <class T>
unsigned distance_sum(unsigned a, unsigned b) {
    Wide sum = 0;
    for (int i = 0; i < int(4 / sizeof(T)); ++i)
        sum += magnitude(element<T>(a, i) - element<T>(b, i));
    return static_cast<unsigned>(sum);
}
BINARY(DistanceSum4, __vsadu4(a, b), distance_sum<U1>(a, b))
BINARY(DistanceSum2, __vsadu2(a, b), distance_sum<U2>(a, b))
BINARY(SignedDistanceSum4, __vsads4(a, b), distance_sum<S1>(a, b))

}  // namespace

TEST_CASE("dot products of packed integers", "[integers][packed]") {
    CHECK_PAIRS(Dot4);
    CHECK_PAIRS(UnsignedDot4);
    CHECK_PAIRS(Dot4WithLargeStart);
    CHECK_PAIRS(Dot2Low);
    CHECK_PAIRS(Dot2High);
    CHECK_PAIRS(UnsignedDot2Low);
    CHECK_PAIRS(UnsignedDot2High);
    CHECK_PAIRS(VectorDot4);
    CHECK_PAIRS(UnsignedVectorDot4);
}

TEST_CASE("bytes of two words chosen anew", "[integers][packed]") {
    CHECK_PAIRS(Permuted);
    CHECK_PAIRS(PermutedAnyhow);
}

#define CHECK_BOTH(name)  \
    CHECK_PAIRS(name##4); \
    CHECK_PAIRS(name##2)

TEST_CASE("arithmetic on packed integers", "[integers][packed]") {
    CHECK_BOTH(Sums);
    CHECK_BOTH(Differences);
    CHECK_BOTH(SignedSaturatedSums);
    CHECK_BOTH(UnsignedSaturatedSums);
    CHECK_BOTH(SignedSaturatedDifferences);
    CHECK_BOTH(UnsignedSaturatedDifferences);
    CHECK_BOTH(SignedMinima);
    CHECK_BOTH(UnsignedMinima);
    CHECK_BOTH(SignedMaxima);
    CHECK_BOTH(UnsignedMaxima);
    CHECK_BOTH(UnsignedDistances);
    CHECK_BOTH(UnsignedAverages);
    CHECK_BOTH(UnsignedAveragesDown);
    CHECK_BOTH(DistanceSum);
    CHECK_PAIRS(SignedDistanceSum4);
    CHECK_PAIRS(Magnitudes);
    CHECK_PAIRS(Negatives);
}

TEST_CASE("comparisons of packed integers", "[integers][packed]") {
    CHECK_BOTH(Equal);
    CHECK_BOTH(Different);
    CHECK_BOTH(SignedGreater);
    CHECK_BOTH(UnsignedGreater);
    CHECK_BOTH(SignedAtLeast);
    CHECK_BOTH(UnsignedAtMost);
    CHECK_BOTH(SignedLess);
    CHECK_BOTH(EqualAsOne);
    CHECK_BOTH(UnsignedLessAsOne);
}

namespace {

__global__ void wide_products(const long long* factors, long long* high,
                              unsigned long long* unsigned_high) {
    const long long a = factors[blockIdx.x], b = factors[threadIdx.x];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    high[i] = __mul64hi(a, b);
    unsigned_high[i] = __umul64hi(a, b);
}

/// The upper half of a product of 64-bit numbers, by halves of 32 bits.
unsigned long long high_product(unsigned long long a, unsigned long long b) {
    const unsigned long long mask = 0xFFFFFFFFull;
    const unsigned long long low = (a & mask) * (b & mask);
    const unsigned long long first = (a >> 32) * (b & mask) + (low >> 32);
    const unsigned long long second = (a & mask) * (b >> 32) + (first & mask);
    return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
}

}  // namespace

TEST_CASE("upper halves of 64-bit products", "[integers]") {
    const std::vector<long long> factors{0,
                                         1,
                                         -1,
                                         1ll << 32,
                                         -(1ll << 40),
                                         0x7FFFFFFFFFFFFFFF,
                                         0x123456789ABCDEF0,
                                         -987654321987654321};
    const int count = static_cast<int>(factors.size());
    const DeviceArray<long long> device_factors(factors), high(count * count);
    const DeviceArray<unsigned long long> unsigned_high(count * count);
    wide_products<<<count, count>>>(device_factors.get(), high.get(), unsigned_high.get());
    REQUIRE_COMPLETES();
    const auto signed_seen = high.download();
    const auto unsigned_seen = unsigned_high.download();
    for (int i = 0; i < count * count; ++i) {
        const auto a = static_cast<unsigned long long>(factors[i / count]);
        const auto b = static_cast<unsigned long long>(factors[i % count]);
        const unsigned long long expected = high_product(a, b);
        CHECK(unsigned_seen[i] == expected);
        // Two's complement: each negative factor has counted for 2^64 too much.
        const unsigned long long correction =
            (factors[i / count] < 0 ? b : 0) + (factors[i % count] < 0 ? a : 0);
        CHECK(signed_seen[i] == static_cast<long long>(expected - correction));
    }
}
