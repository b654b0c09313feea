#include "finding_text.hpp"
#include "line_counts.hpp"
#include "report_sections.hpp"
#include "text_layout.hpp"

namespace emu::inspector {
namespace {

/// Explains the words that stand above.
std::string legend(const Report& report) {
    bool global = false;
    bool shared = false;
    bool parted = false;
    for (const KernelReport& kernel : report.kernels) {
        const PlaceCounts totals = totals_of(kernel);
        global = global || sum_of(totals, Space::global).requests > 0;
        shared = shared || sum_of(totals, Space::shared).requests > 0;
        parted = parted || totals.divergent_branches > 0;
    }
    if (!global && !shared) return "";
    std::string text =
        "These are counts, not times.\n"
        "request: what a warp asks for by one instruction\n"
        "lanes/req: how many of its 32 lanes take part\n";
    if (global) {
        text +=
            "sector: 32 bytes of global memory, the least that moves\n"
            "distinct bytes: each counted once a launch; ratio: what the sectors hold, to these\n";
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
    for (const std::string& note : report.notes)
        out += wrapped("Note: " + note, 0);
    if (!symbols.problem().empty()) out += wrapped("Note: " + symbols.problem(), 0);
    if (!report.notes.empty() || !symbols.problem().empty()) out += "\n";
    return out + kernels_text(report, symbols, sources) + legend(report);
}

}  // namespace emu::inspector
