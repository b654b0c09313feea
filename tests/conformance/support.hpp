/// \file
/// What the conformance tests share. One source serves a GPU (nvcc) and the emulator (emucc).
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

/// Requires that a runtime call gives exactly this code; the message shows both names.
#define REQUIRE_CODE(call, code) REQUIRE(conformance::name_of(call) == conformance::name_of(code))
#define CHECK_CODE(call, code) CHECK(conformance::name_of(call) == conformance::name_of(code))
#define CHECK_OK(call) CHECK_CODE(call, cudaSuccess)
#define REQUIRE_OK(call) REQUIRE_CODE(call, cudaSuccess)

/// The same, and takes the code back out of the thread's last error.
#define CHECK_FAILS(call, code)   \
    do {                          \
        CHECK_CODE(call, code);   \
        (void)cudaGetLastError(); \
    } while (false)

/// To be put after a launch: it was refused for its shape. Takes the code out of the last error.
#define CHECK_REFUSED_FOR_SHAPE()                            \
    do {                                                     \
        const cudaError_t launch_error = cudaGetLastError(); \
        INFO(conformance::name_of(launch_error));            \
        CHECK(conformance::is_bad_shape(launch_error));      \
    } while (false)

/// To be put after a launch: it was accepted and has run to its end.
#define REQUIRE_COMPLETES()                  \
    do {                                     \
        REQUIRE_OK(cudaGetLastError());      \
        REQUIRE_OK(cudaDeviceSynchronize()); \
    } while (false)

/// Requires equal sequences, and names the first place where they differ.
#define REQUIRE_SAME(actual, expected)                             \
    do {                                                           \
        INFO(conformance::first_difference((actual), (expected))); \
        REQUIRE(conformance::same((actual), (expected)));          \
    } while (false)

namespace conformance {

/// With lazy loading a kernel's first launch may wait for the device, and so for ever behind a
/// closed gate. Set before anything calls the runtime.
inline const int eager_loading = setenv("CUDA_MODULE_LOADING", "EAGER", 1);

inline std::string name_of(cudaError_t error) {
    return cudaGetErrorName(error);
}

/// A NaN equals nothing.
template <class T>
bool same(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) return false;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (!(actual[i] == expected[i])) return false;
    }
    return true;
}

template <class T>
std::string first_difference(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) {
        return std::to_string(actual.size()) + " elements instead of " +
               std::to_string(expected.size());
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (!(actual[i] == expected[i])) {
            return "element " + std::to_string(i) + " is " + std::to_string(actual[i]) +
                   ", expected " + std::to_string(expected[i]);
        }
    }
    return "equal";
}

/// Device memory with an owner. Never zero by itself: the tests poison it or fill it.
template <class T>
class DeviceArray {
public:
    explicit DeviceArray(std::size_t count) : count_(count) {
        REQUIRE_OK(cudaMalloc(&data_, bytes()));
        REQUIRE_OK(cudaMemset(data_, 0xEE, bytes()));
        REQUIRE_OK(cudaDeviceSynchronize());
    }
    explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
        upload(values);
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data_); }

    T* get() const { return data_; }
    std::size_t size() const { return count_; }
    std::size_t bytes() const { return count_ * sizeof(T); }

    void upload(const std::vector<T>& values) {
        REQUIRE(values.size() == count_);
        REQUIRE_OK(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
    }
    std::vector<T> download() const {
        std::vector<T> values(count_);
        REQUIRE_OK(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    std::size_t count_;
    T* data_ = nullptr;
};

/// Pinned host memory, which kernels reach at the same address.
template <class T>
class PinnedArray {
public:
    explicit PinnedArray(std::size_t count, T value = T()) : count_(count) {
        REQUIRE_OK(cudaHostAlloc(&data_, count * sizeof(T), cudaHostAllocMapped));
        for (std::size_t i = 0; i < count; ++i)
            data_[i] = value;
    }
    PinnedArray(const PinnedArray&) = delete;
    PinnedArray& operator=(const PinnedArray&) = delete;
    ~PinnedArray() { cudaFreeHost(data_); }

    T* get() const { return data_; }
    std::size_t bytes() const { return count_ * sizeof(T); }
    /// Read anew each time: the device may have written in between.
    T operator[](std::size_t i) const { return static_cast<const volatile T*>(data_)[i]; }
    void set(std::size_t i, T value) { static_cast<volatile T*>(data_)[i] = value; }

private:
    std::size_t count_;
    T* data_ = nullptr;
};

class Stream {
public:
    explicit Stream(unsigned flags) { REQUIRE_OK(cudaStreamCreateWithFlags(&stream_, flags)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

class Event {
public:
    explicit Event(unsigned flags = cudaEventDefault) {
        REQUIRE_OK(cudaEventCreateWithFlags(&event_, flags));
    }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event_); }
    operator cudaEvent_t() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

/// Holds a stream's work up until `open`. It makes "not finished yet" a certainty and not a matter
/// of time. Opens by itself when it goes out of scope, and after a while, so that a failing test
/// ends: declare it after the memory that its stream uses.
class Gate {
public:
    Gate() = default;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate() { open(); }

    /// Everything that is put into the stream from now on waits.
    void close(cudaStream_t stream) {
        auto* const owner = new std::shared_ptr<State>(state_);
        REQUIRE_OK(cudaLaunchHostFunc(stream, &Gate::wait, owner));
    }
    void open() {
        const std::lock_guard<std::mutex> lock(state_->mutex);
        state_->open = true;
        state_->changed.notify_all();
    }
    /// True if the stream went on because nobody opened for long: something waited that should not.
    bool gave_up() const {
        const std::lock_guard<std::mutex> lock(state_->mutex);
        return state_->gave_up;
    }

private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        bool open = false;
        bool gave_up = false;
    };

    static void wait(void* owner_address) {
        const std::unique_ptr<std::shared_ptr<State>> owner(
            static_cast<std::shared_ptr<State>*>(owner_address));
        State& state = **owner;
        std::unique_lock<std::mutex> lock(state.mutex);
        state.gave_up = !state.changed.wait_for(lock, std::chrono::seconds(10),
                                                [&state] { return state.open; });
    }

    std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Gives wrongly early work the time to happen.
inline void let_things_happen() {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

/// True for what a launch of an impossible shape gives. CUDA 13 has a code of its own for it.
inline bool is_bad_shape(cudaError_t error) {
    return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

inline int attribute(cudaDeviceAttr which) {
    int value = -1;
    REQUIRE_OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

/// The device's timer, in nanoseconds.
__device__ inline unsigned long long globaltimer_ns() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

}  // namespace conformance
