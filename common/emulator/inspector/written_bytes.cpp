#include "written_bytes.hpp"

#include <algorithm>

namespace emu::inspector {
namespace {

/// Calls part(address, bytes) for the pieces of a range that lie in one page each.
template <class Part>
void for_each_page(std::uint64_t address, std::uint64_t bytes, Part part) {
    while (bytes > 0) {
        const std::uint64_t here = std::min(bytes, page_bytes - address % page_bytes);
        part(address, here);
        address += here;
        bytes -= here;
    }
}

/// Calls part(address, bytes) for the pieces of a range that lie in one word of bits each.
template <class Part>
void for_each_word(std::uint64_t address, std::uint64_t bytes, Part part) {
    constexpr std::uint64_t word_bits = 64;
    while (bytes > 0) {
        const std::uint64_t here = std::min(bytes, word_bits - address % word_bits);
        part(address, here);
        address += here;
        bytes -= here;
    }
}

}  // namespace

WrittenBytes::WrittenBytes() {
    full_.words.fill(~std::uint64_t{0});
    full_.written = page_bytes;
}

/// The page, which holds no written byte yet.
WrittenBytes::Page& WrittenBytes::make(std::uint64_t number) {
    if (spare_.empty()) {
        pool_.emplace_back();
        spare_.push_back(&pool_.back());
    }
    Page& page = *spare_.back();
    spare_.pop_back();
    page = Page{};
    pages_.set(number, &page);
    return page;
}

/// Takes the page's bits back into the pool. The table still points to them.
void WrittenBytes::recycle(Page* page) {
    if (page != nullptr && page != &full_) spare_.push_back(page);
}

/// All of the page is written now.
void WrittenBytes::set_full(std::uint64_t number, Page& page) {
    recycle(&page);
    pages_.set(number, &full_);
}

void WrittenBytes::mark_range(std::uint64_t address, std::uint64_t bytes) {
    for_each_page(address, bytes, [this](std::uint64_t first, std::uint64_t count) {
        const std::uint64_t number = first / page_bytes;
        Page* page = pages_.find(number);
        if (page == &full_) return;
        if (count == page_bytes) {
            recycle(page);
            pages_.set(number, &full_);
            return;
        }
        if (page == nullptr) page = &make(number);
        for_each_word(first, count, [&](std::uint64_t at, std::uint64_t bits) {
            set_bits(*page, at, mask(at % word_bits, bits), bits);
        });
    });
}

void WrittenBytes::clear(std::uint64_t address, std::uint64_t bytes) {
    for_each_page(address, bytes, [this](std::uint64_t first, std::uint64_t count) {
        const std::uint64_t number = first / page_bytes;
        Page* page = pages_.find(number);
        if (page == nullptr) return;
        if (count == page_bytes) {
            recycle(page);
            pages_.erase(number);
            return;
        }
        if (page == &full_) {
            page = &make(number);
            *page = full_;
        }
        for_each_word(first, count, [&](std::uint64_t at, std::uint64_t bits) {
            std::uint64_t& word = page->words[word_of(at)];
            const std::uint64_t wanted = mask(at % word_bits, bits);
            page->written -= count_of(word & wanted);
            word &= ~wanted;
        });
        if (page->written != 0) return;
        recycle(page);
        pages_.erase(number);
    });
}

/// The bits of 1 to 64 bytes, the first byte's lowest.
std::uint64_t WrittenBytes::bits(std::uint64_t address, std::uint64_t count) {
    std::uint64_t result = 0;
    std::uint64_t filled = 0;
    for_each_word(address, count, [&](std::uint64_t at, std::uint64_t here) {
        const Page* const page = pages_.find(at / page_bytes);
        if (page != nullptr) {
            const std::uint64_t word = page->words[word_of(at)] >> (at % word_bits);
            result |= (word & mask(0, here)) << filled;
        }
        filled += here;
    });
    return result;
}

void WrittenBytes::copy(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    const std::uint64_t shift = from - to;
    for_each_page(to, bytes, [&](std::uint64_t first, std::uint64_t count) {
        // Most often all of the source is written, or none of it.
        const std::uint64_t source = first + shift;
        const Page* const source_begin = pages_.find(source / page_bytes);
        const Page* const source_end = pages_.find((source + count - 1) / page_bytes);
        if (source_begin == &full_ && source_end == &full_) {
            mark_range(first, count);
            return;
        }
        clear(first, count);
        if (source_begin == nullptr && source_end == nullptr) return;
        for_each_word(first, count, [&](std::uint64_t at, std::uint64_t here) {
            const std::uint64_t written = bits(at + shift, here);
            if (written == 0) return;
            Page* page = pages_.find(at / page_bytes);
            if (page == nullptr) page = &make(at / page_bytes);
            set_bits(*page, at, written << (at % word_bits), count_of(written));
        });
    });
}

bool WrittenBytes::any_in_range(std::uint64_t address, std::uint64_t bytes) {
    bool found = false;
    for_each_word(address, bytes, [&](std::uint64_t at, std::uint64_t here) {
        found = found || bits(at, here) != 0;
    });
    return found;
}

std::optional<std::uint64_t> WrittenBytes::first_unwritten(std::uint64_t address,
                                                           std::uint64_t bytes) {
    const std::uint64_t end = address + bytes;
    std::uint64_t at = address;
    while (at < end) {
        if (pages_.find(at / page_bytes) == &full_) {
            at = (at / page_bytes + 1) * page_bytes;
            continue;
        }
        const std::uint64_t here = std::min(end - at, word_bits - at % word_bits);
        const std::uint64_t missing = ~bits(at, here) & mask(0, here);
        if (missing != 0) return at - address + static_cast<unsigned>(__builtin_ctzll(missing));
        at += here;
    }
    return std::nullopt;
}

std::size_t WrittenBytes::memory() const {
    return pages_.memory() + pool_.size() * sizeof(Page) + spare_.capacity() * sizeof(Page*);
}

}  // namespace emu::inspector
