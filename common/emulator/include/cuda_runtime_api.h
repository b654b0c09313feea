/// \file
/// The host side of the runtime alone, for files without kernels.
#pragma once

#include "emulator/runtime_api.h"
