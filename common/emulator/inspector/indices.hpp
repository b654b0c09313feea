/// \file
/// Numbers of the emulator in the inspector's terms.
#pragma once

#include <cstdint>

#include "emulator/vector_types.hpp"
#include "findings.hpp"

namespace emu::inspector {

inline std::uint64_t number_of(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

inline Triple triple(uint3 v) {
    return {v.x, v.y, v.z};
}

/// The index of the `linear`-th element of a shape.
inline Triple unfold(std::uint64_t linear, dim3 shape) {
    return {static_cast<unsigned>(linear % shape.x),
            static_cast<unsigned>(linear / shape.x % shape.y),
            static_cast<unsigned>(linear / shape.x / shape.y)};
}

}  // namespace emu::inspector
