/// \file
/// The program's own variables, as its symbol table has them.
#include "static_objects.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include "catch.hpp"

using namespace emu::inspector;

namespace {

float weights[9] = {1};
unsigned char flag = 1;

struct Table {
    static int entries[3];
};
int Table::entries[3] = {1};

std::uint64_t address_of(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

const MemoryMap& own_map() {
    static const MemoryMap map = [] {
        MemoryMap result;
        for (Object& object : static_objects())
            result.add(std::move(object));
        return result;
    }();
    return map;
}

}  // namespace

TEST_CASE("variables have their names and sizes") {
    const Object* const object = own_map().find(address_of(&weights[8]));
    REQUIRE(object != nullptr);
    CHECK(object->kind == ObjectKind::symbol);
    CHECK(object->begin == address_of(weights));
    CHECK(object->bytes == sizeof weights);
    CHECK(object->name == "variable (anonymous namespace)::weights, 36 bytes");
    REQUIRE(own_map().find(address_of(&flag)) != nullptr);
    CHECK(own_map().find(address_of(&flag))->name ==
          "variable (anonymous namespace)::flag, 1 byte");
    CHECK(own_map().find(address_of(Table::entries))->bytes == sizeof Table::entries);
}

TEST_CASE("variables local to a function") {
    static int calls[5] = {1};
    const Object* const object = own_map().find(address_of(calls));
    REQUIRE(object != nullptr);
    CHECK(object->begin == address_of(calls));
    CHECK(object->bytes == sizeof calls);
}

TEST_CASE("constants without a name lie in an image") {
    const Object* const object = own_map().find(address_of("some text"));
    REQUIRE(object != nullptr);
    CHECK(object->kind == ObjectKind::image);
}

TEST_CASE("neither the stack nor the heap belongs to the program's static memory") {
    const int on_stack = 0;
    const auto on_heap = std::make_unique<int>();
    CHECK(own_map().find(address_of(&on_stack)) == nullptr);
    CHECK(own_map().find(address_of(on_heap.get())) == nullptr);
}
