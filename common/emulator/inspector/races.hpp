/// \file
/// Finds two accesses to the same byte that nothing puts in an order, at least one of them a write
/// and not both atomic.
///
/// What orders accesses:
/// - within a thread: the program's order;
/// - within a block: barriers; within a warp also __syncwarp(), for the lanes that met in it;
/// - between threads without these: fence, atomic, atomic. Whatever happens before a thread's fence
///   happens before all that follows a later atomic of another thread on the same address as an
///   atomic behind that fence. No fence is asked of the reader (CUDA's last-block pattern has
///   none);
/// - between operations and the host: OperationClocks.
///
/// The order in which threads happened to run does not count, but for two things. A plain write of
/// a thread that has used an atomic on the same address is not held against atomics before that
/// one: the thread that drew the last ticket may set the counter back. And whoever acquires through
/// an address has seen all earlier atomics on it.
///
/// What is told is a race. A race can be missed: of many accesses to a word only three are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "access.hpp"
#include "actors.hpp"
#include "operation_clocks.hpp"
#include "shadow_memory.hpp"
#include "stamp.hpp"
#include "thread_order.hpp"

namespace emu::inspector {

/// The earlier of two accesses that race.
struct Conflict {
    enum class Who : std::uint8_t { thread, operation, host };
    Who who;
    AccessKind kind;
    bool both_write;            ///< both are plain writes: harmless if both leave the same value
    Pc pc;                      ///< 0: unknown
    OperationNumber operation;  ///< the launch, copy or fill; of the host: 0
    std::optional<ThreadPlace> thread;  ///< nothing: not a thread, or too long ago to say
    std::uint64_t address;              ///< first byte that both touch
};

/// Eras of 32 bits last for some hours. Then the past is forgotten, and with it the races between
/// what was before and what comes after.
class Races {
public:
    /// `memory_limit`: bytes for what is kept about memory; pages beyond are not watched.
    explicit Races(const OperationClocks& clocks, std::size_t memory_limit = std::size_t{1} << 30,
                   Era most_eras = 0xf0000000);
    Races(const Races&) = delete;
    Races& operator=(const Races&) = delete;

    /// A kernel begins; blocks that begin from now on are its.
    void begin_launch(OperationNumber launch);
    /// `block`: linear index in the grid. Shared memory is new.
    void begin_block(std::uint64_t block);
    /// All threads of the block that have not returned met in a barrier.
    void barrier() { order_.barrier(); }
    /// The lanes of the mask `lanes` met in a warp primitive; `orders_memory`: in __syncwarp().
    void warp_sync(unsigned warp, std::uint32_t lanes, bool orders_memory = true) {
        order_.warp_sync(warp, lanes, orders_memory);
    }
    /// __threadfence_block(), or __threadfence() and __threadfence_system().
    void fence(unsigned thread, FenceScope scope = FenceScope::device) {
        order_.fence(thread, scope);
    }

    /// A thread of the running block accesses memory. Gives an earlier access that it races with.
    std::optional<Conflict> access(const Access& access, Space space, unsigned thread);

    /// A copy or fill accesses memory, or a host function does that runs in a stream.
    std::optional<Conflict> operation(OperationNumber operation, std::uint64_t address,
                                      std::uint64_t bytes, AccessKind kind, Pc pc = 0);

    /// The host accesses memory that the device can reach.
    std::optional<Conflict> host(std::uint64_t address, std::uint64_t bytes, AccessKind kind,
                                 Pc pc);

    /// Memory was freed: what comes to lie there has no past.
    void forget(std::uint64_t address, std::uint64_t bytes);

    /// Pages of 4 KiB that were not watched because the memory limit was reached.
    std::uint64_t dropped_pages() const { return memory_.dropped_pages(); }
    /// Bytes that are kept about memory.
    std::size_t memory() const { return memory_.memory(); }

private:
    std::optional<Conflict> range(std::uint64_t address, std::uint64_t bytes, AccessKind kind,
                                  Pc pc);
    Conflict conflict(Stamp earlier, AccessKind kind, std::uint64_t address) const;
    void restart_eras();

    Era most_eras_;
    Era now_ = 1;
    OperationNumber launch_ = 0;
    Actors actors_;
    ThreadOrder order_{now_};
    ShadowMemory memory_;
    PcNumbers pcs_;
};

}  // namespace emu::inspector
