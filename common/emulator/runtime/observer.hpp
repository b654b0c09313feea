/// \file
/// What an inspector is told of a running program. The plain emulator has none: it tests a pointer
/// at each call, launch, block and released barrier, and nowhere inside a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "copy.hpp"
#include "emulator/launch.hpp"
#include "emulator/shared_memory.hpp"
#include "memory.hpp"

namespace emu {

/// Calls come from host threads, from the copy engines and from the one worker, as they happen.
class Observer {
public:
    virtual ~Observer() = default;

    virtual void memory_made(const Allocation& allocation) = 0;
    /// Freed, or no longer registered.
    virtual void memory_released(const Allocation& allocation) = 0;

    /// Work was put into a stream behind `predecessors`. Gives the number that it has from now on.
    virtual std::uint32_t enqueued(std::uint64_t stream,
                                   const std::vector<std::uint32_t>& predecessors) = 0;
    /// The host has seen that an operation, with all before it, is done.
    virtual void host_waited(std::uint32_t operation) = 0;
    /// A copy or, with no source, a fill is carried out. `source_is_read`: false if the source was
    /// taken when the call was made.
    virtual void copying(std::uint32_t operation, const CopyShape& shape, bool source_is_read) = 0;

    virtual void launch_begins(const Task& task) = 0;
    virtual void shared_variable_seen(const SharedSite& site) = 0;
    /// `number`: the block's linear index in its grid.
    virtual void block_begins(std::uint64_t number) = 0;
    virtual void block_ends() = 0;
    virtual void barrier_released() = 0;
    /// Lanes of a warp have met in a warp primitive; `orders_memory`: in __syncwarp().
    virtual void warp_met(unsigned warp, std::uint32_t lanes, bool orders_memory) = 0;
    /// The thread asked for the value of a lane that takes no part: it gets a meaningless one.
    virtual void shuffle_from_absent_lane(const Slot& thread) = 0;
    /// The running block ends, and its launch with it. `text`: why.
    virtual void kernel_given_up(cudaError_t error, const char* text) = 0;

    /// A launch was refused; the calling thread's last error says so until it is asked for.
    virtual void launch_refused(const Task& task, cudaError_t error) = 0;
    /// A call has failed, for a reason of its own and not because a kernel failed before.
    virtual void call_failed(cudaError_t error) = 0;
    /// The calling thread's last error was asked for.
    virtual void error_asked() = 0;
};

/// Null: nobody looks on.
extern Observer* observer;

}  // namespace emu
