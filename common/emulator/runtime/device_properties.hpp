/// \file
/// What the queries tell about the emulated device.
#pragma once

#include "emulator/runtime_api.h"

namespace emu {

cudaDeviceProp device_properties();

/// False: no such attribute. What the device does not have (textures, caches, a memory clock) is 0.
bool device_attribute(cudaDeviceAttr which, int& value);

}  // namespace emu
