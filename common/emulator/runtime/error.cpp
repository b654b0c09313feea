#include "error.hpp"

#include <atomic>

#include "device.hpp"
#include "observer.hpp"
#include "scheduler.hpp"

namespace emu {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<cudaError_t> spoilt_by{cudaSuccess};

struct ErrorText {
    cudaError_t code;
    const char* name;
    const char* message;
};

#define EMULATOR_ERROR_TEXT(name, number, message) {name, #name, message},
constexpr ErrorText error_texts[] = {EMULATOR_CUDA_ERRORS(EMULATOR_ERROR_TEXT)};
#undef EMULATOR_ERROR_TEXT

const ErrorText* find_text(cudaError_t error) {
    for (const ErrorText& text : error_texts) {
        if (text.code == error) return &text;
    }
    return nullptr;
}

}  // namespace

cudaError_t record_error(cudaError_t error) {
    if (error == cudaSuccess || error == cudaErrorNotReady) return error;
    last_error = error;
    if (observer != nullptr && error != context_error()) observer->call_failed(error);
    return error;
}

cudaError_t context_error() {
    return spoilt_by;
}

void spoil_context(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    if (error != cudaSuccess) spoilt_by.compare_exchange_strong(none, error);
}

void give_up_context() {
    if (context_error() != cudaSuccess) spoilt_by = cudaErrorDevicesUnavailable;
}

bool& in_host_function() {
    thread_local bool value = false;
    return value;
}

cudaError_t reason_to_refuse() {
    if (!device_visible()) return cudaErrorNoDevice;
    if (in_host_function()) return cudaErrorNotPermitted;
    if (process_ends()) return cudaErrorCudartUnloading;
    return cudaSuccess;
}

}  // namespace emu

const char* cudaGetErrorName(cudaError_t error) {
    const emu::ErrorText* const text = emu::find_text(error);
    return text == nullptr ? "unrecognized error code" : text->name;
}

const char* cudaGetErrorString(cudaError_t error) {
    const emu::ErrorText* const text = emu::find_text(error);
    return text == nullptr ? "unrecognized error code" : text->message;
}

cudaError_t cudaPeekAtLastError() {
    if (emu::observer != nullptr) emu::observer->error_asked();
    return emu::last_error;
}

cudaError_t cudaGetLastError() {
    if (emu::observer != nullptr) emu::observer->error_asked();
    const cudaError_t error = emu::last_error;
    emu::last_error = cudaSuccess;
    return error;
}
