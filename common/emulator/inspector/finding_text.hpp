/// \file
/// Findings in the words of a teacher.
#pragma once

#include <string>
#include <vector>

#include "findings.hpp"
#include "symbols.hpp"

namespace emu::inspector {

/// A finding with its lines and its sentences.
struct ExplainedFinding {
    Finding finding;
    Place first;           ///< of finding.first
    Place second;          ///< of finding.second, if there is one
    std::string kernel;    ///< in which it happens; of a fault outside any: the call
    std::string title;     ///< a few words: "race in shared memory"
    std::string sentence;  ///< what happens, who does it, to what
    std::string advice;    ///< what to do
};

/// Explains each. Those that several instructions of the same lines cause become one, as where the
/// compiler has unrolled a loop. A read of memory never written that is a race's is left out.
std::vector<ExplainedFinding> explain(const std::vector<Finding>& findings, const Symbols& symbols);

/// "(x,y,z)".
std::string text_of(const Triple& triple);

/// The last part of a path: enough to find a line by, short enough to read.
std::string file_name(const std::string& path);

}  // namespace emu::inspector
