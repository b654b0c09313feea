/// \file
/// The last accesses to each word or byte of memory, as far as races need them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "page_table.hpp"
#include "stamp.hpp"

namespace emu::inspector {

/// What is kept of some bytes that were always accessed together.
struct ShadowCell {
    Stamp write;  ///< the last write or atomic
    /// Reads behind it; of atomics in a row, also an earlier one and the write before them.
    std::array<Stamp, 2> others;
};

/// A page of memory: one cell for all of it, or one for each word of 4 bytes, or for each byte.
struct ShadowPage {
    ShadowCell whole;                     ///< if there are no cells
    std::unique_ptr<ShadowCell[]> cells;  ///< null until a part of the page is accessed
    std::uint8_t shift = 2;               ///< a cell has 2^shift bytes: 4 or 1
    bool watched = true;                  ///< false: there was no memory for it

    std::size_t count() const { return page_bytes >> shift; }
};

/// The pages, within a limit of memory. Beyond it new pages are not watched.
class ShadowMemory {
public:
    explicit ShadowMemory(std::size_t limit) : limit_(limit) { unwatched_.watched = false; }

    /// The page of a number (address / page_bytes), new if there was none. Its `watched` may be
    /// false.
    ShadowPage& page(std::uint64_t number) {
        ShadowPage* const found = table_.find(number);
        return found != nullptr ? *found : add(number);
    }

    /// Null: none.
    ShadowPage* find(std::uint64_t number) { return table_.find(number); }

    /// Gives the page cells of words or, with `bytes`, of bytes, that say what it says as it is.
    /// False: there is no memory for them; the page is no longer watched.
    bool refine(std::uint64_t number, ShadowPage& page, bool bytes);

    /// The whole page was written at once: one cell is enough again.
    void collapse(ShadowPage& page, Stamp write);

    void erase(std::uint64_t number);

    /// Everything.
    void clear();

    std::uint64_t dropped_pages() const { return dropped_; }
    std::size_t memory() const { return bytes_ + table_.memory(); }

private:
    ShadowPage& add(std::uint64_t number);
    /// Gives the page's storage back.
    void release(ShadowPage& page);
    ShadowPage& drop(std::uint64_t number);

    std::size_t limit_;
    std::size_t bytes_ = 0;
    std::uint64_t dropped_ = 0;
    PageTable<ShadowPage> table_;
    std::deque<ShadowPage> pages_;
    std::vector<ShadowPage*> free_;
    ShadowPage unwatched_;  ///< stands for all pages that are not watched
};

}  // namespace emu::inspector
