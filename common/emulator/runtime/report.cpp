#include "report.hpp"

#include <unistd.h>

#include <cstdio>

#include "worker.hpp"

namespace emu {
namespace {

std::string triple(uint3 v) {
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

/// The last part of a path: enough to find a line by, short enough to read.
std::string file_name(const char* path) {
    const std::string whole = path == nullptr ? "?" : path;
    return whole.substr(whole.find_last_of('/') + 1);
}

std::string describe_place(const Site& site) {
    return file_name(site.file) + ":" + std::to_string(site.line);
}

std::string describe_state(unsigned slot) {
    if (slot == block.current && block.waiting[slot] < Wait::barrier) return "running";
    switch (block.waiting[slot]) {
        case Wait::barrier:
            return "waiting at __syncthreads(), " + describe_place(block.barrier);
        case Wait::other_barrier:
            return "waiting at __syncthreads(), " + describe_place(block.slots[slot].site);
        case Wait::warp:
            return "waiting at a warp primitive, " + describe_place(block.slots[slot].site);
        case Wait::finished:
            return "returned from the kernel";
        case Wait::not_begun:
            return "not begun";
        case Wait::none:
            break;
    }
    return "ready to go on";
}

}  // namespace

void report_arguments(const char* format, std::va_list arguments) {
    char text[4096];
    const int used = std::vsnprintf(text, sizeof text, format, arguments);
    if (used < 0) return;
    const std::string line = "emulator: " + std::string(text) + "\n";
    std::fflush(stdout);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

std::string where_running() {
    return "kernel " + std::string(this_worker->task().name) + ", block " + triple(blockIdx) +
           ", thread " + triple(threadIdx);
}

std::string describe_waits() {
    std::string lines;
    for (unsigned first = 0; first < block.threads;) {
        const unsigned first_slot = block.slot_of[first];
        const std::string state = describe_state(first_slot);
        unsigned last = first;
        while (last + 1 < block.threads && describe_state(block.slot_of[last + 1]) == state)
            ++last;
        lines += first == last ? "\n  thread " : "\n  threads ";
        lines += triple(block.slots[first_slot].index);
        if (last != first) lines += " to " + triple(block.slots[block.slot_of[last]].index);
        lines += ": " + state;
        first = last + 1;
    }
    return lines;
}

}  // namespace emu
