#include "inspector.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "finding_text.hpp"
#include "indices.hpp"
#include "static_objects.hpp"

namespace emu::inspector {

Inspector::Inspector() : races_(clocks_) {
    operations_.emplace_back();  // numbers begin with 1
    for (Object& object : static_objects())
        map_.add(std::move(object));
}

Inspector::Lock Inspector::lock() {
    Lock lock(mutex_);
    std::vector<MemoryEvent> events;
    {
        const std::lock_guard<std::mutex> guard(events_mutex_);
        events.swap(events_);
    }
    for (const MemoryEvent& event : events)
        apply(event);
    return lock;
}

std::string Inspector::object_name(std::uint64_t address) const {
    const Object* const object = map_.find(address);
    return object == nullptr ? "" : object->name;
}

Party Inspector::party_of(const Conflict& conflict) const {
    Party party;
    party.kind = conflict.kind;
    party.pc = conflict.pc;
    party.operation = conflict.operation;
    if (conflict.who == Conflict::Who::host) {
        party.who = Party::Who::host;
        return party;
    }
    const Operation& operation = operations_[conflict.operation];
    if (conflict.who == Conflict::Who::operation) {
        party.who = Party::Who::operation;
        party.kernel = operation.fill ? "cudaMemset" : "cudaMemcpy";
        return party;
    }
    const Group& group = *groups_[operation.group];
    party.kernel = group.report.name;
    if (conflict.thread) {
        party.block = unfold(conflict.thread->block, group.grid);
        party.thread = unfold(conflict.thread->thread, group.block);
    }
    return party;
}

Fault Inspector::fault_of(const Party& a, const Party& b, Space space) {
    if ((a.kind == AccessKind::atomic) != (b.kind == AccessKind::atomic)) {
        return Fault::atomic_mixed;
    }
    return space == Space::shared ? Fault::shared_race : Fault::global_race;
}

void Inspector::add(const Finding& finding, const CallSite& site) {
    if (findings_.add(finding) == finding_sites_.size())
        finding_sites_.emplace_back(site, CallSite());
}

/// The calls that put the operations into their streams are what a reader looks for.
void Inspector::add_race(const Finding& finding) {
    if (findings_.add(finding) != finding_sites_.size()) return;  // known
    const auto site_of = [this](const Party& party) {
        return party.who == Party::Who::operation ? operations_[party.operation].site : CallSite();
    };
    // Code of the host may be in a function of the C++ library: the reader's line is its caller's.
    const bool by_host = finding.first.who == Party::Who::host;
    finding_sites_.emplace_back(by_host ? CallSite::here() : site_of(finding.first),
                                site_of(*finding.second));
}

/// Threads run one after another: one that does not wait for another's write may come before it.
bool Inspector::follows_from_a_race(const Finding& finding) const {
    if (finding.fault != Fault::never_written) return false;
    const std::vector<Finding>& all = findings_.all();
    return std::any_of(all.begin(), all.end(), [&finding](const Finding& other) {
        return other.second && other.object == finding.object &&
               (other.first.pc == finding.first.pc || other.second->pc == finding.first.pc);
    });
}

/// A plain read in front of an atomicCAS() of the same may come before or after the others'
/// atomics.
bool Inspector::only_a_guess(const Finding& finding) const {
    const auto guess = [this](const Party& party) {
        return party.kind == AccessKind::read && guesses_.count(party.pc) != 0;
    };
    return finding.fault == Fault::atomic_mixed && (guess(finding.first) || guess(*finding.second));
}

Report Inspector::report() {
    Report report;
    // A worker may still be running a block, and a process that dies waits for nobody.
    const bool held = mutex_.try_lock();
    end_launch();
    for (const Refused& refused : refused_)
        add(refused.finding, refused.site);
    refused_.clear();

    char path[4096] = {};
    if (readlink("/proc/self/exe", path, sizeof path - 1) > 0) report.program = path;
    std::set<Pc> pcs;
    for (const auto& sites : finding_sites_) {
        sites.first.add_to(pcs);
        sites.second.add_to(pcs);
    }
    for (const auto& call : failed_calls_)
        call.second.add_to(pcs);
    const Symbols symbols = Symbols::read(report.program, pcs);
    const auto set_place = [&symbols](Party& party, const CallSite& site) {
        const Place place = site.find(symbols);
        if (!place.known()) return;
        party.pc = 0;
        party.file = place.file;
        party.line = place.line;
    };
    for (std::size_t i = 0; i < finding_sites_.size(); ++i) {
        Finding finding = findings_.all()[i];
        if (follows_from_a_race(finding) || only_a_guess(finding)) continue;
        set_place(finding.first, finding_sites_[i].first);
        if (finding.second) set_place(*finding.second, finding_sites_[i].second);
        report.findings.push_back(finding);
    }
    for (const auto& group : groups_) {
        report.kernels.push_back(group->report);
        report.kernels.back().places = group->counts.places();
    }
    for (const auto& call : failed_calls_) {
        const Place place = call.second.find(symbols);
        const std::string where =
            place.known() ? file_name(place.file) + ":" + std::to_string(place.line) : "a call";
        report.notes.push_back(where + " returned " + cudaGetErrorName(call.first) + ".");
    }
    if (!footprint_complete_) {
        report.notes.push_back(
            "A launch touched more memory than could be kept apart byte by byte: its distinct "
            "bytes "
            "are a lower bound.");
    }
    if (races_.dropped_pages() != 0) {
        report.notes.push_back("Races were not looked for in " +
                               std::to_string(races_.dropped_pages()) +
                               " pages of 4 KiB: the memory for it was used up.");
    }
    if (held) mutex_.unlock();
    return report;
}

}  // namespace emu::inspector
