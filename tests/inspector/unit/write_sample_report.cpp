/// \file
/// Writes a report with everything in it, for the test that holds it against the schema.
#include <cstdio>

#include "report.hpp"

using namespace emu::inspector;

namespace {

AccessCounts some_counts() {
    AccessCounts counts;
    counts.requests = 10;
    counts.accesses = 320;
    counts.bytes = 1280;
    counts.sectors = counts.ideal_sectors = 40;
    counts.wavefronts = 20;
    counts.ideal_wavefronts = 10;
    counts.worst_ways = 2;
    counts.contention = 30;
    counts.worst_contention = 3;
    return counts;
}

Report sample() {
    Party thread;
    thread.bytes = 4;
    thread.pc = 1;
    thread.kernel = "blur";
    thread.thread = {3, 1, 0};
    Party host;
    host.who = Party::Who::host;
    host.kind = AccessKind::write;
    Party copy;
    copy.who = Party::Who::operation;
    copy.kind = AccessKind::atomic;
    copy.kernel = "cudaMemcpyAsync";
    copy.file = "blur.cu";
    copy.line = 30;

    Report report;
    report.program = "blur";
    for (int fault = 0; fault <= static_cast<int>(Fault::kernel_failure); ++fault) {
        report.findings.push_back(
            {static_cast<Fault>(fault), thread, std::nullopt, "cudaMalloc #1, 8 bytes", "why", 2});
    }
    report.findings.push_back({Fault::global_race, thread, host, "", "", 1});
    report.findings.push_back({Fault::global_race, host, copy, "", "", 1});

    KernelReport kernel;
    kernel.name = "blur";
    kernel.grid = kernel.block = {2, 2, 1};
    kernel.launches = 1;
    kernel.blocks = kernel.counted_blocks = 4;
    for (Pc pc = 1; pc <= 2; ++pc) {  // the line of 2 is not known
        PlaceCounts& place = kernel.places[pc];
        for (auto& kinds : place.access)
            kinds.fill(some_counts());
        place.branches = 4;
        place.divergent_branches = 1;
    }
    report.kernels = {kernel};
    report.notes = {"A note."};
    return report;
}

}  // namespace

int main() {
    const Symbols symbols({{1, {"blur.cu", 12}}});
    std::fputs(json_of(sample(), symbols).c_str(), stdout);
}
