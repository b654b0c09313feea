#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "host_guard.hpp"
#include "observer.hpp"

namespace emu {
namespace {

/// Inaccessible bytes before and behind every allocation.
constexpr std::size_t guard_bytes = 64 * 1024;

/// Alignment of every address that cudaMalloc returns, in bytes.
constexpr std::size_t address_alignment = 256;

/// Freed allocations that stay inaccessible, so that their use faults and can be explained.
constexpr std::size_t released_kept = 256;

/// Fresh memory, eight bytes at a time: NaN as float and as double, large as an integer, and no
/// byte of it is 0.
constexpr std::uint64_t poison = 0x7ff7fff77ff7fff7;

/// From this size on, in bytes, fewer and larger pages are worth asking for.
constexpr std::size_t huge_page_size = 4 * 1024 * 1024;

/// After so many bytes have been handed out, the host's free memory is looked at again.
constexpr std::size_t check_interval = 16 * 1024 * 1024;

/// All allocations by address. Never destroyed: kernels may run while the process ends.
struct Ledger {
    std::mutex mutex;
    std::map<std::uintptr_t, Allocation> by_begin;
    std::deque<std::uintptr_t> released;  ///< the kept ones, oldest first
    std::map<std::string, unsigned> calls;
    std::size_t device_bytes = 0;     ///< in use on the device
    std::size_t unchecked_bytes = 0;  ///< handed out since the host's memory was last looked at
};

Ledger& ledger() {
    static Ledger& value = *new Ledger;
    return value;
}

std::uintptr_t number_of(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

std::size_t round_up(std::size_t size, std::size_t unit) {
    return (size + unit - 1) / unit * unit;
}

std::size_t page_size() {
    static const std::size_t value = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return value;
}

/// A number of bytes in a file of the kernel; `otherwise` if there is none ("max").
std::size_t read_limit(const char* file, std::size_t otherwise) {
    std::ifstream in(file);
    std::size_t value = 0;
    return in >> value ? value : otherwise;
}

/// Memory that the kernel could hand out now, in bytes.
std::size_t available_memory() {
    std::ifstream in("/proc/meminfo");
    std::string line;
    while (std::getline(in, line)) {
        unsigned long long kib = 0;
        if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kib) == 1) return kib * 1024;
    }
    return device_memory_limit();
}

void fill(char* begin, std::size_t size) {
    auto* const words = reinterpret_cast<std::uint64_t*>(begin);
    std::fill(words, words + size / sizeof poison, poison);
}

bool is_device(MemoryKind kind) {
    return kind == MemoryKind::device || kind == MemoryKind::managed;
}

/// The allocation that holds the address. A size of 0 holds nothing.
std::map<std::uintptr_t, Allocation>::iterator find_locked(Ledger& all, const void* address) {
    const auto above = all.by_begin.upper_bound(number_of(address));
    if (above == all.by_begin.begin()) return all.by_begin.end();
    const auto candidate = std::prev(above);
    const std::size_t distance = number_of(address) - candidate->first;
    return distance < candidate->second.size ? candidate : all.by_begin.end();
}

void forget_oldest_released(Ledger& all) {
    const auto oldest = all.by_begin.find(all.released.front());
    all.released.pop_front();
    munmap(oldest->second.mapping, oldest->second.mapping_size);
    all.by_begin.erase(oldest);
}

void release_locked(Ledger& all, Allocation& allocation) {
    // The pages go back at once; the addresses stay taken for a while.
    if (observer != nullptr) observer->memory_released(allocation);
    madvise(allocation.mapping, allocation.mapping_size, MADV_DONTNEED);
    mprotect(allocation.mapping, allocation.mapping_size, PROT_NONE);
    allocation.released = true;
    if (is_device(allocation.kind)) all.device_bytes -= allocation.size;
    all.released.push_back(number_of(allocation.begin));
    if (all.released.size() > released_kept) forget_oldest_released(all);
}

}  // namespace

std::size_t device_memory_limit() {
    static const std::size_t value = [] {
        std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
        bytes = std::min(bytes, read_limit("/sys/fs/cgroup/memory.max", bytes));
        bytes = std::min(bytes, read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes", bytes));
        return bytes / 4 * 3;
    }();
    return value;
}

cudaError_t allocate(const char* made_by, MemoryKind kind, unsigned flags, std::size_t size,
                     void** address) {
    if (size > device_memory_limit()) return cudaErrorMemoryAllocation;
    Ledger& all = ledger();
    {
        const std::lock_guard<std::mutex> lock(all.mutex);
        // Fresh memory is written to, so that what is not there must be refused before.
        all.unchecked_bytes += size;
        if (all.unchecked_bytes >= check_interval) {
            all.unchecked_bytes = 0;
            if (size > available_memory() / 10 * 9) return cudaErrorMemoryAllocation;
        }
        if (is_device(kind)) {
            if (size > device_memory_limit() - all.device_bytes) return cudaErrorMemoryAllocation;
            all.device_bytes += size;
        }
    }
    const std::size_t used = round_up(size, address_alignment);
    const std::size_t pages = round_up(used, page_size());
    const std::size_t mapping_size = pages + 2 * guard_bytes;
    void* const mapping =
        mmap(nullptr, mapping_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool mapped = mapping != MAP_FAILED;
    char* const first_page = static_cast<char*>(mapped ? mapping : nullptr) + guard_bytes;
    if (!mapped || mprotect(first_page, pages, PROT_READ | PROT_WRITE) != 0) {
        if (mapped) munmap(mapping, mapping_size);
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (is_device(kind)) all.device_bytes -= size;
        return cudaErrorMemoryAllocation;
    }
    if (size >= huge_page_size) madvise(first_page, pages, MADV_HUGEPAGE);
    fill(first_page, pages);
    if (kind == MemoryKind::device) guard_from_host(first_page, pages);
    // Its end touches the guard behind it, as near as the alignment allows.
    char* const begin = first_page + pages - used;
    const std::lock_guard<std::mutex> lock(all.mutex);
    Allocation& made = all.by_begin[number_of(begin)];
    made = Allocation{made_by, ++all.calls[made_by],        kind,        flags, begin,
                      size,    static_cast<char*>(mapping), mapping_size};
    if (observer != nullptr) observer->memory_made(made);
    *address = begin;
    return cudaSuccess;
}

cudaError_t release(void* address, MemoryKind kind, MemoryKind or_kind) {
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_begin.find(number_of(address));
    if (found == all.by_begin.end()) return cudaErrorInvalidValue;
    Allocation& allocation = found->second;
    const bool right_kind = allocation.kind == kind || allocation.kind == or_kind;
    if (!right_kind || allocation.released) return cudaErrorInvalidValue;
    release_locked(all, allocation);
    return cudaSuccess;
}

cudaError_t prepare_release(void* address) {
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_begin.find(number_of(address));
    if (found == all.by_begin.end()) return cudaErrorInvalidValue;
    Allocation& allocation = found->second;
    if (allocation.kind != MemoryKind::device || allocation.released ||
        allocation.release_pending) {
        return cudaErrorInvalidValue;
    }
    allocation.release_pending = true;
    return cudaSuccess;
}

cudaError_t enter(const char* made_by, MemoryKind kind, unsigned flags, void* address,
                  std::size_t size) {
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const std::uintptr_t begin = number_of(address);
    const auto next = all.by_begin.lower_bound(begin);
    auto overlapped = find_locked(all, address);
    if (next != all.by_begin.end() && next->first - begin < size) overlapped = next;
    if (overlapped != all.by_begin.end()) {
        return is_device(overlapped->second.kind) ? cudaErrorInvalidValue
                                                  : cudaErrorHostMemoryAlreadyRegistered;
    }
    Allocation& entered = all.by_begin[begin];
    entered = Allocation{
        made_by, ++all.calls[made_by], kind, flags, static_cast<char*>(address), size, nullptr, 0};
    if (observer != nullptr) observer->memory_made(entered);
    return cudaSuccess;
}

cudaError_t withdraw(void* address) {
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_begin.find(number_of(address));
    if (found == all.by_begin.end() || found->second.kind != MemoryKind::registered) {
        return cudaErrorHostMemoryNotRegistered;
    }
    if (observer != nullptr) observer->memory_released(found->second);
    all.by_begin.erase(found);
    return cudaSuccess;
}

bool find_allocation(const void* address, Allocation& found) {
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto entry = find_locked(all, address);
    if (entry == all.by_begin.end()) return false;
    found = entry->second;
    return true;
}

std::size_t device_memory_in_use() {
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.device_bytes;
}

void release_all_memory() {
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);
    std::vector<std::uintptr_t> live;
    for (const auto& entry : all.by_begin) {
        if (entry.second.mapping != nullptr && !entry.second.released) live.push_back(entry.first);
    }
    for (const std::uintptr_t begin : live)
        release_locked(all, all.by_begin[begin]);
}

std::string describe(const void* address) {
    const std::uintptr_t wanted = number_of(address);
    if (wanted < page_size()) return "near the null pointer";
    Ledger& all = ledger();
    const std::lock_guard<std::mutex> lock(all.mutex);

    // Inside an allocation, in the guard behind one, or in the guard before one.
    const auto above = all.by_begin.upper_bound(wanted);
    const Allocation* nearest = nullptr;
    std::size_t distance = 0;
    const char* place = nullptr;
    if (above != all.by_begin.begin()) {
        const Allocation& below = std::prev(above)->second;
        const std::size_t offset = wanted - number_of(below.begin);
        const std::size_t reach = round_up(below.size, page_size()) + guard_bytes;
        if (offset < below.size) {
            nearest = &below;
            distance = offset;
            place = "into";
        } else if (offset < reach) {
            nearest = &below;
            distance = offset - below.size;
            place = "past the end of";
        }
    }
    if (above != all.by_begin.end() && place == nullptr) {
        const Allocation& next = above->second;
        if (number_of(next.begin) - wanted < guard_bytes + page_size()) {
            nearest = &next;
            distance = number_of(next.begin) - wanted;
            place = "before the start of";
        }
    }
    if (nearest == nullptr) return "in no allocation of the device (a host pointer?)";
    char text[160];
    std::snprintf(text, sizeof text, "%zu bytes %s a %zu-byte allocation (%s #%u)%s", distance,
                  place, nearest->size, nearest->made_by, nearest->number,
                  nearest->released ? ", which was freed" : "");
    return text;
}

}  // namespace emu
