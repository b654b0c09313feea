/// \file
/// What a GPU's counters would say of a kernel, by instruction.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "place_table.hpp"
#include "request.hpp"

namespace emu::inspector {

/// Sums over the requests of one instruction, or of many.
struct AccessCounts {
    std::uint64_t requests = 0;
    std::uint64_t accesses = 0;          ///< of single lanes
    std::uint64_t bytes = 0;             ///< asked for by the lanes, the same byte counted for each
    std::uint64_t sectors = 0;           ///< global: distinct 32-byte sectors a request
    std::uint64_t ideal_sectors = 0;     ///< the fewest that could hold the distinct bytes
    std::uint64_t wavefronts = 0;        ///< shared: passes over the banks that a request takes
    std::uint64_t ideal_wavefronts = 0;  ///< as if without bank conflicts
    unsigned worst_ways = 0;             ///< shared: the most passes that one request took
    std::uint64_t contention = 0;        ///< atomics: a request's most lanes at one address, summed
    unsigned worst_contention = 0;       ///< atomics: the most of one request

    void add(const AccessCounts& other);
};

/// Counts of one request.
AccessCounts counts_of(const Request& request);

/// All that one place of the program did. Indexed by Space and AccessKind.
struct PlaceCounts {
    std::array<std::array<AccessCounts, 3>, 2> access;
    std::uint64_t branches = 0;            ///< times that a warp came through
    std::uint64_t divergent_branches = 0;  ///< of these, times that its lanes parted

    AccessCounts& of(Space space, AccessKind kind) {
        return access[static_cast<unsigned>(space)][static_cast<unsigned>(kind)];
    }
    const AccessCounts& of(Space space, AccessKind kind) const {
        return access[static_cast<unsigned>(space)][static_cast<unsigned>(kind)];
    }
    void add(const PlaceCounts& other);
};

/// Counts requests and branches by instruction.
///
/// A basic block counts as a branch if what followed it was not always the same: a test that came
/// out alike for all warps is none. GPUs replace short branches by predicates; this does not.
class Counts : public WarpSink {
public:
    void request(const Request& request) override;
    void branch(Pc pc, Pc next, std::uint32_t lanes, bool diverged) override;

    /// What every instruction did up to now.
    std::map<Pc, PlaceCounts> places() const;

private:
    /// One instruction, in one space: the same one may come to both by generic addresses.
    struct AccessPlace {
        Pc pc;
        Space space;
        AccessKind kind;
        AccessCounts counts;
    };
    struct Step {
        Pc pc;
        Pc next;  ///< what followed it the first time
        bool branches;
        std::uint64_t times;
        std::uint64_t diverged;
    };

    PlaceTable<AccessPlace> accesses_;
    PlaceTable<Step> steps_;
};

}  // namespace emu::inspector
