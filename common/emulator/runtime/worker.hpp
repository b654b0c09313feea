/// \file
/// A host thread that runs blocks.
#pragma once

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/launch.hpp"
#include "emulator/shared_memory.hpp"
#include "stacks.hpp"
#include "warp.hpp"

namespace emu {

constexpr unsigned max_block_threads = 1024;

/// Everything one host thread needs to run blocks. Made, used and destroyed on that thread.
class Worker {
public:
    /// `blocks_begun` counts up with every block, for a watchdog.
    Worker(unsigned index, std::atomic<std::uint64_t>& blocks_begun);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs blocks `first` to `last - 1` (linear, in grid order) of a launch whose number is
    /// `launch`. Returns cudaSuccess, or why the first failing block was given up.
    cudaError_t run_blocks(Task& task, std::uint64_t launch, std::uint64_t first,
                           std::uint64_t last);

    /// Gives up the running block and, with it, the launch. The first block of a launch to fail
    /// reports why. Only from the worker's own thread.
    [[noreturn, gnu::format(printf, 3, 4)]] void give_up(cudaError_t error, const char* format,
                                                         ...);

    /// A fiber that runs the launch's threads: one that rests, or a new one.
    Context take_fiber();

    /// Where to go on when a block has ended.
    Context& home() { return home_; }

    void touch(const SharedSite& site);
    Warp& warp(unsigned index_in_block) { return warps_[index_in_block]; }
    bool on_stack(const void* address) const { return stacks_.holds(address); }
    bool stack_overflowed(const void* address) const { return stacks_.in_guard(address); }
    Task& task() const { return *task_; }
    unsigned index() const { return index_; }

private:
    void shape_block(dim3 shape, std::uint64_t block_number);
    void begin_launch(Task& task, std::uint64_t launch);
    void run_block(uint3 index, std::uint64_t number);

    unsigned index_;
    std::atomic<std::uint64_t>& blocks_begun_;
    Stacks stacks_;
    unsigned stacks_used_ = 0;
    Task* task_ = nullptr;
    std::uint64_t launch_ = 0;
    dim3 shape_{0, 0, 0};
    std::size_t static_shared_ = 0;  ///< bytes touched in this launch

    std::vector<Slot> slots_;
    std::vector<Context> resting_;
    std::vector<unsigned short> slot_of_;
    std::vector<Warp> warps_;
    std::vector<unsigned char> touched_;
    std::vector<const SharedSite*> touched_sites_;
    struct Unmap {
        std::size_t bytes;
        void operator()(char* memory) const;
    };
    std::unique_ptr<char, Unmap> shared_;
    std::unique_ptr<char, Unmap> dynamic_shared_;
    Context home_;
    sigjmp_buf give_up_point_;
    cudaError_t error_ = cudaSuccess;
};

/// The worker of the calling host thread, or null.
extern __thread Worker* this_worker;

}  // namespace emu
