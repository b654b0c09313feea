/// \file
/// Work that was given to a stream, and what it waits for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "emulator/launch.hpp"

namespace emu {

/// What carries an operation out.
enum class Engine {
    none,         ///< nothing to do but to be reached: events, waits
    kernel,       ///< the worker pool
    upload,       ///< copies to the device, one after another
    download,     ///< copies from the device
    device_copy,  ///< copies within the device, fills, deferred releases
    host          ///< host functions
};

struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

/// One node of the graph of enqueued work. The scheduler's lock guards the second half.
struct Operation {
    explicit Operation(Engine on) : engine(on) {}

    Engine engine;
    std::shared_ptr<Task> task;  ///< what a kernel runs
    std::function<void(cudaError_t)>
        work;                         ///< what the other engines run; given the context's error
    bool even_after_failure = false;  ///< runs although a kernel has failed
    std::uint32_t number = 0;         ///< for an inspector

    std::vector<OperationPtr> predecessors;  ///< emptied once all have finished
    std::vector<OperationPtr> successors;
    std::size_t unfinished_predecessors = 0;
    bool demanded = false;  ///< somebody wants it done; from the start unless streams run late
    bool awaited = false;   ///< a host thread sleeps until it has finished
    bool finished = false;
    std::chrono::steady_clock::time_point finished_at;
};

}  // namespace emu
