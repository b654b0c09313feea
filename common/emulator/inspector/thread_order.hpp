/// \file
/// Which accesses of a launch happen before which: barriers, warps, and fences with atomics.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "stamp.hpp"

namespace emu::inspector {

/// How far a fence of a thread reaches.
enum class FenceScope : std::uint8_t { block, device };

/// Blocks run one after another, each from its own first era on.
///
/// Barriers and full warps need one number each: what lies before it is known to all. Lanes that
/// meet in a part of a warp have a matrix of who knows whom up to which era. Between others, a
/// thread that uses an atomic after a fence releases what happened before the fence, and a thread
/// that uses an atomic on the same address later acquires it.
class ThreadOrder {
public:
    /// `now`: the running era, which this class advances.
    explicit ThreadOrder(Era& now) : now_(now) {}

    void begin_launch();
    void begin_block();
    void barrier() { barrier_ = ++now_; }
    /// Lanes have met in a warp primitive. One that does not order memory at least hands on what
    /// its lanes have acquired: all act on the value that came from an atomic.
    void warp_sync(unsigned warp, std::uint32_t lanes, bool orders_memory);
    void fence(unsigned thread, FenceScope scope);

    /// To be called before and after an atomic access is looked at.
    void acquire(const Access& atomic, Space space, unsigned thread) {
        if (!fences_.empty()) note_acquire(atomic, space, thread);
    }
    void release(const Access& atomic, Space space, unsigned thread) {
        if (!fences_.empty()) note_release(atomic, space, thread);
    }

    /// First era of the running block.
    Era block() const { return block_; }
    /// What lies before this era is known to all threads of the block.
    Era known_to_all() const { return barrier_; }

    /// Whether `thread` and another thread of the running block have met in their warp since the
    /// other's access.
    bool met_in_warp(unsigned thread, Stamp earlier) const {
        const unsigned warp = thread / warp_size;
        if (earlier.warp() != warp) return false;
        return earlier.era() < full_meeting_[warp] ||
               (part_meeting_[warp] > std::max(barrier_, full_meeting_[warp]) &&
                earlier.era() < lanes_[warp][thread % warp_size][earlier.thread() % warp_size]);
    }

    /// Whether fences and atomics put an access in this launch, which touched the byte at
    /// `address`, before what `thread` does now.
    bool acquired(unsigned thread, Stamp earlier, std::uint64_t address) const {
        return (acquires_.size() > block_acquires_ || gave_up_) &&
               follows_release(thread, earlier, address);
    }

    /// Eras begin again; of the running block everything is forgotten.
    void restart();

private:
    static constexpr unsigned threads = 1024;
    static constexpr unsigned warp_size = 32;
    static constexpr unsigned warps = threads / warp_size;

    /// A moment of a thread: now, a fence, or an atomic after a fence.
    struct Moment {
        Era era;      ///< what the thread did before has a smaller one
        Era block;    ///< the first of its block
        Era barrier;  ///< the last
        Era met;      ///< the thread's last meeting with lanes of its warp that ordered memory
        Era heard;    ///< its last one of any kind
        std::uint16_t thread;
        FenceScope scope;  ///< of a fence
        bool relays;  ///< of a fence: its block had acquired something; of an atomic: one before

        /// Whether something in the same block lies before, known through `warp_meeting` if it was
        /// in the same warp.
        bool knows(Era other, unsigned other_thread, Era warp_meeting) const {
            return other < era && other >= block &&
                   (other_thread == thread || other < barrier ||
                    (other < warp_meeting && other_thread / warp_size == thread / warp_size));
        }
    };
    struct Acquire {
        Era era;
        std::uint16_t thread;
        Space space;
        std::uint8_t bytes;
        std::uint64_t address;
    };
    using Releases = std::unordered_map<std::uint64_t, std::vector<Moment>>;
    using Row = std::array<Era, warp_size>;

    Moment moment(unsigned thread) const;
    void meet_in_part(unsigned warp, std::uint32_t lanes);
    void note_acquire(const Access& atomic, Space space, unsigned thread);
    void note_release(const Access& atomic, Space space, unsigned thread);
    bool follows_release(unsigned thread, Stamp earlier, std::uint64_t address) const;
    bool precedes(Stamp earlier, std::uint64_t address, const Moment& moment, int& steps) const;
    void forget_releases();
    void give_up();

    Era& now_;
    Era block_ = 1;
    Era barrier_ = 1;

    std::array<Era, warps> full_meeting_{};  ///< by warp: the last __syncwarp() of all lanes
    std::array<Era, warps> full_hearing_{};  ///< by warp: the last primitive of all lanes
    std::array<Era, warps> part_meeting_{};  ///< by warp: the last one of some
    std::array<Era, threads> met_{};         ///< by thread: the last one that was not of all lanes
    std::array<Era, threads> heard_{};       ///< by thread: the last such primitive
    std::array<std::array<Row, warp_size>, warps> lanes_{};  ///< by warp: row knows column

    std::vector<Moment> fences_;     ///< of the running block, and of those that released something
    std::vector<Acquire> acquires_;  ///< the same
    std::array<Releases, 2> releases_;  ///< by space and address
    std::size_t release_count_ = 0;
    std::size_t block_fences_ = 0;    ///< those of earlier blocks
    std::size_t block_acquires_ = 0;  ///< those of earlier blocks
    bool block_releases_ = false;     ///< the running block has released something
    bool gave_up_ = false;            ///< too many: in this launch, everything counts as ordered
};

}  // namespace emu::inspector
