/// \file
/// One memory access of device code, as the compiler's instrumentation reports it.
#pragma once

#include <cstdint>

namespace emu::inspector {

/// Where an instruction lies in the program: the address that its call-back returns to. Inspected
/// programs are linked at fixed addresses below 4 GiB.
using Pc = std::uint32_t;

enum class AccessKind : std::uint8_t { read, write, atomic };

/// What an address belongs to, as far as a GPU would use different hardware for it.
enum class Space : std::uint8_t { global, shared };

struct Access {
    std::uint64_t address;
    Pc pc;
    std::uint8_t bytes;  ///< 1, 2, 4, 8 or 16
    AccessKind kind;
    bool any_alignment;     ///< the type that was accessed promises no alignment
    bool adds_one = false;  ///< atomics: adds 1 to an integer
};

/// A thread: its block's linear index in the grid, and its own in the block.
struct ThreadPlace {
    std::uint64_t block;
    std::uint16_t thread;
};

}  // namespace emu::inspector
