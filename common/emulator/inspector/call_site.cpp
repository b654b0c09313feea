#include "call_site.hpp"

#include <execinfo.h>

#include <cstdint>
#include <iterator>
#include <tuple>

namespace emu::inspector {

CallSite CallSite::here() {
    CallSite site;
    void* frames[std::tuple_size<decltype(site.frames_)>::value + 1];
    const int count = backtrace(frames, static_cast<int>(std::size(frames)));
    for (int i = 1; i < count; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
        // Shared libraries lie above 4 GiB; the program does not.
        if (address == static_cast<Pc>(address)) {
            site.frames_[static_cast<std::size_t>(i - 1)] = static_cast<Pc>(address);
        }
    }
    return site;
}

void CallSite::add_to(std::set<Pc>& pcs) const {
    for (const Pc pc : frames_) {
        if (pc != 0) pcs.insert(pc);
    }
}

Place CallSite::find(const Symbols& symbols) const {
    for (const Pc pc : frames_) {
        if (pc == 0) continue;
        if (const Place place = symbols.find_own(pc); place.known()) return place;
    }
    return {};
}

}  // namespace emu::inspector
