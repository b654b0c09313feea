#include <algorithm>
#include <iterator>
#include <sstream>

#include "finding_text.hpp"
#include "line_counts.hpp"
#include "report_sections.hpp"
#include "text_layout.hpp"

namespace emu::inspector {
namespace {

constexpr std::size_t shown_lines = 12;   ///< of a kernel
constexpr std::size_t shown_shapes = 12;  ///< of a kernel, beside the one shown in full
constexpr std::uint64_t sector_bytes = 32;

struct Group {
    const char* name;
    const char* row;
    Space space;
    AccessKind kind;
};
constexpr Group groups[] = {
    {"global load", "load", Space::global, AccessKind::read},
    {"global store", "store", Space::global, AccessKind::write},
    {"global atomic", "atomic", Space::global, AccessKind::atomic},
    {"shared load", "load", Space::shared, AccessKind::read},
    {"shared store", "store", Space::shared, AccessKind::write},
    {"shared atomic", "atomic", Space::shared, AccessKind::atomic},
};

bool uses(const PlaceCounts& counts, Space space) {
    return sum_of(counts, space).requests > 0;
}

/// What must pass at least, beside what the sectors make of it. An atomic both reads and writes.
std::string distinct_table(const KernelReport& kernel, const PlaceCounts& totals) {
    if (kernel.distinct_bytes_read + kernel.distinct_bytes_written == 0) return "";
    mf::Table table({"distinct bytes", "bytes", "in sectors", "ratio"});
    const auto add = [&](const char* what, std::uint64_t distinct, AccessKind kind) {
        const std::uint64_t moved =
            sector_bytes * (totals.of(Space::global, kind).sectors +
                            totals.of(Space::global, AccessKind::atomic).sectors);
        if (distinct > 0)
            table.add_row({std::string("  ") + what, grouped(distinct), grouped(moved),
                           ratio(moved, distinct)});
    };
    add("read", kernel.distinct_bytes_read, AccessKind::read);
    add("written", kernel.distinct_bytes_written, AccessKind::write);
    return indented(table);
}

std::string global_table(const KernelReport& kernel, const PlaceCounts& totals) {
    if (!uses(totals, Space::global)) return "";
    mf::Table table({"global memory", "requests", "lanes/req", "sectors/req", "ideal",
                     "bytes asked", "in sectors"});
    for (const Group& group : groups) {
        const AccessCounts& c = totals.of(group.space, group.kind);
        if (group.space != Space::global || c.requests == 0) continue;
        table.add_row({std::string("  ") + group.row, grouped(c.requests),
                       ratio(c.accesses, c.requests), ratio(c.sectors, c.requests),
                       ratio(c.ideal_sectors, c.requests), grouped(c.bytes),
                       grouped(sector_bytes * c.sectors)});
    }
    std::string out = indented(table);
    const AccessCounts& loads = totals.of(Space::global, AccessKind::read);
    const AccessCounts& stores = totals.of(Space::global, AccessKind::write);
    if (loads.bytes > 0 && stores.bytes > 0) {
        out += wrapped("loads per output: threads read " + ratio(loads.bytes, stores.bytes) +
                           " bytes for each byte that they write",
                       2);
    }
    return out + distinct_table(kernel, totals);
}

std::string shared_table(const PlaceCounts& totals) {
    if (!uses(totals, Space::shared)) return "";
    mf::Table table({"shared memory", "requests", "lanes/req", "wavefronts/req", "ideal", "worst",
                     "bytes asked"});
    for (const Group& group : groups) {
        const AccessCounts& c = totals.of(group.space, group.kind);
        if (group.space != Space::shared || c.requests == 0) continue;
        table.add_row({std::string("  ") + group.row, grouped(c.requests),
                       ratio(c.accesses, c.requests), ratio(c.wavefronts, c.requests),
                       ratio(c.ideal_wavefronts, c.requests), std::to_string(c.worst_ways),
                       grouped(c.bytes)});
    }
    return indented(table);
}

/// "divergent branches: 552 of 67,865 (0.8 %): blur.cu:119 (400/2,000), line 87 (152/4,000)"
std::string branches_text(const PlaceCounts& totals, std::vector<LineCounts> lines) {
    if (totals.branches == 0) return "";
    constexpr std::size_t shown = 6;
    std::string text = "divergent branches: " + grouped(totals.divergent_branches) + " of " +
                       grouped(totals.branches) + " (" +
                       percent(totals.divergent_branches, totals.branches) + ")";
    std::stable_sort(lines.begin(), lines.end(), [](const LineCounts& a, const LineCounts& b) {
        return a.counts.divergent_branches > b.counts.divergent_branches;
    });
    for (std::size_t i = 0; i < lines.size() && lines[i].counts.divergent_branches > 0; ++i) {
        if (i == shown) {
            text += ", and more";
            break;
        }
        text += (i == 0 ? ": " + place_text(lines[i].place, lines[i].pc)
                        : ", " + place_text(lines[i].place, lines[i].pc, lines[0].place.file)) +
                " (" + grouped(lines[i].counts.divergent_branches) + "/" +
                grouped(lines[i].counts.branches) + ")";
    }
    return wrapped(text, 2);
}

std::string atomics_text(const PlaceCounts& totals) {
    std::string out;
    for (const Group& group : groups) {
        const AccessCounts& c = totals.of(group.space, group.kind);
        if (group.kind != AccessKind::atomic || c.requests == 0) continue;
        out += std::string("  ") + group.name +
               "s: lanes of a request at one address: " + ratio(c.contention, c.requests) +
               " on average, " + std::to_string(c.worst_contention) + " at worst\n";
    }
    return out;
}

/// The rows of one line: what it did, how often, and what was more than the ideal.
std::vector<std::vector<std::string>> rows_of(const LineCounts& line) {
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const std::string& what, const AccessCounts& c, std::uint64_t value,
                         std::uint64_t ideal, unsigned worst) {
        rows.push_back({"    " + what, grouped(c.requests), ratio(c.accesses, c.requests),
                        ratio(value, c.requests), ratio(ideal, c.requests),
                        worst > 0 ? std::to_string(worst) : "-",
                        value > ideal ? grouped(value - ideal) : "-"});
    };
    for (const Group& group : groups) {
        const AccessCounts& c = line.counts.of(group.space, group.kind);
        if (c.requests == 0) continue;
        if (group.space == Space::global) {
            add(std::string(group.name) + ": sectors", c, c.sectors, c.ideal_sectors, 0);
        } else {
            add(std::string(group.name) + ": wavefronts", c, c.wavefronts, c.ideal_wavefronts,
                c.worst_ways);
        }
        if (c.contention > c.requests) {
            add("  lanes at one address", c, c.contention, c.requests, c.worst_contention);
        }
    }
    return rows;
}

std::string lines_text(const std::vector<LineCounts>& lines, SourceLines& sources) {
    mf::Table table(
        {"lines, worst first", "requests", "lanes/req", "each", "ideal", "worst", "too many"});
    std::vector<std::string> sources_of;  // above the row of that index, or empty
    std::size_t shown = 0;
    std::size_t left_out = 0;
    for (const LineCounts& line : lines) {
        const auto rows = rows_of(line);
        if (rows.empty()) continue;
        if (shown == shown_lines) {
            ++left_out;
            continue;
        }
        ++shown;
        const std::string source = sources.line(line.place);
        const std::string place = "  " + place_text(line.place, line.pc);
        sources_of.push_back(
            cut(source.empty() ? place : place + "   " + source, text_columns - 2));
        sources_of.resize(sources_of.size() + rows.size() - 1);
        for (const auto& row : rows)
            table.add_row(row);
    }
    if (shown == 0) return "";
    std::ostringstream text;
    table.print(text);
    std::istringstream rows(text.str());
    std::string row;
    std::getline(rows, row);
    std::string out = "\n  " + row + "\n";
    for (const std::string& line : sources_of) {
        if (!line.empty()) out += "  " + line + "\n";
        std::getline(rows, row);
        out += "  " + row + "\n";
    }
    if (left_out > 0) {
        out += "    and " + plural(left_out, "line") + " more; the JSON report has all\n";
    }
    return out;
}

std::string shape_text(const KernelReport& kernel) {
    return "grid " + text_of(kernel.grid) + ", block " + text_of(kernel.block) +
           (kernel.dynamic_shared > 0 ? ", " + grouped(kernel.dynamic_shared) + " bytes shared"
                                      : "");
}

/// The kernel's launches with other shapes than `full`, which is shown in full: a row each.
std::string shapes_table(const std::vector<const KernelReport*>& shapes, const KernelReport* full) {
    if (shapes.size() < 2) return "";
    mf::Table table(
        {"other shapes", "launches", "sectors/req", "ideal", "wavefronts/req", "ideal"});
    std::size_t shown = 0;
    for (const KernelReport* kernel : shapes) {
        if (kernel == full || ++shown > shown_shapes) continue;
        const PlaceCounts totals = totals_of(*kernel);
        const AccessCounts global = sum_of(totals, Space::global);
        const AccessCounts shared = sum_of(totals, Space::shared);
        table.add_row({cut("  " + shape_text(*kernel), 45), grouped(kernel->launches),
                       ratio(global.sectors, global.requests),
                       ratio(global.ideal_sectors, global.requests),
                       ratio(shared.wavefronts, shared.requests),
                       ratio(shared.ideal_wavefronts, shared.requests)});
    }
    std::string out = "\n" + indented(table);
    if (shown > shown_shapes) {
        out +=
            "    and " + plural(shown - shown_shapes, "shape") + " more; the JSON report has all\n";
    }
    return out;
}

std::uint64_t requests_of(const KernelReport& kernel) {
    const PlaceCounts totals = totals_of(kernel);
    return sum_of(totals, Space::global).requests + sum_of(totals, Space::shared).requests;
}

/// All shapes of one kernel: the one that asked most of memory in full.
std::string text_of(const std::vector<const KernelReport*>& shapes, const Symbols& symbols,
                    SourceLines& sources) {
    const KernelReport& kernel = **std::max_element(
        shapes.begin(), shapes.end(), [](const KernelReport* a, const KernelReport* b) {
            return requests_of(*a) < requests_of(*b);
        });
    const PlaceCounts totals = totals_of(kernel);
    const std::string shape =
        (kernel.launches == 1 ? "1 launch, " : grouped(kernel.launches) + " launches, ") +
        shape_text(kernel);
    if (requests_of(kernel) == 0 && kernel.lost_events == 0) {
        return wrapped("Kernel " + kernel.name + ": " + shape +
                           (shapes.size() > 1 ? " and other shapes" : "") +
                           "; no memory accesses counted",
                       0) +
               "\n";
    }
    std::string out = heading("Kernel " + kernel.name) + wrapped(shape, 2);
    out += "  sums over " +
           (kernel.counted_blocks < kernel.blocks ? grouped(kernel.counted_blocks) + " of "
            : kernel.blocks > 1                   ? "all "
                                                  : "") +
           plural(kernel.blocks, "block");
    if (kernel.lost_events > 0)
        out += "; not counted for want of memory: " + plural(kernel.lost_events, "event");
    const std::vector<LineCounts> lines = lines_of(kernel, symbols);
    out += "\n" + global_table(kernel, totals) + shared_table(totals) + atomics_text(totals);
    if (kernel.barriers > 0) out += "  barriers: " + grouped(kernel.barriers) + "\n";
    out += branches_text(totals, lines) + lines_text(lines, sources);
    return out + shapes_table(shapes, &kernel) + "\n";
}

}  // namespace

std::string kernels_text(const Report& report, const Symbols& symbols, SourceLines& sources) {
    std::vector<std::vector<const KernelReport*>> by_name;
    for (const KernelReport& kernel : report.kernels) {
        const auto known = std::find_if(by_name.begin(), by_name.end(), [&](const auto& shapes) {
            return shapes.front()->name == kernel.name;
        });
        if (known != by_name.end()) {
            known->push_back(&kernel);
        } else {
            by_name.push_back({&kernel});
        }
    }
    std::string out;
    for (const auto& shapes : by_name)
        out += text_of(shapes, symbols, sources);
    return out;
}

}  // namespace emu::inspector
