#include "shared_sites.hpp"

#include <algorithm>

namespace emu {
namespace {

/// Bytes left free between two variables, so that one index too far does not reach the next.
constexpr std::size_t gap_bytes = 256;

unsigned count = 0;        // both are set before main, by one thread
std::size_t bytes = 4096;  // never empty

}  // namespace

SharedSite register_shared(std::size_t size, std::size_t alignment, const char* type_name) {
    const std::size_t step = std::max<std::size_t>(alignment, 128);
    const std::size_t offset = (bytes + step - 1) / step * step;
    bytes = offset + size + gap_bytes;
    return {offset, size, count++, type_name};
}

unsigned shared_site_count() {
    return count;
}

std::size_t shared_site_bytes() {
    return bytes;
}

}  // namespace emu
