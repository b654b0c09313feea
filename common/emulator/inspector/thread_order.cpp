#include "thread_order.hpp"

namespace emu::inspector {
namespace {

/// Fences, acquires and releases that are kept of a launch: some 30 MB each.
constexpr std::size_t most_records = std::size_t{1} << 20;

/// How much one question may cost before it counts as answered with yes.
constexpr int most_steps = 2000;

constexpr std::uint32_t all_lanes = ~std::uint32_t{0};

}  // namespace

void ThreadOrder::begin_launch() {
    forget_releases();
    gave_up_ = false;
}

void ThreadOrder::begin_block() {
    // What a block did counts for others only if it released something.
    if (!block_releases_) {
        fences_.resize(block_fences_);
        acquires_.resize(block_acquires_);
    }
    block_fences_ = fences_.size();
    block_acquires_ = acquires_.size();
    block_releases_ = false;
    Releases& shared = releases_[static_cast<std::size_t>(Space::shared)];
    if (!shared.empty()) shared.clear();
    block_ = barrier_ = ++now_;
}

void ThreadOrder::warp_sync(unsigned warp, std::uint32_t lanes, bool orders_memory) {
    if (!orders_memory && fences_.empty()) return;  // nothing can have been acquired
    ++now_;
    if (lanes == all_lanes) {
        full_hearing_[warp] = now_;
        if (orders_memory) full_meeting_[warp] = now_;
        return;
    }
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        heard_[warp * warp_size + lane] = now_;
        if (orders_memory) met_[warp * warp_size + lane] = now_;
    }
    if (orders_memory) meet_in_part(warp, lanes);
}

void ThreadOrder::meet_in_part(unsigned warp, std::uint32_t lanes) {
    auto& rows = lanes_[warp];
    // Older than what all lanes know of each other anyway.
    if (part_meeting_[warp] < std::max(barrier_, full_meeting_[warp])) rows = {};
    part_meeting_[warp] = now_;
    Row known{};
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        for (unsigned i = 0; i < warp_size; ++i)
            known[i] = std::max(known[i], rows[lane][i]);
    }
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((lanes >> lane & 1) != 0) known[lane] = now_;
    }
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((lanes >> lane & 1) != 0) rows[lane] = known;
    }
}

ThreadOrder::Moment ThreadOrder::moment(unsigned thread) const {
    const unsigned warp = thread / warp_size;
    return {now_,
            block_,
            barrier_,
            std::max(met_[thread], full_meeting_[warp]),
            std::max(heard_[thread], full_hearing_[warp]),
            static_cast<std::uint16_t>(thread),
            FenceScope::device,
            acquires_.size() > block_acquires_};
}

void ThreadOrder::fence(unsigned thread, FenceScope scope) {
    ++now_;
    if (gave_up_) return;
    if (fences_.size() >= most_records) {
        give_up();
        return;
    }
    Moment fence = moment(thread);
    fence.scope = scope;
    fences_.push_back(fence);
}

void ThreadOrder::note_acquire(const Access& atomic, Space space, unsigned thread) {
    const Releases& releases = releases_[static_cast<std::size_t>(space)];
    const auto place = releases.find(atomic.address);
    if (place == releases.end()) return;
    if (acquires_.size() > block_acquires_) {
        // Again and again, and nobody could have taken notice in between.
        Acquire& last = acquires_.back();
        const Moment now = moment(thread);
        if (last.thread == thread && last.address == atomic.address && last.space == space &&
            last.era > std::max({fences_.back().era, now.barrier, now.heard})) {
            last.era = ++now_;
            return;
        }
    }
    if (acquires_.size() >= most_records) {
        give_up();
        return;
    }
    acquires_.push_back(
        {++now_, static_cast<std::uint16_t>(thread), space, atomic.bytes, atomic.address});
}

void ThreadOrder::note_release(const Access& atomic, Space space, unsigned thread) {
    if (fences_.size() == block_fences_) return;
    const Moment& last_fence = fences_.back();
    Moment release = moment(thread);
    std::vector<Moment>& releases = releases_[static_cast<std::size_t>(space)][atomic.address];
    if (!releases.empty()) {
        const Moment& last = releases.back();
        if (last.thread == thread && last.era > last_fence.era && last.barrier == barrier_ &&
            last.met == release.met) {
            return;  // nothing new to release
        }
    }
    if (++release_count_ > most_records) {
        give_up();
        return;
    }
    // Which fences it stands behind is found out when somebody asks.
    release.era = ++now_;
    release.relays = last_fence.relays;
    releases.push_back(release);
    block_releases_ = true;
}

bool ThreadOrder::follows_release(unsigned thread, Stamp earlier, std::uint64_t address) const {
    if (gave_up_) return true;
    Moment current = moment(thread);
    ++current.era;
    current.met = 0;  // met_in_warp() says it exactly
    int steps = most_steps;
    return precedes(earlier, address, current, steps);
}

bool ThreadOrder::precedes(Stamp earlier, std::uint64_t address, const Moment& moment,
                           int& steps) const {
    if (moment.knows(earlier.era(), earlier.thread(), moment.met)) return true;
    auto acquire = std::lower_bound(acquires_.begin(), acquires_.end(), moment.block,
                                    [](const Acquire& a, Era era) { return a.era < era; });
    for (; acquire != acquires_.end() && acquire->era < moment.era; ++acquire) {
        if (!moment.knows(acquire->era, acquire->thread, moment.heard)) continue;
        // The atomics before it on the same address are seen with it.
        if (earlier.kind() == AccessKind::atomic && earlier.era() < acquire->era &&
            address - acquire->address < acquire->bytes) {
            return true;
        }
        const Releases& all = releases_[static_cast<std::size_t>(acquire->space)];
        const auto place = all.find(acquire->address);
        if (place == all.end()) continue;
        auto release = std::upper_bound(place->second.begin(), place->second.end(), earlier.era(),
                                        [](Era era, const Moment& m) { return era < m.era; });
        for (; release != place->second.end() && release->era < acquire->era; ++release) {
            const bool own_block = earlier.era() >= release->block;
            if (!own_block && !release->relays) continue;
            auto fence = std::upper_bound(fences_.begin(), fences_.end(),
                                          std::max(earlier.era(), release->block),
                                          [](Era era, const Moment& m) { return era < m.era; });
            for (; fence != fences_.end() && fence->era < release->era; ++fence) {
                if (--steps < 0) return true;
                if (!release->knows(fence->era, fence->thread, release->met)) continue;
                if (fence->scope == FenceScope::block && fence->block != moment.block) continue;
                if (precedes(earlier, address, *fence, steps)) return true;
            }
        }
    }
    return false;
}

void ThreadOrder::forget_releases() {
    fences_.clear();
    acquires_.clear();
    for (Releases& releases : releases_)
        releases.clear();
    release_count_ = 0;
    block_fences_ = 0;
    block_acquires_ = 0;
    block_releases_ = false;
}

void ThreadOrder::give_up() {
    forget_releases();
    gave_up_ = true;
}

void ThreadOrder::restart() {
    forget_releases();
    full_meeting_ = {};
    full_hearing_ = {};
    part_meeting_ = {};
    met_ = {};
    heard_ = {};
    block_ = barrier_ = now_;
}

}  // namespace emu::inspector
