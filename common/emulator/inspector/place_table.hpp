/// \file
/// A table of what is known of each instruction, for the hot path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu::inspector {

/// A hash table: one multiplication and, nearly always, one look.
template <class Place>
class PlaceTable {
public:
    /// The place of `key`, which is not 0; if there is none, a copy of `fresh` becomes it. Good
    /// until the next call.
    Place& find(std::uint64_t key, const Place& fresh) {
        std::size_t slot = slot_of(key);
        while (slots_[slot].key != key) {
            if (slots_[slot].key == 0) return add(key, fresh);
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return places_[slots_[slot].index];
    }

    /// In the order in which they were first asked for.
    const std::vector<Place>& all() const { return places_; }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::size_t index = 0;
    };

    std::size_t slot_of(std::uint64_t key) const {
        return (key * 0x9E3779B97F4A7C15u >> 32) & (slots_.size() - 1);
    }

    Place& add(std::uint64_t key, const Place& fresh) {
        places_.push_back(fresh);
        if (places_.size() * 2 > slots_.size()) {
            std::vector<Slot> old(slots_.size() * 2);
            old.swap(slots_);
            for (const Slot& slot : old)
                if (slot.key != 0) put(slot);
        }
        put({key, places_.size() - 1});
        return places_.back();
    }

    void put(const Slot& what) {
        std::size_t slot = slot_of(what.key);
        while (slots_[slot].key != 0)
            slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = what;
    }

    std::vector<Slot> slots_{64};
    std::vector<Place> places_;
};

}  // namespace emu::inspector
