/// \file
/// The host threads that run kernels' blocks.
#pragma once

#include <functional>
#include <memory>

#include "emulator/launch.hpp"

namespace emu {

/// Hands a launch to the workers and returns at once. Launches may overlap; blocks of an earlier
/// one are begun first. `done` is called on a worker once no block runs any more, with cudaSuccess
/// or the reason for which the kernel was given up: cudaErrorIllegalAddress, cudaErrorLaunchTimeout
/// (a deadlock), cudaErrorAssert, cudaErrorInvalidValue (too many __shared__ variables),
/// cudaErrorLaunchFailure.
void pool_submit(std::shared_ptr<Task> task, std::function<void(cudaError_t)> done);

}  // namespace emu
