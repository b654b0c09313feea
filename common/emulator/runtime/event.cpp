#include "event.hpp"

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "error.hpp"
#include "scheduler.hpp"

namespace emu {
namespace {

struct Event {
    unsigned flags;
    OperationPtr recorded;  ///< null: never recorded
};

/// All live events. Never destroyed: static objects of the program may outlive it otherwise.
struct Events {
    std::mutex mutex;
    std::unordered_map<cudaEvent_t, Event> live;
    std::uint64_t made = 0;
};

Events& events() {
    static Events& value = *new Events;
    return value;
}

bool find_event(cudaEvent_t event, Event& copy) {
    Events& all = events();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.live.find(event);
    if (found == all.live.end()) return false;
    copy = found->second;
    return true;
}

cudaError_t create(cudaEvent_t* event, unsigned flags) {
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    // An event that other processes wait for cannot measure time; there are no others here.
    if ((flags & cudaEventInterprocess) != 0) {
        return (flags & cudaEventDisableTiming) == 0 ? cudaErrorInvalidValue
                                                     : cudaErrorNotSupported;
    }
    Events& all = events();
    const std::lock_guard<std::mutex> lock(all.mutex);
    *event = reinterpret_cast<cudaEvent_t>(0x65000000 + 16 * ++all.made);
    all.live[*event] = Event{flags, nullptr};
    return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
    Event known;
    if (!find_event(event, known)) return cudaErrorInvalidResourceHandle;
    const auto operation = std::make_shared<Operation>(Engine::none);
    const cudaError_t error = Scheduler::instance().enqueue(stream, operation);
    if (error != cudaSuccess) return error;
    Events& all = events();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.live.find(event);
    if (found != all.live.end()) found->second.recorded = operation;
    return cudaSuccess;
}

/// cudaErrorNotReady until the place was reached.
cudaError_t query(const OperationPtr& recorded) {
    if (!recorded) return cudaSuccess;
    if (!Scheduler::instance().reached(recorded)) return cudaErrorNotReady;
    return context_error();
}

cudaError_t elapsed(float* ms, cudaEvent_t start, cudaEvent_t end) {
    Event first;
    Event last;
    if (ms == nullptr) return cudaErrorInvalidValue;
    if (!find_event(start, first) || !find_event(end, last)) return cudaErrorInvalidResourceHandle;
    if (((first.flags | last.flags) & cudaEventDisableTiming) != 0) {
        return cudaErrorInvalidResourceHandle;
    }
    if (!first.recorded || !last.recorded) return cudaErrorInvalidResourceHandle;
    for (const OperationPtr& place : {first.recorded, last.recorded}) {
        const cudaError_t error = query(place);
        if (error != cudaSuccess) return error;
    }
    const std::chrono::duration<double, std::milli> time =
        last.recorded->finished_at - first.recorded->finished_at;
    *ms = static_cast<float>(time.count());
    return cudaSuccess;
}

}  // namespace

bool find_record(cudaEvent_t event, OperationPtr& recorded) {
    Event known;
    if (!find_event(event, known)) return false;
    recorded = known.recorded;
    return true;
}

void destroy_all_events() {
    Events& all = events();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.live.clear();
}

}  // namespace emu

using emu::api_call;

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return api_call([&] { return emu::create(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return api_call([&] { return emu::create(event, flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return api_call([&] { return emu::record(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    return api_call([&] {
        if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
        return emu::record(event, stream);
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return api_call([&] {
        emu::OperationPtr recorded;
        if (!emu::find_record(event, recorded)) return cudaErrorInvalidResourceHandle;
        return emu::query(recorded);
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return api_call([&] {
        emu::OperationPtr recorded;
        if (!emu::find_record(event, recorded)) return cudaErrorInvalidResourceHandle;
        return recorded ? emu::Scheduler::instance().wait(recorded) : cudaSuccess;
    });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return api_call([&] {
        emu::Events& all = emu::events();
        const std::lock_guard<std::mutex> lock(all.mutex);
        return all.live.erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return api_call([&] { return emu::elapsed(ms, start, end); });
}
