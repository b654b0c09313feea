/// \file
/// What a GPU's counters would say of a kernel, by instruction.
#pragma once

#include <array>
#include <cstdint>
#include <map>

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
    std::uint64_t contention =
        0;  ///< atomics: for each request the most lanes at one address, summed
    unsigned worst_contention = 0;  ///< atomics: the most lanes of a request at one address

    void add(const AccessCounts& other);
};

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

/// Counts requests by instruction.
class Counts : public WarpSink {
public:
    void request(const Request& request) override;
    void branch(Pc pc, std::uint32_t lanes, bool diverged) override;

    const std::map<Pc, PlaceCounts>& places() const { return places_; }

private:
    std::map<Pc, PlaceCounts> places_;
};

}  // namespace emu::inspector
