/// \file
/// How much memory a launch touches, each byte counted once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "access.hpp"
#include "page_table.hpp"

namespace emu::inspector {

struct FootprintBytes {
    std::uint64_t read = 0;     ///< distinct bytes
    std::uint64_t written = 0;  ///< distinct bytes
    bool complete = true;       ///< false: there was more than could be kept apart
};

/// Collects the bytes that are read and written. A read-modify-write does both.
class Footprint {
public:
    /// `memory_limit`: bytes that the bits may take; a quarter of a byte for each byte touched.
    explicit Footprint(std::size_t memory_limit = std::size_t{512} << 20);
    Footprint(const Footprint&) = delete;  // the table points into the pool
    Footprint& operator=(const Footprint&) = delete;

    /// An access of at most 64 bytes.
    void add(std::uint64_t address, unsigned bytes, AccessKind kind) {
        const std::uint64_t first = address % word_bits;
        Page* const page = pages_.find(address / page_bytes);
        if (page == nullptr || first + bytes > word_bits) {
            add_slowly(address, bytes, kind);
            return;
        }
        const std::uint64_t wanted = (~std::uint64_t{0} >> (word_bits - bytes)) << first;
        const std::size_t word = address % page_bytes / word_bits;
        if (kind != AccessKind::write) found_.read += set(page->read[word], wanted, bytes);
        if (kind != AccessKind::read) found_.written += set(page->written[word], wanted, bytes);
    }

    /// What has come together since the last call, and begins anew.
    FootprintBytes take();

private:
    static constexpr std::uint64_t word_bits = 64;
    struct Page {
        std::array<std::uint64_t, page_bytes / word_bits> read;
        std::array<std::uint64_t, page_bytes / word_bits> written;
    };

    /// Sets the `wanted` bits, `bytes` of them. Gives how many were not set before.
    static unsigned set(std::uint64_t& word, std::uint64_t wanted, unsigned bytes) {
        const std::uint64_t fresh = wanted & ~word;
        word |= fresh;
        if (fresh == wanted || fresh == 0) return fresh == 0 ? 0 : bytes;
        return static_cast<unsigned>(__builtin_popcountll(fresh));
    }

    void add_slowly(std::uint64_t address, unsigned bytes, AccessKind kind);

    PageTable<Page> pages_;
    std::deque<Page> pool_;
    std::vector<std::uint64_t> numbers_;  ///< of the pages in use: the n-th is the pool's n-th
    std::size_t page_limit_;
    FootprintBytes found_;
};

}  // namespace emu::inspector
