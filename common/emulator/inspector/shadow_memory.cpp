#include "shadow_memory.hpp"

#include <algorithm>
#include <utility>

namespace emu::inspector {
namespace {

std::size_t size_of_cells(const ShadowPage& page) {
    return page.cells ? page.count() * sizeof(ShadowCell) : 0;
}

}  // namespace

ShadowPage& ShadowMemory::add(std::uint64_t number) {
    if (memory() + sizeof(ShadowPage) > limit_) return drop(number);
    if (free_.empty()) {
        pages_.emplace_back();
        free_.push_back(&pages_.back());
    }
    ShadowPage& page = *free_.back();
    free_.pop_back();
    bytes_ += sizeof(ShadowPage);
    table_.set(number, &page);
    return page;
}

bool ShadowMemory::refine(std::uint64_t number, ShadowPage& page, bool bytes) {
    const std::uint8_t shift = bytes ? 0 : 2;
    const std::size_t count = page_bytes >> shift;
    if (memory() + count * sizeof(ShadowCell) > limit_) {
        release(page);
        drop(number);
        return false;
    }
    auto cells = std::make_unique<ShadowCell[]>(count);
    for (std::size_t i = 0; i < count; ++i)
        cells[i] = page.cells ? page.cells[i >> (page.shift - shift)] : page.whole;
    bytes_ += count * sizeof(ShadowCell) - size_of_cells(page);
    page.cells = std::move(cells);
    page.shift = shift;
    return true;
}

void ShadowMemory::collapse(ShadowPage& page, Stamp write) {
    bytes_ -= size_of_cells(page);
    page.cells.reset();
    page.shift = 2;
    page.whole = ShadowCell{write, {}};
}

void ShadowMemory::release(ShadowPage& page) {
    collapse(page, Stamp());
    bytes_ -= sizeof(ShadowPage);
    free_.push_back(&page);
}

ShadowPage& ShadowMemory::drop(std::uint64_t number) {
    ++dropped_;
    table_.set(number, &unwatched_);
    return unwatched_;
}

void ShadowMemory::erase(std::uint64_t number) {
    ShadowPage* const page = table_.find(number);
    if (page == nullptr) return;
    table_.erase(number);
    if (page->watched) release(*page);
}

void ShadowMemory::clear() {
    table_ = {};
    free_.clear();
    pages_.clear();
    bytes_ = 0;
}

}  // namespace emu::inspector
