/// \file
/// What an inspected run found, ready to be written as text or JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "counts.hpp"
#include "findings.hpp"
#include "symbols.hpp"

namespace emu::inspector {

/// All launches of one kernel with one shape.
struct KernelReport {
    std::string name;
    Triple grid;
    Triple block;
    std::uint64_t dynamic_shared = 0;  ///< bytes
    std::uint64_t launches = 0;
    std::uint64_t blocks = 0;          ///< of all launches
    std::uint64_t counted_blocks = 0;  ///< of these, the ones whose accesses were counted
    std::uint64_t lost_events = 0;  ///< accesses and steps beyond the memory that a trace may use
    std::uint64_t barriers = 0;     ///< in the counted blocks: times that one was passed
    std::map<Pc, PlaceCounts> places;       ///< in the counted blocks
    std::uint64_t distinct_bytes_read = 0;  ///< of global memory, each once a launch
    std::uint64_t distinct_bytes_written = 0;
};

struct Report {
    std::string program;  ///< path
    std::vector<Finding> findings;
    std::vector<KernelReport> kernels;  ///< in the order of their first launch
    std::vector<std::string> notes;     ///< what was left out, in sentences
};

/// The lines of all instructions that the report names.
Symbols symbols_of(const Report& report);

/// Text of at most 100 columns: the findings, then the kernels with their worst lines first.
std::string text_of(const Report& report, const Symbols& symbols);

/// The same as JSON: inspector_report.schema.json describes it.
std::string json_of(const Report& report, const Symbols& symbols);

}  // namespace emu::inspector
