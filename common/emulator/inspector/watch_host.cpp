// What the inspector learns from the host: memory, streams, copies, launch errors.

#include <algorithm>
#include <iterator>

#include "../runtime/error.hpp"
#include "indices.hpp"
#include "inspector.hpp"

namespace emu::inspector {
namespace {

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

}  // namespace

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
        allocations_[begin] = memory.size;
    } else {
        map_.free(begin);
        written_.clear(begin, memory.size);
        allocations_.erase(begin);
    }
    change_host_range();
}

void Inspector::change_host_range() {
    host_begin_ = allocations_.empty() ? 0 : allocations_.begin()->first;
    host_bytes_ = allocations_.empty()
                      ? 0
                      : allocations_.rbegin()->first + allocations_.rbegin()->second - host_begin_;
    ++generation_;
}

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

void Inspector::remember_gap(std::uint64_t address) {
    const auto next = allocations_.upper_bound(address);
    const std::uint64_t end = next == allocations_.end() ? ~std::uint64_t{0} : next->first;
    std::uint64_t begin = 0;
    if (next != allocations_.begin()) {
        const auto last = std::prev(next);
        begin = last->first + last->second;
    }
    if (address >= begin) gap_of(address) = {generation_, begin, end - begin};
}

void Inspector::check_host_access(const Access& access) {
    if (in_host_function()) return;  // it runs in the order of its stream
    const Lock held = lock();
    const Object* const object = map_.find(access.address);
    if (object == nullptr || object->freed) {
        remember_gap(access.address);
        return;
    }
    if (object->kind == ObjectKind::device) {
        touched_by_host(access, *object);
        return;
    }
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

/// Where the processor can forbid it, the access that follows ends the process.
void Inspector::touched_by_host(const Access& access, const Object& object) {
    Finding finding{};
    finding.fault = Fault::device_pointer;
    finding.first.who = Party::Who::host;
    finding.first.kind = access.kind;
    finding.first.bytes = access.bytes;
    finding.first.pc = access.pc;
    finding.object = object.name;
    add(finding, CallSite::here());
    write_report_early();
}

void Inspector::call_failed(cudaError_t error) {
    constexpr std::size_t most = 20;  // the first ones lead to the mistake
    const Lock held = lock();
    if (failed_calls_.size() < most) failed_calls_.emplace_back(error, CallSite::here());
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

}  // namespace emu::inspector
