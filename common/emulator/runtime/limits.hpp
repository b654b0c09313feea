/// \file
/// Settings of the device that programs may read and change, and that change nothing here.
#pragma once

namespace emu {

/// Puts the limits, flags and the cache preference back to what they are at the start.
void reset_limits();

}  // namespace emu
