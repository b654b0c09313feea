#include "counts.hpp"

#include <algorithm>

namespace emu::inspector {
namespace {

constexpr unsigned sector_bytes = 32;
constexpr unsigned banks = 32;
constexpr unsigned bank_bytes = 4;

/// The addresses of some lanes, smallest first.
struct Addresses {
    std::array<std::uint64_t, warp_lanes> all;
    unsigned count = 0;

    Addresses(const Request& request, std::uint32_t lanes) {
        bool sorted = true;
        for (; lanes != 0; lanes &= lanes - 1) {
            all[count] = request.address[static_cast<unsigned>(__builtin_ctz(lanes))];
            sorted &= count == 0 || all[count - 1] <= all[count];
            ++count;
        }
        if (!sorted) std::sort(all.begin(), all.begin() + count);
    }

    /// How many there are of the commonest.
    unsigned most_alike() const {
        unsigned most = 0;
        unsigned alike = 0;
        for (unsigned i = 0; i < count; ++i) {
            alike = i > 0 && all[i] == all[i - 1] ? alike + 1 : 1;
            most = std::max(most, alike);
        }
        return most;
    }

    /// How many different pieces of `unit` bytes `bytes` bytes from each address lie in. Calls
    /// `each(number)` for every one of them.
    template <class Each>
    void pieces(unsigned bytes, unsigned unit, Each each) const {
        std::uint64_t next = 0;  // the first piece that was not seen yet
        for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t last = (all[i] + bytes - 1) / unit;
            for (next = std::max(next, all[i] / unit); next <= last; ++next)
                each(next);
        }
    }
};

void count_global(const Request& request, AccessCounts& counts) {
    const Addresses addresses(request, request.lanes);
    addresses.pieces(request.bytes, sector_bytes, [&](std::uint64_t) { ++counts.sectors; });
    std::uint64_t distinct = 0;
    std::uint64_t end = 0;
    for (unsigned i = 0; i < addresses.count; ++i) {
        const std::uint64_t past = addresses.all[i] + request.bytes;
        distinct += std::min<std::uint64_t>(request.bytes, past - end);
        end = past;
    }
    counts.ideal_sectors = (distinct + sector_bytes - 1) / sector_bytes;
    if (request.kind == AccessKind::atomic)
        counts.contention = counts.worst_contention = addresses.most_alike();
}

/// The lanes that shared memory serves at once: what they ask for fits the 128 bytes that the banks
/// give in a pass, so 32 lanes of 4 bytes, 16 of 8, 8 of 16. Twice as many of a load if the lanes
/// of each pair (n, n ^ 1), or of each pair (n, n ^ 2), ask for the same. Source: Nvidia's
/// developer forum, "Unexpected shared memory bank conflict" (topic 77228).
unsigned lanes_a_pass(const Request& request) {
    if (request.bytes <= bank_bytes) return warp_lanes;
    const unsigned lanes = warp_lanes * bank_bytes / request.bytes;
    if (request.kind != AccessKind::read) return lanes;
    for (const unsigned other : {1u, 2u}) {
        bool alike = true;
        for (unsigned n = 0; n < warp_lanes; ++n) {
            const bool both = (request.lanes >> n & request.lanes >> (n ^ other) & 1) != 0;
            alike &= !both || request.address[n] == request.address[n ^ other];
        }
        if (alike) return 2 * lanes;
    }
    return lanes;
}

/// Lanes that ask for different words of one bank take turns.
void count_shared(const Request& request, AccessCounts& counts) {
    const unsigned width = lanes_a_pass(request);
    const std::uint32_t first = width == warp_lanes ? ~0u : (1u << width) - 1;
    for (unsigned lane = 0; lane < warp_lanes; lane += width) {
        const std::uint32_t lanes = request.lanes & first << lane;
        if (lanes == 0) continue;
        std::array<std::uint8_t, banks> turns{};
        unsigned most = 0;
        Addresses(request, lanes).pieces(request.bytes, bank_bytes, [&](std::uint64_t word) {
            most = std::max<unsigned>(most, ++turns[word % banks]);
        });
        counts.wavefronts += most;
        ++counts.ideal_wavefronts;
    }
    counts.worst_ways = static_cast<unsigned>(counts.wavefronts);
}

/// Atomics take turns on the same word, too: each lane waits for those before it. Not if all add 1:
/// the GPU then counts the lanes at a word and adds once. Source: our measurement on an H200
/// (tests/inspector/counts), ATOMS.ADD and ATOMS.POPC.INC.
void count_shared_atomic(const Request& request, AccessCounts& counts) {
    const Addresses addresses(request, request.lanes);
    counts.contention = counts.worst_contention = addresses.most_alike();
    if (request.adds_one) return count_shared(request, counts);
    std::array<std::uint8_t, banks> turns{};
    for (unsigned i = 0; i < addresses.count; ++i)
        counts.wavefronts = std::max<std::uint64_t>(counts.wavefronts,
                                                    ++turns[addresses.all[i] / bank_bytes % banks]);
    counts.ideal_wavefronts = 1;
    counts.worst_ways = static_cast<unsigned>(counts.wavefronts);
}

}  // namespace

void AccessCounts::add(const AccessCounts& other) {
    requests += other.requests;
    accesses += other.accesses;
    bytes += other.bytes;
    sectors += other.sectors;
    ideal_sectors += other.ideal_sectors;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    worst_ways = std::max(worst_ways, other.worst_ways);
    contention += other.contention;
    worst_contention = std::max(worst_contention, other.worst_contention);
}

void PlaceCounts::add(const PlaceCounts& other) {
    for (unsigned space = 0; space < access.size(); ++space) {
        for (unsigned kind = 0; kind < access[space].size(); ++kind)
            access[space][kind].add(other.access[space][kind]);
    }
    branches += other.branches;
    divergent_branches += other.divergent_branches;
}

AccessCounts counts_of(const Request& request) {
    AccessCounts counts;
    counts.requests = 1;
    counts.accesses = static_cast<unsigned>(__builtin_popcount(request.lanes));
    counts.bytes = counts.accesses * request.bytes;
    if (request.space == Space::global) {
        count_global(request, counts);
    } else if (request.kind == AccessKind::atomic) {
        count_shared_atomic(request, counts);
    } else {
        count_shared(request, counts);
    }
    return counts;
}

void Counts::request(const Request& request) {
    const std::uint64_t key = std::uint64_t(request.pc) << 3 |
                              static_cast<unsigned>(request.space) << 2 |
                              static_cast<unsigned>(request.kind);
    accesses_.find(key + 1, {request.pc, request.space, request.kind, {}})
        .counts.add(counts_of(request));
}

void Counts::branch(Pc pc, Pc next, std::uint32_t, bool diverged) {
    Step& step = steps_.find(pc + std::uint64_t(1), {pc, next, false, 0, 0});
    step.branches |= diverged || next != step.next;
    ++step.times;
    if (diverged) ++step.diverged;
}

std::map<Pc, PlaceCounts> Counts::places() const {
    std::map<Pc, PlaceCounts> places;
    for (const AccessPlace& at : accesses_.all())
        places[at.pc].of(at.space, at.kind).add(at.counts);
    for (const Step& step : steps_.all()) {
        if (!step.branches) continue;
        places[step.pc].branches += step.times;
        places[step.pc].divergent_branches += step.diverged;
    }
    return places;
}

}  // namespace emu::inspector
