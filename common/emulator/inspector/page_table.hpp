/// \file
/// Finds what is kept about a page of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu::inspector {

/// Bytes of a page, as the analysers count them.
constexpr std::uint64_t page_bytes = 4096;

/// Pointers by page number (address / page_bytes): a hash table with open addressing, and in front
/// of it a small cache that answers nearly every time. Owns nothing that it points to.
template <class Value>
class PageTable {
public:
    /// Null: nothing is kept about the page.
    Value* find(std::uint64_t page) {
        Entry& cached = cache_[hash(page) >> (64 - cache_bits)];
        if (cached.page == page) return cached.value;
        const std::size_t place = place_of(page);
        if (entries_[place].value == nullptr) return nullptr;
        cached = entries_[place];
        return cached.value;
    }

    /// Sets or replaces what is kept; `value` is not null.
    void set(std::uint64_t page, Value* value) {
        if (2 * (used_ + 1) > entries_.size()) grow();
        Entry& entry = entries_[place_of(page)];
        if (entry.value == nullptr) ++used_;
        entry = {page, value};
        cache_[hash(page) >> (64 - cache_bits)] = entry;
    }

    /// Does nothing if nothing is kept about the page.
    void erase(std::uint64_t page) {
        std::size_t hole = place_of(page);
        if (entries_[hole].value == nullptr) return;
        cache_[hash(page) >> (64 - cache_bits)] = Entry{};
        --used_;
        // Later entries that were pushed behind the hole move up, so that searches still end right.
        const std::size_t mask = entries_.size() - 1;
        for (std::size_t next = (hole + 1) & mask; entries_[next].value != nullptr;
             next = (next + 1) & mask) {
            const std::size_t home = hash(entries_[next].page) >> shift_;
            if (((next - home) & mask) < ((next - hole) & mask)) continue;
            entries_[hole] = entries_[next];
            hole = next;
        }
        entries_[hole] = Entry{};
    }

    /// Bytes that the table takes.
    std::size_t memory() const { return entries_.capacity() * sizeof(Entry); }

private:
    struct Entry {
        std::uint64_t page = ~std::uint64_t{0};  // the number of no page
        Value* value = nullptr;
    };
    static constexpr unsigned cache_bits = 8;
    static constexpr unsigned first_bits = 8;

    static std::uint64_t hash(std::uint64_t page) {
        return page * std::uint64_t{0x9e3779b97f4a7c15};  // Fibonacci hashing: 2^64 / golden ratio
    }

    /// Where the page is, or where it would go.
    std::size_t place_of(std::uint64_t page) const {
        const std::size_t mask = entries_.size() - 1;
        std::size_t place = hash(page) >> shift_;
        while (entries_[place].value != nullptr && entries_[place].page != page)
            place = (place + 1) & mask;
        return place;
    }

    void grow() {
        std::vector<Entry> old(2 * entries_.size());
        old.swap(entries_);
        --shift_;
        for (const Entry& entry : old) {
            if (entry.value != nullptr) entries_[place_of(entry.page)] = entry;
        }
    }

    std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << first_bits);
    unsigned shift_ = 64 - first_bits;  ///< leaves as many bits of a hash as `entries_` has places
    std::size_t used_ = 0;
    std::array<Entry, std::size_t{1} << cache_bits> cache_;
};

}  // namespace emu::inspector
