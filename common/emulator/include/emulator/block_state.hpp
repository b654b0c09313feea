/// \file
/// The block that a worker thread is running: which of its threads have started, wait or are done.
///
/// A block's threads run one after another, in *slots*: slot k is the k-th thread in the chosen
/// order (forward by default: slot = linear thread index). They run on fibers, each of which loops
/// over threads; a further fiber comes in only when a thread has to wait, so that a kernel without
/// barriers is a plain loop over its threads.
#pragma once

#include <cstddef>

#include "emulator/context_switch.hpp"
#include "emulator/vector_types.hpp"

namespace emu {

/// A uint3 that can be copied by one 16-byte move.
struct alignas(16) ThreadIndex : uint3 {
    unsigned padding;
};

}  // namespace emu

/// Indices of the running thread and the shape of its launch. Real variables, so that a debugger
/// can stop at `break kernel.cu:11 if threadIdx.x == 3`.
extern __thread emu::ThreadIndex threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;

namespace emu {

/// A place in the source, for reports.
struct Site {
    const char* file;
    int line;
};

/// Values of Slot::wait that keep a thread from running; a smaller one is the number of the barrier
/// phase that it waited for last: it may run once that phase is over.
enum Wait : unsigned {
    wait_other_barrier = ~0u - 2,  ///< at a barrier that is not the one the others wait at
    wait_warp = ~0u - 1,           ///< for other lanes of its warp
    wait_for_ever = ~0u,           ///< it has not begun, or has returned
};

/// What a switch to or from a thread touches, in one cache line.
struct alignas(64) Slot {
    Context context;
    unsigned wait = wait_for_ever;
    unsigned short linear;  ///< its linear thread index
    ThreadIndex index;      ///< its threadIdx
    Site site;              ///< where it waits, unless that is the block's barrier
};

/// One worker's current block; one per worker thread, reached through `block`.
struct BlockState {
    Slot* current;  ///< the thread that runs
    Slot* begin;    ///< all slots; behind the last comes one that never runs
    Slot* end;
    Slot* unbegun;                  ///< the first slot that has not begun: they begin in order
    Context* resting;               ///< one past the last of the fibers that have no thread
    unsigned phase;                 ///< number of the barrier phase that runs; from 1
    unsigned at_barrier;            ///< threads that wait at the barrier
    unsigned in_warps;              ///< threads that wait for other lanes of their warp
    Site barrier;                   ///< the barrier that the block's threads met last
    unsigned votes;                 ///< of __syncthreads_count
    bool waited;                    ///< some thread of the block has had to wait
    bool diverged;                  ///< some threads wait at another barrier than the others
    bool in_kernel;                 ///< this host thread is running device code
    const unsigned short* slot_of;  ///< by linear thread index: its slot
    unsigned char* touched;         ///< by shared variable: seen in this launch by this worker
    char* shared;                   ///< memory of the __shared__ variables
    char* dynamic_shared;           ///< memory of the extern __shared__ arrays

    unsigned threads() const { return static_cast<unsigned>(end - begin); }
};

extern __thread BlockState block;

/// Gives the slot to run next when `block.current` cannot go on: one that may run, or one that has
/// not begun, with a fiber to begin on. Releases the barrier once every thread that has not
/// returned waits there. Reports a deadlock, and does not return, when nothing can run.
Slot* next_slot();

/// Notes that the running thread has reached a barrier that is not the one the block met last.
/// Gives what it waits for: the block's phase, or wait_other_barrier while others wait elsewhere.
unsigned enter_other_barrier(Site site);

/// Suspends a fiber without a thread into `fiber`, and goes on with another thread or, at the
/// block's end, with the next block.
void rest_until_needed(Context& fiber);

/// Makes `slot` the running one and goes on there, having stored the caller's state into `from`.
[[gnu::always_inline]] inline void run_slot(Slot& slot, Context& from) {
    block.current = &slot;
    threadIdx = slot.index;
    switch_context(from, slot.context);
}

#ifdef EMULATOR_INSPECTED

// As below, with all but `body` in the library: in an inspected program the compiler reports every
// access to memory, and the emulator's own are not the kernel's.

/// Makes the next thread that has not begun the running one; false if there is none.
bool begin_thread();
/// The running thread has returned.
void end_thread();
/// What __syncthreads() does.
void wait_at_barrier(Site site);
/// What rest() does.
void rest_here();
inline void rest() {
    rest_here();
}

template <class Body>
void run_unbegun_threads(const Body& body) {
    while (begin_thread()) {
        body();
        end_thread();
    }
}

}  // namespace emu

inline void __syncthreads(int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    emu::wait_at_barrier({file, line});
}

#else

/// Calls `body` for one thread after another until all of the block's have begun. What `body` does
/// not touch stays in registers where it never waits; where it does, other fibers have gone on
/// meanwhile and begun further threads.
template <class Body>
[[gnu::always_inline]] inline void run_unbegun_threads(const Body& body) {
    BlockState& b = block;
    Slot* slot = b.unbegun;
    while (slot != b.end) {
        Slot* const following = slot + 1;
        b.unbegun = following;
        b.current = slot;
        threadIdx = slot->index;
        body();
        slot->wait = wait_for_ever;
        slot = following;
        if (__builtin_expect(b.unbegun != following, 0)) slot = b.unbegun;
    }
}

/// Lets a fiber rest when every thread of the block has begun; returns when there are new ones.
[[gnu::always_inline]] inline void rest() {
    BlockState& b = block;
    Context& here = *b.resting++;
    Slot& following = b.current[1];
    if (following.wait < b.phase) {
        run_slot(following, here);
    } else {
        rest_until_needed(here);
    }
}

}  // namespace emu

/// Waits for every thread of the block that has not returned. A barrier is known by its line: two
/// on one line, or on the same line of two files, count as one.
[[gnu::always_inline]] inline void __syncthreads(int line = __builtin_LINE(),
                                                 const char* file = __builtin_FILE()) {
    emu::BlockState& b = emu::block;
    emu::Slot& here = *b.current;
    here.wait = b.phase;
    if (__builtin_expect(line != b.barrier.line, 0))
        here.wait = emu::enter_other_barrier({file, line});
    ++b.at_barrier;
    emu::Slot& following = (&here)[1];
    if (__builtin_expect(following.wait < b.phase, 1)) {
        emu::run_slot(following, here.context);
    } else {
        emu::Slot* const next = emu::next_slot();
        if (next != &here) emu::run_slot(*next, here.context);
    }
}

#endif
