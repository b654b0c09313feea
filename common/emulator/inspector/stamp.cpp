#include "stamp.hpp"

namespace emu::inspector {

std::uint32_t PcNumbers::look_up(Pc pc) {
    constexpr std::size_t most = std::size_t{1} << 20;
    const auto [place, is_new] =
        numbers_.try_emplace(pc, static_cast<std::uint32_t>(pcs_.size() < most ? pcs_.size() : 0));
    if (is_new && place->second != 0) pcs_.push_back(pc);
    cache_[pc % cache_.size()] = {pc, place->second};
    return place->second;
}

}  // namespace emu::inspector
