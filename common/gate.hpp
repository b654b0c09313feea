/// \file
/// A stream that waits for the host: what makes "not finished yet" certain instead of likely.
#pragma once

#include <cuda_runtime.h>

#include <condition_variable>
#include <mutex>

#include "check.hpp"

namespace mf {

/// From its construction on, everything put into the stream waits until `open()`. For showing what
/// a program sees of unfinished work: a kernel that merely lasts long may be over by the time a
/// busy machine's host looks. It is a host function in the stream, so it costs some microseconds
/// and has no place in a measurement. One closed gate at a time: the driver may run the host
/// functions of all streams one after another.
class Gate {
public:
    explicit Gate(cudaStream_t stream) : stream_(stream) {
        CUDA_CHECK(cudaLaunchHostFunc(stream_, &Gate::wait, this));
    }
    /// Opens, and waits until the stream has passed: it refers to this object.
    ~Gate() {
        open();
        static_cast<void>(cudaStreamSynchronize(stream_));
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    /// Lets the stream go on; again is no error.
    void open() {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }

private:
    static void CUDART_CB wait(void* gate) {
        Gate& self = *static_cast<Gate*>(gate);
        std::unique_lock<std::mutex> lock(self.mutex_);
        self.opened_.wait(lock, [&self] { return self.open_; });
    }

    cudaStream_t stream_;
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

}  // namespace mf
