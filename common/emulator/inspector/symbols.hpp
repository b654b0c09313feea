/// \file
/// From an address in the program to the line of source that a learner wrote.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "access.hpp"

namespace emu::inspector {

/// A line of source. Line 0: not known.
struct Place {
    std::string file;  ///< path, as the debug information has it
    int line = 0;

    bool known() const { return line > 0; }
    bool operator==(const Place& other) const { return line == other.line && file == other.file; }
    bool operator!=(const Place& other) const { return !(*this == other); }
    bool operator<(const Place& other) const {
        return file != other.file ? file < other.file : line < other.line;
    }
};

/// Where instructions lie in the source.
class Symbols {
public:
    Symbols() = default;
    explicit Symbols(std::map<Pc, Place> places) : places_(std::move(places)) {}

    /// Runs addr2line (binutils) once over all of `pcs`. Never throws for want of it: then nothing
    /// is known, and problem() says why.
    static Symbols read(const std::string& program, const std::set<Pc>& pcs);

    /// Not known() where the program has no debug information for it.
    Place find(Pc pc) const;

    /// The same, but not known() too where all the code there is the emulator's or the system's.
    Place find_own(Pc pc) const;

    /// Why no place is known: a sentence, or empty.
    const std::string& problem() const { return problem_; }

private:
    std::map<Pc, Place> places_;
    std::string problem_;
};

/// Reads what `addr2line -a -i` printed for the addresses one before each Pc: a Pc is where a call
/// returns to, and may belong to the next line already. Of the functions inlined into each other
/// it takes the innermost that is neither the emulator's nor the system's; if all are, the
/// innermost of all.
std::map<Pc, Place> places_of_addr2line(const std::string& output);

/// Lines of source files, to be quoted.
class SourceLines {
public:
    /// The line without the white space around it, tabs as one blank; empty if there is none.
    std::string line(const Place& place);

private:
    std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace emu::inspector
