/// \file
/// Copies and fills as operations of a stream.
#pragma once

#include <cstddef>

#include "emulator/runtime_api.h"

namespace emu {

/// A rectangle of bytes; a plain range is one row.
struct CopyShape {
    char* to;
    std::size_t to_pitch;  ///< bytes from row to row
    const char* from;
    std::size_t from_pitch;  ///< bytes from row to row
    std::size_t width;       ///< bytes of a row
    std::size_t height;      ///< rows
};

/// Whether the host goes on while the copy is made, as far as the memory allows.
enum class HostWaits { always, if_it_must };

/// Checks and enqueues a copy. Errors: cudaErrorInvalidValue, cudaErrorInvalidMemcpyDirection,
/// cudaErrorInvalidPitchValue, cudaErrorInvalidResourceHandle.
cudaError_t copy(const CopyShape& shape, cudaMemcpyKind kind, cudaStream_t stream, HostWaits waits);

}  // namespace emu
