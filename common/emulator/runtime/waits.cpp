// Who runs next: the barrier, and the search for a thread that can go on.

#include "emulator/device_code.hpp"
#include "observer.hpp"
#include "report.hpp"
#include "warp.hpp"
#include "worker.hpp"

namespace emu {
namespace {

/// The first slot in [begin, end) that may run, or null.
Slot* find_runnable(Slot* begin, Slot* end) {
    for (Slot* slot = begin; slot < end; ++slot) {
        if (slot->wait < block.phase) return slot;
    }
    return nullptr;
}

/// Lets everyone at the barrier go on; called once all threads that have not returned wait there.
void release_barrier() {
    BlockState& b = block;
    if (b.diverged) {
        this_worker->give_up(
            cudaErrorLaunchTimeout,
            "kernel %s, block (%u,%u,%u): the threads wait at different barriers; all threads of "
            "a block must reach the same __syncthreads():%s",
            this_worker->task().name, blockIdx.x, blockIdx.y, blockIdx.z,
            describe_waits(false).c_str());
    }
    ++b.phase;
    b.at_barrier = 0;
    if (observer != nullptr) observer->barrier_released();
}

}  // namespace

Slot* next_slot() {
    BlockState& b = block;
    b.waited = true;
    if (Slot* const slot = find_runnable(b.current + 1, b.unbegun)) return slot;
    if (b.unbegun != b.end) {
        b.unbegun->context = this_worker->take_fiber();
        return b.unbegun;
    }
    if (Slot* const slot = find_runnable(b.begin, b.current + 1)) return slot;
    // Whoever has not returned waits. For the barrier, unless lanes of a warp wait for each other.
    if (b.in_warps != 0) {
        if (complete_waiting_warps()) return find_runnable(b.begin, b.end);
    } else if (b.at_barrier != 0) {
        release_barrier();
        return find_runnable(b.begin, b.end);
    } else {
        return nullptr;
    }
    this_worker->give_up(cudaErrorLaunchTimeout,
                         "kernel %s, block (%u,%u,%u): deadlock, no thread can go on:%s",
                         this_worker->task().name, blockIdx.x, blockIdx.y, blockIdx.z,
                         describe_waits(false).c_str());
}

void rest_until_needed(Context& fiber) {
    Slot* const next = block.waited ? next_slot() : nullptr;
    if (next == nullptr) {
        switch_context(fiber, this_worker->home());
    } else {
        run_slot(*next, fiber);
    }
}

unsigned enter_other_barrier(Site site) {
    BlockState& b = block;
    if (b.at_barrier == 0) {
        b.barrier = site;
        return b.phase;
    }
    b.diverged = true;
    b.current->site = site;
    return wait_other_barrier;
}

int count_in_block(bool predicate, int line, const char* file) {
    BlockState& b = block;
    if (b.at_barrier == 0) b.votes = 0;
    b.votes += predicate ? 1 : 0;
    __syncthreads(line, file);
    const unsigned votes = b.votes;
    __syncthreads(line, file);  // all have read before the next count begins
    return static_cast<int>(votes);
}

}  // namespace emu
