/// \file
/// What happens before what: streams, events, waits of the host.
#include "operation_clocks.hpp"

#include <cstdint>
#include <random>
#include <vector>

#include "catch.hpp"

using emu::inspector::OperationClocks;
using emu::inspector::OperationNumber;

TEST_CASE("operations are numbered from one on in the order of the host's calls") {
    OperationClocks clocks;
    CHECK(clocks.last() == 0);
    CHECK(clocks.enqueue(7, {}) == 1);
    CHECK(clocks.enqueue(9, {}) == 2);
    CHECK(clocks.last() == 2);
    clocks.host_waited(1);
    clocks.host_waited(2);
    CHECK(clocks.enqueue(7, {}) == 3);
}

TEST_CASE("a stream is an order, two streams are none") {
    OperationClocks clocks;
    const OperationNumber a = clocks.enqueue(1, {});
    const OperationNumber b = clocks.enqueue(1, {});
    const OperationNumber other = clocks.enqueue(2, {});
    const OperationNumber c = clocks.enqueue(1, {});
    CHECK(clocks.ordered(a, b));
    CHECK(clocks.ordered(a, c));
    CHECK_FALSE(clocks.ordered(b, a));
    CHECK_FALSE(clocks.ordered(a, a));
    CHECK_FALSE(clocks.ordered(a, other));
    CHECK_FALSE(clocks.ordered(other, a));
    CHECK_FALSE(clocks.ordered(other, c));
}

TEST_CASE("an event orders what was recorded before what waits for it") {
    OperationClocks clocks;
    const OperationNumber produce = clocks.enqueue(1, {});
    const OperationNumber event = clocks.enqueue(1, {});
    const OperationNumber later = clocks.enqueue(1, {});
    const OperationNumber before = clocks.enqueue(2, {});
    const OperationNumber wait = clocks.enqueue(2, {event});
    const OperationNumber consume = clocks.enqueue(2, {});
    CHECK(clocks.ordered(produce, consume));
    CHECK(clocks.ordered(event, wait));
    CHECK_FALSE(clocks.ordered(later, consume));
    CHECK_FALSE(clocks.ordered(produce, before));

    // Through a third stream.
    const OperationNumber third = clocks.enqueue(3, {consume});
    CHECK(clocks.ordered(produce, third));
    CHECK_FALSE(clocks.ordered(later, third));
}

TEST_CASE("the legacy default stream stands between the others") {
    OperationClocks clocks;
    const OperationNumber a = clocks.enqueue(1, {});
    const OperationNumber b = clocks.enqueue(2, {});
    const OperationNumber legacy = clocks.enqueue(0, {a, b});
    const OperationNumber after = clocks.enqueue(1, {legacy});
    const OperationNumber apart = clocks.enqueue(3, {0});
    CHECK(clocks.ordered(b, legacy));
    CHECK(clocks.ordered(b, after));
    CHECK_FALSE(clocks.ordered(legacy, apart));
    CHECK_FALSE(clocks.ordered(b, apart));
}

TEST_CASE("what the host has waited for precedes what it enqueues then") {
    OperationClocks clocks;
    const OperationNumber a = clocks.enqueue(1, {});
    const OperationNumber early = clocks.enqueue(2, {});
    CHECK_FALSE(clocks.host_knows(a));
    clocks.host_waited(a);
    CHECK(clocks.host_knows(a));
    CHECK_FALSE(clocks.host_knows(early));
    const OperationNumber late = clocks.enqueue(3, {});
    CHECK(clocks.ordered(a, late));
    CHECK_FALSE(clocks.ordered(a, early));
    CHECK_FALSE(clocks.ordered(early, late));
    CHECK(clocks.settled() == 0);
}

TEST_CASE("a wait for one operation is a wait for all that it waited for") {
    OperationClocks clocks;
    const OperationNumber a = clocks.enqueue(1, {});
    const OperationNumber b = clocks.enqueue(2, {a});
    const OperationNumber open = clocks.enqueue(1, {});
    clocks.host_waited(b);
    CHECK(clocks.host_knows(a));
    CHECK_FALSE(clocks.host_knows(open));
}

TEST_CASE("once the host knows everything, the past is settled") {
    OperationClocks clocks;
    const OperationNumber a = clocks.enqueue(1, {});
    const OperationNumber b = clocks.enqueue(2, {});
    clocks.host_waited(b);
    CHECK(clocks.settled() == 0);
    clocks.host_waited(a);
    CHECK(clocks.settled() == b);
    const OperationNumber c = clocks.enqueue(2, {});
    CHECK(clocks.ordered(a, c));
    CHECK_FALSE(clocks.ordered(c, a));
    CHECK(clocks.host_knows(b));
    CHECK_FALSE(clocks.host_knows(c));
    clocks.host_waited(a);  // again
    CHECK(clocks.settled() == b);
    CHECK_FALSE(clocks.host_knows(c));
}

TEST_CASE("numbers of nothing are harmless") {
    OperationClocks clocks;
    clocks.host_waited(0);
    clocks.host_waited(5);
    CHECK(clocks.host_knows(0));
    CHECK_FALSE(clocks.host_knows(5));
    const OperationNumber a = clocks.enqueue(1, {0, 9});
    CHECK(clocks.ordered(0, a));
}

TEST_CASE("clocks agree with a search in the graph of operations") {
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        OperationClocks clocks;
        std::vector<std::vector<bool>> before(1);  // before[y][x]: x happens before y
        std::vector<OperationNumber> newest(5, 0);
        std::vector<bool> host(1, true);
        for (OperationNumber n = 1; n <= 60; ++n) {
            const unsigned stream = random() % newest.size();
            std::vector<OperationNumber> predecessors;
            if (n > 1 && random() % 3 == 0) predecessors.push_back(1 + random() % (n - 1));
            REQUIRE(clocks.enqueue(100 + stream, predecessors) == n);
            predecessors.push_back(newest[stream]);
            newest[stream] = n;
            std::vector<bool> reached = host;
            reached.resize(n + 1);
            for (const OperationNumber p : predecessors) {
                for (OperationNumber x = 0; x < p; ++x) {
                    if (before[p][x]) reached[x] = true;
                }
                reached[p] = true;
            }
            before.push_back(reached);
            host.resize(n + 1);
            if (random() % 8 == 0) {
                const OperationNumber seen = 1 + random() % n;
                clocks.host_waited(seen);
                host[seen] = true;
                for (OperationNumber x = 0; x < seen; ++x) {
                    if (before[seen][x]) host[x] = true;
                }
            }
            for (OperationNumber x = 1; x <= n; ++x) {
                REQUIRE(clocks.host_knows(x) == host[x]);
                if (!host[n]) REQUIRE(clocks.ordered(x, n) == (x != n && before[n][x]));
            }
        }
    }
}

TEST_CASE("clocks stay small") {
    OperationClocks clocks;
    for (int i = 0; i < 200000; ++i)
        clocks.enqueue(i % 4, {});
    CHECK(clocks.memory() < 200000 * 40);
    CHECK_FALSE(clocks.ordered(199999, 200000));
    CHECK(clocks.ordered(199996, 200000));

    // Thousands of streams at a time count as one from some number on; none is made up.
    OperationClocks many;
    for (std::uint64_t stream = 0; stream < 3000; ++stream)
        many.enqueue(stream, {});
    CHECK_FALSE(many.ordered(1, 2));
    CHECK(many.ordered(2999, 3000));
}
