#include "copy.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "error.hpp"
#include "memory.hpp"
#include "observer.hpp"
#include "scheduler.hpp"

namespace emu {
namespace {

/// Pageable memory up to this size, in bytes, is taken to a side buffer when it is uploaded
/// asynchronously; a larger upload keeps the host waiting.
constexpr std::size_t staging_limit = 64 * 1024;

/// Where a range lies, as far as the rules of copies tell places apart.
enum class Place { pageable, pinned, device, managed };

/// Bytes from the first to the last one of a rectangle. Height and width are not 0.
/// False: not a number that fits.
bool extent_of(std::size_t pitch, std::size_t width, std::size_t height, std::size_t& extent) {
    return !__builtin_mul_overflow(pitch, height - 1, &extent) &&
           !__builtin_add_overflow(extent, width, &extent);
}

/// Finds the place and checks that the range stays inside one live allocation.
cudaError_t locate(const void* address, std::size_t extent, Place& place) {
    place = Place::pageable;
    if (address == nullptr) return cudaErrorInvalidValue;
    Allocation found;
    if (!find_allocation(address, found)) return cudaSuccess;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - found.begin);
    if (found.released || extent > found.size - offset) return cudaErrorInvalidValue;
    switch (found.kind) {
        case MemoryKind::device:
        case MemoryKind::symbol:
            place = Place::device;
            break;
        case MemoryKind::pinned:
        case MemoryKind::registered:
            place = Place::pinned;
            break;
        case MemoryKind::managed:
            place = Place::managed;
            break;
    }
    return cudaSuccess;
}

/// Whether the copy can be what the program calls it. As with a GPU, only a side that is called the
/// device's is looked at: with one address space the other may be anything.
bool direction_fits(cudaMemcpyKind kind, Place to, Place from) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return !(to_device && to == Place::pageable) && !(from_device && from == Place::pageable);
}

bool known_kind(cudaMemcpyKind kind) {
    return kind <= cudaMemcpyDefault;
}

bool on_host(Place place) {
    return place == Place::pageable || place == Place::pinned;
}

Engine engine_for(Place to, Place from) {
    if (on_host(from) && !on_host(to)) return Engine::upload;
    if (on_host(to) && !on_host(from)) return Engine::download;
    return Engine::device_copy;
}

void copy_rows(const CopyShape& shape) {
    if (shape.to_pitch == shape.width && shape.from_pitch == shape.width) {
        std::memmove(shape.to, shape.from, shape.width * shape.height);
        return;
    }
    for (std::size_t row = 0; row < shape.height; ++row) {
        std::memmove(shape.to + row * shape.to_pitch, shape.from + row * shape.from_pitch,
                     shape.width);
    }
}

/// Takes the source's rows now; the copy is made from them later.
std::function<void(cudaError_t)> staged(CopyShape shape, const Operation& operation) {
    auto buffer = std::make_shared<std::vector<char>>(shape.width * shape.height);
    CopyShape into_buffer = shape;
    into_buffer.to = buffer->data();
    into_buffer.to_pitch = shape.width;
    copy_rows(into_buffer);
    shape.from = buffer->data();
    shape.from_pitch = shape.width;
    return [shape, buffer, &operation](cudaError_t) {
        if (observer != nullptr) observer->copying(operation.number, shape, false);
        copy_rows(shape);
    };
}

/// Whether the call returns only when the copy is done.
bool host_must_wait(HostWaits waits, Place to, Place from) {
    // The host cannot see the result, so that even the synchronous call does not wait.
    if (to == Place::device && from == Place::device) return false;
    if (waits == HostWaits::always) return true;
    return to == Place::pageable || from == Place::pageable;
}

cudaError_t fill(void* address, int value, std::size_t pitch, std::size_t width, std::size_t height,
                 cudaStream_t stream, HostWaits waits) {
    auto& scheduler = Scheduler::instance();
    if (!scheduler.find_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (width == 0 || height == 0) return cudaSuccess;
    std::size_t extent = 0;
    if (width > pitch || !extent_of(pitch, width, height, extent)) return cudaErrorInvalidValue;
    Place place;
    const cudaError_t error = locate(address, extent, place);
    if (error != cudaSuccess) return error;
    if (place == Place::pageable) return cudaErrorInvalidValue;
    const auto operation = std::make_shared<Operation>(Engine::device_copy);
    const CopyShape filled{static_cast<char*>(address), pitch, nullptr, 0, width, height};
    operation->work = [=, &number = operation->number](cudaError_t) {
        if (observer != nullptr) observer->copying(number, filled, false);
        for (std::size_t row = 0; row < height; ++row) {
            std::memset(static_cast<char*>(address) + row * pitch, value, width);
        }
    };
    const cudaError_t enqueued = scheduler.enqueue(stream, operation);
    const bool wait = waits == HostWaits::always && place != Place::device;
    return enqueued == cudaSuccess && wait ? scheduler.wait(operation) : enqueued;
}

CopyShape range(void* to, const void* from, std::size_t count) {
    return {static_cast<char*>(to), count, static_cast<const char*>(from), count, count, 1};
}

CopyShape rectangle(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t height) {
    return {static_cast<char*>(to),
            to_pitch,
            static_cast<const char*>(from),
            from_pitch,
            width,
            height};
}

}  // namespace

cudaError_t copy(const CopyShape& shape, cudaMemcpyKind kind, cudaStream_t stream,
                 HostWaits waits) {
    auto& scheduler = Scheduler::instance();
    if (!scheduler.find_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (shape.width == 0 || shape.height == 0) return cudaSuccess;
    if (!known_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    if (shape.width > shape.to_pitch || shape.width > shape.from_pitch) {
        return cudaErrorInvalidPitchValue;
    }

    std::size_t to_extent = 0;
    std::size_t from_extent = 0;
    if (!extent_of(shape.to_pitch, shape.width, shape.height, to_extent) ||
        !extent_of(shape.from_pitch, shape.width, shape.height, from_extent)) {
        return cudaErrorInvalidValue;
    }
    Place to;
    Place from;
    if (const cudaError_t error = locate(shape.to, to_extent, to); error != cudaSuccess) {
        return error;
    }
    if (const cudaError_t error = locate(shape.from, from_extent, from); error != cudaSuccess) {
        return error;
    }
    if (!direction_fits(kind, to, from)) return cudaErrorInvalidValue;

    bool wait = host_must_wait(waits, to, from);
    const auto operation = std::make_shared<Operation>(engine_for(to, from));
    // The source may be changed as soon as the call returns. As late as legal means: always from a
    // side buffer; otherwise only what a real one would hold.
    const bool stage = waits == HostWaits::if_it_must && from == Place::pageable && !on_host(to) &&
                       (scheduler.runs_late() || shape.width * shape.height <= staging_limit);
    if (stage) {
        operation->work = staged(shape, *operation);
        wait = false;
    } else {
        operation->work = [shape, &number = operation->number](cudaError_t) {
            if (observer != nullptr) observer->copying(number, shape, true);
            copy_rows(shape);
        };
    }
    const cudaError_t error = scheduler.enqueue(stream, operation);
    return error == cudaSuccess && wait ? scheduler.wait(operation) : error;
}

}  // namespace emu

using emu::api_call;
using emu::HostWaits;

cudaError_t cudaMemcpy(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind) {
    return api_call(
        [&] { return emu::copy(emu::range(dst, src, count), kind, nullptr, HostWaits::always); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return api_call([&] {
        return emu::copy(emu::range(dst, src, count), kind, stream, HostWaits::if_it_must);
    });
}

cudaError_t cudaMemcpy2D(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    return api_call([&] {
        return emu::copy(emu::rectangle(dst, dpitch, src, spitch, width, height), kind, nullptr,
                         HostWaits::always);
    });
}

cudaError_t cudaMemcpy2DAsync(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return api_call([&] {
        return emu::copy(emu::rectangle(dst, dpitch, src, spitch, width, height), kind, stream,
                         HostWaits::if_it_must);
    });
}

cudaError_t cudaMemset(void* devPtr, int value, std::size_t count) {
    return api_call(
        [&] { return emu::fill(devPtr, value, count, count, 1, nullptr, HostWaits::always); });
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, std::size_t count, cudaStream_t stream) {
    return api_call(
        [&] { return emu::fill(devPtr, value, count, count, 1, stream, HostWaits::if_it_must); });
}

cudaError_t cudaMemset2D(void* devPtr, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
    return api_call(
        [&] { return emu::fill(devPtr, value, pitch, width, height, nullptr, HostWaits::always); });
}

cudaError_t cudaMemset2DAsync(void* devPtr, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
    return api_call([&] {
        return emu::fill(devPtr, value, pitch, width, height, stream, HostWaits::if_it_must);
    });
}
