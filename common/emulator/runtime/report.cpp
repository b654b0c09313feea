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

/// `running`: the current thread was interrupted, and neither waits nor has returned.
std::string describe_state(const Slot& slot, bool running) {
    if (&slot >= block.unbegun) return "not begun";
    if (running && &slot == block.current) return "running";
    switch (slot.wait) {
        case wait_for_ever:
            return "returned from the kernel";
        case wait_warp:
            return "waiting at a warp primitive, " + describe_place(slot.site);
        case wait_other_barrier:
            return "waiting at __syncthreads(), " + describe_place(slot.site);
        default:
            break;
    }
    if (slot.wait < block.phase) return "ready to go on";
    return "waiting at __syncthreads(), " + describe_place(block.barrier);
}

}  // namespace

std::string formatted(const char* format, std::va_list arguments) {
    char text[4096];
    const int used = std::vsnprintf(text, sizeof text, format, arguments);
    return used < 0 ? format : text;
}

void report(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const std::string line = "emulator: " + formatted(format, arguments) + "\n";
    va_end(arguments);
    std::fflush(stdout);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

std::string where_running() {
    return "kernel " + std::string(this_worker->task().name) + ", block " + triple(blockIdx) +
           ", thread " + triple(threadIdx);
}

std::string describe_waits(bool running) {
    const auto slot_of = [](unsigned linear) -> const Slot& {
        return block.begin[block.slot_of[linear]];
    };
    std::string lines;
    const unsigned threads = block.threads();
    for (unsigned first = 0; first < threads;) {
        const std::string state = describe_state(slot_of(first), running);
        unsigned last = first;
        while (last + 1 < threads && describe_state(slot_of(last + 1), running) == state)
            ++last;
        lines += first == last ? "\n  thread " : "\n  threads ";
        lines += triple(slot_of(first).index);
        if (last != first) lines += " to " + triple(slot_of(last).index);
        lines += ": " + state;
        first = last + 1;
    }
    return lines;
}

}  // namespace emu
