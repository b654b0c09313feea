#include <sstream>

#include "finding_text.hpp"
#include "json.hpp"
#include "line_counts.hpp"
#include "report.hpp"

namespace emu::inspector {
namespace {

using mf::Json;

Json json_of(const Triple& triple) {
    return Json::array().push(triple.x).push(triple.y).push(triple.z);
}

const char* name_of(AccessKind kind) {
    return kind == AccessKind::read ? "read" : kind == AccessKind::write ? "write" : "atomic";
}

const char* name_of(Party::Who who) {
    return who == Party::Who::thread      ? "thread"
           : who == Party::Who::operation ? "operation"
                                          : "host";
}

/// "file" and "line", null where they are not known.
void set_place(Json& object, const Place& place) {
    object.set("file", place.known() ? Json(place.file) : Json(nullptr));
    object.set("line", place.known() ? Json(place.line) : Json(nullptr));
}

Json json_of(const Party& party, const Place& place) {
    const bool thread = party.who == Party::Who::thread && !party.anonymous;
    Json object = Json::object();
    object.set("who", name_of(party.who)).set("kind", name_of(party.kind));
    object.set("bytes", party.bytes);
    set_place(object, place);
    object.set("kernel", party.kernel);
    object.set("block", thread ? json_of(party.block) : Json(nullptr));
    object.set("thread", thread ? json_of(party.thread) : Json(nullptr));
    return object;
}

/// Lists become one line.
std::string one_line(const std::string& text) {
    std::string line;
    std::istringstream words(text);
    for (std::string word; words >> word;)
        line += (line.empty() ? "" : " ") + word;
    return line;
}

Json json_of(const ExplainedFinding& explained) {
    const Finding& finding = explained.finding;
    const std::string message = one_line(explained.sentence + " " + explained.advice);
    Json object = Json::object();
    object.set("fault", name_of(finding.fault)).set("message", message);
    object.set("kernel", explained.kernel).set("object", finding.object);
    object.set("detail", finding.detail).set("times", finding.times);
    object.set("first", json_of(finding.first, explained.first));
    object.set("second",
               finding.second ? json_of(*finding.second, explained.second) : Json(nullptr));
    return object;
}

Json json_of(const AccessCounts& counts, Space space, AccessKind kind) {
    Json object = Json::object();
    object.set("requests", counts.requests).set("accesses", counts.accesses);
    object.set("bytes", counts.bytes);
    if (space == Space::global) {
        object.set("sectors", counts.sectors).set("ideal_sectors", counts.ideal_sectors);
    } else {
        object.set("wavefronts", counts.wavefronts);
        object.set("ideal_wavefronts", counts.ideal_wavefronts);
        object.set("worst_ways", counts.worst_ways);
    }
    if (kind == AccessKind::atomic) {
        object.set("contention", counts.contention);
        object.set("worst_contention", counts.worst_contention);
    }
    return object;
}

/// Adds the groups of counts; `all`: also those that are zero.
void set_counts(Json& object, const PlaceCounts& counts, bool all) {
    const struct {
        const char* name;
        Space space;
        AccessKind kind;
    } groups[] = {
        {"global_load", Space::global, AccessKind::read},
        {"global_store", Space::global, AccessKind::write},
        {"global_atomic", Space::global, AccessKind::atomic},
        {"shared_load", Space::shared, AccessKind::read},
        {"shared_store", Space::shared, AccessKind::write},
        {"shared_atomic", Space::shared, AccessKind::atomic},
    };
    for (const auto& group : groups) {
        const AccessCounts& sums = counts.of(group.space, group.kind);
        if (all || sums.requests > 0) {
            object.set(group.name, json_of(sums, group.space, group.kind));
        }
    }
    if (all || counts.branches > 0) {
        object.set("branches", counts.branches);
        object.set("divergent_branches", counts.divergent_branches);
    }
}

Json json_of(const KernelReport& kernel, const Symbols& symbols) {
    Json object = Json::object();
    object.set("name", kernel.name);
    object.set("grid", json_of(kernel.grid)).set("block", json_of(kernel.block));
    object.set("dynamic_shared", kernel.dynamic_shared);
    object.set("launches", kernel.launches).set("blocks", kernel.blocks);
    object.set("counted_blocks", kernel.counted_blocks);
    object.set("lost_events", kernel.lost_events).set("barriers", kernel.barriers);
    object.set("distinct_bytes_read", kernel.distinct_bytes_read);
    object.set("distinct_bytes_written", kernel.distinct_bytes_written);
    Json totals = Json::object();
    set_counts(totals, totals_of(kernel), true);
    object.set("totals", totals);
    Json lines = Json::array();
    for (const LineCounts& line : lines_of(kernel, symbols)) {
        Json entry = Json::object();
        set_place(entry, line.place);
        set_counts(entry, line.counts, false);
        lines.push(entry);
    }
    return object.set("lines", lines);
}

}  // namespace

std::string json_of(const Report& report, const Symbols& symbols) {
    Json findings = Json::array();
    for (const ExplainedFinding& explained : explain(report.findings, symbols))
        findings.push(json_of(explained));
    Json kernels = Json::array();
    for (const KernelReport& kernel : report.kernels)
        kernels.push(json_of(kernel, symbols));
    std::vector<std::string> notes = report.notes;
    if (!symbols.problem().empty()) notes.push_back(symbols.problem());
    Json object = Json::object();
    object.set("version", 1).set("program", report.program);
    object.set("findings", findings).set("kernels", kernels).set("notes", notes);
    return object.text() + "\n";
}

}  // namespace emu::inspector
