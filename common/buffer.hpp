/// \file
/// Owners of memory: DeviceBuffer on the device, PinnedBuffer page-locked on the host.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.hpp"

namespace mf {

/// Bytes of `count` elements; throws where the product does not fit.
template <typename T>
std::size_t bytes_of(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
        throw std::length_error("a buffer of " + std::to_string(count) +
                                " elements is larger than any memory");
    }
    return count * sizeof(T);
}

/// `size()` elements of device memory, uninitialised. A size of 0 is allowed and allocates nothing.
template <typename T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable<T>::value, "device memory is copied byte by byte");

public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(std::size_t size) : size_(size) {
        if (size > 0) CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), bytes_of<T>(size)));
    }
    explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) {
        upload(values);
    }
    ~DeviceBuffer() { static_cast<void>(cudaFree(data_)); }
    DeviceBuffer(DeviceBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    T* get() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    /// Copies the whole buffer from the host and waits for it.
    void upload(const T* values) {
        if (size_ == 0) return;
        CUDA_CHECK(cudaMemcpy(data_, values, bytes(), cudaMemcpyHostToDevice));
        // A copy from pageable memory may still be on its way when cudaMemcpy returns; a
        // non-blocking stream would not wait for it.
        CUDA_CHECK(cudaStreamSynchronize(nullptr));
    }
    void upload(const std::vector<T>& values) {
        if (values.size() != size_) {
            throw std::invalid_argument("upload: " + std::to_string(values.size()) +
                                        " values for a buffer of " + std::to_string(size_));
        }
        upload(values.data());
    }

    /// Copies the whole buffer to the host. It waits for *all* streams of the device first: with a
    /// non-blocking stream, cudaMemcpy alone would read what the kernel has not written yet.
    std::vector<T> download() const {
        std::vector<T> values(size_);
        CUDA_CHECK(cudaDeviceSynchronize());
        if (size_ > 0)
            CUDA_CHECK(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

    /// Fills the buffer with bytes of value 0xA5, so that an element that no thread wrote is seen
    /// as wrong and not as the right answer of the run before. Waits for all streams, before and
    /// after.
    void poison() {
        if (size_ == 0) return;
        CUDA_CHECK(cudaDeviceSynchronize());
        CUDA_CHECK(cudaMemset(data_, 0xA5, bytes()));
        CUDA_CHECK(cudaDeviceSynchronize());
    }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// `size()` elements of page-locked host memory, zeroed: what an asynchronous copy needs.
template <typename T>
class PinnedBuffer {
    static_assert(std::is_trivially_copyable<T>::value, "device memory is copied byte by byte");

public:
    PinnedBuffer() = default;
    explicit PinnedBuffer(std::size_t size) : size_(size) {
        if (size == 0) return;
        CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&data_), bytes_of<T>(size)));
        for (std::size_t i = 0; i < size; ++i)
            data_[i] = T();
    }
    ~PinnedBuffer() {
        if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
    }
    PinnedBuffer(PinnedBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    PinnedBuffer(const PinnedBuffer&) = delete;
    PinnedBuffer& operator=(const PinnedBuffer&) = delete;

    T* get() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }
    T& operator[](std::size_t index) { return data_[index]; }
    const T& operator[](std::size_t index) const { return data_[index]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace mf
