#include "findings.hpp"

namespace emu::inspector {
namespace {

bool same_instruction(const Party& a, const Party& b) {
    return a.pc == b.pc && a.who == b.who && a.kind == b.kind && a.line == b.line &&
           a.file == b.file && a.kernel == b.kernel;
}

bool same(const Finding& a, const Finding& b) {
    if (a.fault != b.fault || !same_instruction(a.first, b.first)) return false;
    if (a.second.has_value() != b.second.has_value()) return false;
    return !a.second || same_instruction(*a.second, *b.second);
}

}  // namespace

const char* name_of(Fault fault) {
    switch (fault) {
        case Fault::out_of_bounds:
            return "out_of_bounds";
        case Fault::use_after_free:
            return "use_after_free";
        case Fault::misaligned:
            return "misaligned";
        case Fault::host_pointer:
            return "host_pointer";
        case Fault::device_pointer:
            return "device_pointer";
        case Fault::never_written:
            return "never_written";
        case Fault::shared_race:
            return "shared_race";
        case Fault::global_race:
            return "global_race";
        case Fault::atomic_mixed:
            return "atomic_mixed";
        case Fault::barrier:
            return "barrier";
        case Fault::warp_mask:
            return "warp_mask";
        case Fault::launch_error:
            return "launch_error";
        case Fault::kernel_failure:
            return "kernel_failure";
    }
    return "unknown";
}

std::size_t Findings::add(const Finding& finding) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (!same(all_[i], finding)) continue;
        all_[i].times += finding.times;
        return i;
    }
    all_.push_back(finding);
    return all_.size() - 1;
}

}  // namespace emu::inspector
