/// \file
/// Stacks for the fibers of one worker.
#pragma once

#include <cstddef>

namespace emu {

/// A reserve of equal stacks, each with a guard page below it; memory is used only once touched.
class Stacks {
public:
    static constexpr std::size_t stack_bytes = 64 * 1024;  ///< guard page included

    explicit Stacks(std::size_t count);
    ~Stacks();
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;

    /// The address just above stack `index`, 16-byte aligned. Stacks are staggered: equal offsets
    /// in all of them would fall into the same few sets of the processor's caches.
    char* top(std::size_t index);

    /// Whether an address lies in one of the stacks.
    bool holds(const void* address) const {
        const char* const place = static_cast<const char*>(address);
        return place >= begin_ && place < begin_ + count_ * stack_bytes;
    }

    /// Whether an address lies in a guard page, that is, whether a stack has overflowed.
    bool in_guard(const void* address) const;

private:
    char* begin_;
    std::size_t count_;
    std::size_t guarded_ = 0;  ///< stacks whose guard page is in place
};

}  // namespace emu
