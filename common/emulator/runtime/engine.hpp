/// \file
/// A host thread that carries out the operations of one engine in the order they came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace emu {

/// Starts its thread with the first job. Never destroyed: its thread outlives main.
class EngineThread {
public:
    void post(std::function<void()> job);

private:
    void run();

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::function<void()>> jobs_;
    bool started_ = false;
};

}  // namespace emu
