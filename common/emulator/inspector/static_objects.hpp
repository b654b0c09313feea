/// \file
/// The variables of the program itself: where its __device__ and __constant__ ones lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory_map.hpp"

namespace emu::inspector {

/// Every variable in the symbol table of the running program, as an object of kind `symbol` with a
/// name such as "variable weights, 36 bytes", and as objects of kind `image` its constants, which
/// have no names. Without a symbol table: all of its static memory as images. In any order.
std::vector<Object> static_objects();

/// The name of the function that begins at an address, without its parameters and its unnamed
/// namespaces; empty where the symbol table has none.
std::string function_name(std::uint64_t address);

}  // namespace emu::inspector
