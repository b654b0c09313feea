#include "worker.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <new>
#include <numeric>

#include "host_guard.hpp"
#include "kernel_functions.hpp"
#include "observer.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "shared_sites.hpp"

__thread emu::ThreadIndex threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace emu {

__thread BlockState block;
__thread Worker* this_worker = nullptr;

namespace {

constexpr std::size_t dynamic_shared_capacity = 256 * 1024;
constexpr std::size_t static_shared_limit = 48 * 1024;
/// Fills shared memory at a block's start: no program gets zeros for free.
constexpr int never_written = 0xCB;

char* map_memory(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<char*>(memory);
}

/// splitmix64 (Steele, Lea and Flood 2014): one well-mixed number from a counter.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

uint3 unfold(std::uint64_t linear, dim3 shape) {
    return {static_cast<unsigned>(linear % shape.x),
            static_cast<unsigned>(linear / shape.x % shape.y),
            static_cast<unsigned>(linear / shape.x / shape.y)};
}

/// Which block comes as the `turn`-th of `count`. The random order is a walk by a step that has no
/// divisor in common with the count, and so meets every block once.
std::uint64_t block_at(std::uint64_t turn, std::uint64_t count) {
    if (settings().order == ThreadOrder::forward) return turn;
    if (settings().order == ThreadOrder::reverse) return count - 1 - turn;
    std::uint64_t step = mix(settings().seed) % count;
    while (std::gcd(step, count) != 1)
        step = (step + 1) % count;
    const std::uint64_t begin = mix(step) % count;
    return (begin + static_cast<unsigned __int128>(turn) * step) % count;
}

/// Where a new fiber starts.
void fiber_body() {
    this_worker->task().run_threads();
}

#ifdef EMULATOR_BOOST_CONTEXT
void fiber_entry(boost::context::detail::transfer_t from) {
    note_left_context(from);
    fiber_body();
}
#endif

}  // namespace

void Worker::Unmap::operator()(char* memory) const {
    munmap(memory, bytes);
}

Worker::Worker(unsigned index, std::atomic<std::uint64_t>& blocks_begun)
    : index_(index),
      blocks_begun_(blocks_begun),
      stacks_(max_block_threads),
      slots_(max_block_threads + 1),
      resting_(max_block_threads),
      slot_of_(max_block_threads),
      warps_(max_block_threads / 32),
      touched_(shared_site_count() + 1),
      shared_(map_memory(shared_site_bytes()), Unmap{shared_site_bytes()}),
      dynamic_shared_(map_memory(dynamic_shared_capacity), Unmap{dynamic_shared_capacity}) {
    block = {};
    block.begin = slots_.data();
    block.phase = 1;
    block.slot_of = slot_of_.data();
    block.touched = touched_.data();
    block.shared = shared_.get();
    block.dynamic_shared = dynamic_shared_.get();
    this_worker = this;
}

Worker::~Worker() {
    this_worker = nullptr;
}

void Worker::shape_block(dim3 shape, std::uint64_t block_number) {
    const ThreadOrder order = settings().order;
    const bool same = shape.x == shape_.x && shape.y == shape_.y && shape.z == shape_.z;
    if (same && order != ThreadOrder::random) return;
    shape_ = shape;
    const unsigned threads = shape.x * shape.y * shape.z;
    std::vector<unsigned short> sequence(threads);
    std::iota(sequence.begin(), sequence.end(), static_cast<unsigned short>(0));
    if (order == ThreadOrder::reverse) {
        std::reverse(sequence.begin(), sequence.end());
    } else if (order == ThreadOrder::random) {
        std::uint64_t state = mix(settings().seed) ^ block_number;
        for (unsigned left = threads; left > 1; --left) {
            state = mix(state);
            std::swap(sequence[left - 1], sequence[state % left]);
        }
    }
    for (unsigned slot = 0; slot < threads; ++slot) {
        slots_[slot].linear = sequence[slot];
        static_cast<uint3&>(slots_[slot].index) = unfold(sequence[slot], shape);
        slot_of_[sequence[slot]] = static_cast<unsigned short>(slot);
    }
}

void Worker::begin_launch(Task& task, std::uint64_t launch) {
    task_ = &task;
    launch_ = launch;
    static_shared_ = 0;
    block.barrier = {};
    stacks_used_ = 0;  // fibers of the last launch are dropped where they rest
    block.resting = resting_.data();
    for (const SharedSite* const site : touched_sites_)
        touched_[site->index] = 0;
    touched_sites_.clear();
    blockDim = task.block;
    gridDim = task.grid;
    if (observer != nullptr) observer->launch_begins(task);
}

void Worker::touch(const SharedSite& site) {
    touched_[site.index] = 1;
    touched_sites_.push_back(&site);
    static_shared_ += site.bytes;
    if (observer != nullptr) observer->shared_variable_seen(site);
    note_static_shared(task_->function, static_shared_);
    if (static_shared_ > static_shared_limit) {
        give_up(
            cudaErrorInvalidValue,
            "%s: %zu bytes of __shared__ variables; the limit is %zu (nvcc refuses this kernel): "
            "use dynamic shared memory and cudaFuncSetAttribute",
            where_running().c_str(), static_shared_, static_shared_limit);
    }
    std::memset(block.shared + site.offset, never_written, site.bytes);
}

Context Worker::take_fiber() {
    if (block.resting != resting_.data()) return *--block.resting;
    char* const top = stacks_.top(stacks_used_++);
    Context fiber;
#ifdef EMULATOR_BOOST_CONTEXT
    fiber.position =
        boost::context::detail::make_fcontext(top, Stacks::stack_bytes / 2, fiber_entry);
#else
    // As a call would leave it: the return address, here none, at a multiple of 16 less 8.
    void** const frame = reinterpret_cast<void**>(top) - 1;
    *frame = nullptr;
    fiber = {frame, reinterpret_cast<void*>(fiber_body), nullptr};
#endif
    return fiber;
}

void Worker::give_up(cudaError_t error, const char* format, ...) {
    {
        std::va_list arguments;
        va_start(arguments, format);
        const std::string why = formatted(format, arguments);
        va_end(arguments);
        if (!task_->reported.exchange(true)) report("%s", why.c_str());
        if (observer != nullptr) observer->kernel_given_up(error, why.c_str());
    }
    error_ = error;
    siglongjmp(give_up_point_, 1);
}

void Worker::run_block(uint3 index, std::uint64_t number) {
    constexpr unsigned last_phase = 1u << 31;  // far below the values of Wait
    blocks_begun_.fetch_add(1, std::memory_order_relaxed);
    blockIdx = index;
    shape_block(task_->block, number);
    block.end = block.begin + shape_.x * shape_.y * shape_.z;
    block.unbegun = block.begin;
    block.waited = false;
    block.at_barrier = 0;
    block.in_warps = 0;
    block.diverged = false;
    if (block.phase > last_phase) block.phase = 1;
    for (unsigned warp = 0; warp * 32 < block.threads(); ++warp)
        warps_[warp].waiting = 0;
    for (const SharedSite* const site : touched_sites_) {
        std::memset(block.shared + site->offset, never_written, site->bytes);
    }
    if (task_->dynamic_shared != 0) {
        std::memset(block.dynamic_shared, never_written, task_->dynamic_shared);
    }
    block.begin->context = take_fiber();
    if (observer != nullptr) observer->block_begins(number);
    run_slot(*block.begin, home_);
    if (observer != nullptr) observer->block_ends();
}

cudaError_t Worker::run_blocks(Task& task, std::uint64_t launch, std::uint64_t first,
                               std::uint64_t last) {
    if (launch != launch_) begin_launch(task, launch);
    const std::uint64_t count = std::uint64_t(task.grid.x) * task.grid.y * task.grid.z;
    error_ = cudaSuccess;
    block.in_kernel = true;
    allow_device_access();  // a signal handler that gave up an earlier block has lost the right
    if (sigsetjmp(give_up_point_, 0) == 0) {
        for (std::uint64_t number = first; number < last; ++number) {
            const std::uint64_t linear = block_at(number, count);
            run_block(unfold(linear, task.grid), linear);
        }
    }
    block.in_kernel = false;
    if (error_ != cudaSuccess) {
        launch_ = 0;  // its fibers stopped anywhere: none may be used again
        for (Slot& slot : slots_)
            slot.wait = wait_for_ever;
    }
    return error_;
}

void touch_shared(const SharedSite& site) {
    this_worker->touch(site);
}

}  // namespace emu
