#include "races.hpp"

#include <algorithm>

namespace emu::inspector {
namespace {

constexpr Era no_block = ~Era{0};

bool can_race(AccessKind one, AccessKind other) {
    return one == AccessKind::atomic ? other != AccessKind::atomic
                                     : one == AccessKind::write || other != AccessKind::read;
}

/// What an access may rely on.
struct Bounds {
    Era past;   ///< what lies before is in order with all that may yet come
    Era block;  ///< first era of the running block; no_block if no thread is running
};

/// Notes an access that is not, or no longer, the last write.
template <class Apart>
void keep(ShadowCell& cell, Stamp stamp, Bounds bounds, Apart apart) {
    Stamp* replaced = nullptr;
    for (Stamp& other : cell.others) {
        if (other.era() < bounds.past || other == stamp) {
            other = stamp;
            return;
        }
        if (apart(other)) continue;
        replaced = &other;
        // Whatever races with the old one races with the new one too.
        if (other.kind() == stamp.kind()) break;
    }
    Stamp& last = cell.others[1];
    if (replaced != nullptr) {
        *replaced = stamp;
    } else if (last.era() < bounds.block ||
               (last.warp() == cell.others[0].warp() && last.warp() != stamp.warp())) {
        // One of an earlier block is enough, and one __syncwarp() must not hide both.
        last = stamp;
    }
}

/// Looks for an earlier access that races with `stamp`, which is then noted. An empty stamp: none.
/// `apart`: whether an access is out of order but for fences; `acquired`: whether fences order it.
template <class Apart, class Acquired>
Stamp check(ShadowCell& cell, Stamp stamp, Bounds bounds, Apart apart, Acquired acquired) {
    const AccessKind kind = stamp.kind();
    const auto races = [&](Stamp other) {
        return can_race(other.kind(), kind) && apart(other) && !acquired(other);
    };
    const bool write_races = races(cell.write);
    Stamp found = write_races ? cell.write : Stamp();
    // See the head of races.hpp.
    const bool sets_back = kind == AccessKind::write && !write_races &&
                           cell.write.kind() == AccessKind::atomic &&
                           cell.write.era() >= bounds.block;
    for (const Stamp other : cell.others) {
        if (sets_back && other.kind() == AccessKind::atomic) continue;
        if (races(other)) found = other;
    }
    switch (kind) {
        case AccessKind::read:
            keep(cell, stamp, bounds, apart);
            break;
        case AccessKind::write:
            cell = ShadowCell{stamp, {}};
            break;
        case AccessKind::atomic:
            // Other atomics do not race with this one, but may with what this one comes after.
            if (cell.write.era() >= bounds.past && !write_races &&
                (cell.write.kind() == AccessKind::write || apart(cell.write))) {
                keep(cell, cell.write, bounds, apart);
            }
            cell.write = stamp;
            break;
    }
    return found;
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
    block_number_ = block;
}

/// Not in order, as far as it can be told without a look at fences.
inline bool Races::apart(Stamp earlier, unsigned thread, Space space) {
    const Era era = earlier.era();
    if (era >= order_.block()) {
        return era >= order_.known_to_all() && earlier.thread() != thread &&
               !order_.met_in_warp(thread, earlier);
    }
    // The block before had other shared memory.
    if (space == Space::shared || era < actors_.settled()) return false;
    return era >= actors_.present() || actors_.relation(era) != Actors::Relation::ordered;
}

/// Fences and atomics say nothing about other launches.
inline bool Races::acquired(Stamp earlier, unsigned thread, std::uint64_t address) {
    return order_.acquired(thread, earlier, address) &&
           (earlier.era() >= actors_.present() ||
            actors_.relation(earlier.era()) == Actors::Relation::same);
}

std::optional<Conflict> Races::access(const Access& access, Space space, unsigned thread) {
    if (access.kind == AccessKind::atomic) order_.acquire(access, space, thread);
    const Stamp stamp(now_, thread, access.kind, pcs_.number(access.pc));
    const Bounds bounds{space == Space::shared ? order_.known_to_all() : actors_.settled(),
                        order_.block()};
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
                const Stamp earlier = check(
                    *cell, stamp, bounds, [&](Stamp other) { return apart(other, thread, space); },
                    [&](Stamp other) { return acquired(other, thread, at); });
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
    const Bounds bounds{actors_.settled(), no_block};
    Stamp found;
    std::uint64_t found_at = 0;
    const auto look = [&](ShadowCell& cell, std::uint64_t at) {
        const Stamp earlier = check(
            cell, stamp, bounds,
            [&](Stamp other) {
                return other.era() >= actors_.settled() && other.era() < actors_.present() &&
                       actors_.relation(other.era()) == Actors::Relation::unordered;
            },
            [](Stamp) { return false; });
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
