/// \file
/// A small deterministic generator: the same seed gives the same data on every machine, compiler
/// and standard library, which the distributions of <random> do not promise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mf {

/// SplitMix64 of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
/// 2014. Every seed is good, 0 too.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// 64 random bits.
    std::uint64_t bits() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    /// A whole number from 0 to `bound` - 1, each equally likely; `bound` is at least 1. Numbers
    /// from the incomplete last round of `bound` are drawn again, so that none is favoured.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t first_fair = (0 - bound) % bound;
        std::uint64_t value = bits();
        while (value < first_fair)
            value = bits();
        return value % bound;
    }

    /// A number in [0, 1), a multiple of 2^-53.
    double unit() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

    /// A number in [low, high).
    float uniform(float low, float high) {
        // 24 random bits: a float of [0, 1) that can never round up to 1.
        const float share = static_cast<float>(bits() >> 40) * 0x1.0p-24f;
        return low + share * (high - low);
    }

private:
    std::uint64_t state_;
};

/// `count` bytes, each of 0 to 255 equally likely.
inline std::vector<unsigned char> random_bytes(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<unsigned char> bytes(count);
    for (std::size_t i = 0; i < count; i += 8) {
        std::uint64_t word = random.bits();
        for (std::size_t j = i; j < count && j < i + 8; ++j, word >>= 8) {
            bytes[j] = static_cast<unsigned char>(word);
        }
    }
    return bytes;
}

}  // namespace mf
