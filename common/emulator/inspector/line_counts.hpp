/// \file
/// A kernel's counts by line of source.
#pragma once

#include <cstdint>
#include <vector>

#include "report.hpp"
#include "symbols.hpp"

namespace emu::inspector {

/// What the instructions of one line did.
struct LineCounts {
    Place place;
    Pc pc = 0;  ///< of one of its instructions: names a line that is not known
    PlaceCounts counts;
};

/// The kernel's lines, worst first, then in the order of the source.
std::vector<LineCounts> lines_of(const KernelReport& kernel, const Symbols& symbols);

/// Sum over all instructions of the kernel.
PlaceCounts totals_of(const KernelReport& kernel);

/// Sum over the loads, stores and atomics of one space.
AccessCounts sum_of(const PlaceCounts& counts, Space space);

/// How much more than the least was done: sectors, wavefronts, and lanes that wait for another of
/// the same request to update the same address. 0: nothing to gain.
std::uint64_t excess(const PlaceCounts& counts);

}  // namespace emu::inspector
