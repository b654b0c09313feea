/// \file
/// What memory there is, and whether an access stays inside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "access.hpp"
#include "findings.hpp"

namespace emu::inspector {

enum class ObjectKind : std::uint8_t {
    device,          ///< cudaMalloc and its kin
    pinned,          ///< cudaMallocHost, cudaHostAlloc
    registered,      ///< cudaHostRegister
    managed,         ///< cudaMallocManaged
    symbol,          ///< a __device__ or __constant__ variable
    image,           ///< a program's or library's static memory; symbols may lie in it
    shared,          ///< a __shared__ variable
    dynamic_shared,  ///< what the launch asked for; may be 0 bytes
    local            ///< a thread's own: stacks, parameters of kernels
};

struct Object {
    ObjectKind kind;
    std::uint64_t begin;
    std::uint64_t bytes;  ///< as asked for, without any rounding
    std::string name;     ///< for reports: "cudaMalloc #3, 4000 bytes"
    bool freed = false;
};

inline Space space_of(const Object& object) {
    const bool shared =
        object.kind == ObjectKind::shared || object.kind == ObjectKind::dynamic_shared;
    return shared ? Space::shared : Space::global;
}

/// What is wrong with an access, in the terms of a Finding.
struct Misuse {
    Fault fault;
    std::string object;  ///< the name of the nearest object, if one is near
    std::string detail;  ///< "4 bytes past the end"
    bool ends_kernel;    ///< a GPU would not go on behind it, or this process could not
};

/// The objects of the program, the freed ones included until their addresses are used again.
class MemoryMap {
public:
    /// Adds an object. Objects that it overlaps are forgotten, except those of kind `image`, which
    /// lie beneath all others.
    void add(Object object);

    /// The object that begins there is freed, or no longer registered. None: nothing happens.
    void free(std::uint64_t begin);

    /// A launch begins: there are no shared variables and no dynamic shared memory yet.
    void begin_launch();

    /// The object that holds the address, also a freed one. Null: none.
    const Object* find(std::uint64_t address) const;

    /// The object that the access lies in, if nothing is wrong with the access; null: explain()
    /// says what is. Valid until an object is added, freed or removed.
    const Object* holder(const Access& access) {
        const bool aligned =
            access.any_alignment || (access.address & (access.bytes - std::uint64_t{1})) == 0;
        if (!aligned) return nullptr;
        // An instruction touches the same object nearly every time.
        const Slot& slot = slots_[slot_of(access.pc)];
        const std::uint64_t offset = access.address - slot.begin;
        if (offset < slot.bytes && slot.bytes - offset >= access.bytes) return slot.object;
        return look_up(access);
    }

    /// What is wrong with an access for which holder() gave null.
    Misuse explain(const Access& access) const;

private:
    struct Slot {
        std::uint64_t begin = 0;
        std::uint64_t bytes = 0;
        const Object* object = nullptr;
        Pc pc = 0;  ///< whose slot it is; others with the same hash use it too
    };
    static constexpr unsigned slot_bits = 8;

    static std::size_t slot_of(Pc pc) { return pc * std::uint32_t{2654435769} >> (32 - slot_bits); }

    const Object* look_up(const Access& access);
    const Object* meant(std::uint64_t address, Pc pc) const;
    Misuse explain_outside(const Access& access) const;
    std::size_t first_above(std::uint64_t address) const;
    void erase(std::size_t first, std::size_t last);
    void forget_slots() { slots_.fill(Slot{}); }

    std::vector<std::unique_ptr<Object>> objects_;  ///< by address, none overlapping another
    std::vector<std::unique_ptr<Object>> images_;
    std::deque<const Object*> freed_;  ///< of `objects_`, oldest first
    std::array<Slot, std::size_t{1} << slot_bits> slots_;
};

}  // namespace emu::inspector
