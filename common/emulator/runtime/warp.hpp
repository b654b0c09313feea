/// \file
/// The meeting of a warp's lanes.
#pragma once

#include "emulator/warp.hpp"

namespace emu {

/// What the lanes of one warp have asked for and got.
struct Warp {
    unsigned waiting = 0;  ///< lanes that wait for others
    LaneRequest request[32];
    std::uint64_t result[32];
};

/// Lets the groups of lanes go on that wait only for lanes which have returned, or for a census of
/// the active lanes. True if any could. Called when no thread can run otherwise.
bool complete_waiting_warps();

}  // namespace emu
