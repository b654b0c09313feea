#include <algorithm>
#include <utility>

#include "device.hpp"
#include "error.hpp"
#include "event.hpp"
#include "scheduler.hpp"

namespace emu {
namespace {

/// Host functions are told apart from CUDA calls of the program by the thread they run on.
template <class Function>
std::function<void(cudaError_t)> as_host_function(Function function) {
    return [function](cudaError_t error) {
        in_host_function() = true;
        function(error);
        in_host_function() = false;
    };
}

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
    if (stream == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) {
        return cudaErrorInvalidValue;
    }
    *stream = Scheduler::instance().create_stream(
        flags, std::clamp(priority, greatest_stream_priority, least_stream_priority));
    return cudaSuccess;
}

}  // namespace
}  // namespace emu

using emu::api_call;
using emu::Scheduler;

cudaError_t cudaStreamCreate(cudaStream_t* pStream) {
    return api_call([&] { return emu::create(pStream, cudaStreamDefault, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags) {
    return api_call([&] { return emu::create(pStream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int priority) {
    return api_call([&] { return emu::create(pStream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return api_call([&] { return Scheduler::instance().destroy_stream(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return api_call([&] { return Scheduler::instance().wait_for_stream(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return api_call([&] { return Scheduler::instance().query_stream(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    return api_call([&] {
        if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
        emu::OperationPtr recorded;
        if (!emu::find_record(event, recorded)) return cudaErrorInvalidResourceHandle;
        const auto wait = std::make_shared<emu::Operation>(emu::Engine::none);
        return Scheduler::instance().enqueue(stream, wait, recorded);
    });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
    return api_call([&] {
        if (flags == nullptr) return cudaErrorInvalidValue;
        const auto found = Scheduler::instance().find_stream(stream);
        if (!found) return cudaErrorInvalidResourceHandle;
        *flags = found->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return api_call([&] {
        if (priority == nullptr) return cudaErrorInvalidValue;
        const auto found = Scheduler::instance().find_stream(stream);
        if (!found) return cudaErrorInvalidResourceHandle;
        *priority = found->priority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* streamId) {
    return api_call([&] {
        if (streamId == nullptr) return cudaErrorInvalidValue;
        const auto found = Scheduler::instance().find_stream(stream);
        if (!found) return cudaErrorInvalidResourceHandle;
        *streamId = found->id;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* userData, unsigned int flags) {
    return api_call([&] {
        if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
        const auto operation = std::make_shared<emu::Operation>(emu::Engine::host);
        operation->even_after_failure = true;  // it is told of the error
        operation->work =
            emu::as_host_function([=](cudaError_t error) { callback(stream, error, userData); });
        return Scheduler::instance().enqueue(stream, operation);
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
    return api_call([&] {
        if (fn == nullptr) return cudaErrorInvalidValue;
        const auto operation = std::make_shared<emu::Operation>(emu::Engine::host);
        operation->work = emu::as_host_function([=](cudaError_t) { fn(userData); });
        return Scheduler::instance().enqueue(stream, operation);
    });
}
