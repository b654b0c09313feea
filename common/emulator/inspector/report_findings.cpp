#include <algorithm>

#include "finding_text.hpp"
#include "report_sections.hpp"
#include "text_layout.hpp"

namespace emu::inspector {
namespace {

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
        out += start + cut(line, text_columns - std::min(text_columns / 2, start.size())) + "\n";
    }
    return out;
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

}  // namespace

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

}  // namespace emu::inspector
