/// \file
/// Threads that ran one after another are matched into warps, as a GPU's lanes run together.
#include "warp_trace.hpp"

#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "counts.hpp"

using namespace emu::inspector;

namespace {

struct Branch {
    Pc pc;
    Pc next;
    std::uint32_t lanes;
    bool diverged;
};

struct Recorder : WarpSink {
    std::vector<Request> requests;
    std::vector<Branch> branches;

    void request(const Request& request) override { requests.push_back(request); }
    void branch(Pc pc, Pc next, std::uint32_t lanes, bool diverged) override {
        branches.push_back({pc, next, lanes, diverged});
    }

    /// The lanes of each request that `pc` made, in order.
    std::vector<std::uint32_t> lanes_at(Pc pc) const {
        std::vector<std::uint32_t> lanes;
        for (const Request& request : requests) {
            if (request.pc == pc) lanes.push_back(request.lanes);
        }
        return lanes;
    }
    std::vector<Branch> branches_at(Pc pc) const {
        std::vector<Branch> at;
        for (const Branch& branch : branches) {
            if (branch.pc == pc) at.push_back(branch);
        }
        return at;
    }
};

/// One thread of a made-up program.
struct Thread {
    BlockTrace& trace;
    unsigned number;
    unsigned depth = 1;

    void step(Pc pc) { trace.step(number, pc, depth); }
    void read(Pc pc, std::uint64_t address, unsigned bytes = 4) {
        access(pc, address, bytes, AccessKind::read, Space::global);
    }
    void access(Pc pc, std::uint64_t address, unsigned bytes, AccessKind kind, Space space) {
        trace.access(number, {address, pc, static_cast<std::uint8_t>(bytes), kind, false}, space,
                     depth);
    }
};

template <class Program>
void run(BlockTrace& trace, unsigned threads, Program program) {
    for (unsigned number = 0; number < threads; ++number) {
        Thread thread{trace, number};
        program(thread);
    }
}

/// What a block does that has no barrier.
template <class Program>
Recorder record(unsigned threads, Program program) {
    BlockTrace trace;
    Recorder recorder;
    trace.begin_block(threads);
    run(trace, threads, program);
    trace.flush(recorder);
    CHECK(trace.lost() == 0);
    return recorder;
}

constexpr std::uint32_t all_lanes = ~0u;

std::uint32_t lanes_where(bool (*holds)(unsigned lane)) {
    std::uint32_t lanes = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        lanes |= std::uint32_t(holds(lane)) << lane;
    return lanes;
}

}  // namespace

TEST_CASE("the lanes of a warp make one request through one instruction") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        t.access(11, 0x1000 + 8 * t.number, 8, AccessKind::write, Space::shared);
    });
    REQUIRE(recorder.requests.size() == 1);
    const Request& request = recorder.requests[0];
    CHECK(request.pc == 11);
    CHECK(request.space == Space::shared);
    CHECK(request.kind == AccessKind::write);
    CHECK(request.bytes == 8);
    CHECK(request.lanes == all_lanes);
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        CHECK(request.address[lane] == 0x1000 + 8 * lane);
}

TEST_CASE("an access may be of 1 to 16 bytes at any address that a processor has") {
    constexpr std::uint64_t end = std::uint64_t{1} << 63;
    const Recorder recorder = record(1, [](Thread& t) {
        t.step(0xFFFFFFF0);
        for (const unsigned bytes : {1, 2, 4, 8, 16})
            t.access(0xFFFFFFF0 + bytes / 2, end - bytes, bytes, AccessKind::atomic, Space::global);
    });
    REQUIRE(recorder.requests.size() == 5);
    unsigned bytes = 1;
    for (const Request& request : recorder.requests) {
        CHECK(request.pc == 0xFFFFFFF0 + bytes / 2);
        CHECK(request.bytes == bytes);
        CHECK(request.kind == AccessKind::atomic);
        CHECK(request.space == Space::global);
        CHECK(request.address[0] == end - bytes);
        bytes *= 2;
    }
}

TEST_CASE("whether all lanes add 1 does not part them") {
    const auto adding = [](unsigned lanes_with_one) {
        return record(32, [lanes_with_one](Thread& t) {
            t.trace.access(t.number,
                           {0x1000, 11, 4, AccessKind::atomic, false, t.number < lanes_with_one},
                           Space::shared, 1);
        });
    };
    for (const unsigned lanes_with_one : {0, 31, 32}) {
        const Recorder recorder = adding(lanes_with_one);
        REQUIRE(recorder.requests.size() == 1);
        CHECK(recorder.requests[0].adds_one == (lanes_with_one == 32));
        CHECK(recorder.requests[0].lanes == all_lanes);
        CHECK(recorder.requests[0].address[5] == 0x1000);
    }
}

TEST_CASE("warps are apart, and the last one may lack lanes") {
    const Recorder recorder = record(70, [](Thread& t) { t.read(11, 4 * t.number); });
    CHECK(recorder.lanes_at(11) == std::vector<std::uint32_t>{all_lanes, all_lanes, 0x3F});
    CHECK(recorder.requests[1].address[0] == 4 * 32);
    CHECK(recorder.requests[2].address[5] == 4 * 69);
}

TEST_CASE("it does not matter in which order the threads ran") {
    BlockTrace trace;
    Recorder recorder;
    trace.begin_block(64);
    for (unsigned i = 0; i < 64; ++i) {
        Thread t{trace, i * 37 % 64};
        t.step(10);
        t.read(11, 4 * t.number);
    }
    trace.flush(recorder);
    CHECK(recorder.lanes_at(11) == std::vector<std::uint32_t>{all_lanes, all_lanes});
}

TEST_CASE("lanes that skip an if wait behind it") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        if (t.number % 3 == 0) {
            t.step(20);
            t.read(21, 4 * t.number);
        }
        t.step(30);
        t.read(31, 4 * t.number);
    });
    CHECK(recorder.lanes_at(21) ==
          std::vector<std::uint32_t>{lanes_where([](unsigned lane) { return lane % 3 == 0; })});
    CHECK(recorder.lanes_at(31) == std::vector<std::uint32_t>{all_lanes});
}

TEST_CASE("both sides of an if are requests of their own") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        t.step(t.number < 5 ? 20 : 30);
        t.read(t.number < 5 ? 21 : 31, 4 * t.number);
        t.step(40);
        t.read(41, 4 * t.number);
    });
    CHECK(recorder.lanes_at(21) == std::vector<std::uint32_t>{0x1F});
    CHECK(recorder.lanes_at(31) == std::vector<std::uint32_t>{all_lanes & ~0x1Fu});
    CHECK(recorder.lanes_at(41) == std::vector<std::uint32_t>{all_lanes});
}

TEST_CASE("lanes that leave a loop early wait for the others") {
    const Recorder recorder = record(32, [](Thread& t) {
        for (unsigned i = 0; i <= t.number % 4; ++i) {
            t.step(10);
            t.read(11, 4 * t.number);
        }
        t.step(20);
        t.read(21, 4 * t.number);
    });
    CHECK(recorder.lanes_at(11) ==
          std::vector<std::uint32_t>{0xFFFFFFFF, 0xEEEEEEEE, 0xCCCCCCCC, 0x88888888});
    CHECK(recorder.lanes_at(21) == std::vector<std::uint32_t>{all_lanes});
}

TEST_CASE("a loop whose test lies below its body is matched all the same") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        t.step(30);
        for (unsigned i = 0; i < t.number % 2; ++i) {
            t.step(20);
            t.read(21, 4 * t.number);
            t.step(30);
        }
        t.step(40);
        t.read(41, 4 * t.number);
    });
    CHECK(recorder.lanes_at(21) == std::vector<std::uint32_t>{0xAAAAAAAA});
    CHECK(recorder.lanes_at(41) == std::vector<std::uint32_t>{all_lanes});
}

TEST_CASE("lanes that jump back to a loop's top wait for the rest of the turn") {
    const Recorder recorder = record(32, [](Thread& t) {
        for (unsigned i = 0; i < 6; ++i) {
            t.step(10);
            t.read(11, 4 * t.number);
            if ((t.number + i) % 2 == 0) continue;
            t.step(20);
            t.read(21, 4 * t.number);
        }
        t.step(30);
        t.read(31, 4 * t.number);
    });
    CHECK(recorder.lanes_at(11) == std::vector<std::uint32_t>(6, all_lanes));
    CHECK(recorder.lanes_at(21).size() == 6);
    CHECK(recorder.lanes_at(31) == std::vector<std::uint32_t>{all_lanes});
}

TEST_CASE("a loop goes on behind a barrier in it") {
    BlockTrace trace;
    Recorder recorder;
    trace.begin_block(32);
    for (unsigned i = 0; i < 3; ++i) {
        run(trace, 32, [i](Thread& t) {
            t.step(10);
            if (t.number >> i == 0) {
                t.step(20);
                t.read(21, 4 * t.number);
            }
            t.step(30);
        });
        trace.flush(recorder);
    }
    CHECK(recorder.lanes_at(21) == std::vector<std::uint32_t>{0x1, 0x3, 0xF});
    CHECK(recorder.branches_at(30).size() == 2);
    CHECK(recorder.branches_at(30)[0].next == 10);
}

TEST_CASE("lanes that return early are missing from what follows") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        if (t.number < 30) {
            t.step(20);
            t.read(21, 4 * t.number);
        }
        t.step(30);
    });
    CHECK(recorder.lanes_at(21) == std::vector<std::uint32_t>{0x3FFFFFFF});
}

TEST_CASE("lanes in a called function go first, wherever it lies") {
    for (const Pc function : {5u, 500u}) {
        const Recorder recorder = record(32, [function](Thread& t) {
            t.step(10);
            if (t.number % 2 == 0) {
                t.step(20);
                ++t.depth;
                t.step(function);
                t.read(function + 1, 4 * t.number);
                --t.depth;
                t.read(21, 4 * t.number);
            }
            t.step(30);
            t.read(31, 4 * t.number);
        });
        INFO("function at " << function);
        CHECK(recorder.lanes_at(function + 1) == std::vector<std::uint32_t>{0x55555555});
        CHECK(recorder.lanes_at(21) == std::vector<std::uint32_t>{0x55555555});
        CHECK(recorder.lanes_at(31) == std::vector<std::uint32_t>{all_lanes});
    }
}

TEST_CASE("calls may be deep") {
    const Recorder recorder = record(32, [](Thread& t) {
        for (unsigned i = 0; i < 5000; ++i) {
            t.step(10);
            ++t.depth;
        }
        t.read(11, 4 * t.number);
        for (unsigned i = 0; i < 5000; ++i) {
            --t.depth;
            t.read(12, 4 * t.number);
        }
    });
    CHECK(recorder.lanes_at(11) == std::vector<std::uint32_t>{all_lanes});
    CHECK(recorder.lanes_at(12) == std::vector<std::uint32_t>(5000, all_lanes));
}

TEST_CASE("one instruction that reaches two spaces makes two requests") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.access(11, 4 * t.number, 4, AccessKind::read,
                 t.number < 8 ? Space::global : Space::shared);
    });
    REQUIRE(recorder.requests.size() == 2);
    for (const Request& request : recorder.requests)
        CHECK(request.lanes == (request.space == Space::global ? 0xFFu : 0xFFFFFF00u));
}

TEST_CASE("a flush empties the traces") {
    BlockTrace trace;
    Recorder first;
    Recorder second;
    trace.begin_block(32);
    run(trace, 32, [](Thread& t) { t.read(11, 4 * t.number); });
    trace.flush(first);
    run(trace, 32, [](Thread& t) {
        if (t.number == 3) t.read(9, 0);
    });
    trace.flush(second);
    CHECK(first.lanes_at(11).size() == 1);
    CHECK(second.requests.size() == 1);
    CHECK(second.lanes_at(9) == std::vector<std::uint32_t>{8});
    Recorder third;
    trace.flush(third);
    CHECK(third.requests.empty());
}

TEST_CASE("one warp is flushed alone") {
    BlockTrace trace;
    trace.begin_block(64);
    run(trace, 64, [](Thread& t) { t.read(11, 4 * t.number); });
    Recorder one;
    trace.flush_warp(1, one);
    REQUIRE(one.requests.size() == 1);
    CHECK(one.requests[0].address[0] == 4 * 32);
    Recorder rest;
    trace.flush(rest);
    REQUIRE(rest.requests.size() == 1);
    CHECK(rest.requests[0].address[0] == 0);
}

TEST_CASE("long traces keep every event in order") {
    constexpr unsigned times = 3000;
    const Recorder recorder = record(40, [](Thread& t) {
        for (unsigned i = 0; i < times; ++i) {
            t.step(10);
            if (i % 3 == 0) t.step(11);
            t.read(12, 1000ull * t.number + i);
        }
    });
    REQUIRE(recorder.requests.size() == 2 * times);
    for (unsigned i = 0; i < 2 * times; ++i) {
        const Request& request = recorder.requests[i];
        const unsigned warp = i / times;
        if (request.lanes != (warp == 0 ? all_lanes : 0xFFu)) FAIL("lanes of request " << i);
        for (unsigned lane = 0; lane < (warp == 0 ? 32 : 8); ++lane) {
            if (request.address[lane] != 1000ull * (32 * warp + lane) + i % times)
                FAIL("address of request " << i << ", lane " << lane);
        }
    }
}

TEST_CASE("memory is bounded: what does not fit is counted as lost") {
    BlockTrace trace(100000);
    Recorder recorder;
    trace.begin_block(32);
    const auto fill = [](Thread& t) {
        for (unsigned i = 0; i < 1000; ++i)
            t.read(11, 4 * t.number);
    };
    run(trace, 32, fill);
    const std::uint64_t lost = trace.lost();
    trace.flush(recorder);
    std::uint64_t kept = 0;
    for (const Request& request : recorder.requests)
        kept += static_cast<unsigned>(__builtin_popcount(request.lanes));
    CHECK(lost > 0);
    CHECK(kept > 1000);
    CHECK(kept * 16 <= 100000);
    CHECK(kept + lost == 32 * 1000);

    SECTION("after a flush there is room again") {
        Recorder next;
        run(trace, 32, [](Thread& t) { t.read(11, 4 * t.number); });
        trace.flush(next);
        CHECK(next.lanes_at(11) == std::vector<std::uint32_t>{all_lanes});
        CHECK(trace.lost() == lost);
    }
    SECTION("a new block starts with none, even if the last one was not flushed") {
        run(trace, 32, fill);
        trace.begin_block(64);
        CHECK(trace.lost() == 0);
        Recorder next;
        run(trace, 64, [](Thread& t) { t.read(11, 4 * t.number); });
        trace.flush(next);
        CHECK(next.lanes_at(11) == std::vector<std::uint32_t>{all_lanes, all_lanes});
        CHECK(trace.lost() == 0);
    }
}

TEST_CASE("a thread that lost an event loses the rest up to the flush") {
    BlockTrace trace(1);  // one slab
    Recorder recorder;
    trace.begin_block(33);
    Thread first{trace, 0};
    for (unsigned i = 0; i < 100; ++i)
        first.read(11, i);
    Thread greedy{trace, 32};
    while (trace.lost() == 0)
        greedy.read(11, 0);
    while (trace.lost() == 1)
        first.read(12, 0);
    trace.flush_warp(1, recorder);
    first.read(13, 0);
    CHECK(trace.lost() == 3);
    trace.flush_warp(0, recorder);
    CHECK(recorder.lanes_at(13).empty());
    first.read(14, 0);
    trace.flush(recorder);
    CHECK(recorder.lanes_at(14).size() == 1);
}

TEST_CASE("a branch diverges where lanes that came together part") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        if (t.number < 4) t.step(20);
        t.step(30);
        t.step(40);
    });
    const auto parting = recorder.branches_at(10);
    REQUIRE(parting.size() == 1);
    CHECK(parting[0].diverged);
    CHECK(parting[0].lanes == all_lanes);
    CHECK((parting[0].next == 20 || parting[0].next == 30));
    REQUIRE(recorder.branches_at(20).size() == 1);
    CHECK(recorder.branches_at(20)[0].lanes == 0xF);
    CHECK_FALSE(recorder.branches_at(20)[0].diverged);
    REQUIRE(recorder.branches_at(30).size() == 1);
    CHECK(recorder.branches_at(30)[0].lanes == all_lanes);
    CHECK(recorder.branches_at(30)[0].next == 40);
    CHECK_FALSE(recorder.branches_at(30)[0].diverged);
    CHECK(recorder.branches_at(40).empty());  // nothing follows
}

TEST_CASE("lanes that split into two groups do not part again by taking turns") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        t.step(t.number % 2 == 0 ? 20 : 30);
        t.step(t.number % 2 == 0 ? 21 : 31);
        t.step(40);
    });
    CHECK(recorder.branches_at(10)[0].diverged);
    CHECK(recorder.branches_at(20).size() == 1);
    CHECK_FALSE(recorder.branches_at(20)[0].diverged);
    CHECK_FALSE(recorder.branches_at(31)[0].diverged);
}

TEST_CASE("each turn of a loop is a branch") {
    const Recorder recorder = record(32, [](Thread& t) {
        for (unsigned i = 0; i < 3 + t.number / 31; ++i)
            t.step(10);
        t.step(20);
    });
    const auto turns = recorder.branches_at(10);
    REQUIRE(turns.size() == 4);
    CHECK_FALSE(turns[0].diverged);
    CHECK(turns[0].next == 10);
    CHECK_FALSE(turns[1].diverged);
    unsigned parted = 0;
    for (const Branch& turn : turns)
        parted += turn.diverged;
    CHECK(parted == 1);
}

TEST_CASE("a branch behind a barrier is seen after it") {
    BlockTrace trace;
    Recorder recorder;
    trace.begin_block(32);
    run(trace, 32, [](Thread& t) { t.step(10); });
    trace.flush(recorder);
    CHECK(recorder.branches.empty());
    run(trace, 32, [](Thread& t) { t.step(t.number < 8 ? 20 : 30); });
    trace.flush(recorder);
    REQUIRE(recorder.branches.size() == 1);
    CHECK(recorder.branches[0].pc == 10);
    CHECK(recorder.branches[0].diverged);
    trace.begin_block(32);
    run(trace, 32, [](Thread& t) { t.step(40); });
    trace.flush(recorder);
    CHECK(recorder.branches.size() == 1);  // blocks have nothing to do with each other
}

TEST_CASE("a call is part of the step that makes it, and a return is no branch") {
    const Recorder recorder = record(32, [](Thread& t) {
        t.step(10);
        ++t.depth;
        t.step(100);
        t.step(110);
        --t.depth;
        t.step(t.number == 0 ? 20 : 30);
    });
    REQUIRE(recorder.branches_at(10).size() == 1);
    CHECK(recorder.branches_at(10)[0].diverged);
    CHECK(recorder.branches_at(100).size() == 1);
    CHECK(recorder.branches_at(110).empty());
}

TEST_CASE("a direct 3x3 box blur makes the requests that Nsight Compute counts on an H200") {
    constexpr int size = 128;
    constexpr int side = 16;
    BlockTrace trace;
    Counts counts;
    for (int block = 0; block < size / side * (size / side); ++block) {
        trace.begin_block(side * side);
        run(trace, side * side, [block](Thread& t) {
            const int x = block % (size / side) * side + static_cast<int>(t.number) % side;
            const int y = block / (size / side) * side + static_cast<int>(t.number) / side;
            t.step(10);
            for (int dy = -1; dy <= 1; ++dy) {
                t.step(20);
                for (int dx = -1; dx <= 1; ++dx) {
                    t.step(30);
                    const int nx = x + dx;
                    const int ny = y + dy;
                    if (nx >= 0 && nx < size && ny >= 0 && ny < size) {
                        t.step(40);
                        t.read(41, static_cast<std::uint64_t>(4096 + ny * size + nx), 1);
                    }
                    t.step(50);
                }
                t.step(60);
            }
            t.step(70);
            t.access(71, static_cast<std::uint64_t>(65536 + y * size + x), 1, AccessKind::write,
                     Space::global);
        });
        trace.flush(counts);
    }
    const auto places = counts.places();
    const AccessCounts& loads = places.at(41).of(Space::global, AccessKind::read);
    CHECK(loads.requests == 4608);
    CHECK(loads.sectors == 11460);
    CHECK(places.at(71).of(Space::global, AccessKind::write).requests == 512);
    CHECK(places.at(50).branches == 4608);
    CHECK(places.at(50).divergent_branches == 0);
    CHECK(places.at(30).divergent_branches > 0);
}
