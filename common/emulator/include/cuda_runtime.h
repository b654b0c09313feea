/// \file
/// The emulator's stand-in for the CUDA runtime's header: the same names, on the machine's own
/// cores.
#pragma once

#include "emulator/atomics.hpp"
#include "emulator/device_code.hpp"
#include "emulator/float_intrinsics.hpp"
#include "emulator/integer_intrinsics.hpp"
#include "emulator/launch.hpp"
#include "emulator/math.hpp"
#include "emulator/memory_intrinsics.hpp"
#include "emulator/runtime_api.h"
#include "emulator/shared_memory.hpp"
#include "emulator/simd_intrinsics.hpp"
#include "emulator/vector_types.hpp"
