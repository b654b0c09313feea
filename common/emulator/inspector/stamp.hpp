/// \file
/// What the race check keeps of an access: when, by which thread, how and where in the program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "access.hpp"

namespace emu::inspector {

/// A stretch of the run in which nothing happened that could order accesses. Eras count up with
/// every barrier, warp primitive and fence, and with every change of who runs. 0: none.
using Era = std::uint32_t;

class Stamp {
public:
    /// No access.
    Stamp() = default;

    /// `thread`: in its block, below 1024; `place`: from PcNumbers.
    Stamp(Era era, unsigned thread, AccessKind kind, std::uint32_t place)
        : bits_(std::uint64_t{era} << 32 | std::uint64_t{thread} << 22 |
                static_cast<std::uint64_t>(kind) << 20 | place) {}

    Era era() const { return static_cast<Era>(bits_ >> 32); }
    unsigned thread() const { return bits_ >> 22 & 1023; }
    unsigned warp() const { return bits_ >> 27 & 31; }
    AccessKind kind() const { return static_cast<AccessKind>(bits_ >> 20 & 3); }
    std::uint32_t place() const { return bits_ & 0xfffff; }
    bool operator==(const Stamp& other) const { return bits_ == other.bits_; }

private:
    std::uint64_t bits_ = 0;
};

/// Numbers the places in a program that access memory, so that a stamp can hold one.
class PcNumbers {
public:
    /// 0, which stands for an unknown place, for all beyond the first 2^20 - 1.
    std::uint32_t number(Pc pc) {
        const Cached& cached = cache_[pc % cache_.size()];
        return cached.pc == pc ? cached.number : look_up(pc);
    }

    Pc pc(std::uint32_t number) const { return pcs_[number]; }

private:
    struct Cached {
        Pc pc = 0;
        std::uint32_t number = 0;
    };

    std::uint32_t look_up(Pc pc);

    std::array<Cached, 1021> cache_;  // a prime: code is laid out in powers of two
    std::unordered_map<Pc, std::uint32_t> numbers_;
    std::vector<Pc> pcs_{0};
};

}  // namespace emu::inspector
