/// \file
/// Sectors, bank conflicts and contention of single requests, and their sums by instruction.
#include "counts.hpp"

#include <cstdint>
#include <random>
#include <set>

#include "catch.hpp"

using namespace emu::inspector;

namespace {

/// A request of the lanes `lanes`; `address(lane)` in bytes.
template <class Address>
Request request_of(Space space, AccessKind kind, unsigned bytes, std::uint32_t lanes,
                   Address address) {
    Request request{};
    request.pc = 100;
    request.space = space;
    request.kind = kind;
    request.bytes = static_cast<std::uint8_t>(bytes);
    request.lanes = lanes;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        request.address[lane] = lanes >> lane & 1 ? address(lane) : ~0ull;
    return request;
}

template <class Address>
AccessCounts global_read(unsigned bytes, Address address, std::uint32_t lanes = ~0u) {
    return counts_of(request_of(Space::global, AccessKind::read, bytes, lanes, address));
}

template <class Address>
AccessCounts shared_read(unsigned bytes, Address address, std::uint32_t lanes = ~0u) {
    return counts_of(request_of(Space::shared, AccessKind::read, bytes, lanes, address));
}

constexpr std::uint64_t base = 0x7F0000000000;

}  // namespace

TEST_CASE("a request knows its lanes and the bytes that they ask for") {
    const AccessCounts counts = global_read(
        8, [](unsigned n) { return base + 8 * n; }, 0xFF);
    CHECK(counts.requests == 1);
    CHECK(counts.accesses == 8);
    CHECK(counts.bytes == 64);
    CHECK(counts.wavefronts == 0);
    CHECK(counts.contention == 0);
}

TEST_CASE("sectors are the distinct 32 bytes that a request touches") {
    const auto stride = [](unsigned bytes, unsigned elements) {
        return global_read(bytes, [=](unsigned n) { return base + bytes * elements * n; });
    };
    CHECK(stride(4, 1).sectors == 4);
    CHECK(stride(4, 2).sectors == 8);
    CHECK(stride(4, 8).sectors == 32);
    CHECK(stride(4, 32).sectors == 32);
    CHECK(stride(1, 1).sectors == 1);
    CHECK(stride(8, 1).sectors == 8);
    CHECK(stride(16, 1).sectors == 16);
    CHECK(stride(4, 0).sectors == 1);
    CHECK(stride(4, 1).ideal_sectors == 4);
    CHECK(stride(4, 32).ideal_sectors == 4);
    CHECK(stride(1, 1).ideal_sectors == 1);
    CHECK(stride(16, 1).ideal_sectors == 16);
    CHECK(stride(4, 0).ideal_sectors == 1);
}

TEST_CASE("misaligned rows touch a sector more") {
    const AccessCounts counts = global_read(4, [](unsigned n) { return base + 4 * (n + 1); });
    CHECK(counts.sectors == 5);
    CHECK(counts.ideal_sectors == 4);
}

TEST_CASE("an access across the border of two sectors touches both") {
    const AccessCounts counts = global_read(4, [](unsigned) { return base + 30; });
    CHECK(counts.sectors == 2);
    CHECK(counts.ideal_sectors == 1);
}

TEST_CASE("the order of the lanes does not matter for global memory") {
    CHECK(global_read(4, [](unsigned n) { return base + 4 * (31 - n); }).sectors == 4);
    CHECK(global_read(4, [](unsigned n) { return base + 4 * (n * 11 % 32); }).sectors == 4);
}

TEST_CASE("few lanes need few sectors at best") {
    const auto address = [](unsigned n) { return base + 32 * n; };
    CHECK(global_read(4, address, 1u << 31).sectors == 1);
    CHECK(global_read(4, address, 0x1F).sectors == 5);
    CHECK(global_read(4, address, 0x1F).ideal_sectors == 1);
}

TEST_CASE("bytes that lanes share are needed once") {
    const AccessCounts counts = global_read(8, [](unsigned n) { return base + 4 * n; });
    CHECK(counts.bytes == 256);
    CHECK(counts.sectors == 5);  // 132 bytes
    CHECK(counts.ideal_sectors == 5);
}

TEST_CASE("random addresses: sectors and distinct bytes as sets have them") {
    std::mt19937 random(5);
    for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
        for (int i = 0; i < 200; ++i) {
            const std::uint32_t lanes = static_cast<std::uint32_t>(random()) | 1;
            const unsigned range = 40u << i % 8;
            const Request request =
                request_of(i % 2 == 0 ? Space::global : Space::shared, AccessKind::read, bytes,
                           lanes, [&](unsigned) { return base + random() % range; });
            std::set<std::uint64_t> distinct;
            std::set<std::uint64_t> sectors;
            for (unsigned lane = 0; lane < warp_lanes; ++lane) {
                if ((lanes >> lane & 1) == 0) continue;
                for (unsigned byte = 0; byte < bytes; ++byte) {
                    distinct.insert(request.address[lane] + byte);
                    sectors.insert((request.address[lane] + byte) / 32);
                }
            }
            const AccessCounts counts = counts_of(request);
            if (request.space == Space::global) {
                CHECK(counts.sectors == sectors.size());
                CHECK(counts.ideal_sectors == (distinct.size() + 31) / 32);
            } else {
                CHECK(counts.wavefronts >= counts.ideal_wavefronts);
                CHECK(counts.wavefronts >= (distinct.size() + 127) / 128);
            }
        }
    }
}

TEST_CASE("shared memory: lanes that ask for different words of one bank take turns") {
    const auto stride = [](unsigned words) {
        return shared_read(4, [=](unsigned n) { return base + 4 * words * n; });
    };
    for (const unsigned words : {0, 1, 3, 5, 31, 33}) {
        INFO("stride " << words);
        CHECK(stride(words).wavefronts == 1);
    }
    for (const unsigned words : {2, 4, 8, 16, 32}) {
        INFO("stride " << words);
        CHECK(stride(words).wavefronts == words);
        CHECK(stride(words).worst_ways == words);
        CHECK(stride(words).ideal_wavefronts == 1);
    }
    CHECK(stride(64).wavefronts == 32);
    CHECK(stride(1).sectors == 0);
}

TEST_CASE("shared memory: lanes that ask for the same word do not take turns") {
    CHECK(shared_read(1, [](unsigned n) { return base + n; }).wavefronts == 1);
    CHECK(shared_read(2, [](unsigned n) { return base + 2 * n; }).wavefronts == 1);
    CHECK(shared_read(4, [](unsigned n) { return base + 4 * (n / 2); }).wavefronts == 1);
    CHECK(shared_read(4, [](unsigned n) { return base + 128 * (n % 2); }).wavefronts == 2);
    CHECK(counts_of(request_of(Space::shared, AccessKind::write, 4, ~0u, [](unsigned) {
              return base;
          })).wavefronts == 1);
}

TEST_CASE("shared memory: bytes of a tile whose rows lie 18 apart") {
    // 16 lanes in each of two rows of 18 bytes: 34 bytes in 9 words, all in different banks.
    CHECK(shared_read(1, [](unsigned n) { return base + n / 16 * 18 + n % 16; }).wavefronts == 1);
}

TEST_CASE("shared memory: wide accesses take a pass for every 128 bytes") {
    const auto stride = [](unsigned bytes, unsigned elements, std::uint32_t lanes = ~0u) {
        return shared_read(
            bytes, [=](unsigned n) { return base + bytes * elements * n; }, lanes);
    };
    CHECK(stride(8, 1).wavefronts == 2);
    CHECK(stride(8, 1).ideal_wavefronts == 2);
    CHECK(stride(8, 2).wavefronts == 4);
    CHECK(stride(8, 2).ideal_wavefronts == 2);
    CHECK(stride(8, 16).wavefronts == 32);
    CHECK(stride(16, 1).wavefronts == 4);
    CHECK(stride(16, 1).ideal_wavefronts == 4);
    CHECK(stride(16, 2).wavefronts == 8);
    CHECK(stride(16, 8).wavefronts == 32);
    CHECK(stride(8, 1, 0xFFFF).wavefronts == 1);
    CHECK(stride(16, 1, 0xFF00).ideal_wavefronts == 1);
}

TEST_CASE(
    "shared memory: wide loads of pairs of lanes that ask for the same take half the passes") {
    CHECK(shared_read(8, [](unsigned) { return base; }).wavefronts == 1);
    CHECK(shared_read(16, [](unsigned) { return base; }).wavefronts == 2);
    CHECK(shared_read(8, [](unsigned n) { return base + 8 * (n / 2); }).wavefronts == 1);
    CHECK(shared_read(16, [](unsigned n) { return base + 16 * (n / 4 * 2 + n % 2); }).wavefronts ==
          2);
    CHECK(shared_read(8, [](unsigned n) { return base + 8 * (n / 4); }).ideal_wavefronts == 1);
    const Request write = request_of(Space::shared, AccessKind::write, 16, ~0u,
                                     [](unsigned n) { return base + 16 * (n / 2); });
    CHECK(counts_of(write).wavefronts == 4);
}

TEST_CASE("atomics on one address are contention, in shared memory turns as well") {
    const auto atomic = [](Space space, unsigned addresses) {
        return counts_of(request_of(space, AccessKind::atomic, 4, ~0u,
                                    [=](unsigned n) { return base + 4 * (n % addresses); }));
    };
    CHECK(atomic(Space::global, 1).contention == 32);
    CHECK(atomic(Space::global, 1).sectors == 1);
    CHECK(atomic(Space::global, 8).contention == 4);
    CHECK(atomic(Space::global, 32).worst_contention == 1);
    CHECK(atomic(Space::shared, 1).contention == 32);
    CHECK(atomic(Space::shared, 1).wavefronts == 32);
    CHECK(atomic(Space::shared, 8).wavefronts == 4);
    CHECK(atomic(Space::shared, 32).wavefronts == 1);
    CHECK(atomic(Space::shared, 1).ideal_wavefronts == 1);
    const Request conflict = request_of(Space::shared, AccessKind::atomic, 4, ~0u,
                                        [](unsigned n) { return base + 128 * (n % 16); });
    CHECK(counts_of(conflict).wavefronts == 32);
    CHECK(counts_of(conflict).contention == 2);
}

TEST_CASE("lanes that all add 1 take turns for the words of a bank only") {
    const auto count = [](auto address) {
        Request request = request_of(Space::shared, AccessKind::atomic, 4, ~0u, address);
        request.adds_one = true;
        return counts_of(request);
    };
    CHECK(count([](unsigned) { return base; }).wavefronts == 1);
    CHECK(count([](unsigned) { return base; }).contention == 32);
    CHECK(count([](unsigned n) { return base + 128 * (n % 2); }).wavefronts == 2);
    CHECK(count([](unsigned n) { return base + 8 * n; }).wavefronts == 2);
}

TEST_CASE("sums add up; of the worst ones the largest stays") {
    AccessCounts a = shared_read(4, [](unsigned n) { return base + 8 * n; });
    const AccessCounts b = shared_read(
        4, [](unsigned n) { return base + 16 * n; }, 0xFF);
    a.add(b);
    CHECK(a.requests == 2);
    CHECK(a.accesses == 40);
    CHECK(a.bytes == 160);
    CHECK(a.wavefronts == 3);
    CHECK(a.ideal_wavefronts == 2);
    CHECK(a.worst_ways == 2);

    PlaceCounts place;
    place.of(Space::shared, AccessKind::read) = a;
    place.branches = 5;
    place.divergent_branches = 2;
    PlaceCounts sum = place;
    sum.add(place);
    CHECK(sum.of(Space::shared, AccessKind::read).requests == 4);
    CHECK(sum.of(Space::shared, AccessKind::write).requests == 0);
    CHECK(sum.branches == 10);
    CHECK(sum.divergent_branches == 4);
}

TEST_CASE("requests are counted by instruction, space and kind") {
    Counts counts;
    CHECK(counts.places().empty());
    for (Pc pc = 1; pc <= 1000; ++pc) {
        for (const AccessKind kind : {AccessKind::read, AccessKind::write, AccessKind::atomic}) {
            for (const Space space : {Space::global, Space::shared}) {
                Request request = request_of(space, kind, 4, 0xF, [](unsigned n) { return 4 * n; });
                request.pc = pc;
                for (Pc i = 0; i < pc % 3; ++i)
                    counts.request(request);
            }
        }
    }
    const auto places = counts.places();
    CHECK(places.size() == 667);
    for (const auto& [pc, place] : places) {
        for (const auto& space : place.access) {
            for (const AccessCounts& kind : space) {
                if (kind.requests != pc % 3 || kind.accesses != 4 * (pc % 3)) FAIL("at " << pc);
            }
        }
    }
}

TEST_CASE("what always goes on the same way is no branch") {
    Counts counts;
    counts.branch(10, 20, ~0u, false);
    counts.branch(10, 20, ~0u, false);
    counts.branch(30, 40, ~0u, false);
    CHECK(counts.places().empty());
    counts.branch(30, 50, ~0u, false);  // another warp goes another way
    counts.branch(60, 70, ~0u, true);
    const auto places = counts.places();
    CHECK(places.size() == 2);
    CHECK(places.at(30).branches == 2);
    CHECK(places.at(30).divergent_branches == 0);
    CHECK(places.at(60).branches == 1);
    CHECK(places.at(60).divergent_branches == 1);
}
