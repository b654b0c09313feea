// Who runs next: the barrier, and the search for a thread that can go on.

#include <cstring>

#include "emulator/device_code.hpp"
#include "report.hpp"
#include "warp.hpp"
#include "worker.hpp"

namespace emu {
namespace {

constexpr unsigned none = ~0u;

/// The first slot in [begin, end) that may run, or `none`.
unsigned find_runnable(unsigned begin, unsigned end) {
    if (begin >= end) return none;
    const void* const found =
        std::memchr(block.waiting + begin, static_cast<int>(Wait::none), end - begin);
    if (found == nullptr) return none;
    return static_cast<unsigned>(static_cast<const Wait*>(found) - block.waiting);
}

bool at_barrier(Wait wait) {
    return wait == Wait::barrier || wait == Wait::other_barrier;
}

/// How many threads wait at a barrier.
unsigned count_at_barrier() {
    unsigned count = 0;
    for (unsigned slot = 0; slot < block.started; ++slot)
        count += at_barrier(block.waiting[slot]);
    return count;
}

/// Lets everyone at the barrier go on; called once all threads that have not returned wait there.
void release_barrier() {
    BlockState& b = block;
    if (b.diverged) {
        this_worker->give_up(
            cudaErrorLaunchTimeout,
            "kernel %s, block (%u,%u,%u): the threads wait at different barriers; all threads of "
            "a block must reach the same __syncthreads():%s",
            this_worker->task().name, blockIdx.x, blockIdx.y, blockIdx.z, describe_waits().c_str());
    }
    for (unsigned slot = 0; slot < b.threads; ++slot) {
        if (b.waiting[slot] == Wait::barrier) b.waiting[slot] = Wait::none;
    }
}

}  // namespace

unsigned next_slot() {
    BlockState& b = block;
    unsigned slot = find_runnable(b.current + 1, b.started);
    if (slot != none) return slot;
    if (b.started < b.threads) {
        this_worker->prepare_fiber(b.started);
        return b.started;
    }
    const unsigned waiting = count_at_barrier();
    if (waiting != 0 && waiting == b.threads - b.finished) release_barrier();
    slot = find_runnable(0, b.started);
    if (slot == none && complete_waiting_warps()) slot = find_runnable(0, b.started);
    if (slot != none) return slot;
    this_worker->give_up(
        cudaErrorLaunchTimeout, "kernel %s, block (%u,%u,%u): deadlock, no thread can go on:%s",
        this_worker->task().name, blockIdx.x, blockIdx.y, blockIdx.z, describe_waits().c_str());
}

Wait enter_other_barrier(Site site) {
    BlockState& b = block;
    if (count_at_barrier() == 0) {
        b.barrier = site;
        return Wait::barrier;
    }
    b.diverged = true;
    b.slots[b.current].site = site;
    return Wait::other_barrier;
}

int count_in_block(bool predicate, int line, const char* file) {
    BlockState& b = block;
    if (count_at_barrier() == 0) b.votes = 0;
    b.votes += predicate ? 1 : 0;
    __syncthreads(line, file);
    const unsigned votes = b.votes;
    __syncthreads(line, file);  // all have read before the next count begins
    return static_cast<int>(votes);
}

}  // namespace emu
