/// \file
/// Which line of the program called into the emulator.
#pragma once

#include <array>

#include "symbols.hpp"

namespace emu::inspector {

/// The return addresses above the running call, innermost first; those of the emulator's library
/// and of the headers compiled once have no line, so that the first that has one is the program's.
class CallSite {
public:
    CallSite() = default;
    static CallSite here();

    void add_to(std::set<Pc>& pcs) const;
    /// Not known() if no frame has a line.
    Place find(const Symbols& symbols) const;

private:
    std::array<Pc, 12> frames_{};  ///< 0: none
};

}  // namespace emu::inspector
