/// \file
/// cudaProfilerStart and cudaProfilerStop, which change nothing in the emulator.
#pragma once

#include "emulator/runtime_api.h"
