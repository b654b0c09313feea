/// \file
/// Which bytes have been written.
#include "written_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "catch.hpp"

using namespace emu::inspector;

namespace {

constexpr std::uint64_t base = 0x7f0000000000;

}  // namespace

TEST_CASE("nothing is written at first") {
    WrittenBytes written;
    CHECK_FALSE(written.any(base, 4));
    CHECK_FALSE(written.any(base, 100000));
    CHECK(written.first_unwritten(base, 4) == 0u);
    CHECK(written.first_unwritten(base, 0) == std::nullopt);
}

TEST_CASE("what is marked is written, its neighbours are not") {
    WrittenBytes written;
    written.mark(base + 8, 4);
    CHECK(written.any(base + 8, 4));
    CHECK_FALSE(written.any(base + 4, 4));
    CHECK_FALSE(written.any(base + 12, 4));
    CHECK(written.first_unwritten(base + 8, 4) == std::nullopt);
    CHECK(written.first_unwritten(base + 8, 8) == 4u);
    CHECK(written.first_unwritten(base + 4, 8) == 0u);
    written.mark(base + 12, 1);
    CHECK(written.first_unwritten(base + 8, 8) == 5u);
}

TEST_CASE("a structure with padding is written in part") {
    WrittenBytes written;
    written.mark(base, 4);
    written.mark(base + 4, 1);
    CHECK(written.any(base, 8));
    CHECK(written.any(base, 16));
    CHECK(written.first_unwritten(base, 8) == 5u);
}

TEST_CASE("ranges across words of bits and across pages") {
    WrittenBytes written;
    written.mark(base + 60, 16);
    CHECK(written.first_unwritten(base + 60, 16) == std::nullopt);
    CHECK(written.first_unwritten(base + 60, 17) == 16u);
    CHECK_FALSE(written.any(base + 56, 4));
    written.mark(base + page_bytes - 3, 3 * page_bytes);
    CHECK(written.first_unwritten(base + page_bytes - 3, 3 * page_bytes) == std::nullopt);
    CHECK(written.first_unwritten(base + page_bytes - 3, 4 * page_bytes) == 3 * page_bytes);
    CHECK(written.any(base + 4 * page_bytes - 8, 16));
    CHECK_FALSE(written.any(base + 4 * page_bytes - 3, 16));
}

TEST_CASE("a page written piece by piece takes no more than one written at once") {
    WrittenBytes written;
    const std::uint64_t pages = 200;
    for (std::uint64_t i = 0; i < pages * page_bytes; i += 4)
        written.mark(base + i, 4);
    CHECK(written.first_unwritten(base, pages * page_bytes) == std::nullopt);
    CHECK(written.first_unwritten(base, pages * page_bytes + 1) == pages * page_bytes);
    WrittenBytes at_once;
    at_once.mark(base, pages * page_bytes);
    CHECK(written.memory() < at_once.memory() + 2 * 1024);
}

TEST_CASE("clearing") {
    WrittenBytes written;
    written.mark(base, 4 * page_bytes);
    written.clear(base + 100, 8);
    CHECK(written.first_unwritten(base, page_bytes) == 100u);
    CHECK(written.first_unwritten(base + 108, page_bytes) == std::nullopt);
    CHECK_FALSE(written.any(base + 100, 8));
    written.clear(base + page_bytes, 2 * page_bytes);
    CHECK_FALSE(written.any(base + page_bytes, 2 * page_bytes));
    CHECK(written.any(base + 3 * page_bytes, 1));
    written.clear(base, 4 * page_bytes);
    CHECK_FALSE(written.any(base, 4 * page_bytes));
    written.mark(base + 100, 4);
    CHECK(written.first_unwritten(base + 100, 8) == 4u);
}

TEST_CASE("memory that comes and goes leaves nothing behind") {
    WrittenBytes written;
    const auto come_and_go = [&](std::uint64_t turn) {
        const std::uint64_t address = base + turn * 1024 * page_bytes;
        written.mark(address + 1, 600 * page_bytes);
        written.clear(address, 601 * page_bytes);
    };
    come_and_go(0);
    const std::size_t after_one = written.memory();
    for (std::uint64_t turn = 1; turn < 50; ++turn)
        come_and_go(turn);
    CHECK(written.memory() == after_one);
}

TEST_CASE("a copy carries over what is written and what is not") {
    WrittenBytes written;
    const std::uint64_t to = base + 64 * page_bytes;
    written.mark(base + 10, 100);
    written.mark(to, 300);
    written.copy(base, to + 3, 200);
    CHECK(written.first_unwritten(to, 300) == 3u);
    CHECK_FALSE(written.any(to + 3, 10));
    CHECK(written.first_unwritten(to + 13, 300) == 100u);
    CHECK_FALSE(written.any(to + 113, 90));
    CHECK(written.first_unwritten(to + 203, 97) == std::nullopt);
}

TEST_CASE("a copy of whole pages") {
    WrittenBytes written;
    const std::uint64_t to = base + 64 * page_bytes;
    written.mark(base, 8 * page_bytes);
    written.copy(base + 5, to, 4 * page_bytes);
    CHECK(written.first_unwritten(to, 5 * page_bytes) == 4 * page_bytes);
    written.copy(base + 32 * page_bytes, to, 2 * page_bytes);
    CHECK_FALSE(written.any(to, 2 * page_bytes));
    CHECK(written.any(to + 2 * page_bytes, 1));
}

TEST_CASE("scattered operations agree with one flag a byte") {
    constexpr std::size_t size = 5 * page_bytes;
    WrittenBytes written;
    std::vector<char> flags(2 * size, 0);
    std::uint32_t state = 7;
    const auto random = [&](std::uint64_t below) {
        state = state * 1664525 + 1013904223;
        return (state >> 4) % below;
    };
    for (int step = 0; step < 3000; ++step) {
        const bool small = random(2) == 0;
        const std::uint64_t bytes = small ? 1 + random(16) : random(2 * page_bytes);
        const std::uint64_t first = random(size - bytes);
        const std::uint64_t other = size + random(size - bytes);
        const std::uint64_t action = random(4);
        if (action == 0) {
            written.mark(base + first, bytes);
            std::fill_n(flags.begin() + static_cast<std::ptrdiff_t>(first), bytes, 1);
        } else if (action == 1) {
            written.clear(base + first, bytes);
            std::fill_n(flags.begin() + static_cast<std::ptrdiff_t>(first), bytes, 0);
        } else {
            const auto from = static_cast<std::ptrdiff_t>(action == 2 ? first : other);
            const auto to = static_cast<std::ptrdiff_t>(action == 2 ? other : first);
            written.copy(base + static_cast<std::uint64_t>(from),
                         base + static_cast<std::uint64_t>(to), bytes);
            std::copy_n(flags.begin() + from, bytes, flags.begin() + to);
        }
        const std::uint64_t looked_at = random(2 * size - 64);
        const std::uint64_t length = 1 + random(64);
        bool any = false;
        std::optional<std::uint64_t> unwritten;
        for (std::uint64_t i = 0; i < length; ++i) {
            any = any || flags[looked_at + i] != 0;
            if (flags[looked_at + i] == 0 && !unwritten) unwritten = i;
        }
        REQUIRE(written.any(base + looked_at, length) == any);
        REQUIRE(written.first_unwritten(base + looked_at, length) == unwritten);
    }
    for (std::uint64_t i = 0; i < 2 * size; ++i)
        REQUIRE(written.any(base + i, 1) == (flags[i] != 0));
}
