#include "warp.hpp"

#include <algorithm>

#include "observer.hpp"
#include "report.hpp"
#include "worker.hpp"

namespace emu {
namespace {

constexpr unsigned lanes = 32;
/// What a lane reads from one that takes no part: no program should be right by luck.
constexpr std::uint64_t no_value = 0xCBCBCBCBCBCBCBCBULL;

Slot& slot_of_lane(unsigned warp, unsigned lane) {
    return block.begin[block.slot_of[warp * lanes + lane]];
}

/// Lanes of the warp whose thread has not returned; all of the block's threads have begun.
unsigned living_lanes(unsigned warp) {
    unsigned living = 0;
    for (unsigned lane = 0; lane < lanes && warp * lanes + lane < block.threads(); ++lane) {
        if (slot_of_lane(warp, lane).wait != wait_for_ever) living |= 1u << lane;
    }
    return living;
}

/// The lane that a shuffle reads from; the lane itself where the source lies outside its segment.
unsigned source_lane(unsigned lane, const LaneRequest& r) {
    const unsigned in_segment = r.width - 1;
    const unsigned begin = lane & ~in_segment;
    const unsigned end = begin + r.width;
    const unsigned by = r.parameter & (lanes - 1);
    switch (r.operation) {
        case WarpOperation::shuffle_up:
            return lane >= begin + by ? lane - by : lane;
        case WarpOperation::shuffle_down:
            return lane + by < end ? lane + by : lane;
        case WarpOperation::shuffle_xor:
            return (lane ^ by) < end ? lane ^ by : lane;
        default:
            return begin | (r.parameter & in_segment);
    }
}

unsigned low_half(std::uint64_t bits) {
    return static_cast<unsigned>(bits);
}

unsigned combine(WarpOperation operation, unsigned a, unsigned b) {
    const int sa = static_cast<int>(a);
    const int sb = static_cast<int>(b);
    switch (operation) {
        case WarpOperation::reduce_add:
            return a + b;
        case WarpOperation::reduce_min_signed:
            return static_cast<unsigned>(std::min(sa, sb));
        case WarpOperation::reduce_max_signed:
            return static_cast<unsigned>(std::max(sa, sb));
        case WarpOperation::reduce_min_unsigned:
            return std::min(a, b);
        case WarpOperation::reduce_max_unsigned:
            return std::max(a, b);
        case WarpOperation::reduce_and:
            return a & b;
        case WarpOperation::reduce_or:
            return a | b;
        default:
            return a ^ b;
    }
}

/// Calls `visit(lane)` for each lane of the set, lowest first.
template <class Visit>
void for_each_lane(unsigned set, Visit visit) {
    for (; set != 0; set &= set - 1)
        visit(static_cast<unsigned>(__builtin_ctz(set)));
}

/// The same result for all lanes of the group: votes and reductions.
std::uint64_t common_result(const Warp& warp, unsigned group, WarpOperation operation) {
    const unsigned first = static_cast<unsigned>(__builtin_ctz(group));
    if (operation == WarpOperation::active_mask) return group;
    if (operation == WarpOperation::ballot) {
        unsigned votes = 0;
        for_each_lane(group, [&](unsigned lane) {
            if (warp.request[lane].bits != 0) votes |= 1u << lane;
        });
        return votes;
    }
    if (operation == WarpOperation::match_all) {
        bool equal = true;
        for_each_lane(group, [&](unsigned lane) {
            equal = equal && warp.request[lane].bits == warp.request[first].bits;
        });
        return equal ? warp.request[first].mask : 0;
    }
    unsigned result = low_half(warp.request[first].bits);
    for_each_lane(group & (group - 1), [&](unsigned lane) {
        result = combine(operation, result, low_half(warp.request[lane].bits));
    });
    return result;
}

/// Up, down and xor reach beyond their lanes in right programs, too, which drop what they get.
void note_absent(unsigned index, unsigned lane, WarpOperation operation) {
    if (observer == nullptr || operation != WarpOperation::shuffle_index) return;
    observer->shuffle_from_absent_lane(slot_of_lane(index, lane));
}

/// Works out the results of the lanes in `group` and lets them go on.
void complete(unsigned index, unsigned group) {
    Warp& warp = this_worker->warp(index);
    const WarpOperation operation =
        warp.request[static_cast<unsigned>(__builtin_ctz(group))].operation;
    switch (operation) {
        case WarpOperation::sync:
            break;
        case WarpOperation::shuffle_index:
        case WarpOperation::shuffle_up:
        case WarpOperation::shuffle_down:
        case WarpOperation::shuffle_xor:
            for_each_lane(group, [&](unsigned lane) {
                const unsigned source = source_lane(lane, warp.request[lane]);
                const bool takes_part = (group >> source & 1u) != 0;
                if (!takes_part) note_absent(index, lane, operation);
                warp.result[lane] = takes_part ? warp.request[source].bits : no_value;
            });
            break;
        case WarpOperation::match_any:
            for_each_lane(group, [&](unsigned lane) {
                unsigned same = 0;
                for_each_lane(group, [&](unsigned other) {
                    if (warp.request[other].bits == warp.request[lane].bits) same |= 1u << other;
                });
                warp.result[lane] = same;
            });
            break;
        default: {
            const std::uint64_t result = common_result(warp, group, operation);
            for_each_lane(group, [&](unsigned lane) { warp.result[lane] = result; });
        }
    }
    if (observer != nullptr) {
        observer->warp_met(index, group, operation == WarpOperation::sync);
    }
    warp.waiting &= ~group;
    block.in_warps -= static_cast<unsigned>(__builtin_popcount(group));
    for_each_lane(group, [&](unsigned lane) { slot_of_lane(index, lane).wait = 0; });
}

/// The waiting lanes that asked for the same with the same mask as `lane`.
unsigned group_of(const Warp& warp, unsigned lane) {
    unsigned group = 0;
    for_each_lane(warp.waiting & warp.request[lane].mask, [&](unsigned other) {
        if (warp.request[other].mask == warp.request[lane].mask &&
            warp.request[other].operation == warp.request[lane].operation) {
            group |= 1u << other;
        }
    });
    return group;
}

/// The waiting lanes that ask which lanes are active at the same place as `lane`.
unsigned census_of(unsigned index, const Warp& warp, unsigned lane) {
    const Site& here = slot_of_lane(index, lane).site;
    unsigned group = 0;
    for_each_lane(warp.waiting, [&](unsigned other) {
        const Site& there = slot_of_lane(index, other).site;
        if (warp.request[other].operation == WarpOperation::active_mask &&
            there.line == here.line && there.file == here.file) {
            group |= 1u << other;
        }
    });
    return group;
}

}  // namespace

std::uint64_t meet_warp(const LaneRequest& request, Site site) {
    Slot& here = *block.current;
    const unsigned linear = here.linear;
    const unsigned index = linear / lanes;
    const unsigned lane = linear % lanes;
    if ((request.mask >> lane & 1u) == 0) {
        here.site = site;
        this_worker->give_up(
            cudaErrorLaunchFailure,
            "%s: %s:%d: the mask 0x%08x of a warp primitive lacks the calling lane %u",
            where_running().c_str(), site.file, site.line, request.mask, lane);
    }
    Warp& warp = this_worker->warp(index);
    warp.request[lane] = request;
    warp.waiting |= 1u << lane;
    here.site = site;
    here.wait = wait_warp;
    ++block.in_warps;
    const bool census = request.operation == WarpOperation::active_mask;
    if (!census && (warp.waiting & request.mask) == request.mask &&
        group_of(warp, lane) == request.mask) {
        complete(index, request.mask);
    } else {
        Slot* const next = next_slot();
        if (next != &here) run_slot(*next, here.context);
    }
    return warp.result[lane];
}

bool complete_waiting_warps() {
    bool any = false;
    for (unsigned index = 0; index * lanes < block.threads(); ++index) {
        const Warp& warp = this_worker->warp(index);
        const unsigned living = living_lanes(index);
        for_each_lane(warp.waiting, [&](unsigned lane) {
            if ((warp.waiting >> lane & 1u) == 0) return;  // went on with an earlier lane
            const LaneRequest& request = warp.request[lane];
            if (request.operation == WarpOperation::active_mask) {
                complete(index, census_of(index, warp, lane));
                any = true;
            } else if (group_of(warp, lane) == (request.mask & living)) {
                complete(index, request.mask & living);
                any = true;
            }
        });
    }
    return any;
}

}  // namespace emu
