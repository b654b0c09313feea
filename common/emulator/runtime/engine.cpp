#include "engine.hpp"

#include <thread>
#include <utility>

#include "host_guard.hpp"

namespace emu {

void EngineThread::post(std::function<void()> job) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        jobs_.push_back(std::move(job));
        if (!started_) {
            started_ = true;
            std::thread([this] { run(); }).detach();
        }
    }
    arrived_.notify_one();
}

void EngineThread::run() {
    if (reach_ == Reach::device) {
        allow_device_access();
    } else {
        deny_device_access();
    }
    while (true) {
        std::function<void()> job;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            arrived_.wait(lock, [this] { return !jobs_.empty(); });
            job = std::move(jobs_.front());
            jobs_.pop_front();
        }
        job();
    }
}

}  // namespace emu
