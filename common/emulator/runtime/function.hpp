/// \file
/// What the program has set for its kernels.
#pragma once

#include <cstddef>

namespace emu {

/// The most dynamic shared memory a launch of the kernel may ask for, in bytes: what
/// cudaFuncSetAttribute allowed, and 48 KB less its static shared memory before. A launch whose
/// kernel is not known by address (null) gets the largest amount that any kernel was allowed.
std::size_t max_dynamic_shared(const void* function);

/// Blocks of one kernel that an SM holds at a time. `block_size` in threads, `dynamic_shared` in
/// bytes a block. 0: not one fits.
int resident_blocks(const void* function, int block_size, std::size_t dynamic_shared);

}  // namespace emu
