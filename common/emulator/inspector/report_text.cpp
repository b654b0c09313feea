#include <algorithm>
#include <sstream>

#include "finding_text.hpp"
#include "line_counts.hpp"
#include "report.hpp"
#include "table.hpp"
#include "units.hpp"

namespace emu::inspector {
namespace {

constexpr std::size_t columns = 100;
constexpr std::size_t shown_lines = 12;   ///< of a kernel
constexpr std::size_t shown_shapes = 12;  ///< of a kernel, beside the one shown in full
constexpr std::uint64_t sector_bytes = 32;

/// 1234567 as "1,234,567"; from 10^9 on in millions, "1,235 M", so that tables keep their width.
std::string grouped(std::uint64_t value) {
    constexpr std::uint64_t million = 1000000;
    const bool large = value >= 1000 * million;
    std::string digits =
        std::to_string(large ? value / million + value % million * 2 / million : value);
    for (std::size_t i = digits.size(); i > 3; i -= 3)
        digits.insert(i - 3, ",");
    return digits + (large ? " M" : "");
}

std::string plural(std::uint64_t count, const char* noun) {
    return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

double per(std::uint64_t value, std::uint64_t of) {
    return of == 0 ? 0 : static_cast<double>(value) / static_cast<double>(of);
}

std::string ratio(std::uint64_t value, std::uint64_t of) {
    return of == 0 ? "-" : mf::fixed(per(value, of), 2);
}

/// How many columns UTF-8 text takes (East Asian wide characters counted as one).
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned>(c) & 0xC0) != 0x80;
    }));
}

/// How many bytes the first `width` columns are.
std::size_t bytes_in(const std::string& text, std::size_t width) {
    std::size_t end = 0;
    for (std::size_t column = 0; end < text.size(); ++end) {
        const bool begins = (static_cast<unsigned>(text[end]) & 0xC0) != 0x80;
        if (begins && ++column > width) break;
    }
    return end;
}

/// The first `width` columns, with dots if there was more.
std::string cut(const std::string& text, std::size_t width) {
    if (width_of(text) <= width) return text;
    return text.substr(0, bytes_in(text, width - 3)) + "...";
}

/// Words in lines of at most 100 columns, each indented; what stands behind a line end in the text
/// becomes an item of a list, indented by two more.
std::string wrapped(const std::string& text, std::size_t indent) {
    std::string out;
    std::istringstream paragraphs(text);
    bool first = true;
    for (std::string paragraph; std::getline(paragraphs, paragraph);) {
        std::string line(indent, ' ');
        bool empty = true;
        std::istringstream words(paragraph);
        for (std::string word; words >> word;) {
            if (!empty && width_of(line) + 1 + width_of(word) > columns) {
                out += line + "\n";
                line.assign(indent, ' ');
                empty = true;
            }
            if (!empty) line += ' ';
            empty = false;
            // A name longer than a line is broken, wherever the line ends.
            while (width_of(line) + width_of(word) > columns) {
                const std::size_t room = bytes_in(word, columns - width_of(line));
                out += line + word.substr(0, room) + "\n";
                word.erase(0, room);
                line.assign(indent, ' ');
            }
            line += word;
        }
        if (!empty) out += line + "\n";
        if (first) indent += 2;
        first = false;
    }
    return out;
}

/// A heading with a rule behind it, so that it is found when scrolling.
std::string heading(const std::string& text) {
    const std::string start = "--- " + text + " ";
    const std::size_t width = width_of(start);
    if (width > columns) return wrapped("--- " + text, 0);
    return start + std::string(columns - width, '-') + "\n";
}

std::string indented(const mf::Table& table) {
    std::ostringstream text;
    table.print(text);
    std::istringstream lines(text.str());
    std::string out;
    for (std::string line; std::getline(lines, line);)
        out += "  " + line + "\n";
    return out;
}

/// The lines themselves, each behind its number; with the file's name if they are of two files.
std::string quoted(std::vector<Place> places, SourceLines& sources) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const bool one_file = places.empty() || places.front().file == places.back().file;
    std::vector<std::string> labels;
    std::size_t width = 0;
    for (const Place& place : places) {
        labels.push_back((one_file ? "" : file_name(place.file) + ":") +
                         std::to_string(place.line));
        width = std::max(width, labels.back().size());
    }
    std::string out;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::string line = sources.line(places[i]);
        if (line.empty()) continue;
        const std::string start =
            "    " + std::string(width - labels[i].size(), ' ') + labels[i] + " | ";
        out += start + cut(line, columns - std::min(columns / 2, start.size())) + "\n";
    }
    return out;
}

/// "blur.cu:12", "line 12" where the file is the one that was named before, or the address.
std::string place_text(const Place& place, Pc pc, const std::string& named = "") {
    if (place.known() && place.file == named) return "line " + std::to_string(place.line);
    if (place.known()) return file_name(place.file) + ":" + std::to_string(place.line);
    char text[24];
    std::snprintf(text, sizeof text, "0x%x", pc);
    return pc == 0 ? "unknown line" : text;
}

/// Findings that one sentence of advice is for: the same fault of the same kernel on the same
/// object, on different lines.
using Alike = std::vector<const ExplainedFinding*>;

std::vector<Alike> groups_of(const std::vector<ExplainedFinding>& all) {
    std::vector<Alike> groups;
    for (const ExplainedFinding& e : all) {
        const auto known = std::find_if(groups.begin(), groups.end(), [&](const Alike& group) {
            const ExplainedFinding& first = *group.front();
            return first.finding.fault == e.finding.fault && first.kernel == e.kernel &&
                   first.finding.object == e.finding.object && first.advice == e.advice &&
                   !e.finding.object.empty();
        });
        if (known != groups.end()) {
            known->push_back(&e);
        } else {
            groups.push_back({&e});
        }
    }
    return groups;
}

/// "The same at line 113 (with line 104) and other.cuh:7."
std::string also_at(const Alike& alike) {
    const std::string& file = alike.front()->first.file;
    std::string text;
    for (std::size_t i = 1; i < alike.size(); ++i) {
        const ExplainedFinding& e = *alike[i];
        text += i == 1 ? "The same at " : i + 1 < alike.size() ? ", " : " and ";
        text += place_text(e.first, e.finding.first.pc, file);
        if (e.finding.second && e.second != e.first) {
            text += " (with " + place_text(e.second, e.finding.second->pc, file) + ")";
        }
    }
    return text.empty() ? "" : wrapped(text + ".", 2);
}

std::string text_of(const Alike& alike, SourceLines& sources) {
    const ExplainedFinding& e = *alike.front();
    std::string out = wrapped(place_text(e.first, e.finding.first.pc) + ": " + e.title + " [" +
                                  name_of(e.finding.fault) + "]",
                              0);
    out += wrapped(e.sentence, 2);
    std::vector<Place> places;
    if (e.first.known()) places.push_back(e.first);
    if (e.second.known()) places.push_back(e.second);
    out += quoted(places, sources);
    out += wrapped(e.advice, 2);
    if (e.finding.times > 1) {
        out += "  This happened " + grouped(e.finding.times) + " times.\n";
    }
    return out + also_at(alike) + "\n";
}

std::string findings_text(const Report& report, const Symbols& symbols, SourceLines& sources) {
    const auto all = explain(report.findings, symbols);
    if (all.empty() && report.kernels.empty()) return "No kernel ran, so nothing was looked at.\n";
    if (all.empty()) {
        return wrapped(
                   "No errors found. Looked for: accesses out of bounds, after free, misaligned, "
                   "or to the host's memory; reads of memory never written; races in shared and "
                   "global memory; barriers that not all threads reach; wrong masks of warp "
                   "primitives; failed launches.",
                   0) +
               "\n";
    }
    const auto groups = groups_of(all);
    std::string out = plural(groups.size(), "error") + " found";
    if (all.size() > groups.size()) out += ", in " + plural(all.size(), "place");
    out += ".\n\n";
    for (const Alike& alike : groups)
        out += text_of(alike, sources);
    return out;
}

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

bool any(const PlaceCounts& counts, Space space) {
    return std::any_of(std::begin(groups), std::end(groups), [&](const Group& group) {
        return group.space == space && counts.of(space, group.kind).requests > 0;
    });
}

std::string global_table(const KernelReport& kernel, const PlaceCounts& totals) {
    if (!any(totals, Space::global)) return "";
    mf::Table table({"global memory", "requests", "lanes/req", "sectors/req", "ideal",
                     "bytes asked", "in sectors"});
    for (const Group& group : groups) {
        const AccessCounts& c = totals.of(group.space, group.kind);
        if (group.space != Space::global || c.requests == 0) continue;
        table.add_row({group.row, grouped(c.requests), ratio(c.accesses, c.requests),
                       ratio(c.sectors, c.requests), ratio(c.ideal_sectors, c.requests),
                       grouped(c.bytes), grouped(sector_bytes * c.sectors)});
    }
    std::string out = indented(table);
    const AccessCounts& loads = totals.of(Space::global, AccessKind::read);
    const AccessCounts& stores = totals.of(Space::global, AccessKind::write);
    const AccessCounts& atomics = totals.of(Space::global, AccessKind::atomic);
    if (loads.bytes > 0 && stores.bytes > 0) {
        out += wrapped("loads per output: threads read " + ratio(loads.bytes, stores.bytes) +
                           " bytes for each byte that they write",
                       2);
    }
    // An atomic both reads and writes.
    const auto traffic = [&](const char* what, std::uint64_t distinct, const AccessCounts& c) {
        const std::uint64_t moved = sector_bytes * (c.sectors + atomics.sectors);
        return grouped(distinct) + " " + what + ", for which " + ratio(moved, distinct) +
               " times as many pass in sectors";
    };
    std::string bytes;
    if (kernel.distinct_bytes_read > 0) bytes = traffic("read", kernel.distinct_bytes_read, loads);
    if (kernel.distinct_bytes_written > 0) {
        bytes +=
            (bytes.empty() ? "" : "; ") + traffic("written", kernel.distinct_bytes_written, stores);
    }
    return bytes.empty() ? out : out + wrapped("distinct bytes: " + bytes, 2);
}

std::string shared_table(const PlaceCounts& totals) {
    if (!any(totals, Space::shared)) return "";
    mf::Table table({"shared memory", "requests", "lanes/req", "wavefronts/req", "ideal", "worst",
                     "bytes asked"});
    for (const Group& group : groups) {
        const AccessCounts& c = totals.of(group.space, group.kind);
        if (group.space != Space::shared || c.requests == 0) continue;
        table.add_row({group.row, grouped(c.requests), ratio(c.accesses, c.requests),
                       ratio(c.wavefronts, c.requests), ratio(c.ideal_wavefronts, c.requests),
                       std::to_string(c.worst_ways), grouped(c.bytes)});
    }
    return indented(table);
}

/// "0.8 %"; what is not zero is not shown as zero.
std::string percent(std::uint64_t value, std::uint64_t of) {
    const double percent = 100 * per(value, of);
    return value > 0 && percent < 0.1 ? "under 0.1 %" : mf::fixed(percent, 1) + " %";
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
        sources_of.push_back(cut(source.empty() ? place : place + "   " + source, columns - 2));
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

/// Sum over loads, stores and atomics.
AccessCounts all_of(const PlaceCounts& totals, Space space) {
    AccessCounts sum;
    for (const AccessCounts& c : totals.access[static_cast<unsigned>(space)])
        sum.add(c);
    return sum;
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
        const AccessCounts global = all_of(totals, Space::global);
        const AccessCounts shared = all_of(totals, Space::shared);
        table.add_row({"  " + shape_text(*kernel), grouped(kernel->launches),
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
    return all_of(totals, Space::global).requests + all_of(totals, Space::shared).requests;
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

/// The kernels in the order of their first launch.
std::string kernels_text(const std::vector<KernelReport>& kernels, const Symbols& symbols,
                         SourceLines& sources) {
    std::vector<std::vector<const KernelReport*>> by_name;
    for (const KernelReport& kernel : kernels) {
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

/// Explains the words that stand above.
std::string legend(const Report& report) {
    bool global = false;
    bool shared = false;
    bool parted = false;
    for (const KernelReport& kernel : report.kernels) {
        const PlaceCounts totals = totals_of(kernel);
        global = global || any(totals, Space::global);
        shared = shared || any(totals, Space::shared);
        parted = parted || totals.divergent_branches > 0;
    }
    if (!global && !shared) return "";
    std::string text =
        "These are counts, not times.\n"
        "request: what a warp asks for by one instruction; lanes/req: how many of its 32 lanes\n";
    if (global) {
        text +=
            "sector: 32 bytes of global memory, the least that moves; distinct: bytes, each "
            "counted "
            "once a launch\n";
    }
    if (shared) text += "wavefront: one pass over the 32 banks of shared memory\n";
    text +=
        "ideal: the fewest for the bytes of the same requests; too many: all beyond the ideal\n";
    if (parted) {
        text +=
            "divergent: the lanes of a warp parted; such a branch stands at the line where the "
            "straight piece of code that ends in it begins\n";
    }
    return wrapped(text, 0);
}

}  // namespace

std::string text_of(const Report& report, const Symbols& symbols) {
    SourceLines sources;
    std::string out = "\n" + heading("Inspection of " + file_name(report.program));
    out += findings_text(report, symbols, sources);
    out += kernels_text(report.kernels, symbols, sources);
    for (const std::string& note : report.notes)
        out += wrapped("Note: " + note, 0);
    if (!symbols.problem().empty()) out += wrapped("Note: " + symbols.problem(), 0);
    const std::string words = legend(report);
    return words.empty() || report.notes.empty() ? out + words : out + "\n" + words;
}

}  // namespace emu::inspector
