/// \file
/// The parts of the text report.
#pragma once

#include <string>

#include "report.hpp"

namespace emu::inspector {

/// What is wrong; one sentence if nothing is, or if nothing ran.
std::string findings_text(const Report& report, const Symbols& symbols, SourceLines& sources);

/// What the kernels ask of memory, in the order of their first launch.
std::string kernels_text(const Report& report, const Symbols& symbols, SourceLines& sources);

}  // namespace emu::inspector
