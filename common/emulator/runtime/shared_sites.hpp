/// \file
/// The program's __shared__ variables, all sites together.
#pragma once

#include <cstddef>

#include "emulator/shared_memory.hpp"

namespace emu {

unsigned shared_site_count();

/// Bytes that hold all of them side by side.
std::size_t shared_site_bytes();

}  // namespace emu
