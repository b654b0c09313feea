/// \file
/// What is known of a kernel from having run it.
#pragma once

#include <cstddef>

namespace emu {

/// Notes that a block of `function` used `bytes` of __shared__ variables. Null is ignored.
void note_static_shared(const void* function, std::size_t bytes);

/// Bytes of __shared__ variables of a kernel, known once its first block has run; else 0.
std::size_t static_shared_bytes(const void* function);

}  // namespace emu
