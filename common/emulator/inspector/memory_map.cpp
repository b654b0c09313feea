#include "memory_map.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace emu::inspector {
namespace {

/// Addresses below this one come from a null pointer.
constexpr std::uint64_t null_page = 4096;

/// Freed objects that are remembered, so that their use can be told from that of no object.
constexpr std::size_t freed_kept = 1024;

/// What is allocated is rounded up to this size, in bytes: the rest of it can be touched.
constexpr std::uint64_t allocation_unit = 256;

/// Bytes behind, and before all but the dynamic one, that a shared variable has to itself.
constexpr std::uint64_t shared_gap = 256;

std::uint64_t end_of(const Object& object) {
    return object.begin + object.bytes;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

/// How far from an object an address is still taken for a wrong index into it, in bytes.
/// Allocations lie between guards; a launch has all its shared memory for itself; what the program
/// owns anyhow has other things of it close by.
std::uint64_t reach_of(const Object& object) {
    switch (object.kind) {
        case ObjectKind::device:
        case ObjectKind::pinned:
        case ObjectKind::managed:
            return 64 * 1024;
        case ObjectKind::shared:
        case ObjectKind::dynamic_shared:
            return 256 * 1024;
        case ObjectKind::registered:
        case ObjectKind::symbol:
            return 4096;
        case ObjectKind::image:
        case ObjectKind::local:
            return 0;
    }
    return 0;
}

/// How far a wrong index can reach, in bytes: 32 bits of it, and elements of 4 bytes.
constexpr std::uint64_t index_reach = std::uint64_t{1} << 34;

/// Bytes between an object and an address outside of it.
std::uint64_t distance_of(const Object& object, std::uint64_t address) {
    return address < object.begin ? object.begin - address : address - end_of(object);
}

/// Whether the bytes from `first` to before `last`, near the object, are mapped for sure.
bool can_be_touched(const Object& object, std::uint64_t first, std::uint64_t last) {
    const std::uint64_t end = end_of(object);
    switch (object.kind) {
        case ObjectKind::device:
        case ObjectKind::pinned:
        case ObjectKind::managed:
            return !object.freed && first >= object.begin && last <= round_up(end, allocation_unit);
        case ObjectKind::shared:
            return first >= object.begin - shared_gap && last <= end + shared_gap;
        case ObjectKind::dynamic_shared:
            return first >= object.begin && last <= end + shared_gap;
        case ObjectKind::registered:
        case ObjectKind::symbol:
        case ObjectKind::image:
        case ObjectKind::local:
            return false;
    }
    return false;
}

std::string count_of(std::uint64_t bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string hexadecimal(std::uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

/// Where in this process an address lies that belongs to no object. Empty: nowhere.
std::string host_place(std::uint64_t address) {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
        unsigned long long begin = 0;
        unsigned long long end = 0;
        char rights[5] = "";
        if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, rights) != 3) continue;
        if (address < begin || address >= end) continue;
        if (rights[0] != 'r') return "";
        if (line.find("[stack]") != std::string::npos) return "on the host's stack";
        if (line.find("[heap]") != std::string::npos) return "on the host's heap";
        return "in the host's memory";
    }
    return "";
}

}  // namespace

/// Index of the first object that begins behind the address.
std::size_t MemoryMap::first_above(std::uint64_t address) const {
    const auto above = std::upper_bound(
        objects_.begin(), objects_.end(), address,
        [](std::uint64_t wanted, const auto& object) { return wanted < object->begin; });
    return static_cast<std::size_t>(std::distance(objects_.begin(), above));
}

void MemoryMap::erase(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        const auto freed = std::find(freed_.begin(), freed_.end(), objects_[i].get());
        if (freed != freed_.end()) freed_.erase(freed);
    }
    objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(first),
                   objects_.begin() + static_cast<std::ptrdiff_t>(last));
    forget_slots();
}

void MemoryMap::add(Object object) {
    if (object.kind == ObjectKind::image) {
        images_.push_back(std::make_unique<Object>(std::move(object)));
        return;
    }
    std::size_t first = first_above(object.begin);
    while (first > 0 && (objects_[first - 1]->begin == object.begin ||
                         end_of(*objects_[first - 1]) > object.begin))
        --first;
    std::size_t last = first;
    while (last < objects_.size() &&
           (objects_[last]->begin == object.begin || objects_[last]->begin < end_of(object)))
        ++last;
    erase(first, last);
    objects_.insert(objects_.begin() + static_cast<std::ptrdiff_t>(first),
                    std::make_unique<Object>(std::move(object)));
}

void MemoryMap::free(std::uint64_t begin) {
    const std::size_t above = first_above(begin);
    if (above == 0) return;
    Object& object = *objects_[above - 1];
    if (object.begin != begin || object.freed) return;
    object.freed = true;
    freed_.push_back(&object);
    forget_slots();
    if (freed_.size() <= freed_kept) return;
    const std::size_t oldest = first_above(freed_.front()->begin) - 1;
    erase(oldest, oldest + 1);
}

void MemoryMap::begin_launch() {
    const auto is_shared = [](const auto& object) { return space_of(*object) == Space::shared; };
    objects_.erase(std::remove_if(objects_.begin(), objects_.end(), is_shared), objects_.end());
    forget_slots();
}

const Object* MemoryMap::find(std::uint64_t address) const {
    const auto holds = [address](const Object& object) {
        return address >= object.begin && address - object.begin < object.bytes;
    };
    const std::size_t above = first_above(address);
    if (above > 0 && holds(*objects_[above - 1])) return objects_[above - 1].get();
    for (const auto& image : images_) {
        if (holds(*image)) return image.get();
    }
    return nullptr;
}

const Object* MemoryMap::look_up(const Access& access) {
    const Object* const object = find(access.address);
    if (object == nullptr || object->freed) return nullptr;
    if (end_of(*object) - access.address < access.bytes) return nullptr;
    // A slot for an image would hide the symbols that lie in it.
    if (object->kind != ObjectKind::image)
        slots_[slot_of(access.pc)] = {object->begin, object->bytes, object, access.pc};
    return object;
}

Misuse MemoryMap::explain(const Access& access) const {
    const std::uint64_t first = access.address;
    const std::uint64_t last = first + access.bytes;
    if (first < null_page) {
        return {Fault::out_of_bounds, "",
                first == 0 ? "null pointer" : count_of(first) + " from a null pointer", true};
    }
    if (const Object* const object = find(first)) {
        const std::string from_start = count_of(first - object->begin) + " from its start";
        if (object->freed) {
            const bool registered = object->kind == ObjectKind::registered;
            return {Fault::use_after_free, object->name,
                    registered ? from_start + ", no longer registered" : from_start, true};
        }
        if (!access.any_alignment && first % access.bytes != 0) {
            return {Fault::misaligned, object->name,
                    hexadecimal(first) + " is no multiple of " + std::to_string(access.bytes),
                    true};
        }
        const std::uint64_t outside = last - end_of(*object);
        return {Fault::out_of_bounds, object->name,
                (outside == 1 ? "its last byte lies" : "its last " + count_of(outside) + " lie") +
                    std::string(" past the end"),
                !can_be_touched(*object, first, last)};
    }
    return explain_outside(access);
}

/// The object that an address outside of all objects was most likely meant for. Null: none is near.
const Object* MemoryMap::meant(std::uint64_t address, Pc pc) const {
    const Object* nearest = nullptr;
    const std::size_t above = first_above(address);
    if (above > 0) nearest = objects_[above - 1].get();
    if (above < objects_.size() && (nearest == nullptr || distance_of(*objects_[above], address) <
                                                              distance_of(*nearest, address)))
        nearest = objects_[above].get();
    const auto is_near = [address](const Object* object) {
        return object != nullptr && distance_of(*object, address) < reach_of(*object);
    };
    // What the instruction has touched before in this launch is the better guess.
    const Slot& slot = slots_[slot_of(pc)];
    const Object* const usual = slot.pc == pc ? slot.object : nullptr;
    if (is_near(usual)) return usual;
    if (is_near(nearest)) return nearest;
    return usual != nullptr && distance_of(*usual, address) < index_reach ? usual : nullptr;
}

/// What is wrong with an access that begins in no object.
Misuse MemoryMap::explain_outside(const Access& access) const {
    const std::uint64_t first = access.address;
    const Object* const object = meant(first, access.pc);
    if (object == nullptr || distance_of(*object, first) >= reach_of(*object)) {
        const std::uint64_t below = first - (std::uint64_t{access.bytes} << 32);
        const Object* const wanted = meant(below, 0);
        if (wanted != nullptr && below < wanted->begin) {
            return {Fault::out_of_bounds, wanted->name,
                    "an unsigned index went below 0, which made it about 4 billion", true};
        }
    }
    if (object == nullptr) {
        const std::string place = host_place(first);
        if (!place.empty()) return {Fault::host_pointer, "", place, true};
        return {Fault::out_of_bounds, "", hexadecimal(first) + " is the address of nothing", true};
    }
    const bool behind = first >= object->begin;
    const std::uint64_t distance = distance_of(*object, first);
    std::string detail = count_of(distance) + (behind ? " past the end" : " before the start");
    if (behind && distance == 0) detail = "right behind the end";
    if (object->freed) detail += ", and it was freed";
    if (object->kind == ObjectKind::dynamic_shared && object->bytes == 0)
        detail = "the launch asked for none";
    return {Fault::out_of_bounds, object->name, detail,
            !can_be_touched(*object, first, first + access.bytes)};
}

}  // namespace emu::inspector
