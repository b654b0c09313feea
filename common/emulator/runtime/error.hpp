/// \file
/// The error rules: a last error for each host thread, and a sticky one for the context.
#pragma once

#include <new>
#include <utility>

#include "emulator/runtime_api.h"

namespace emu {

/// Makes `error` the calling thread's last error, unless it is cudaSuccess or cudaErrorNotReady,
/// which is an answer and no failure. Returns it.
cudaError_t record_error(cudaError_t error);

/// The error that spoilt the context, or cudaSuccess.
cudaError_t context_error();

/// Notes how a kernel ended. The first failure stays for the rest of the process.
void spoil_context(cudaError_t error);

/// Whether the calling thread is running a host function of a stream, which may not call CUDA.
bool& in_host_function();

/// After cudaDeviceReset a spoilt context is gone, but no new one can be made.
void give_up_context();

/// Why no call can succeed now: no device, a host function, the process ends.
cudaError_t reason_to_refuse();

/// Runs the body of a function that asks about the device: a failed kernel does not keep it back.
template <class Body>
cudaError_t device_call(Body&& body) {
    if (const cudaError_t error = reason_to_refuse(); error != cudaSuccess) {
        return record_error(error);
    }
    try {
        return record_error(std::forward<Body>(body)());
    } catch (const std::bad_alloc&) {
        return record_error(cudaErrorMemoryAllocation);
    }
}

/// Runs the body of any other API function: once a kernel has failed it only says so.
template <class Body>
cudaError_t api_call(Body&& body) {
    return device_call([&] {
        const cudaError_t error = context_error();
        return error != cudaSuccess ? error : std::forward<Body>(body)();
    });
}

}  // namespace emu
