/// \file
/// Owners of a CUDA stream and of a CUDA event.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "check.hpp"

namespace mf {

/// A stream of the current device. Non-blocking by default: it does not wait for the legacy
/// default stream, nor that one for it, so that an event in the wrong stream shows as such.
class Stream {
public:
    explicit Stream(unsigned flags = cudaStreamNonBlocking) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, flags));
    }
    // The result is dropped on purpose: a destructor must not throw, and an error of earlier work
    // has already been reported by the call that waited for it.
    ~Stream() {
        if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
    }
    Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        std::swap(stream_, other.stream_);
        return *this;
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    cudaStream_t get() const { return stream_; }
    operator cudaStream_t() const { return stream_; }

    /// Waits until all work of the stream is done; throws what that work failed with.
    void synchronize() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }

private:
    cudaStream_t stream_ = nullptr;
};

/// An event of the current device, able to keep a time by default.
class Event {
public:
    explicit Event(unsigned flags = cudaEventDefault) {
        CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags));
    }
    ~Event() {
        if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
    }
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        std::swap(event_, other.event_);
        return *this;
    }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    cudaEvent_t get() const { return event_; }
    operator cudaEvent_t() const { return event_; }

    void record(cudaStream_t stream) const { CUDA_CHECK(cudaEventRecord(event_, stream)); }
    void synchronize() const { CUDA_CHECK(cudaEventSynchronize(event_)); }

private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace mf
