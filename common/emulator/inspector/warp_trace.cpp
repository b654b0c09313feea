#include "warp_trace.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace emu::inspector {

BlockTrace::BlockTrace(std::size_t limit)
    : slab_limit_(
          std::max<std::size_t>(1, limit / (slab_chunks * chunk_words * sizeof(std::uint64_t)))) {}

void BlockTrace::begin_block(unsigned threads) {
    if (free_.size() != slabs_.size() * slab_chunks) {  // a block was not flushed
        free_.clear();
        for (const auto& slab : slabs_)
            offer_chunks(slab.get());
    }
    lanes_.assign(threads, Lane());
    departures_.resize((threads + warp_lanes - 1) / warp_lanes);
    for (auto& warp : departures_)
        warp.clear();
    lost_ = 0;
}

void BlockTrace::offer_chunks(std::uint64_t* slab) {
    for (unsigned i = slab_chunks; i-- > 0;)
        free_.push_back(&slab[i * chunk_words]);
}

std::uint64_t* BlockTrace::take_chunk() {
    if (free_.empty()) {
        if (slabs_.size() == slab_limit_) return nullptr;
        slabs_.emplace_back(new std::uint64_t[slab_chunks * chunk_words]);
        offer_chunks(slabs_.back().get());
    }
    std::uint64_t* chunk = free_.back();
    free_.pop_back();
    return chunk;
}

/// Makes room for one event. A thread that has lost an event loses all up to the next flush: a gap
/// would match the rest of its path with the wrong part of its neighbours'.
bool BlockTrace::grow(Lane& lane) {
    std::uint64_t* chunk = lane.cut ? nullptr : take_chunk();
    if (chunk == nullptr) {
        lane.cut = true;
        lane.limit = lane.end;
        ++lost_;
        return false;
    }
    if (lane.begin == nullptr) {
        lane.begin = chunk;
    } else {
        lane.end[0] = go_on;
        std::memcpy(&lane.end[1], &chunk, sizeof chunk);
    }
    lane.end = chunk;
    lane.limit = chunk + chunk_words - go_on_words - access_words + 1;
    return true;
}

/// Where the lanes of a warp are in their events.
struct BlockTrace::Replay {
    std::array<std::uint64_t, warp_lanes> word;  ///< of the next event; `nothing` at the end
    std::array<const std::uint64_t*, warp_lanes> at;
    std::array<std::uint64_t*, warp_lanes> chunk;
    std::vector<std::uint64_t*>& free;
    PlaceTable<Pc>& loop_ends;
    std::uint64_t chosen = nothing;  ///< the word of the lanes that go next
    std::uint32_t together = 0;      ///< those lanes
    std::uint32_t active = 0;        ///< lanes that have events
    std::uint32_t jumping = 0;       ///< lanes that jump back next and have not waited yet
    bool in_step = false;            ///< all active lanes have `chosen` next

    Replay(std::vector<std::uint64_t*>& free_chunks, PlaceTable<Pc>& ends)
        : free(free_chunks), loop_ends(ends) {
        word.fill(nothing);
    }

    void start(unsigned lane, const Lane& from) {
        if (from.begin == nullptr) return;
        *from.end = nothing;
        chunk[lane] = from.begin;
        at[lane] = from.begin;
        active |= 1u << lane;
        load(lane);
    }

    /// Finds who goes next. False: nobody has events.
    bool choose() {
        while (!in_step) {
            for_each(jumping, [this](unsigned lane) {
                const Pc end =
                    loop_ends.find(static_cast<Pc>(word[lane] >> pc_shift) + std::uint64_t(1), 0);
                word[lane] = word[lane] >> depth_shift << depth_shift |
                             std::uint64_t(end) << pc_shift | waits;
            });
            jumping = 0;
            chosen = *std::min_element(word.begin(), word.end());
            together = 0;
            for (unsigned lane = 0; lane < warp_lanes; ++lane)
                together |= std::uint32_t(word[lane] == chosen) << lane;
            if (chosen == nothing) return false;
            if ((chosen & what_mask) != waits) return true;
            for_each(together, [this](unsigned lane) { word[lane] = *at[lane] & ~jumps_back; });
        }
        jumping = 0;
        return true;
    }

    template <class Act>
    static void for_each(std::uint32_t lanes, Act act) {
        for (; lanes != 0; lanes &= lanes - 1)
            act(static_cast<unsigned>(__builtin_ctz(lanes)));
    }

    /// Calls `take(lane, event)` for the lanes that go, and goes `words` words on.
    template <class Take>
    void advance(unsigned words, Take take) {
        const std::uint32_t was_active = active;
        std::uint64_t different = 0;
        std::uint64_t next = 0;
        for_each(together, [&](unsigned lane) {
            take(lane, at[lane]);
            at[lane] += words;
            load(lane);
            if (next == 0) next = word[lane];
            different |= word[lane] ^ next;
        });
        in_step = together == was_active && different == 0 && next != nothing;
        chosen = next & ~jumps_back;
    }

    void load(unsigned lane) {
        word[lane] = *at[lane];
        if (word[lane] == go_on) {
            std::uint64_t* next;
            std::memcpy(&next, at[lane] + 1, sizeof next);
            free.push_back(chunk[lane]);
            chunk[lane] = next;
            at[lane] = next;
            word[lane] = *next;
        }
        if (word[lane] == nothing) {
            free.push_back(chunk[lane]);
            active &= ~(1u << lane);
        } else if ((word[lane] & jumps_back) != 0) {
            jumping |= 1u << lane;
        }
    }
};

void BlockTrace::flush(WarpSink& sink) {
    for (unsigned warp = 0; warp < departures_.size(); ++warp)
        flush_warp(warp, sink);
}

void BlockTrace::flush_warp(unsigned warp, WarpSink& sink) {
    const unsigned first = warp * warp_lanes;
    const unsigned lanes =
        std::min<unsigned>(warp_lanes, static_cast<unsigned>(lanes_.size()) - first);
    Replay replay(free_, loop_ends_);
    for (unsigned lane = 0; lane < lanes; ++lane) {
        replay.start(lane, lanes_[first + lane]);
        Lane& from = lanes_[first + lane];
        from.begin = from.end = from.limit = nullptr;
        from.cut = false;
    }
    Request request{};
    while (replay.choose()) {
        const std::uint64_t word = replay.chosen;
        if ((word & bytes_mask) == 0) {
            depart(departures_[warp], word, replay.together, sink);
            replay.advance(1, [](unsigned, const std::uint64_t*) {});
            continue;
        }
        request.pc = static_cast<Pc>(word >> pc_shift);
        request.space = static_cast<Space>(word >> space_shift & 1);
        request.kind = static_cast<AccessKind>(word >> kind_shift & 3);
        request.bytes = static_cast<std::uint8_t>(word & bytes_mask);
        request.lanes = replay.together;
        replay.advance(access_words, [&request](unsigned lane, const std::uint64_t* event) {
            request.address[lane] = event[1];
        });
        if (request.kind == AccessKind::atomic) {
            request.adds_one = true;
            Replay::for_each(request.lanes, [&request](unsigned lane) {
                request.adds_one &= request.address[lane] >> adds_one_shift != 0;
                request.address[lane] &= ~(std::uint64_t{1} << adds_one_shift);
            });
        }
        sink.request(request);
    }
}

/// `lanes` come to the step `word`. A step ends when its lanes come to their next one in the same
/// function; steps of functions that it calls come between, and a return ends a function's last.
void BlockTrace::depart(std::vector<Departure>& departures, std::uint64_t word, std::uint32_t lanes,
                        WarpSink& sink) {
    const Pc pc = static_cast<Pc>(word >> pc_shift);
    const unsigned depth = depth_limit + 1 - static_cast<unsigned>(word >> depth_shift);
    std::size_t kept = 0;
    for (Departure& from : departures) {
        const std::uint32_t going = from.depth < depth ? 0 : from.waiting & lanes;
        from.waiting &= ~going;
        if (going != 0 && from.depth == depth) {
            if (from.gone == 0) from.next = pc;
            from.diverged |= from.next != pc;
            from.gone |= going;
        }
        if (from.waiting != 0) {
            departures[kept++] = from;
        } else if (from.gone != 0) {
            sink.branch(from.pc, from.next, from.gone, from.diverged);
        }
    }
    departures.resize(kept);
    departures.push_back({pc, depth, lanes, 0, 0, false});
}

}  // namespace emu::inspector
