/// \file
/// The table of pages, against a map.
#include "page_table.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "catch.hpp"

using emu::inspector::PageTable;

TEST_CASE("a page that was never set, and page 0") {
    PageTable<int> table;
    int value = 0;
    CHECK(table.find(0) == nullptr);
    CHECK(table.find(12345) == nullptr);
    table.set(0, &value);
    CHECK(table.find(0) == &value);
    CHECK(table.find(1) == nullptr);
    table.erase(1);
    CHECK(table.find(0) == &value);
    table.erase(0);
    CHECK(table.find(0) == nullptr);
}

TEST_CASE("setting again replaces") {
    PageTable<int> table;
    int first = 0;
    int second = 0;
    table.set(7, &first);
    REQUIRE(table.find(7) == &first);
    table.set(7, &second);
    CHECK(table.find(7) == &second);
}

TEST_CASE("pages that come and go agree with a map, and the table does not grow without end") {
    PageTable<int> table;
    std::unordered_map<std::uint64_t, int*> expected;
    std::vector<int> values(16);
    std::uint32_t state = 3;
    const auto random = [&](std::uint32_t below) {
        state = state * 1664525 + 1013904223;
        return (state >> 8) % below;
    };
    for (int step = 0; step < 200000; ++step) {
        const std::uint64_t page = random(3000) * (random(2) == 0 ? 1u : 65537u);
        if (random(2) == 0) {
            int* const value = &values[random(16)];
            table.set(page, value);
            expected[page] = value;
        } else {
            table.erase(page);
            expected.erase(page);
        }
        const std::uint64_t asked = random(3000) * (random(2) == 0 ? 1u : 65537u);
        const auto found = expected.find(asked);
        if (table.find(asked) != (found == expected.end() ? nullptr : found->second))
            FAIL("page " << asked << " after step " << step);
    }
    CHECK(table.memory() <= 16384 * 16);  // 6000 pages at most, in twice as many places or more
}
