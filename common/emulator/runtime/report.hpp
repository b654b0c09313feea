/// \file
/// Messages for the person at the terminal.
#pragma once

#include <cstdarg>
#include <string>

namespace emu {

/// What vprintf would print, cut at 4095 characters.
std::string formatted(const char* format, std::va_list arguments);

/// Writes `emulator: …` and a line end to stderr in one piece. Format as printf.
[[gnu::format(printf, 1, 2)]] void report(const char* format, ...);

/// "kernel NAME, block (x,y,z), thread (x,y,z)" of the thread that runs on this host thread.
std::string where_running();

/// Who waits where in the running block, a line for each group of neighbours in the same state.
/// `running`: the current thread was interrupted; else it waits or has returned.
std::string describe_waits(bool running);

}  // namespace emu
