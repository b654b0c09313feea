// What the inspector does about each access of device code, before it happens.

#include <cstring>

#include "indices.hpp"
#include "inspector.hpp"

namespace emu::inspector {
namespace {

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

/// Thread-local variables: the indices of the running thread are such.
bool thread_local_variable(std::uint64_t address) {
    constexpr std::uint64_t reach = 64 * 1024;
    return number_of(__builtin_thread_pointer()) - address < reach;
}

}  // namespace

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
            !may_be_padding(access, last_read_[thread].end)) {
            never_written(access, *object);
        }
    }
    if (access.kind == AccessKind::read) {
        last_read_[thread] = {access.address, access.address + access.bytes, access.pc};
    } else {
        written_.mark(access.address, access.bytes);
    }
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
                         "(%u,%u,%u): %s: %s%s%s",
                         group_->report.name.c_str(), blockIdx.x, blockIdx.y, blockIdx.z,
                         threadIdx.x, threadIdx.y, threadIdx.z, name_of(misuse.fault),
                         misuse.object.c_str(), misuse.object.empty() ? "" : ": ",
                         misuse.detail.c_str());
}

void Inspector::compares(std::uint64_t address) {
    const LastRead& last = last_read_[block.current->linear];
    if (last.begin == address) guesses_.insert(last.pc);
}

void Inspector::never_written(const Access& access, const Object& object) {
    Finding finding{};
    finding.fault = Fault::never_written;
    finding.first = this_party(access);
    finding.object = object.name;
    finding.detail = "byte " + std::to_string(access.address - object.begin) + " of it";
    add(finding, {});
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

}  // namespace emu::inspector
