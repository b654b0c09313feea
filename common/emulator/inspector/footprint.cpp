#include "footprint.hpp"

#include <algorithm>

namespace emu::inspector {

Footprint::Footprint(std::size_t memory_limit) : page_limit_(memory_limit / sizeof(Page)) {}

/// An access to a page not seen before, or to more than one word of bits.
void Footprint::add_slowly(std::uint64_t address, unsigned bytes, AccessKind kind) {
    while (bytes > 0) {
        const std::uint64_t number = address / page_bytes;
        if (pages_.find(number) == nullptr) {
            if (numbers_.size() == page_limit_) {
                found_.complete = false;
                return;
            }
            if (numbers_.size() == pool_.size()) pool_.emplace_back();
            Page& page = pool_[numbers_.size()];
            page = Page{};
            pages_.set(number, &page);
            numbers_.push_back(number);
        }
        const auto left_in_word = static_cast<unsigned>(word_bits - address % word_bits);
        const unsigned part = std::min(bytes, left_in_word);
        add(address, part, kind);
        address += part;
        bytes -= part;
    }
}

FootprintBytes Footprint::take() {
    for (const std::uint64_t number : numbers_)
        pages_.erase(number);
    numbers_.clear();
    const FootprintBytes result = found_;
    found_ = FootprintBytes{};
    return result;
}

}  // namespace emu::inspector
