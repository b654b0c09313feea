/// \file
/// The block that a worker thread is running: which of its threads have started, wait or are done.
///
/// A block's threads run one after another, in *slots*: slot k is the k-th thread in the chosen
/// order (forward by default: slot = linear thread index). The first slot runs on the worker's own
/// stack; a further fiber is made only when a thread has to wait, so that a kernel without barriers
/// is a plain loop over its threads.
#pragma once

#include <cstddef>

#include "emulator/context_switch.hpp"
#include "emulator/vector_types.hpp"

/// Indices of the running thread and the shape of its launch. Real variables, so that a debugger
/// can stop at `break kernel.cu:11 if threadIdx.x == 3`.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;

namespace emu {

/// Why a slot does not run.
enum class Wait : unsigned char { none, not_begun, barrier, other_barrier, warp, finished };

/// A place in the source, for reports.
struct Site {
    const char* file;
    int line;
};

/// What a switch to or from a thread touches, in one cache line.
struct alignas(64) Slot {
    Context context;
    uint3 index;            ///< its threadIdx
    unsigned short linear;  ///< its linear thread index
    Site site;              ///< where it waits, unless that is the block's barrier
};

/// One worker's current block; one per worker thread, reached through `block`.
struct BlockState {
    unsigned threads;   ///< threads in the block
    unsigned started;   ///< slots begun so far: they begin in order
    unsigned finished;  ///< slots whose thread has returned
    unsigned current;   ///< the slot that runs now
    Slot* slots;
    Wait* waiting;                  ///< by slot, and one more that never runs
    Site barrier;                   ///< the barrier that the block's threads met last
    unsigned votes;                 ///< of __syncthreads_count
    bool diverged;                  ///< some threads wait at another barrier than the others
    bool in_kernel;                 ///< this host thread is running device code
    const unsigned short* slot_of;  ///< by linear thread index: its slot
    unsigned char* touched;         ///< by shared variable: seen in this launch by this worker
    char* shared;                   ///< memory of the __shared__ variables
    char* dynamic_shared;           ///< memory of the extern __shared__ arrays
};

extern __thread BlockState block;

/// Gives the slot to run next when slot `block.current` cannot go on: one that may run, or a fresh
/// fiber for a thread that has not begun. Releases the barrier once every thread that has not
/// returned waits there. Reports a deadlock, and does not return, when nothing can run.
unsigned next_slot();

/// Notes that the running thread has reached a barrier that is not the one the block met last, and
/// gives what it waits for: the block's new barrier, or one that the others do not wait at.
Wait enter_other_barrier(Site site);

/// Makes `slot` the running one and goes on there; returns once the caller's slot is resumed.
[[gnu::always_inline]] inline void run_slot(unsigned slot) {
    BlockState& b = block;
    const unsigned here = b.current;
    b.current = slot;
    threadIdx = b.slots[slot].index;
    switch_context(b.slots[here].context, b.slots[slot].context);
}

/// Begins the block's next thread on the calling fiber. False once all have begun.
inline bool begin_thread() {
    BlockState& b = block;
    if (b.started == b.threads) return false;
    const unsigned slot = b.started++;
    b.current = slot;
    b.waiting[slot] = Wait::none;
    threadIdx = b.slots[slot].index;
    return true;
}

/// Ends the running thread.
inline void end_thread() {
    BlockState& b = block;
    b.waiting[b.current] = Wait::finished;
    ++b.finished;
}

}  // namespace emu

/// Waits for every thread of the block that has not returned. The line is for reports.
[[gnu::always_inline]] inline void __syncthreads(int line = __builtin_LINE(),
                                                 const char* file = __builtin_FILE()) {
    emu::BlockState& b = emu::block;
    const unsigned here = b.current;
    emu::Wait wait = emu::Wait::barrier;
    if (__builtin_expect(line != b.barrier.line, 0)) wait = emu::enter_other_barrier({file, line});
    b.waiting[here] = wait;
    const unsigned following = here + 1;
    if (__builtin_expect(b.waiting[following] == emu::Wait::none, 1)) {
        emu::run_slot(following);
    } else {
        const unsigned slot = emu::next_slot();
        if (slot != here) emu::run_slot(slot);
    }
}
