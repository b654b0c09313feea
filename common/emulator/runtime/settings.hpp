/// \file
/// What the environment says about how kernels run.
#pragma once

#include <cstdint>

namespace emu {

/// In which order the threads of a block, and the blocks of a grid, get their turn.
enum class ThreadOrder { forward, reverse, random };

struct Settings {
    unsigned workers;    ///< EMULATOR_WORKERS: host threads that run blocks; default: one per core
    ThreadOrder order;   ///< EMULATOR_ORDER: forward (default), reverse, random or random:SEED
    std::uint64_t seed;  ///< of the random order; default 1
    double watchdog_s;   ///< EMULATOR_WATCHDOG: seconds that one block may run; default 60
};

/// Reads the environment once. A value that makes no sense ends the process with status 2 and a
/// line.
const Settings& settings();

}  // namespace emu
