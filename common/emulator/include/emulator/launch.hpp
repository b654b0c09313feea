/// \file
/// What a rewritten `kernel<<<grid, block, shared, stream>>>(arguments)` becomes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emulator/block_state.hpp"
#include "emulator/runtime_api.h"

namespace emu {

/// The part of a launch between the angle brackets.
struct Config {
    dim3 grid;
    dim3 block;
    std::size_t dynamic_shared;  ///< bytes
    cudaStream_t stream;
};

/// Takes the same numbers, in the same order and with the same defaults, as <<<…>>>.
inline Config config(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
                     cudaStream_t stream = nullptr) {
    return {grid, block, dynamic_shared, stream};
}

/// A launch on its way through a stream: everything but which block comes next.
struct Task {
    dim3 grid;
    dim3 block;
    std::size_t dynamic_shared = 0;     ///< bytes
    const void* function = nullptr;     ///< the kernel's address, or null where it has none
    const char* name = "";              ///< as the source wrote it; for reports
    std::uint32_t operation = 0;        ///< its number for an inspector
    std::atomic<bool> reported{false};  ///< why it was given up has been written

    virtual ~Task() = default;

    /// What each fiber of a worker does: runs threads of the current block while any has not begun,
    /// rests, and so on. Never returns; a fiber is dropped where it rests.
    virtual void run_threads() const = 0;
};

/// Checks the launch against the device's limits and puts it into its stream, or sets the last
/// error.
void enqueue_kernel(std::shared_ptr<Task> task, cudaStream_t stream);

/// A task that applies `Call` to the arguments' values once for each thread.
template <class Call, class... Arguments>
struct CallTask final : Task {
    CallTask(Call c, std::tuple<Arguments...> v) : call(std::move(c)), values(std::move(v)) {}

    /// Flattened: with the kernel inlined, a thread costs no call, and no return that the processor
    /// would predict wrongly after the fibers have been switched.
    [[gnu::flatten]] void run_threads() const override {
        while (true) {
            const Call local_call = call;  // read anew: registers do not outlast a rest
            const std::tuple<Arguments...> local_values = values;
            run_unbegun_threads([&] { std::apply(local_call, local_values); });
            rest();
        }
    }

    Call call;
    std::tuple<Arguments...> values;
};

template <class Call, class... Arguments>
void enqueue(const Config& config, const void* function, const char* name, Call call,
             std::tuple<Arguments...> values) {
    auto task = std::make_shared<CallTask<Call, Arguments...>>(std::move(call), std::move(values));
    task->grid = config.grid;
    task->block = config.block;
    task->dynamic_shared = config.dynamic_shared;
    task->function = function;
    task->name = name;
    enqueue_kernel(std::move(task), config.stream);
}

/// A kernel known by name: the arguments convert to its own parameter types, as nvcc has it, and
/// the compiler may inline it into the loop over threads.
template <auto Kernel, class Signature = decltype(Kernel)>
struct NamedLauncher;

template <auto Kernel, class... Parameters>
struct NamedLauncher<Kernel, void (*)(Parameters...)> {
    Config config;
    const char* name;

    void operator()(Parameters... arguments) const {
        enqueue(
            config, reinterpret_cast<const void*>(Kernel), name,
            [](const Parameters&... values) { Kernel(values...); },
            std::tuple<Parameters...>(std::forward<Parameters>(arguments)...));
    }
};

template <auto Kernel, class... Parameters>
struct NamedLauncher<Kernel, void (*)(Parameters...) noexcept>
    : NamedLauncher<static_cast<void (*)(Parameters...)>(Kernel)> {};

template <auto Kernel>
NamedLauncher<Kernel> launch(const Config& config, const char* name = "") {
    return {config, name};
}

/// A kernel reached through a pointer that is known only at run time.
template <class... Parameters>
struct PointerLauncher {
    Config config;
    void (*kernel)(Parameters...);
    const char* name;

    void operator()(Parameters... arguments) const {
        enqueue(config, reinterpret_cast<const void*>(kernel), name, kernel,
                std::tuple<Parameters...>(std::forward<Parameters>(arguments)...));
    }
};

template <class... Parameters>
PointerLauncher<Parameters...> launch_pointer(const Config& config, void (*kernel)(Parameters...),
                                              const char* name = "") {
    return {config, kernel, name};
}

/// A kernel whose template arguments the call deduces: `call` applies it to the arguments' values.
template <class Call>
struct CallLauncher {
    Config config;
    Call call;
    const char* name;

    template <class... Arguments>
    void operator()(Arguments... arguments) const {
        enqueue(config, nullptr, name, call, std::tuple<Arguments...>(std::move(arguments)...));
    }
};

template <class Call>
CallLauncher<Call> launch_call(const Config& config, Call call, const char* name = "") {
    return {config, std::move(call), name};
}

/// A kernel of which the source does not show what it is: by its pointer where it has just one
/// (`pointer(config)` is then a valid call), else by deduction.
template <class Pointer, class Call>
auto launch_any(const Config& config, Pointer pointer, Call call, const char* name = "") {
    if constexpr (std::is_invocable_v<Pointer, const Config&>) {
        return pointer(config);
    } else {
        return launch_call(config, std::move(call), name);
    }
}

}  // namespace emu
