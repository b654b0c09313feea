/// \file
/// Every CUDA call and every launch is checked, in release builds too. A failure becomes an
/// exception that says what failed, where, and what to do about it.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "program.hpp"

namespace mf {

/// A CUDA call or a kernel failed.
class CudaError : public std::runtime_error {
public:
    CudaError(cudaError_t code, const std::string& message)
        : std::runtime_error(message), code_(code) {}
    cudaError_t code() const { return code_; }

private:
    cudaError_t code_;
};

/// An attribute of the current device, or `fallback` where it cannot be asked for. Never throws and
/// leaves no error behind: it serves messages about errors.
inline int attribute_or(cudaDeviceAttr attribute, int fallback) {
    int device = 0;
    int value = 0;
    const bool known = cudaGetDevice(&device) == cudaSuccess &&
                       cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess;
    if (!known) static_cast<void>(cudaGetLastError());
    return known ? value : fallback;
}

/// CUDA's packed version number as people write it: 12040 is "12.4".
inline std::string version_text(int packed) {
    return std::to_string(packed / 1000) + "." + std::to_string(packed % 1000 / 10);
}

/// The -arch value that fits the current device, for instance "sm_90"; "native" where unknown.
inline std::string fitting_arch() {
    const int major = attribute_or(cudaDevAttrComputeCapabilityMajor, 0);
    const int minor = attribute_or(cudaDevAttrComputeCapabilityMinor, 0);
    return major == 0 ? "native" : "sm_" + std::to_string(major) + std::to_string(minor);
}

/// The limits of a launch on the current device, in words.
inline std::string launch_limits() {
    const auto number = [](cudaDeviceAttr attribute) {
        return std::to_string(attribute_or(attribute, 0));
    };
    return "limits of this device: " + number(cudaDevAttrMaxThreadsPerBlock) +
           " threads a block (" + number(cudaDevAttrMaxBlockDimX) + " x " +
           number(cudaDevAttrMaxBlockDimY) + " x " + number(cudaDevAttrMaxBlockDimZ) +
           " at most), a grid of " + number(cudaDevAttrMaxGridDimX) + " x " +
           number(cudaDevAttrMaxGridDimY) + " x " + number(cudaDevAttrMaxGridDimZ) + " blocks, " +
           number(cudaDevAttrMaxSharedMemoryPerBlock) + " bytes of shared memory a block (" +
           number(cudaDevAttrMaxSharedMemoryPerBlockOptin) +
           " after cudaFuncSetAttribute); no dimension may be 0";
}

/// After such an error every later call of the process fails with it: its context is lost.
inline bool is_sticky(cudaError_t code) {
    switch (code) {
        case cudaErrorECCUncorrectable:
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
            return true;
        default:
            return false;
    }
}

/// Says that no device can be used at all, whatever the program does.
inline bool means_no_device(cudaError_t code) {
    switch (code) {
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorStubLibrary:
        case cudaErrorDevicesUnavailable:
        case cudaErrorSystemNotReady:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorCompatNotSupportedOnDevice:
            return true;
        default:
            return false;
    }
}

/// What to do about an error, in a sentence; empty where the name of the error says it all.
inline std::string remedy(cudaError_t code) {
    int runtime = 0;
    int driver = 0;
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    static_cast<void>(cudaDriverGetVersion(&driver));
    const std::string versions = "the program was built with CUDA " + version_text(runtime) +
                                 ", the driver supports up to " + version_text(driver);
    switch (code) {
        case cudaErrorNoDevice:
            return "Is there an NVIDIA GPU, does nvidia-smi list it, and does CUDA_VISIBLE_DEVICES "
                   "not hide it?";
        case cudaErrorInsufficientDriver:
            return driver == 0 ? "No NVIDIA driver is installed (or not its libcuda.so.1)."
                               : versions + ": update the driver, or build with an older toolkit.";
        case cudaErrorStubLibrary:
            return "The program found the toolkit's stub of libcuda: take the toolkit's stubs "
                   "folder out of LD_LIBRARY_PATH.";
        case cudaErrorDevicesUnavailable:
            return "Another process holds the device exclusively: wait, choose another one with "
                   "--device, or look at the compute mode in nvidia-smi -q -d COMPUTE.";
        case cudaErrorSystemNotReady:
            return "The device is not set up yet: is its service (nvidia-fabricmanager on NVSwitch "
                   "machines) running?";
        case cudaErrorSystemDriverMismatch:
            return "The driver's library and its kernel module differ: restart the machine after "
                   "the update of the driver.";
        case cudaErrorCompatNotSupportedOnDevice:
            return "CUDA's forward compatibility does not cover this device: update the driver.";
        case cudaErrorInvalidDevice:
            return "nvidia-smi -L lists the devices; CUDA_VISIBLE_DEVICES renumbers them from 0.";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
        case cudaErrorInvalidKernelImage:
            return "The program holds no code for this device: compile it with -arch=" +
                   fitting_arch() + ".";
        case cudaErrorUnsupportedPtxVersion:
        case cudaErrorInvalidPtx:
        case cudaErrorJitCompilerNotFound:
            return "The driver cannot compile the program's PTX (" + versions +
                   "): update the driver, or compile for the device itself with -arch=" +
                   fitting_arch() + ".";
        case cudaErrorMemoryAllocation:
            return "Use a smaller input, or look in nvidia-smi for what else fills the device.";
        case cudaErrorInvalidConfiguration:
            return launch_limits();
        case cudaErrorLaunchOutOfResources:
            return "A block needs more registers or shared memory than an SM has: use fewer "
                   "threads a block, or __launch_bounds__; " +
                   launch_limits();
        case cudaErrorNotReady:
            return "The work is not finished: wait for the event or the stream first.";
        case cudaErrorInvalidResourceHandle:
            return "Was the event recorded, is the stream or event still alive, and do both belong "
                   "to the current device?";
        case cudaErrorLaunchTimeout:
            return "A kernel ran longer than the display's watchdog allows: use a smaller input. "
                   "The process must be restarted.";
        case cudaErrorECCUncorrectable:
            return "The device's memory is faulty: see nvidia-smi -q -d ECC. The process must be "
                   "restarted.";
        default:
            break;
    }
    if (is_sticky(code)) {
        return "A kernel before this call failed, and the process must be restarted; "
               "compute-sanitizer names the kernel and the line.";
    }
    return "";
}

/// Throws the CudaError for `code`: "file:line: what: message (name). Remedy". The remedy is
/// `advice`, or the one that the code alone suggests.
[[noreturn]] inline void throw_cuda_error(cudaError_t code, const char* what, const char* file,
                                          int line, std::string advice) {
    // An error that is not sticky is taken back, so that the next call does not report it again.
    static_cast<void>(cudaGetLastError());
    std::string message = std::string(file) + ":" + std::to_string(line) + ": " + what + ": " +
                          cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
    if (advice.empty()) advice = remedy(code);
    if (!advice.empty()) message += ". " + advice;
    if (means_no_device(code)) throw NoDevice("no usable CUDA device: " + message);
    throw CudaError(code, message);
}

inline void check_cuda(cudaError_t code, const char* what, const char* file, int line) {
    if (code != cudaSuccess) throw_cuda_error(code, what, file, line, "");
}

/// Checks the launch before it. CUDA 13 calls a launch beyond the limits an invalid value, which
/// CUDA 12 called an invalid configuration: both need the limits named.
inline void check_launch(const char* what, const char* file, int line) {
    const cudaError_t code = cudaGetLastError();
    if (code == cudaSuccess) return;
    const bool limits = code == cudaErrorInvalidValue;
    throw_cuda_error(code, what, file, line, limits ? launch_limits() : "");
}

}  // namespace mf

/// Checks the result of a CUDA call: `CUDA_CHECK(cudaMalloc(&pointer, bytes));`
#define CUDA_CHECK(call) ::mf::check_cuda((call), #call, __FILE__, __LINE__)

/// Checks a launch; belongs right after `kernel<<<grid, block>>>(…);`. It sees what is wrong with
/// the launch itself; a fault inside the kernel shows in the next call that waits for it.
#define CUDA_CHECK_LAUNCH() ::mf::check_launch("the kernel launch above", __FILE__, __LINE__)
