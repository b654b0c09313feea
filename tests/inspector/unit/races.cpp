/// \file
/// Which pairs of accesses are races, and which are in order.
#include "races.hpp"

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "catch.hpp"

using emu::inspector::Access;
using emu::inspector::AccessKind;
using emu::inspector::Conflict;
using emu::inspector::FenceScope;
using emu::inspector::OperationClocks;
using emu::inspector::OperationNumber;
using emu::inspector::Pc;
using emu::inspector::Races;
using emu::inspector::Space;

namespace {

constexpr std::uint64_t memory = 0x7000000000;
constexpr std::uint64_t tile = 0x600000;
constexpr Pc read_pc = 1001, write_pc = 1002, atomic_pc = 1003;

/// A program, told call by call. Accesses give the earlier one that they race with.
struct Program {
    OperationClocks clocks;
    Races races{clocks};

    OperationNumber launch(std::uint64_t stream = 0, std::vector<OperationNumber> behind = {}) {
        const OperationNumber number = clocks.enqueue(stream, behind);
        races.begin_launch(number);
        races.begin_block(0);
        return number;
    }
    std::optional<Conflict> read(unsigned thread, std::uint64_t address, unsigned bytes = 4) {
        return access(thread, address, bytes, AccessKind::read, read_pc);
    }
    std::optional<Conflict> write(unsigned thread, std::uint64_t address, unsigned bytes = 4) {
        return access(thread, address, bytes, AccessKind::write, write_pc);
    }
    std::optional<Conflict> atomic(unsigned thread, std::uint64_t address, unsigned bytes = 4) {
        return access(thread, address, bytes, AccessKind::atomic, atomic_pc);
    }
    std::optional<Conflict> access(unsigned thread, std::uint64_t address, unsigned bytes,
                                   AccessKind kind, Pc pc) {
        const Space space = address < memory ? Space::shared : Space::global;
        return races.access({address, pc, static_cast<std::uint8_t>(bytes), kind, false}, space,
                            thread);
    }
    std::optional<Conflict> copy(OperationNumber number, std::uint64_t address, std::uint64_t bytes,
                                 AccessKind kind) {
        return races.operation(number, address, bytes, kind);
    }
};

}  // namespace

TEST_CASE("a thread never races with itself") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(3, tile));
    CHECK_FALSE(p.read(3, tile));
    CHECK_FALSE(p.write(3, tile));
    CHECK_FALSE(p.atomic(3, tile));
    CHECK_FALSE(p.read(3, tile));
}

TEST_CASE("two threads race unless a barrier stands between") {
    Program p;
    const OperationNumber launch = p.launch();
    p.races.begin_block(7);
    CHECK_FALSE(p.write(2, tile + 8));
    const auto conflict = p.read(3, tile + 8);
    REQUIRE(conflict);
    CHECK(conflict->who == Conflict::Who::thread);
    CHECK(conflict->kind == AccessKind::write);
    CHECK_FALSE(conflict->both_write);
    CHECK(conflict->pc == write_pc);
    CHECK(conflict->operation == launch);
    REQUIRE(conflict->thread);
    CHECK(conflict->thread->block == 7);
    CHECK(conflict->thread->thread == 2);
    CHECK(conflict->address == tile + 8);

    p.races.barrier();
    CHECK_FALSE(p.read(3, tile + 8));
    CHECK_FALSE(p.read(4, tile + 8));
    const auto overwritten = p.write(5, tile + 8);
    REQUIRE(overwritten);
    CHECK(overwritten->kind == AccessKind::read);
    p.races.barrier();
    CHECK_FALSE(p.write(6, tile + 8));
    const auto again = p.write(7, tile + 8);
    REQUIRE(again);
    CHECK(again->both_write);
}

TEST_CASE("a writer that is also a reader is told of the other reader") {
    Program p;
    p.launch();
    CHECK_FALSE(p.read(0, tile));
    CHECK_FALSE(p.read(1, tile));
    const auto conflict = p.write(0, tile);
    REQUIRE(conflict);
    CHECK(conflict->thread->thread == 1);
}

TEST_CASE("shared memory is new in each block, global memory is not") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, tile));
    CHECK_FALSE(p.write(0, memory));
    p.races.begin_block(1);
    CHECK_FALSE(p.write(1, tile));
    const auto conflict = p.write(0, memory);
    REQUIRE(conflict);
    CHECK(conflict->thread->block == 0);
    p.races.barrier();  // orders nothing across blocks
    p.races.begin_block(2);
    CHECK(p.read(9, memory));
}

TEST_CASE("blocks that only read, or write apart, do not race") {
    Program p;
    p.launch();
    for (unsigned block = 0; block < 20; ++block) {
        p.races.begin_block(block);
        for (unsigned thread = 0; thread < 64; ++thread) {
            REQUIRE_FALSE(p.read(thread, memory));
            REQUIRE_FALSE(p.write(thread, memory + 4096 + 4 * (64 * block + thread)));
        }
    }
}

TEST_CASE("atomics do not race with each other but with plain accesses") {
    Program p;
    p.launch();
    for (unsigned thread = 0; thread < 64; ++thread)
        REQUIRE_FALSE(p.atomic(thread, tile));
    const auto plain = p.read(63, tile);  // the last to use the atomic, but not the only one
    REQUIRE(plain);
    CHECK(plain->kind == AccessKind::atomic);
    p.races.barrier();
    CHECK_FALSE(p.read(63, tile));
    CHECK(p.atomic(0, tile));
    p.races.barrier();
    CHECK_FALSE(p.write(1, tile));
    const auto mixed = p.atomic(2, tile);
    REQUIRE(mixed);
    CHECK(mixed->kind == AccessKind::write);
}

TEST_CASE("threads that add and read at once race") {
    Program p;
    p.launch();
    CHECK_FALSE(p.atomic(0, tile));
    CHECK_FALSE(p.read(0, tile));
    CHECK(p.atomic(1, tile));
}

TEST_CASE("whoever sets a counter to zero and counts races with others that count") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, tile));
    CHECK_FALSE(p.atomic(0, tile));
    const auto shared = p.atomic(1, tile);
    REQUIRE(shared);
    CHECK(shared->kind == AccessKind::write);
    CHECK(shared->thread->thread == 0);
    CHECK_FALSE(p.write(0, memory));
    CHECK_FALSE(p.atomic(0, memory));
    p.races.barrier();
    CHECK_FALSE(p.atomic(1, memory));
    CHECK_FALSE(p.atomic(2, memory));
    p.races.begin_block(1);
    CHECK(p.atomic(0, memory));

    CHECK_FALSE(p.read(0, memory + 4));
    CHECK_FALSE(p.atomic(0, memory + 4));
    CHECK(p.atomic(1, memory + 4));
}

TEST_CASE("neighbouring bytes of a word are apart") {
    Program p;
    p.launch();
    for (unsigned thread = 0; thread < 16; ++thread)
        REQUIRE_FALSE(p.write(thread, memory + thread, 1));
    const auto conflict = p.read(20, memory, 4);
    REQUIRE(conflict);
    CHECK(conflict->thread->thread == 0);
    p.races.barrier();
    CHECK_FALSE(p.read(20, memory + 12, 4));
    CHECK_FALSE(p.write(21, memory + 16, 2));
    CHECK_FALSE(p.write(22, memory + 18, 2));
    const auto inside = p.write(23, memory + 15, 1);
    REQUIRE(inside);
    CHECK(inside->thread->thread == 20);
}

TEST_CASE("words become bytes without losing what was known") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, memory, 4));
    CHECK_FALSE(p.write(1, memory + 4, 4));
    CHECK_FALSE(p.write(2, memory + 100, 1));
    CHECK(p.read(3, memory + 3, 1));
    CHECK(p.read(0, memory + 4, 1));
    CHECK_FALSE(p.read(0, memory + 3, 1));
}

TEST_CASE("wide and unaligned accesses touch every word") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, memory, 16));
    CHECK_FALSE(p.write(1, memory + 16, 16));
    const auto last = p.read(2, memory + 12, 4);
    REQUIRE(last);
    CHECK(last->thread->thread == 0);
    const auto second = p.read(0, memory + 24, 8);
    REQUIRE(second);
    CHECK(second->thread->thread == 1);
    CHECK(second->address == memory + 24);

    // From one page to the next.
    CHECK_FALSE(p.write(3, memory + 4094, 4));
    CHECK(p.read(4, memory + 4096, 1));
    CHECK(p.read(5, memory + 4095, 1));
    CHECK_FALSE(p.read(6, memory + 4098, 2));
    CHECK_FALSE(p.write(7, memory + 8188, 8));
    CHECK(p.read(8, memory + 8192, 4));
}

TEST_CASE("a warp that meets is in order, another is not") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, tile));
    CHECK_FALSE(p.write(40, tile + 4));
    p.races.warp_sync(0, ~0u);
    CHECK_FALSE(p.read(31, tile));
    CHECK(p.read(1, tile + 4));
    CHECK(p.read(32, tile));
}

TEST_CASE("only lanes that meet are in order") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, tile));
    CHECK_FALSE(p.write(5, tile + 4));
    CHECK_FALSE(p.write(9, tile + 8));
    p.races.warp_sync(0, 0xff);
    CHECK_FALSE(p.read(7, tile));
    CHECK_FALSE(p.read(7, tile + 4));
    CHECK(p.read(7, tile + 8));
    CHECK(p.read(9, tile));

    // What lane 5 learned goes on to lane 20.
    CHECK_FALSE(p.write(3, tile + 12));
    p.races.warp_sync(0, 1u << 3 | 1u << 5);
    p.races.warp_sync(0, 1u << 5 | 1u << 20);
    CHECK_FALSE(p.read(20, tile + 12));
    CHECK_FALSE(p.read(20, tile + 4));
    CHECK(p.read(6, tile + 12));

    p.races.barrier();
    CHECK_FALSE(p.write(3, tile + 16));
    p.races.warp_sync(0, 0x3);
    CHECK(p.read(5, tile + 16));
}

TEST_CASE("two readers of one warp do not hide the reader of another") {
    Program p;
    p.launch();
    for (const unsigned thread : {0, 1, 2, 33})
        CHECK_FALSE(p.read(thread, tile));
    p.races.warp_sync(0, ~0u);
    const auto conflict = p.write(0, tile);
    REQUIRE(conflict);
    CHECK(conflict->thread->thread == 33);
}

TEST_CASE("a shuffle orders no memory") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, tile));
    p.races.warp_sync(0, ~0u, false);
    CHECK(p.read(1, tile));
}

namespace {

/// A block of the last-block pattern: everyone writes a part, thread 0 draws a ticket.
enum class Fence { none, all_before_barrier, first_after_barrier, first_without_barrier };

bool partial_sums_race(Fence fence, unsigned blocks) {
    Program p;
    p.launch();
    const std::uint64_t ticket = memory + (1 << 20);
    bool raced = false;
    for (unsigned block = 0; block < blocks; ++block) {
        p.races.begin_block(block);
        for (unsigned thread = 0; thread < 64; ++thread) {
            raced |= p.write(thread, memory + 4 * (block * 64 + thread)).has_value();
            if (fence == Fence::all_before_barrier) p.races.fence(thread);
        }
        if (fence != Fence::first_without_barrier) p.races.barrier();
        if (fence == Fence::first_after_barrier || fence == Fence::first_without_barrier)
            p.races.fence(0);
        raced |= p.atomic(0, ticket).has_value();
        p.races.barrier();
    }
    // The last block adds up.
    for (unsigned i = 0; i < blocks * 64; ++i)
        raced |= p.read(i % 64, memory + 4 * i).has_value();
    raced |= p.write(0, ticket).has_value();
    return raced;
}

}  // namespace

TEST_CASE("the last block may read what the others wrote before a fence") {
    CHECK_FALSE(partial_sums_race(Fence::first_after_barrier, 50));
    CHECK_FALSE(partial_sums_race(Fence::all_before_barrier, 50));
    CHECK(partial_sums_race(Fence::none, 50));
    CHECK(partial_sums_race(Fence::none, 2));
    // The fence of thread 0 says nothing about what other threads wrote.
    CHECK(partial_sums_race(Fence::first_without_barrier, 2));
}

TEST_CASE("the thread that wrote, fenced and drew a ticket is enough") {
    Program p;
    p.launch();
    const std::uint64_t ticket = memory + 4096;
    for (unsigned block = 0; block < 10; ++block) {
        p.races.begin_block(block);
        CHECK_FALSE(p.write(0, memory + 4 * block));
        p.races.fence(0);
        CHECK_FALSE(p.atomic(0, ticket));
    }
    CHECK_FALSE(p.read(0, memory));  // the thread that drew the last ticket
    CHECK(p.read(1, memory + 4));    // not told yet
    p.races.barrier();
    CHECK_FALSE(p.read(2, memory + 8));
}

TEST_CASE("a warp told by a shuffle that its block is the last knows what its leader knows") {
    Program p;
    p.launch();
    const std::uint64_t ticket = memory + 4096;
    for (unsigned block = 0; block < 3; ++block) {
        p.races.begin_block(block);
        CHECK_FALSE(p.write(0, memory + 4 * block));
        p.races.fence(0);
        CHECK_FALSE(p.atomic(0, ticket));
        p.races.warp_sync(0, ~0u, false);
    }
    CHECK_FALSE(p.read(5, memory + 4));
    CHECK(p.read(40, memory + 4));
}

TEST_CASE("what is written after the fence is not released") {
    Program p;
    p.launch();
    p.races.fence(0);
    CHECK_FALSE(p.write(0, memory));
    CHECK_FALSE(p.atomic(0, memory + 64));
    p.races.begin_block(1);
    CHECK_FALSE(p.atomic(0, memory + 64));
    CHECK(p.read(0, memory));
}

TEST_CASE("an atomic elsewhere acquires nothing, nor does one that came before") {
    Program p;
    p.launch();
    p.races.begin_block(0);
    CHECK_FALSE(p.write(0, memory));
    p.races.fence(0);
    CHECK_FALSE(p.atomic(0, memory + 64));
    p.races.begin_block(1);
    CHECK_FALSE(p.atomic(0, memory + 128));
    CHECK(p.read(0, memory));
}

TEST_CASE("what was acquired is released on") {
    Program p;
    p.launch();
    // Each block hands on to the next through a flag of its own.
    for (unsigned block = 0; block < 30; ++block) {
        p.races.begin_block(block);
        if (block > 0) CHECK_FALSE(p.atomic(0, memory + 4096 + 4 * (block - 1)));
        CHECK_FALSE(p.write(0, memory + 4 * block));
        p.races.fence(0);
        CHECK_FALSE(p.atomic(0, memory + 4096 + 4 * block));
    }
    for (unsigned block = 0; block < 30; ++block)
        CHECK_FALSE(p.read(0, memory + 4 * block));
    CHECK(p.read(1, memory));
}

TEST_CASE("a block's fence reaches the block only") {
    Program p;
    p.launch();
    CHECK_FALSE(p.write(0, memory));
    p.races.fence(0, FenceScope::block);
    CHECK_FALSE(p.atomic(0, tile));
    CHECK_FALSE(p.atomic(0, memory + 64));
    CHECK_FALSE(p.atomic(32, tile));
    CHECK_FALSE(p.read(32, memory));
    CHECK(p.read(64, memory));
    p.races.begin_block(1);
    CHECK_FALSE(p.atomic(0, memory + 64));
    CHECK(p.read(0, memory));
}

TEST_CASE("the last warp of a block may read what the others wrote before a fence") {
    Program p;
    p.launch();
    for (unsigned warp = 0; warp < 8; ++warp) {
        CHECK_FALSE(p.write(warp * 32, tile + 4 * warp));
        p.races.fence(warp * 32, FenceScope::block);
        CHECK_FALSE(p.atomic(warp * 32, tile + 1024));
    }
    for (unsigned warp = 0; warp < 8; ++warp)
        CHECK_FALSE(p.read(7 * 32, tile + 4 * warp));
    CHECK_FALSE(p.write(7 * 32, tile + 1024));  // the counter for the next time
    p.races.begin_block(1);
    CHECK_FALSE(p.atomic(0, tile + 1024));
    CHECK_FALSE(p.write(32, tile));
}

TEST_CASE("whoever drew the last ticket may set the counter back without a fence") {
    Program p;
    p.launch();
    for (unsigned block = 0; block < 5; ++block) {
        p.races.begin_block(block);
        CHECK_FALSE(p.atomic(0, memory));
    }
    CHECK_FALSE(p.write(0, memory));
    // Somebody else may not, nor may anybody who drew none.
    p.launch();
    CHECK_FALSE(p.atomic(0, memory));
    p.races.begin_block(1);
    CHECK(p.write(0, memory));
}

TEST_CASE("launches in one stream are in order, in two they are not") {
    Program p;
    const OperationNumber first = p.launch(1);
    CHECK_FALSE(p.write(0, memory));
    CHECK_FALSE(p.write(0, memory + 4));
    p.launch(1);
    CHECK_FALSE(p.read(5, memory));
    p.launch(2);
    const auto conflict = p.read(6, memory);
    REQUIRE(conflict);
    CHECK(conflict->operation == first);
    CHECK(conflict->thread->block == 0);
    p.launch(3, {first});
    CHECK_FALSE(p.read(7, memory + 4));
}

TEST_CASE("a wait of the host puts launches in order") {
    Program p;
    const OperationNumber first = p.launch(1);
    CHECK_FALSE(p.write(0, memory));
    p.clocks.enqueue(3, {});  // so that not everything is settled
    p.clocks.host_waited(first);
    p.launch(2);
    CHECK_FALSE(p.write(6, memory));
}

TEST_CASE("copies race with launches of other streams") {
    Program p;
    const OperationNumber launch = p.launch(1);
    for (unsigned i = 0; i < 4096; ++i)
        REQUIRE_FALSE(p.write(i % 256, memory + 4 * i));
    const OperationNumber download = p.clocks.enqueue(2, {});
    const auto conflict = p.copy(download, memory + 400, 10000, AccessKind::read);
    REQUIRE(conflict);
    CHECK(conflict->operation == launch);
    CHECK(conflict->address == memory + 400);
    CHECK(conflict->thread->thread == 100);
    const OperationNumber behind = p.clocks.enqueue(1, {});
    CHECK_FALSE(p.copy(behind, memory, 16384, AccessKind::read));

    // Upload over what the first copy still reads, and a launch that does not wait for the upload.
    const OperationNumber upload = p.clocks.enqueue(1, {});
    const auto second = p.copy(upload, memory, 16384, AccessKind::write);
    REQUIRE(second);
    CHECK(second->who == Conflict::Who::operation);
    CHECK(second->operation == download);
    CHECK(second->kind == AccessKind::read);
    p.launch(2);
    const auto third = p.read(0, memory + 8000, 8);
    REQUIRE(third);
    CHECK(third->operation == upload);
    p.launch(1);
    CHECK_FALSE(p.read(0, memory + 8000, 8));
}

TEST_CASE("whole pages that copies write are cheap, and remembered") {
    Program p;
    const std::uint64_t bytes = 64 << 20;
    const OperationNumber fill = p.clocks.enqueue(1, {});
    CHECK_FALSE(p.copy(fill, memory, bytes, AccessKind::write));
    CHECK(p.races.memory() < 4 << 20);
    const OperationNumber other = p.clocks.enqueue(2, {});
    CHECK(p.copy(other, memory + bytes - 3, 3, AccessKind::read));
    CHECK_FALSE(p.copy(other, memory + bytes, 3, AccessKind::read));

    // Cells are given up again when the page is overwritten.
    p.launch(3, {fill, other});
    for (std::uint64_t at = 0; at < bytes; at += 65536)
        REQUIRE_FALSE(p.read(0, memory + at));
    const std::size_t with_cells = p.races.memory();
    const OperationNumber again = p.clocks.enqueue(3, {});
    CHECK_FALSE(p.copy(again, memory, bytes, AccessKind::write));
    CHECK(p.races.memory() < with_cells / 4);
    p.launch(4);
    CHECK(p.read(0, memory + 65536));
}

TEST_CASE("a copy within a launch's time does not hide the launch's earlier blocks") {
    Program p;
    p.launch(1);
    CHECK_FALSE(p.write(0, memory));
    const OperationNumber copy = p.clocks.enqueue(2, {});
    CHECK_FALSE(p.copy(copy, memory + 8192, 100, AccessKind::write));
    p.races.begin_block(1);
    CHECK_FALSE(p.write(1, memory + 4));
    const auto within = p.read(2, memory);
    REQUIRE(within);
    CHECK(within->thread->block == 0);
    const auto with_copy = p.read(2, memory + 8192);
    REQUIRE(with_copy);
    CHECK(with_copy->operation == copy);
}

TEST_CASE("the host races with work that it has not waited for") {
    Program p;
    CHECK_FALSE(p.races.host(memory, 4, AccessKind::write, 77));
    const OperationNumber launch = p.launch(1);
    CHECK_FALSE(p.read(0, memory));
    CHECK_FALSE(p.write(0, memory + 4));
    const auto read_early = p.races.host(memory + 4, 4, AccessKind::read, 78);
    REQUIRE(read_early);
    CHECK(read_early->operation == launch);
    CHECK(read_early->who == Conflict::Who::thread);
    CHECK_FALSE(p.races.host(memory, 4, AccessKind::read, 78));
    CHECK(p.races.host(memory, 4, AccessKind::write, 78));
    p.clocks.host_waited(launch);
    CHECK_FALSE(p.races.host(memory + 4, 4, AccessKind::write, 78));
}

TEST_CASE("the same race is found when the launch runs after the host's access") {
    Program p;
    const OperationNumber launch = p.clocks.enqueue(1, {});
    CHECK_FALSE(p.races.host(memory, 4, AccessKind::write, 77));
    p.races.begin_launch(launch);
    p.races.begin_block(0);
    const auto conflict = p.read(0, memory);
    REQUIRE(conflict);
    CHECK(conflict->who == Conflict::Who::host);
    CHECK(conflict->pc == 77);
    const OperationNumber later = p.launch(2);
    CHECK(later > launch);
    CHECK_FALSE(p.read(0, memory));
}

TEST_CASE("the host that waits while it runs is believed") {
    Program p;
    const OperationNumber launch = p.launch(1);
    CHECK_FALSE(p.write(0, memory));
    p.clocks.enqueue(2, {});
    CHECK(p.races.host(memory, 4, AccessKind::read, 78));
    p.clocks.host_waited(launch);
    CHECK_FALSE(p.races.host(memory, 4, AccessKind::read, 78));
}

TEST_CASE("freed memory has no past") {
    Program p;
    p.launch(1);
    for (std::uint64_t at = 0; at < 3 * 4096; at += 4)
        REQUIRE_FALSE(p.write(0, memory + at));
    p.races.forget(memory + 256, 2 * 4096);
    p.launch(2);
    CHECK(p.write(0, memory + 252));
    CHECK_FALSE(p.write(0, memory + 256));
    CHECK_FALSE(p.write(0, memory + 4096));
    CHECK_FALSE(p.write(0, memory + 2 * 4096 + 252));
    CHECK(p.write(0, memory + 2 * 4096 + 256));
}

TEST_CASE("memory is limited, and what is not watched is counted") {
    OperationClocks clocks;
    Races races(clocks, 1 << 20);
    races.begin_launch(clocks.enqueue(1, {}));
    races.begin_block(0);
    const auto write = [&](unsigned thread, std::uint64_t address) {
        return races.access({address, write_pc, 4, AccessKind::write, false}, Space::global,
                            thread);
    };
    for (std::uint64_t page = 0; page < 1000; ++page)
        REQUIRE_FALSE(write(0, memory + 4096 * page));
    CHECK(races.memory() < 2 << 20);
    CHECK(races.dropped_pages() > 900);
    CHECK(races.dropped_pages() < 1000);
    const std::uint64_t dropped = races.dropped_pages();
    CHECK(write(1, memory));
    CHECK_FALSE(write(1, memory + 4096 * 999));
    CHECK(races.dropped_pages() == dropped);

    // Freed memory makes room.
    races.forget(memory, 4096 * 1000);
    CHECK_FALSE(write(0, memory + 4096 * 999));
    CHECK(write(1, memory + 4096 * 999));
}

TEST_CASE("eras begin again without making up a race") {
    OperationClocks clocks;
    Races races(clocks, 1 << 30, 100);
    races.begin_launch(clocks.enqueue(1, {}));
    unsigned found = 0;
    for (std::uint64_t block = 0; block < 1000; ++block) {
        races.begin_block(block);
        for (unsigned thread = 0; thread < 4; ++thread) {
            const auto at = memory + 16 * block + 4 * thread;
            REQUIRE_FALSE(
                races.access({at, write_pc, 4, AccessKind::write, false}, Space::global, thread));
            races.barrier();
            REQUIRE_FALSE(races.access({memory + 16 * block, read_pc, 4, AccessKind::read, false},
                                       Space::global, thread));
        }
        if (races.access({memory + 65536, write_pc, 4, AccessKind::write, false}, Space::global, 0))
            ++found;
    }
    CHECK(found > 900);
    CHECK(found < 1000);
}

TEST_CASE("what the host has settled costs no memory of who ran") {
    Program p;
    for (unsigned i = 0; i < 1000; ++i) {
        const OperationNumber launch = p.launch(1);
        REQUIRE_FALSE(p.write(i % 7, memory));
        REQUIRE_FALSE(p.read(i % 7, memory + 64));
        p.clocks.host_waited(launch);
        REQUIRE_FALSE(p.races.host(memory, 4, AccessKind::read, 9));
    }
    CHECK(p.clocks.memory() < 4096);
}

namespace {

/// What happens before what in one launch, written down event by event.
class Graph {
public:
    using Events = std::bitset<2048>;
    struct Event {
        std::uint64_t block;
        unsigned thread;
        AccessKind kind;
        std::uint64_t address;
        unsigned bytes;
    };

    void begin_block(std::uint64_t block) {
        block_ = block;
        known_.clear();
        fenced_.clear();
        block_has_fence_ = false;
    }
    void meet(const std::vector<unsigned>& threads) {
        Events known, fenced;
        for (const unsigned thread : threads) {
            known |= known_[thread];
            fenced |= fenced_[thread];
        }
        for (const unsigned thread : threads) {
            known_[thread] = known;
            fenced_[thread] = fenced;
        }
    }
    void fence(unsigned thread) {
        fenced_[thread] |= known_[thread];
        block_has_fence_ = true;
    }

    /// Earlier events that race with this one, which is then noted.
    std::vector<Event> access(unsigned thread, std::uint64_t address, unsigned bytes,
                              AccessKind kind) {
        if (kind == AccessKind::atomic) known_[thread] |= released_[address];
        // Whoever acquires through an address has seen the atomics on it.
        if (kind == AccessKind::atomic && stands_for_fence_[address])
            known_[thread] |= atomics_[address];
        std::vector<Event> racing;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            const Event& earlier = events_[i];
            if (earlier.address + earlier.bytes <= address || address + bytes <= earlier.address)
                continue;
            if (earlier.kind == AccessKind::read && kind == AccessKind::read) continue;
            if (earlier.kind == AccessKind::atomic && kind == AccessKind::atomic) continue;
            if (!known_[thread][i]) racing.push_back(earlier);
        }
        known_[thread][events_.size()] = true;
        if (kind == AccessKind::atomic) {
            released_[address] |= fenced_[thread];
            atomics_[address][events_.size()] = true;
            if (block_has_fence_) stands_for_fence_[address] = true;
        }
        events_.push_back({block_, thread, kind, address, bytes});
        return racing;
    }

private:
    std::uint64_t block_ = 0;
    bool block_has_fence_ = false;
    std::vector<Event> events_;
    std::map<unsigned, Events> known_, fenced_;
    std::map<std::uint64_t, Events> released_, atomics_;
    std::map<std::uint64_t, bool> stands_for_fence_;
};

}  // namespace

TEST_CASE(
    "random programs: every race told of is one, and the first of a word is hardly ever missed") {
    const std::vector<unsigned> threads{0, 1, 2, 5, 31, 32, 33, 63};
    unsigned racy = 0, told = 0, in_order = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        Program p;
        Graph graph;
        p.launch();
        const unsigned words = 2 + seed % 40;
        std::map<std::uint64_t, bool> seen;  // words in which there was a race
        for (std::uint64_t block = 0; block < 4; ++block) {
            p.races.begin_block(block);
            graph.begin_block(block);
            for (unsigned step = 0; step < 100; ++step) {
                const unsigned thread = threads[random() % threads.size()];
                const unsigned what = random() % 24;
                if (what < 2) {
                    p.races.barrier();
                    graph.meet(threads);
                } else if (what < 4) {
                    const unsigned warp = random() % 2;
                    const std::uint32_t lanes = random() % 2 == 0 ? ~0u : random();
                    std::vector<unsigned> met;
                    for (const unsigned t : threads) {
                        if (t / 32 == warp && (lanes >> t % 32 & 1) != 0) met.push_back(t);
                    }
                    p.races.warp_sync(warp, lanes);
                    graph.meet(met);
                } else if (what < 7) {
                    p.races.fence(thread);
                    graph.fence(thread);
                } else {
                    const bool atomic = what < 12;
                    const unsigned bytes = atomic || seed % 2 == 0 ? 4 : 1u << random() % 4;
                    std::uint64_t address = memory + 4096 - 4 * (words / 2);
                    address += atomic ? 4 * (random() % words) : bytes * (random() % words);
                    if (!atomic) address &= ~std::uint64_t{bytes - 1};
                    const AccessKind kind = atomic      ? AccessKind::atomic
                                            : what < 20 ? AccessKind::read
                                                        : AccessKind::write;
                    const auto racing = graph.access(thread, address, bytes, kind);
                    const auto conflict = p.access(thread, address, bytes, kind, read_pc);
                    in_order += racing.empty();
                    if (!racing.empty() && !seen[address / 4]) {
                        seen[address / 4] = true;
                        ++racy;
                        told += conflict.has_value();
                    }
                    if (!conflict) continue;
                    bool is_one = false;
                    for (const Graph::Event& event : racing) {
                        is_one |=
                            event.block == conflict->thread->block &&
                            event.thread == conflict->thread->thread &&
                            event.kind == conflict->kind && event.address <= conflict->address &&
                            conflict->address < event.address + event.bytes &&
                            conflict->address >= address && conflict->address < address + bytes;
                    }
                    INFO("seed " << seed << ", block " << block << ", step " << step);
                    REQUIRE(is_one);
                }
            }
        }
    }
    CAPTURE(racy, told, in_order);
    CHECK(in_order > 10000);
    CHECK(racy > 4000);
    CHECK(told > racy * 98 / 100);
}
