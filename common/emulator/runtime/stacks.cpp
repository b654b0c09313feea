#include "stacks.hpp"

#include <sys/mman.h>

#include <new>

namespace emu {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t stagger_lines = 5;  ///< about what a small kernel touches at a barrier

}  // namespace

Stacks::Stacks(std::size_t count) : count_(count) {
    void* const memory = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<char*>(memory);
}

Stacks::~Stacks() {
    munmap(begin_, count_ * stack_bytes);
}

char* Stacks::top(std::size_t index) {
    char* const bottom = begin_ + index * stack_bytes;
    if (index >= guarded_) {
        mprotect(bottom, page_bytes, PROT_NONE);
        guarded_ = index + 1;
    }
    const std::size_t stagger =
        index * stagger_lines * cache_line_bytes % page_bytes / cache_line_bytes * cache_line_bytes;
    return bottom + stack_bytes - stagger;
}

bool Stacks::in_guard(const void* address) const {
    if (!holds(address)) return false;
    return static_cast<std::size_t>(static_cast<const char*>(address) - begin_) % stack_bytes <
           page_bytes;
}

}  // namespace emu
