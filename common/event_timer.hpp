/// \file
/// The time between two events in the stream that does the work.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "check.hpp"
#include "stream.hpp"
#include "units.hpp"

namespace mf {

/// Owns the two events of an interval. It must be given the stream of the work: an event in another
/// stream is reached without waiting for that work, and the time says nothing.
///
///     EventTimer timer(stream);
///     timer.start();
///     kernel<<<grid, block, 0, stream>>>(…);
///     CUDA_CHECK_LAUNCH();
///     timer.stop();
///     const double ms = timer.elapsed_ms();
class EventTimer {
public:
    explicit EventTimer(cudaStream_t stream) : stream_(stream) {}

    void start() {
        state_ = State::started;
        start_.record(stream_);
    }

    void stop() {
        if (state_ != State::started) throw std::logic_error("EventTimer: stop without a start");
        stop_.record(stream_);
        state_ = State::stopped;
    }

    /// Waits for the stop event and returns the milliseconds between the two, to about 0.5 us.
    /// Throws what the work failed with, or MeasurementRefused for a time that cannot be one.
    [[nodiscard]] double elapsed_ms(const std::string& what = "interval") const {
        if (state_ != State::stopped) {
            throw std::logic_error("EventTimer: no interval; call start, then stop, first");
        }
        stop_.synchronize();
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, start_, stop_));
        return require_time(ms, what);
    }

private:
    enum class State { idle, started, stopped };

    cudaStream_t stream_;
    Event start_;
    Event stop_;
    State state_ = State::idle;
};

/// Milliseconds that `work()` takes in `stream`; `work` must put all it does into that stream.
template <typename Work>
[[nodiscard]] double time_once_ms(cudaStream_t stream, Work&& work) {
    EventTimer timer(stream);
    timer.start();
    work();
    timer.stop();
    return timer.elapsed_ms();
}

}  // namespace mf
