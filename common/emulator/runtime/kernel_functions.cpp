#include "kernel_functions.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace emu {
namespace {

std::mutex mutex;
std::map<const void*, std::size_t>& known() {
    // Never destroyed: workers may be running when the process ends.
    static auto& bytes = *new std::map<const void*, std::size_t>;
    return bytes;
}

}  // namespace

void note_static_shared(const void* function, std::size_t bytes) {
    if (function == nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex);
    std::size_t& most = known()[function];
    most = std::max(most, bytes);
}

std::size_t static_shared_bytes(const void* function) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known().find(function);
    return found == known().end() ? 0 : found->second;
}

}  // namespace emu
