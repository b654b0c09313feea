/// \file
/// Which bytes of memory anybody has ever written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "page_table.hpp"

namespace emu::inspector {

/// One bit for every byte of memory; at first nothing is written. A page that is written as a whole
/// takes 16 to 32 bytes, one that is written in part 512 more.
class WrittenBytes {
public:
    WrittenBytes();
    WrittenBytes(const WrittenBytes&) = delete;  // the table points into the pool
    WrittenBytes& operator=(const WrittenBytes&) = delete;

    /// The range is written.
    void mark(std::uint64_t address, std::uint64_t bytes) {
        const std::uint64_t first = address % word_bits;
        Page* const page = pages_.find(address / page_bytes);
        if (page == nullptr || bytes == 0 || first + bytes > word_bits) {
            mark_range(address, bytes);
            return;
        }
        set_bits(*page, address, mask(first, bytes), bytes);
    }

    /// Nothing in the range is written: it is freed, made anew, or a block's shared memory begins.
    void clear(std::uint64_t address, std::uint64_t bytes);

    /// `to` is written where `from` is. The ranges do not overlap.
    void copy(std::uint64_t from, std::uint64_t to, std::uint64_t bytes);

    /// Whether any byte of the range is written. A read of which this is not true has no meaning;
    /// one that is written in part may, as of a structure with padding.
    bool any(std::uint64_t address, std::uint64_t bytes) {
        const std::uint64_t first = address % word_bits;
        if (bytes == 0 || first + bytes > word_bits) return any_in_range(address, bytes);
        const Page* const page = pages_.find(address / page_bytes);
        return page != nullptr && (page->words[word_of(address)] & mask(first, bytes)) != 0;
    }

    /// Offset of the range's first byte that is not written. None: all are.
    std::optional<std::uint64_t> first_unwritten(std::uint64_t address, std::uint64_t bytes);

    /// Bytes that the bits take.
    std::size_t memory() const;

private:
    static constexpr std::uint64_t word_bits = 64;
    struct Page {
        std::array<std::uint64_t, page_bytes / word_bits> words;
        std::uint64_t written;  ///< bits set
    };

    /// `bits` ones from bit `first` on; 1 to 64 of them, within a word.
    static std::uint64_t mask(std::uint64_t first, std::uint64_t bits) {
        return (~std::uint64_t{0} >> (word_bits - bits)) << first;
    }
    static std::uint64_t count_of(std::uint64_t bits) {
        return static_cast<unsigned>(__builtin_popcountll(bits));
    }
    static std::size_t word_of(std::uint64_t address) { return address % page_bytes / word_bits; }

    /// Sets the `wanted` bits, `bytes` of them, of the word that the address belongs to.
    void set_bits(Page& page, std::uint64_t address, std::uint64_t wanted, std::uint64_t bytes) {
        std::uint64_t& word = page.words[word_of(address)];
        const std::uint64_t fresh = wanted & ~word;
        if (fresh == 0) return;
        word |= fresh;
        page.written += fresh == wanted ? bytes : count_of(fresh);
        if (page.written == page_bytes) set_full(address / page_bytes, page);
    }

    void mark_range(std::uint64_t address, std::uint64_t bytes);
    bool any_in_range(std::uint64_t address, std::uint64_t bytes);
    void set_full(std::uint64_t number, Page& page);
    std::uint64_t bits(std::uint64_t address, std::uint64_t count);
    Page& make(std::uint64_t number);
    void recycle(Page* page);

    PageTable<Page> pages_;
    std::deque<Page> pool_;
    std::vector<Page*> spare_;  ///< of the pool
    Page full_;                 ///< stands for every page that is written as a whole
};

}  // namespace emu::inspector
