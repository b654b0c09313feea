#include "inspector.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "../runtime/error.hpp"
#include "static_objects.hpp"

namespace emu::inspector {
namespace {

/// The launches of a kernel are counted until their threads have reached this number, the first
/// one in any case; of a launch that is larger by itself, blocks spread over the grid.
constexpr std::uint64_t counted_threads_limit = std::uint64_t{1} << 20;

std::uint64_t number_of(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

std::uint64_t volume(dim3 shape) {
    return std::uint64_t{shape.x} * shape.y * shape.z;
}

Triple triple(uint3 v) {
    return {v.x, v.y, v.z};
}

Triple unfold(std::uint64_t linear, dim3 shape) {
    return {static_cast<unsigned>(linear % shape.x),
            static_cast<unsigned>(linear / shape.x % shape.y),
            static_cast<unsigned>(linear / shape.x / shape.y)};
}

ObjectKind kind_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::pinned:
            return ObjectKind::pinned;
        case MemoryKind::registered:
            return ObjectKind::registered;
        case MemoryKind::managed:
            return ObjectKind::managed;
        case MemoryKind::symbol:
        case MemoryKind::device:
            break;
    }
    return ObjectKind::device;
}

/// Static memory holds zeros, and what code of the host writes is not followed.
bool starts_unwritten(const Object& object) {
    return object.kind == ObjectKind::device || object.kind == ObjectKind::shared ||
           object.kind == ObjectKind::dynamic_shared;
}

/// A structure that is copied as a whole, which arrives in pieces without alignment, is copied with
/// what lies unused between its members: behind the thread's last read, which ended at `read_to`,
/// and in the same 8 bytes.
bool may_be_padding(const Access& access, std::uint64_t read_to) {
    return access.any_alignment && access.bytes <= 4 && access.address == read_to &&
           access.address % 8 != 0;
}

/// What a GPU would answer to the next call.
cudaError_t error_of(Fault fault) {
    return fault == Fault::misaligned ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress;
}

/// Memory that code of the host may touch, too.
bool reachable_from_host(MemoryKind kind) {
    return kind == MemoryKind::pinned || kind == MemoryKind::registered ||
           kind == MemoryKind::managed;
}

/// The variable that the rewriter made a key for: its mangled name holds "<length>emu_shared_NAME".
std::string shared_name(const char* type_name) {
    const std::string whole = type_name;
    const std::string mark = "emu_shared_";
    const std::size_t at = whole.find(mark);
    if (at == std::string::npos) return "?";
    std::size_t digits = at;
    while (digits > 0 && whole[digits - 1] >= '0' && whole[digits - 1] <= '9')
        --digits;
    const std::size_t length = std::strtoul(whole.c_str() + digits, nullptr, 10);
    return whole.substr(at + mark.size(), length - mark.size());
}

/// Thread-local variables: the indices of the running thread are such.
bool thread_local_variable(std::uint64_t address) {
    constexpr std::uint64_t reach = 64 * 1024;
    return number_of(__builtin_thread_pointer()) - address < reach;
}

}  // namespace

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

// ---- Memory ---------------------------------------------------------------------------------

// The emulator's ledger is locked while it tells of memory, and the running block may be asking the
// ledger: so the news waits until the inspector is free.
void Inspector::memory_made(const Allocation& allocation) {
    const std::lock_guard<std::mutex> guard(events_mutex_);
    events_.push_back({true, allocation});
}

void Inspector::memory_released(const Allocation& allocation) {
    const std::lock_guard<std::mutex> guard(events_mutex_);
    events_.push_back({false, allocation});
}

void Inspector::apply(const MemoryEvent& event) {
    const Allocation& memory = event.allocation;
    if (memory.kind == MemoryKind::symbol) return;  // known by name from the beginning
    const std::uint64_t begin = number_of(memory.begin);
    races_.forget(begin, memory.size);
    if (event.made) {
        map_.add({kind_of(memory.kind), begin, memory.size,
                  std::string(memory.made_by) + " #" + std::to_string(memory.number) + ", " +
                      std::to_string(memory.size) + " bytes"});
        written_.clear(begin, memory.size);
        if (reachable_from_host(memory.kind)) host_ranges_[begin] = memory.size;
    } else {
        map_.free(begin);
        written_.clear(begin, memory.size);
        host_ranges_.erase(begin);
    }
    change_host_range();
}

void Inspector::change_host_range() {
    host_begin_ = host_ranges_.empty() ? 0 : host_ranges_.begin()->first;
    host_bytes_ = host_ranges_.empty()
                      ? 0
                      : host_ranges_.rbegin()->first + host_ranges_.rbegin()->second - host_begin_;
}

std::string Inspector::object_name(std::uint64_t address) const {
    const Object* const object = map_.find(address);
    return object == nullptr ? "" : object->name;
}

// ---- Streams --------------------------------------------------------------------------------

std::uint32_t Inspector::enqueued(std::uint64_t stream,
                                  const std::vector<std::uint32_t>& predecessors) {
    const Lock held = lock();
    const std::uint32_t number = clocks_.enqueue(stream, predecessors);
    operations_.resize(std::max<std::size_t>(operations_.size(), number + 1));
    operations_[number].site = CallSite::here();
    return number;
}

void Inspector::host_waited(std::uint32_t operation) {
    const Lock held = lock();
    clocks_.host_waited(operation);
}

void Inspector::copying(std::uint32_t operation, const CopyShape& shape, bool source_is_read) {
    const Lock held = lock();
    operations_[operation].fill = shape.from == nullptr;
    for (std::size_t row = 0; row < shape.height; ++row) {
        char* const to = shape.to + row * shape.to_pitch;
        const char* const from =
            shape.from == nullptr ? nullptr : shape.from + row * shape.from_pitch;
        const Object* const source = from == nullptr ? nullptr : map_.find(number_of(from));
        if (source != nullptr && source_is_read) {
            check_operation(operation, from, shape.width, AccessKind::read);
        }
        if (map_.find(number_of(to)) == nullptr) continue;  // memory of the host alone
        check_operation(operation, to, shape.width, AccessKind::write);
        if (source != nullptr && source_is_read && source->kind == ObjectKind::device) {
            written_.copy(number_of(from), number_of(to), shape.width);
        } else {
            written_.mark(number_of(to), shape.width);
        }
    }
}

// ---- Launches and blocks --------------------------------------------------------------------

Inspector::Group& Inspector::group_of(const Task& task) {
    char shape[160];
    std::snprintf(shape, sizeof shape, " %u,%u,%u %u,%u,%u %zu", task.grid.x, task.grid.y,
                  task.grid.z, task.block.x, task.block.y, task.block.z, task.dynamic_shared);
    // A kernel that is launched through a pointer has another name than its variable.
    const std::string own_name = function_name(number_of(task.function));
    const std::string name = own_name.empty() ? task.name : own_name;
    const auto added = group_numbers_.emplace(name + shape, groups_.size());
    if (added.second) {
        auto group = std::make_unique<Group>();
        group->grid = task.grid;
        group->block = task.block;
        group->report.name = name;
        group->report.grid = triple(task.grid);
        group->report.block = triple(task.block);
        group->report.dynamic_shared = task.dynamic_shared;
        groups_.push_back(std::move(group));
    }
    operations_[task.operation].group = added.first->second;
    return *groups_[added.first->second];
}

void Inspector::launch_begins(const Task& task) {
    const Lock held = lock();
    end_launch();
    operation_ = task.operation;
    group_ = &group_of(task);
    ++group_->report.launches;
    const std::uint64_t threads = volume(task.grid) * volume(task.block);
    counting_share_ = (threads + counted_threads_limit - 1) / counted_threads_limit;
    launch_counted_ = group_->counted_threads == 0 ||
                      group_->counted_threads + threads / counting_share_ <= counted_threads_limit;
    map_.begin_launch();
    map_.add({ObjectKind::dynamic_shared, number_of(block.dynamic_shared), task.dynamic_shared,
              "dynamic shared memory, " + std::to_string(task.dynamic_shared) + " bytes"});
    shared_ranges_ = {{number_of(block.dynamic_shared), task.dynamic_shared}};
    races_.begin_launch(operation_);
}

void Inspector::end_launch() {
    if (group_ == nullptr) return;
    const FootprintBytes bytes = footprint_.take();
    group_->report.distinct_bytes_read += bytes.read;
    group_->report.distinct_bytes_written += bytes.written;
    footprint_complete_ = footprint_complete_ && bytes.complete;
    group_ = nullptr;
}

void Inspector::shared_variable_seen(const SharedSite& site) {
    const std::uint64_t begin = number_of(block.shared + site.offset);
    map_.add({ObjectKind::shared, begin, site.bytes,
              "shared variable " + shared_name(site.type_name) + ", " + std::to_string(site.bytes) +
                  " bytes"});
    shared_ranges_.push_back({begin, site.bytes});
    written_.clear(begin, site.bytes);
}

/// Of a grid that is too large, blocks that follow no pattern of its rows.
bool Inspector::counts_block(std::uint64_t number) const {
    if (!launch_counted_) return false;
    return number * 0x9E3779B97F4A7C15ULL >> 32 <= 0xFFFFFFFFULL / counting_share_;
}

void Inspector::block_begins(std::uint64_t number) {
    block_lock_ = lock();
    ++group_->report.blocks;
    counted_ = counts_block(number);
    if (counted_) {
        ++group_->report.counted_blocks;
        group_->counted_threads += block.threads();
        trace_.begin_block(block.threads());
    }
    std::fill_n(depth_.begin(), block.threads(), std::uint16_t{0});
    for (const auto& range : shared_ranges_)
        written_.clear(range.first, range.second);
    races_.begin_block(number);
}

void Inspector::block_ends() {
    settle();
    if (counted_) {
        trace_.flush(group_->counts);
        group_->report.lost_events += trace_.lost();
    }
    block_lock_.unlock();
}

void Inspector::barrier_released() {
    settle();
    races_.barrier();
    if (!counted_) return;
    ++group_->report.barriers;
    trace_.flush(group_->counts);
}

void Inspector::warp_met(unsigned warp, std::uint32_t lanes, bool orders_memory) {
    settle();
    races_.warp_sync(warp, lanes, orders_memory);
    const unsigned threads = block.threads() - warp * warp_lanes;
    const std::uint32_t all = threads >= warp_lanes ? ~0u : (1u << threads) - 1;
    if (counted_ && lanes == all) trace_.flush_warp(warp, group_->counts);
}

void Inspector::shuffle_from_absent_lane(const Slot& thread) {
    Finding finding{};
    finding.fault = Fault::warp_mask;
    finding.first = party_at(thread.site);
    finding.first.thread = triple(thread.index);
    finding.detail = "it reads the value of a lane that takes no part";
    add(finding, {});
}

Party Inspector::party_at(const Site& site) const {
    Party party;
    party.kernel = group_->report.name;
    party.block = triple(blockIdx);
    party.thread = triple(threadIdx);
    party.operation = operation_;
    party.file = site.file == nullptr ? "" : site.file;
    party.line = site.line;
    return party;
}

/// Where threads of the block wait, the place with the fewest first; and whether some of them wait
/// in a warp primitive.
std::vector<Site> Inspector::waiting_places(bool& in_warp) {
    std::vector<std::pair<unsigned, Site>> places;
    in_warp = false;
    for (const Slot* slot = block.begin; slot != block.unbegun; ++slot) {
        if (slot->wait == wait_for_ever || slot->wait < block.phase) continue;
        const Site& site = slot->wait == block.phase ? block.barrier : slot->site;
        in_warp = in_warp || slot->wait == wait_warp;
        const auto same = [&site](const auto& place) {
            return place.second.line == site.line && place.second.file == site.file;
        };
        const auto known = std::find_if(places.begin(), places.end(), same);
        if (known == places.end()) {
            places.emplace_back(1, site);
        } else {
            ++known->first;
        }
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Site> sites;
    for (const auto& place : places)
        sites.push_back(place.second);
    return sites;
}

void Inspector::kernel_given_up(cudaError_t error, const char* text) {
    settle();
    if (!own_end_) {
        bool in_warp = false;
        std::vector<Site> places;
        Finding finding{};
        finding.fault = Fault::kernel_failure;
        finding.detail = text;
        if (finding.detail.find("the mask 0x") != std::string::npos) {
            finding.fault = Fault::warp_mask;
            places = {block.current->site};
        } else if (error == cudaErrorLaunchTimeout) {
            places = waiting_places(in_warp);
            if (!places.empty()) finding.fault = in_warp ? Fault::warp_mask : Fault::barrier;
        }
        finding.first = party_at(places.empty() ? Site{nullptr, 0} : places[0]);
        if (places.size() > 1) finding.second = party_at(places[1]);
        add(finding, {});
    }
    own_end_ = false;
    if (block_lock_.owns_lock()) block_lock_.unlock();
}

// ---- Accesses -------------------------------------------------------------------------------

Party Inspector::this_party(const Access& access) const {
    Party party;
    party.kind = access.kind;
    party.bytes = access.bytes;
    party.pc = access.pc;
    party.kernel = group_->report.name;
    party.block = triple(blockIdx);
    party.thread = triple(threadIdx);
    party.operation = operation_;
    return party;
}

/// A thread's stack, and thread-local variables such as threadIdx.
bool Inspector::is_own(std::uint64_t address) {
    return thread_local_variable(address) ||
           this_worker->on_stack(reinterpret_cast<const void*>(address));
}

void Inspector::device_access(const Access& access) {
    if (is_own(access.address)) return;
    settle();
    const Object* object = map_.holder(access);
    if (object == nullptr) {
        misused(access);
        return;
    }
    const Space space = space_of(*object);
    const unsigned thread = block.current->linear;
    if (access.kind != AccessKind::write) {
        if (starts_unwritten(*object) && !written_.any(access.address, access.bytes) &&
            !may_be_padding(access, read_to_[thread])) {
            never_written(access, *object);
        }
        read_to_[thread] = access.address + access.bytes;
    }
    if (access.kind != AccessKind::read) written_.mark(access.address, access.bytes);
    if (const auto conflict = races_.access(access, space, thread)) {
        raced(access, *conflict, *object);
    }
    if (!counted_) return;
    trace_.access(thread, access, space, depth_[thread]);
    if (space == Space::global) footprint_.add(access.address, access.bytes, access.kind);
}

void Inspector::misused(const Access& access) {
    const Misuse misuse = map_.explain(access);
    Finding finding{};
    finding.fault = misuse.fault;
    finding.first = this_party(access);
    finding.object = misuse.object;
    finding.detail = misuse.detail;
    add(finding, {});
    if (!misuse.ends_kernel) return;
    own_end_ = true;
    this_worker->give_up(error_of(misuse.fault),
                         "kernel %s, block (%u,%u,%u), thread "
                         "(%u,%u,%u): %s: %s %s",
                         group_->report.name.c_str(), blockIdx.x, blockIdx.y, blockIdx.z,
                         threadIdx.x, threadIdx.y, threadIdx.z, name_of(misuse.fault),
                         misuse.detail.c_str(), misuse.object.c_str());
}

void Inspector::never_written(const Access& access, const Object& object) {
    Finding finding{};
    finding.fault = Fault::never_written;
    finding.first = this_party(access);
    finding.object = object.name;
    finding.detail = "byte " + std::to_string(access.address - object.begin) + " of it";
    add(finding, {});
}

// ---- Races ----------------------------------------------------------------------------------

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

void Inspector::raced(const Access& access, const Conflict& conflict, const Object& object) {
    Finding finding{};
    finding.first = this_party(access);
    finding.second = party_of(conflict);
    finding.fault = fault_of(finding.first, *finding.second, space_of(object));
    finding.object = object.name;
    if (access.kind != AccessKind::write || conflict.kind != AccessKind::write) {
        add_race(finding);
        return;
    }
    doubtful_ = Doubtful{finding, access.address, access.bytes, {}};
    std::memcpy(doubtful_->before.data(), reinterpret_cast<const void*>(access.address),
                access.bytes);
}

void Inspector::settle_doubtful() {
    const auto* const now = reinterpret_cast<const void*>(doubtful_->address);
    const bool changed = std::memcmp(now, doubtful_->before.data(), doubtful_->bytes) != 0;
    if (changed) add_race(doubtful_->finding);
    doubtful_.reset();
}

void Inspector::check_operation(std::uint32_t operation, const char* address, std::size_t bytes,
                                AccessKind kind) {
    const auto conflict = races_.operation(operation, number_of(address), bytes, kind);
    if (!conflict) return;
    Finding finding{};
    finding.first.who = Party::Who::operation;
    finding.first.kind = kind;
    finding.first.operation = operation;
    finding.first.kernel = operations_[operation].fill ? "cudaMemset" : "cudaMemcpy";
    finding.second = party_of(*conflict);
    finding.fault = Fault::global_race;
    finding.object = object_name(number_of(address));
    add_race(finding);
}

void Inspector::check_host_access(const Access& access) {
    if (in_host_function()) return;  // it runs in the order of its stream
    const Lock held = lock();
    const Object* const object = map_.find(access.address);
    if (object == nullptr || object->freed) return;
    const auto conflict = races_.host(access.address, access.bytes, access.kind, access.pc);
    if (!conflict) return;
    Finding finding{};
    finding.first.who = Party::Who::host;
    finding.first.kind = access.kind;
    finding.first.bytes = access.bytes;
    finding.first.pc = access.pc;
    finding.second = party_of(*conflict);
    finding.fault = Fault::global_race;
    finding.object = object->name;
    add_race(finding);
}

// ---- Findings -------------------------------------------------------------------------------

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
    finding_sites_.emplace_back(site_of(finding.first), site_of(*finding.second));
}

void Inspector::launch_refused(const Task& task, cudaError_t error) {
    const Lock held = lock();
    Finding finding{};
    finding.fault = Fault::launch_error;
    finding.first.kernel = task.name;
    finding.detail = std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error);
    refused_.push_back({std::this_thread::get_id(), finding, CallSite::here()});
}

void Inspector::error_asked() {
    const Lock held = lock();
    const auto own = [](const Refused& r) { return r.thread == std::this_thread::get_id(); };
    refused_.erase(std::remove_if(refused_.begin(), refused_.end(), own), refused_.end());
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
    const Symbols symbols = Symbols::read(report.program, pcs);
    const auto set_place = [&symbols](Party& party, const CallSite& site) {
        const Place place = site.find(symbols);
        if (!place.known()) return;
        party.file = place.file;
        party.line = place.line;
    };
    for (std::size_t i = 0; i < finding_sites_.size(); ++i) {
        Finding finding = findings_.all()[i];
        if (follows_from_a_race(finding)) continue;
        set_place(finding.first, finding_sites_[i].first);
        if (finding.second) set_place(*finding.second, finding_sites_[i].second);
        report.findings.push_back(finding);
    }
    for (const auto& group : groups_) {
        report.kernels.push_back(group->report);
        report.kernels.back().places = group->counts.places();
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
