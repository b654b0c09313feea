/// \file
/// A host thread that carries out the operations of one engine in the order they came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace emu {

/// Whether an engine's jobs may touch the device's memory.
enum class Reach { device, host_only };

/// Starts its thread with the first job. Never destroyed: its thread outlives main.
class EngineThread {
public:
    explicit EngineThread(Reach reach) : reach_(reach) {}

    void post(std::function<void()> job);

private:
    void run();

    const Reach reach_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::function<void()>> jobs_;
    bool started_ = false;
};

}  // namespace emu
