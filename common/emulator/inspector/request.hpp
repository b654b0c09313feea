/// \file
/// What a warp does as one: its lanes' accesses through one instruction, and its branches.
#pragma once

#include <array>
#include <cstdint>

#include "access.hpp"

namespace emu::inspector {

constexpr unsigned warp_lanes = 32;

/// The accesses that the lanes of a warp make together.
struct Request {
    Pc pc;
    Space space;
    AccessKind kind;
    std::uint8_t bytes;                             ///< a lane
    bool adds_one;                                  ///< atomics: all lanes add 1 to an integer
    std::uint32_t lanes;                            ///< those that take part
    std::array<std::uint64_t, warp_lanes> address;  ///< by lane; of the others: anything
};

/// Takes what the warps of a block do.
class WarpSink {
public:
    virtual ~WarpSink() = default;
    virtual void request(const Request& request) = 0;
    /// `lanes` came through the basic block at `pc` together and went on, the first of them to the
    /// one at `next`; `diverged`: not all the same way.
    virtual void branch(Pc pc, Pc next, std::uint32_t lanes, bool diverged) = 0;
};

}  // namespace emu::inspector
