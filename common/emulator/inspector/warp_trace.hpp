/// \file
/// What the threads of a block did, put together again as what its warps would have done.
///
/// The emulator runs one thread after another; a GPU runs a warp's lanes in step. Each thread's
/// basic blocks ("steps") and accesses are kept in the order in which they happened. flush() then
/// replays every warp: of its lanes' next events, the ones in the deepest call and there at the
/// smallest address go first, and all lanes whose next event is that one go together. Compilers lay
/// code out in source order, so a loop's body comes before what follows the loop: lanes that leave
/// a loop early, or skip what an `if` guards, wait where the others' paths meet theirs again. Lanes
/// that jump back, as by `continue`, wait for the others at the loop's end, as if all jumped there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "access.hpp"
#include "place_table.hpp"
#include "request.hpp"

namespace emu::inspector {

class BlockTrace {
public:
    static constexpr std::size_t default_limit = std::size_t(64) << 20;

    /// `limit`: bytes that the events of one block may take before they are flushed.
    explicit BlockTrace(std::size_t limit = default_limit);

    /// Forgets everything and awaits a block of so many threads.
    void begin_block(unsigned threads);

    /// `thread` enters the basic block at `pc`. `depth`: of calls, any number that grows by one
    /// from a function to the one that it calls; told apart up to 4000.
    void step(unsigned thread, Pc pc, unsigned depth) {
        Lane& lane = lanes_[thread];
        if (lane.end >= lane.limit && !grow(lane)) return;
        const Pc last = lane.go_to(pc, depth);
        std::uint64_t word = word_of(pc, depth);
        if (pc <= last) {
            word |= jumps_back;
            Pc& end = loop_ends_.find(pc + std::uint64_t(1), 0);
            if (end < last) end = last;
        }
        *lane.end++ = word;
    }

    /// `thread` accesses memory. At most 16 bytes.
    void access(unsigned thread, const Access& access, Space space, unsigned depth) {
        Lane& lane = lanes_[thread];
        if (lane.end >= lane.limit && !grow(lane)) return;
        lane.go_to(access.pc, depth);
        lane.end[0] =
            word_of(access.pc, depth) | word_of(space) | word_of(access.kind) | access.bytes;
        lane.end[1] = access.address | std::uint64_t(access.adds_one) << adds_one_shift;
        lane.end += access_words;
    }

    /// Tells `sink` what the warps did since they were last flushed. Where every thread waits, as
    /// at a barrier, or has returned.
    void flush(WarpSink& sink);

    /// The same for one warp: where all its threads wait or have returned. Memory stays small and
    /// near if this is done as soon as a warp's last thread waits.
    void flush_warp(unsigned warp, WarpSink& sink);

    /// Events of this block that were dropped because of the limit.
    std::uint64_t lost() const { return lost_; }

private:
    /// A thread's events lie in a chain of chunks. An event is one word, its instruction; that of
    /// an access is followed by the address, whose top bit says of an atomic that it adds 1: lanes
    /// go together whatever they add. The smallest word goes first, so from the top bit
    /// down: 12 bits of inverted call depth, 32 of address of code, 20 of what it is. Of an access
    /// these hold 1 bit of space, 2 of kind, 5 of size. Two words have a meaning of their own.
    static constexpr std::uint64_t go_on = 0;         ///< the next word points to the next chunk
    static constexpr std::uint64_t nothing = ~go_on;  ///< the thread has no more events
    static constexpr unsigned depth_shift = 52;
    static constexpr unsigned depth_limit = 4000;
    static constexpr unsigned pc_shift = 20;
    static constexpr std::uint64_t what_mask = (1u << pc_shift) - 1;
    static constexpr std::uint64_t waits = what_mask;    ///< at a loop's end for its next turn
    static constexpr std::uint64_t jumps_back = 1 << 8;  ///< a step that lies before the last one
    static constexpr unsigned space_shift = 7;
    static constexpr unsigned kind_shift = 5;
    static constexpr std::uint64_t bytes_mask = 31;  ///< never 0 in an access, always in a step
    static constexpr unsigned access_words = 2;
    static constexpr unsigned adds_one_shift = 63;
    static constexpr unsigned go_on_words = 2;
    /// An odd number of cache lines, so that chunks do not all start in the same sets of a cache.
    static constexpr unsigned chunk_words = 72;
    static constexpr unsigned slab_chunks = 128;

    struct Lane {
        std::uint64_t* begin = nullptr;  ///< its first chunk; null: no events
        std::uint64_t* end = nullptr;    ///< where the next event goes
        std::uint64_t* limit = nullptr;  ///< from here on an access may not fit
        /// By call depth: the last place in each function that has not returned. Deep calls share.
        std::array<Pc, 8> last{};
        unsigned depth = 0;  ///< of the last event
        bool cut = false;    ///< an event was dropped, and with it those that follow

        /// Gives the last place in the function that runs at `depth`; 0 if it has just begun.
        Pc go_to(Pc pc, unsigned new_depth) {
            for (; depth < new_depth; ++depth)
                last[(depth + 1) % last.size()] = 0;
            depth = new_depth;
            return std::exchange(last[depth % last.size()], pc);
        }
    };

    /// Lanes that went through a step together and have not all gone on.
    struct Departure {
        Pc pc;
        unsigned depth;
        std::uint32_t waiting;  ///< lanes whose next step is not known
        std::uint32_t gone;
        Pc next;  ///< where the first of them went
        bool diverged;
    };

    struct Replay;

    static std::uint64_t word_of(Pc pc, unsigned depth) {
        const std::uint64_t height = depth_limit + 1 - (depth < depth_limit ? depth : depth_limit);
        return height << depth_shift | std::uint64_t(pc) << pc_shift;
    }
    static std::uint64_t word_of(Space space) { return std::uint64_t(space) << space_shift; }
    static std::uint64_t word_of(AccessKind kind) { return std::uint64_t(kind) << kind_shift; }

    bool grow(Lane& lane);
    std::uint64_t* take_chunk();
    void offer_chunks(std::uint64_t* slab);
    void depart(std::vector<Departure>& departures, std::uint64_t word, std::uint32_t lanes,
                WarpSink& sink);

    std::size_t slab_limit_;
    std::vector<std::unique_ptr<std::uint64_t[]>> slabs_;
    std::vector<std::uint64_t*> free_;                ///< chunks
    std::vector<Lane> lanes_;                         ///< by thread
    std::vector<std::vector<Departure>> departures_;  ///< by warp
    /// By the place where a loop's next turn begins: the last place from which lanes went there.
    PlaceTable<Pc> loop_ends_;
    std::uint64_t lost_ = 0;
};

}  // namespace emu::inspector
