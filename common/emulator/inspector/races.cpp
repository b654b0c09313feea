#include "races.hpp"

#include <algorithm>

namespace emu::inspector {
namespace {

bool can_race(AccessKind one, AccessKind other) {
    return one == AccessKind::atomic ? other != AccessKind::atomic
                                     : one == AccessKind::write || other != AccessKind::read;
}

/// What the thread of a block can rely on.
struct ThreadView {
    const ThreadOrder& order;
    Actors& actors;
    Space space;
    unsigned thread;
    Era past;   ///< what lies before is in order with all that may yet come
    Era block;  ///< first era of the running block
    Era phase;  ///< first era since the block's last barrier

    /// In order with what the thread does now, at first sight.
    bool is_quiet(Stamp earlier) const {
        const Era era = earlier.era();
        return era < past || (era >= block && (era < phase || earlier.thread() == thread));
    }
    /// Not in order, as far as it can be told without a look at fences.
    bool apart(Stamp earlier) const {
        if (is_quiet(earlier)) return false;
        const Era era = earlier.era();
        if (era >= block) return !order.met_in_warp(thread, earlier);
        if (space == Space::shared) return false;  // the block before had other shared memory
        return era >= actors.present() || actors.relation(era) != Actors::Relation::ordered;
    }
    /// Put in order by fences and atomics, which say nothing about other launches.
    bool acquired(Stamp earlier, std::uint64_t address) const {
        return order.acquired(thread, earlier, address) &&
               (earlier.era() >= actors.present() ||
                actors.relation(earlier.era()) == Actors::Relation::same);
    }
};

/// What an operation or the host can rely on.
struct WholeView {
    Actors& actors;
    Era past;
    Era block = ~Era{0};  ///< no thread is running
    Era phase = ~Era{0};

    bool is_quiet(Stamp earlier) const {
        return earlier.era() < past || earlier.era() >= actors.present();
    }
    bool apart(Stamp earlier) const {
        return !is_quiet(earlier) && actors.relation(earlier.era()) == Actors::Relation::unordered;
    }
    bool acquired(Stamp, std::uint64_t) const { return false; }
};

/// Notes an access that is not, or no longer, the last write.
template <class View>
void keep(ShadowCell& cell, Stamp stamp, const View& view) {
    Stamp* replaced = nullptr;
    for (Stamp& other : cell.others) {
        if (other.era() < view.past) {
            other = stamp;
            return;
        }
        if (view.apart(other)) continue;
        replaced = &other;
        // Whatever races with the old one races with the new one too.
        if (other.kind() == stamp.kind()) break;
    }
    Stamp& last = cell.others[1];
    if (replaced != nullptr) {
        *replaced = stamp;
    } else if (last.era() < view.block ||
               (last.warp() == cell.others[0].warp() && last.warp() != stamp.warp())) {
        // One of an earlier block is enough, and one __syncwarp() must not hide both.
        last = stamp;
    }
}

/// check() for what is not in order at first sight.
template <class View>
[[gnu::noinline]] Stamp check_closely(ShadowCell& cell, std::uint64_t address, Stamp stamp,
                                      const View& view) {
    const AccessKind kind = stamp.kind();
    const auto races = [&](Stamp other) {
        return can_race(other.kind(), kind) && view.apart(other) && !view.acquired(other, address);
    };
    const bool write_races = races(cell.write);
    Stamp found = write_races ? cell.write : Stamp();
    // See the head of races.hpp.
    const bool sets_back = kind == AccessKind::write && !write_races &&
                           cell.write.kind() == AccessKind::atomic &&
                           cell.write.era() >= view.block;
    for (const Stamp other : cell.others) {
        if (sets_back && other.kind() == AccessKind::atomic) continue;
        if (races(other)) found = other;
    }
    switch (kind) {
        case AccessKind::read:
            keep(cell, stamp, view);
            break;
        case AccessKind::write:
            cell = ShadowCell{stamp, {}};
            break;
        case AccessKind::atomic:
            // Other atomics do not race with this one, but may with what this one comes after.
            if (cell.write.era() >= view.past && !write_races &&
                (cell.write.kind() == AccessKind::write || view.apart(cell.write))) {
                keep(cell, cell.write, view);
            }
            cell.write = stamp;
            break;
    }
    return found;
}

/// Looks for an earlier access to a cell that races with `stamp`, which is then noted. An empty
/// stamp: none. `address`: of the cell.
template <class View>
[[gnu::always_inline]] inline Stamp check(ShadowCell& cell, std::uint64_t address, Stamp stamp,
                                          const View& view) {
    Stamp& first = cell.others[0];
    Stamp& last = cell.others[1];
    if (view.is_quiet(cell.write)) {
        if (stamp.kind() == AccessKind::write && view.is_quiet(first) && view.is_quiet(last)) {
            cell = ShadowCell{stamp, {}};
            return Stamp();
        }
        if (stamp.kind() == AccessKind::read && first.kind() == AccessKind::read &&
            last.kind() == AccessKind::read) {
            if (view.is_quiet(first)) {
                first = stamp;
                return Stamp();
            }
            // Whoever writes in this phase is not in order with both of these: that is enough.
            if (first.era() >= view.phase && last.era() >= view.phase &&
                first.warp() != last.warp()) {
                return Stamp();
            }
        }
    }
    return check_closely(cell, address, stamp, view);
}

}  // namespace

Races::Races(const OperationClocks& clocks, std::size_t memory_limit, Era most_eras)
    : most_eras_(most_eras), actors_(clocks, now_), memory_(memory_limit) {}

void Races::begin_launch(OperationNumber launch) {
    launch_ = launch;
    order_.begin_launch();
    actors_.begin(Actors::Kind::launch, launch);
}

void Races::begin_block(std::uint64_t block) {
    if (now_ >= most_eras_) restart_eras();
    actors_.begin(Actors::Kind::launch, launch_);
    order_.begin_block();
    actors_.begin_block(block);
}

std::optional<Conflict> Races::access(const Access& access, Space space, unsigned thread) {
    if (access.kind == AccessKind::atomic) order_.acquire(access, space, thread);
    const Stamp stamp(now_, thread, access.kind, pcs_.number(access.pc));
    const Era phase = order_.known_to_all();
    const ThreadView view{
        order_,         actors_, space, thread, space == Space::shared ? phase : actors_.settled(),
        order_.block(), phase};
    Stamp found;
    std::uint64_t found_at = 0;
    const std::uint64_t end = access.address + access.bytes;
    // Only an unaligned access has a second piece, on the next page.
    for (std::uint64_t begin = access.address; begin < end;) {
        const std::uint64_t number = begin / page_bytes;
        const std::uint64_t piece_end = std::min(end, (number + 1) * page_bytes);
        const bool bytes = ((begin | piece_end) & 3) != 0;
        ShadowPage& page = memory_.page(number);
        if (page.watched &&
            ((page.cells && (page.shift == 0 || !bytes)) || memory_.refine(number, page, bytes))) {
            const std::uint64_t step = std::uint64_t{1} << page.shift;
            ShadowCell* cell = &page.cells[begin % page_bytes >> page.shift];
            for (std::uint64_t at = begin; at < piece_end; at += step, ++cell) {
                const Stamp earlier = check(*cell, at, stamp, view);
                if (earlier.era() != 0 && found.era() == 0) {
                    found = earlier;
                    found_at = at;
                }
            }
        }
        begin = piece_end;
    }
    if (access.kind == AccessKind::atomic) order_.release(access, space, thread);
    if (found.era() == 0) return std::nullopt;
    return conflict(found, access.kind, found_at);
}

std::optional<Conflict> Races::operation(OperationNumber operation, std::uint64_t address,
                                         std::uint64_t bytes, AccessKind kind, Pc pc) {
    if (now_ >= most_eras_) restart_eras();
    actors_.begin(Actors::Kind::operation, operation);
    return range(address, bytes, kind, pc);
}

std::optional<Conflict> Races::host(std::uint64_t address, std::uint64_t bytes, AccessKind kind,
                                    Pc pc) {
    if (now_ >= most_eras_) restart_eras();
    actors_.begin_host();
    return range(address, bytes, kind, pc);
}

std::optional<Conflict> Races::range(std::uint64_t address, std::uint64_t bytes, AccessKind kind,
                                     Pc pc) {
    const Stamp stamp(now_, 0, kind, pcs_.number(pc));
    const WholeView view{actors_, actors_.settled()};
    Stamp found;
    std::uint64_t found_at = 0;
    const auto look = [&](ShadowCell& cell, std::uint64_t at) {
        const Stamp earlier = check(cell, at, stamp, view);
        if (earlier.era() != 0 && found.era() == 0) {
            found = earlier;
            found_at = at;
        }
    };
    const std::uint64_t end = address + bytes;
    for (std::uint64_t begin = address; begin < end;) {
        const std::uint64_t number = begin / page_bytes;
        const std::uint64_t piece_end = std::min(end, (number + 1) * page_bytes);
        const bool whole = piece_end - begin == page_bytes;
        const bool odd = ((begin | piece_end) & 3) != 0;
        ShadowPage& page = memory_.page(number);
        if (page.watched && whole && !page.cells) {
            look(page.whole, begin);
        } else if (page.watched && ((page.cells && (page.shift == 0 || !odd)) ||
                                    memory_.refine(number, page, odd))) {
            const std::uint64_t step = std::uint64_t{1} << page.shift;
            ShadowCell* cell = &page.cells[begin % page_bytes >> page.shift];
            for (std::uint64_t at = begin; at < piece_end; at += step)
                look(*cell++, at);
            if (whole && kind == AccessKind::write) memory_.collapse(page, stamp);
        }
        begin = piece_end;
    }
    if (found.era() == 0) return std::nullopt;
    return conflict(found, kind, found_at);
}

void Races::forget(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t end = address + bytes;
    for (std::uint64_t begin = address; begin < end;) {
        const std::uint64_t number = begin / page_bytes;
        const std::uint64_t piece_end = std::min(end, (number + 1) * page_bytes);
        ShadowPage* const page = memory_.find(number);
        if (piece_end - begin == page_bytes) {
            memory_.erase(number);
        } else if (page != nullptr && page->watched &&
                   (page->cells || memory_.refine(number, *page, false))) {
            // A word that is freed in part is forgotten altogether.
            const std::uint64_t base = number * page_bytes;
            const std::uint64_t step = std::uint64_t{1} << page->shift;
            std::fill(&page->cells[(begin - base) >> page->shift],
                      &page->cells[0] + ((piece_end - base + step - 1) >> page->shift),
                      ShadowCell());
        }
        begin = piece_end;
    }
}

Conflict Races::conflict(Stamp earlier, AccessKind kind, std::uint64_t address) const {
    Conflict conflict{};
    conflict.kind = earlier.kind();
    conflict.both_write = kind == AccessKind::write && earlier.kind() == AccessKind::write;
    conflict.pc = pcs_.pc(earlier.place());
    conflict.address = address;
    const Actors::Run& run = actors_.run(earlier.era());
    switch (run.kind) {
        case Actors::Kind::launch:
            conflict.who = Conflict::Who::thread;
            conflict.operation = run.number;
            if (const auto block = actors_.block(earlier.era()))
                conflict.thread = {*block, static_cast<std::uint16_t>(earlier.thread())};
            break;
        case Actors::Kind::operation:
            conflict.who = Conflict::Who::operation;
            conflict.operation = run.number;
            break;
        case Actors::Kind::host:
            conflict.who = Conflict::Who::host;
            break;
    }
    return conflict;
}

void Races::restart_eras() {
    memory_.clear();
    now_ = 1;
    actors_.restart();
    order_.restart();
}

}  // namespace emu::inspector
