#include "line_counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace emu::inspector {
namespace {

std::uint64_t beyond(std::uint64_t value, std::uint64_t least) {
    return value > least ? value - least : 0;
}

}  // namespace

std::uint64_t excess(const PlaceCounts& counts) {
    std::uint64_t sum = 0;
    for (const auto& kinds : counts.access) {
        for (const AccessCounts& c : kinds)
            sum += beyond(c.sectors, c.ideal_sectors) + beyond(c.wavefronts, c.ideal_wavefronts);
    }
    // In shared memory, lanes at one address take wavefronts, counted above.
    const AccessCounts& atomics = counts.of(Space::global, AccessKind::atomic);
    return sum + beyond(atomics.contention, atomics.requests);
}

Symbols symbols_of(const Report& report) {
    std::set<Pc> pcs;
    const auto add = [&pcs](const Party& party) {
        if (party.pc != 0) pcs.insert(party.pc);
    };
    for (const Finding& finding : report.findings) {
        add(finding.first);
        if (finding.second) add(*finding.second);
    }
    for (const KernelReport& kernel : report.kernels) {
        for (const auto& [pc, counts] : kernel.places)
            pcs.insert(pc);
    }
    return Symbols::read(report.program, pcs);
}

PlaceCounts totals_of(const KernelReport& kernel) {
    PlaceCounts sum;
    for (const auto& [pc, counts] : kernel.places)
        sum.add(counts);
    return sum;
}

AccessCounts sum_of(const PlaceCounts& counts, Space space) {
    AccessCounts sum;
    for (const AccessCounts& c : counts.access[static_cast<unsigned>(space)])
        sum.add(c);
    return sum;
}

std::vector<LineCounts> lines_of(const KernelReport& kernel, const Symbols& symbols) {
    // A line that is not known stands for its one instruction.
    std::map<std::pair<Place, Pc>, LineCounts> lines;
    for (const auto& [pc, counts] : kernel.places) {
        const Place place = symbols.find(pc);
        LineCounts& line = lines[{place, place.known() ? 0 : pc}];
        line.place = place;
        line.pc = pc;
        line.counts.add(counts);
    }
    std::vector<LineCounts> sorted;
    for (auto& [key, line] : lines)
        sorted.push_back(std::move(line));
    std::stable_sort(sorted.begin(), sorted.end(), [](const LineCounts& a, const LineCounts& b) {
        return excess(a.counts) > excess(b.counts);
    });
    return sorted;
}

}  // namespace emu::inspector
