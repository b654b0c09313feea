/// \file
/// Objects, and what is wrong with accesses to them.
#include "memory_map.hpp"

#include <memory>

#include "catch.hpp"

using namespace emu::inspector;

namespace {

constexpr std::uint64_t base = 0x100000;

Access at(std::uint64_t address, unsigned bytes = 4, Pc pc = 1) {
    return {address, pc, static_cast<std::uint8_t>(bytes), AccessKind::read, false};
}

Object object(ObjectKind kind, std::uint64_t begin, std::uint64_t bytes, const char* name = "it") {
    return {kind, begin, bytes, name};
}

/// A map with one object of 1000 bytes.
std::unique_ptr<MemoryMap> one(ObjectKind kind) {
    auto map = std::make_unique<MemoryMap>();
    map->add(object(kind, base, 1000));
    return map;
}

}  // namespace

TEST_CASE("an access within an object has a holder") {
    const auto map = one(ObjectKind::device);
    for (const std::uint64_t offset : {0, 4, 500, 996})
        REQUIRE(map->holder(at(base + offset)) != nullptr);
    CHECK(map->holder(at(base + 992, 8)) != nullptr);
    CHECK(map->holder(at(base + 999, 1)) != nullptr);
    CHECK(map->holder(at(base))->name == "it");
}

TEST_CASE("the first byte past the size that was asked for is out of bounds") {
    const auto map = one(ObjectKind::device);
    REQUIRE(map->holder(at(base + 996)) != nullptr);  // the instruction's slot is filled
    const Access access = at(base + 1000);
    REQUIRE(map->holder(access) == nullptr);
    const Misuse misuse = map->explain(access);
    CHECK(misuse.fault == Fault::out_of_bounds);
    CHECK(misuse.object == "it");
    CHECK(misuse.detail == "right behind the end");
    CHECK_FALSE(misuse.ends_kernel);  // the allocation is rounded up to 1024
}

TEST_CASE("distances past the end and before the start") {
    const auto map = one(ObjectKind::device);
    CHECK(map->explain(at(base + 1004)).detail == "4 bytes past the end");
    CHECK(map->explain(at(base + 1001, 1)).detail == "1 byte past the end");
    CHECK(map->explain(at(base - 8)).detail == "8 bytes before the start");
    CHECK_FALSE(map->explain(at(base + 1020)).ends_kernel);
    CHECK(map->explain(at(base + 1024)).ends_kernel);
    CHECK(map->explain(at(base - 8)).ends_kernel);
}

TEST_CASE("an access that straddles the end") {
    const auto map = one(ObjectKind::device);
    const Access access = at(base + 992, 16);
    REQUIRE(map->holder(access) == nullptr);
    REQUIRE(map->holder(at(base)) != nullptr);  // the instruction's slot is filled
    REQUIRE(map->holder(access) == nullptr);

    const Misuse misuse = map->explain(access);
    CHECK(misuse.fault == Fault::out_of_bounds);
    CHECK(misuse.detail == "its last 8 bytes lie past the end");
    CHECK_FALSE(misuse.ends_kernel);
}

TEST_CASE("one byte too many, with the instruction's slot filled") {
    MemoryMap map;
    map.add(object(ObjectKind::device, base, 1003));
    REQUIRE(map.holder(at(base)) != nullptr);
    CHECK(map.holder(at(base + 1000, 4)) == nullptr);
    CHECK(map.holder(at(base + 1000, 2)) != nullptr);
    CHECK(map.holder(at(base + 1002, 1)) != nullptr);
    CHECK(map.holder(at(base + 1003, 1)) == nullptr);
    CHECK(map.explain(at(base + 1000, 4)).detail == "its last byte lies past the end");
}

TEST_CASE("the nearer of two objects is named") {
    MemoryMap map;
    map.add(object(ObjectKind::device, base, 1000, "low"));
    map.add(object(ObjectKind::device, base + 0x8000, 1000, "high"));
    CHECK(map.explain(at(base + 0x1000)).object == "low");
    const Misuse misuse = map.explain(at(base + 0x7000));
    CHECK(misuse.object == "high");
    CHECK(misuse.detail == "4096 bytes before the start");
}

TEST_CASE("a null pointer is told from other addresses") {
    const auto map = one(ObjectKind::device);
    REQUIRE(map->holder(at(0)) == nullptr);
    CHECK(map->explain(at(0)).fault == Fault::out_of_bounds);
    CHECK(map->explain(at(0)).detail == "null pointer");
    CHECK(map->explain(at(40)).detail == "40 bytes from a null pointer");
    CHECK(map->explain(at(0)).ends_kernel);
}

TEST_CASE("alignment: of the access's size, unless its type promises none") {
    const auto map = one(ObjectKind::device);
    Access access = at(base + 4, 16);
    REQUIRE(map->holder(access) == nullptr);
    const Misuse misuse = map->explain(access);
    CHECK(misuse.fault == Fault::misaligned);
    CHECK(misuse.detail == "0x100004 is no multiple of 16");
    CHECK(misuse.ends_kernel);
    access.any_alignment = true;
    CHECK(map->holder(access) != nullptr);
    access = at(base + 990, 16);  // both: the hardware looks at the alignment first
    CHECK(map->explain(access).fault == Fault::misaligned);
}

TEST_CASE("use after free, until the addresses are used again") {
    const auto map = one(ObjectKind::device);
    const Access access = at(base + 12);
    REQUIRE(map->holder(access) != nullptr);
    map->free(base + 12);  // the beginning of none
    REQUIRE(map->holder(access) != nullptr);
    map->free(base);
    REQUIRE(map->holder(access) == nullptr);
    const Misuse misuse = map->explain(access);
    CHECK(misuse.fault == Fault::use_after_free);
    CHECK(misuse.object == "it");
    CHECK(misuse.detail == "12 bytes from its start");
    CHECK(misuse.ends_kernel);
    map->add(object(ObjectKind::device, base, 16, "new"));
    REQUIRE(map->holder(access) != nullptr);
    CHECK(map->holder(access)->name == "new");
    CHECK(map->explain(at(base + 16)).detail == "right behind the end");
}

TEST_CASE("an object that overlaps freed ones takes their place, the rest stays") {
    MemoryMap map;
    for (std::uint64_t i = 0; i < 4; ++i) {
        map.add(object(ObjectKind::device, base + i * 256, 256));
        map.free(base + i * 256);
    }
    map.add(object(ObjectKind::device, base + 300, 100, "new"));
    CHECK(map.find(base)->freed);
    CHECK(map.find(base + 256) == nullptr);
    CHECK(map.find(base + 350)->name == "new");
    CHECK(map.find(base + 512)->freed);
}

TEST_CASE("only so many freed objects are remembered, the live ones all") {
    MemoryMap map;
    const std::uint64_t step = 0x100000;  // no two are near each other
    map.add(object(ObjectKind::device, base, 256, "live"));
    for (std::uint64_t i = 1; i <= 3000; ++i) {
        map.add(object(ObjectKind::device, base + i * step, 256));
        map.free(base + i * step);
    }
    CHECK(map.find(base)->name == "live");
    CHECK(map.find(base + step) == nullptr);
    REQUIRE(map.find(base + 3000 * step) != nullptr);
    CHECK(map.find(base + 3000 * step)->freed);
}

TEST_CASE("memory that is no longer registered") {
    const auto map = one(ObjectKind::registered);
    REQUIRE(map->holder(at(base)) != nullptr);
    map->free(base);
    const Misuse misuse = map->explain(at(base));
    CHECK(misuse.fault == Fault::use_after_free);
    CHECK(misuse.detail == "0 bytes from its start, no longer registered");
}

TEST_CASE("a pointer to memory of the host") {
    const auto map = one(ObjectKind::device);
    const int on_stack = 0;
    const auto on_heap = std::make_unique<int>();
    const Access stack = at(reinterpret_cast<std::uintptr_t>(&on_stack));
    const Access heap = at(reinterpret_cast<std::uintptr_t>(on_heap.get()));
    REQUIRE(map->holder(stack) == nullptr);
    CHECK(map->explain(stack).fault == Fault::host_pointer);
    CHECK(map->explain(stack).detail == "on the host's stack");
    CHECK(map->explain(heap).fault == Fault::host_pointer);
    CHECK(map->explain(heap).object.empty());
    CHECK(map->explain(heap).ends_kernel);
}

TEST_CASE("what an instruction has touched before tells which object it meant") {
    MemoryMap map;
    map.add(object(ObjectKind::shared, base, 1024, "low"));
    map.add(object(ObjectKind::shared, base + 1280, 64, "high"));
    const Access access = at(base + 1024 + 200, 4, 7);  // nearer to `high`
    CHECK(map.explain(access).object == "high");
    REQUIRE(map.holder(at(base, 4, 7)) != nullptr);
    CHECK(map.explain(access).object == "low");
    CHECK(map.explain(access).detail == "200 bytes past the end");
}

TEST_CASE("a far index is told from a pointer of the host by what was touched before") {
    MemoryMap map;
    const auto memory = std::make_unique<char[]>(16 << 20);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.get());
    map.add(object(ObjectKind::device, begin, 4096));
    const Access access = at((begin + (8 << 20)) & ~std::uint64_t{3});
    CHECK(map.explain(access).fault == Fault::host_pointer);
    REQUIRE(map.holder(at(begin, 1)) != nullptr);
    CHECK(map.explain(access).fault == Fault::out_of_bounds);
    CHECK(map.explain(access).object == "it");
    CHECK(map.explain(access).ends_kernel);
    map.begin_launch();  // which may have been given another pointer
    CHECK(map.explain(access).fault == Fault::host_pointer);
}

TEST_CASE("an unsigned index below 0") {
    const auto map = one(ObjectKind::device);
    const Access access = at(base - 8 + (std::uint64_t{4} << 32), 4);
    REQUIRE(map->holder(access) == nullptr);
    const Misuse misuse = map->explain(access);
    CHECK(misuse.fault == Fault::out_of_bounds);
    CHECK(!misuse.object.empty());
    CHECK(misuse.detail == "an unsigned index went below 0, which made it about 4 billion");
    CHECK(misuse.ends_kernel);
    CHECK(map->explain(at(base + (std::uint64_t{4} << 32), 4)).object.empty());
}

TEST_CASE("a wild pointer") {
    const auto map = one(ObjectKind::device);
    const Misuse misuse = map->explain(at(0x7ff7fff77ff7fff4));
    CHECK(misuse.fault == Fault::out_of_bounds);
    CHECK(misuse.object.empty());
    CHECK(misuse.detail == "0x7ff7fff77ff7fff4 is the address of nothing");
}

TEST_CASE("shared variables: the gap between them can be touched, but belongs to none") {
    MemoryMap map;
    map.add(object(ObjectKind::shared, base, 1296, "tile"));
    map.add(object(ObjectKind::shared, base + 1664, 64, "sums"));
    const Access access = at(base + 1296);
    REQUIRE(map.holder(access) == nullptr);
    CHECK(map.explain(access).object == "tile");
    CHECK_FALSE(map.explain(access).ends_kernel);
    CHECK(map.explain(at(base + 1660)).object == "sums");
    CHECK_FALSE(map.explain(at(base + 1660)).ends_kernel);
    CHECK(map.explain(at(base + 1664 + 4096)).ends_kernel);
    CHECK(space_of(*map.holder(at(base))) == Space::shared);
}

TEST_CASE("a launch without dynamic shared memory has none of it") {
    MemoryMap map;
    map.add(object(ObjectKind::dynamic_shared, base, 0, "dynamic shared memory"));
    const Access access = at(base);
    REQUIRE(map.holder(access) == nullptr);
    const Misuse misuse = map.explain(access);
    CHECK(misuse.fault == Fault::out_of_bounds);
    CHECK(misuse.object == "dynamic shared memory");
    CHECK(misuse.detail == "the launch asked for none");
}

TEST_CASE("a launch does not see the shared memory of the one before") {
    MemoryMap map;
    map.add(object(ObjectKind::device, base + 0x80000, 256));
    map.add(object(ObjectKind::shared, base, 128, "tile"));
    map.add(object(ObjectKind::dynamic_shared, base + 0x1000, 128));
    REQUIRE(map.holder(at(base)) != nullptr);
    map.begin_launch();
    CHECK(map.holder(at(base)) == nullptr);
    CHECK(map.find(base + 0x1000) == nullptr);
    CHECK(map.find(base + 0x80000) != nullptr);
}

TEST_CASE("variables lie in their program's image") {
    MemoryMap map;
    map.add(object(ObjectKind::symbol, base + 64, 40, "variable table"));
    map.add(object(ObjectKind::image, base, 4096, "static memory"));
    CHECK(map.find(base + 64)->name == "variable table");
    CHECK(map.find(base)->name == "static memory");
    // The image is not remembered for the instruction: it would hide the variable's end.
    REQUIRE(map.holder(at(base)) != nullptr);
    CHECK(map.holder(at(base + 64))->name == "variable table");
    CHECK(map.holder(at(base + 96, 16)) == nullptr);
}

TEST_CASE("an instruction that goes from object to object") {
    MemoryMap map;
    for (std::uint64_t i = 0; i < 40; ++i)
        map.add(object(ObjectKind::device, base + i * 1024, 1000, std::to_string(i).c_str()));
    for (std::uint64_t step = 0; step < 400; ++step) {
        const std::uint64_t i = step * 7 % 40;
        const Object* const holder = map.holder(at(base + i * 1024 + step % 250 * 4));
        REQUIRE(holder != nullptr);
        REQUIRE(holder->name == std::to_string(i));
    }
}
