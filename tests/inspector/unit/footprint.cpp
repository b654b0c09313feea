/// \file
/// Distinct bytes that a launch reads and writes.
#include "footprint.hpp"

#include <set>

#include "catch.hpp"

using namespace emu::inspector;

namespace {

constexpr std::uint64_t base = 0x7f0000000000;

}  // namespace

TEST_CASE("each byte counts once, however often it is touched") {
    Footprint footprint;
    for (int turn = 0; turn < 3; ++turn) {
        for (std::uint64_t i = 0; i < 1000; ++i)
            footprint.add(base + 4 * i, 4, AccessKind::read);
    }
    footprint.add(base, 16, AccessKind::read);
    const FootprintBytes bytes = footprint.take();
    CHECK(bytes.read == 4000);
    CHECK(bytes.written == 0);
    CHECK(bytes.complete);
}

TEST_CASE("bytes read and bytes written are counted apart, atomics as both") {
    Footprint footprint;
    footprint.add(base, 8, AccessKind::read);
    footprint.add(base + 4, 8, AccessKind::write);
    footprint.add(base + 100, 4, AccessKind::atomic);
    const FootprintBytes bytes = footprint.take();
    CHECK(bytes.read == 12);
    CHECK(bytes.written == 12);
}

TEST_CASE("accesses across words of bits and across pages") {
    Footprint footprint;
    footprint.add(base + 60, 16, AccessKind::read);
    CHECK(footprint.take().read == 16);
    footprint.add(base + page_bytes - 3, 16, AccessKind::write);
    footprint.add(base + page_bytes, 4, AccessKind::write);
    CHECK(footprint.take().written == 16);
}

TEST_CASE("taking begins anew") {
    Footprint footprint;
    footprint.add(base, 4, AccessKind::read);
    CHECK(footprint.take().read == 4);
    CHECK(footprint.take().read == 0);
    footprint.add(base, 4, AccessKind::read);
    footprint.add(base + 8, 4, AccessKind::write);
    const FootprintBytes bytes = footprint.take();
    CHECK(bytes.read == 4);
    CHECK(bytes.written == 4);
}

TEST_CASE("more pages than the memory limit allows") {
    Footprint footprint(8 * 1024);  // eight pages of 2 * 512 bytes
    for (std::uint64_t page = 0; page < 20; ++page)
        footprint.add(base + page * page_bytes, 4, AccessKind::read);
    FootprintBytes bytes = footprint.take();
    CHECK_FALSE(bytes.complete);
    CHECK(bytes.read == 32);
    footprint.add(base + 19 * page_bytes, 4, AccessKind::read);
    bytes = footprint.take();
    CHECK(bytes.complete);
    CHECK(bytes.read == 4);
}

TEST_CASE("scattered accesses agree with a set of addresses") {
    Footprint footprint;
    std::set<std::uint64_t> read;
    std::set<std::uint64_t> written;
    std::uint32_t state = 1;
    for (int launch = 0; launch < 3; ++launch) {
        for (int i = 0; i < 20000; ++i) {
            state = state * 1664525 + 1013904223;
            const std::uint64_t address = base + (state >> 8) % (1500 * page_bytes);
            const unsigned bytes = 1u << (state >> 3) % 5;
            const auto kind = static_cast<AccessKind>((state >> 6) % 3);
            footprint.add(address, bytes, kind);
            for (unsigned b = 0; b < bytes; ++b) {
                if (kind != AccessKind::write) read.insert(address + b);
                if (kind != AccessKind::read) written.insert(address + b);
            }
        }
        const FootprintBytes bytes = footprint.take();
        CHECK(bytes.read == read.size());
        CHECK(bytes.written == written.size());
        read.clear();
        written.clear();
    }
}
