//! [kernel question]
// The plain kernel of saxpy_bandwidth. In a file of its own because a later chapter measures the
// same kernel.
//! [kernel question]

//! [kernel includes]
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace saxpy {
//! [kernel includes]

//! [scalar]
constexpr int threads_per_block = 256;

/// One element a thread; the last block may reach beyond n. The index is 64 bits wide, since
/// blockIdx.x * blockDim.x does not fit into 32 for arrays of 16 GiB and more.
__global__ void saxpy_scalar(std::int64_t n, float a, const float* __restrict__ x,
                             float* __restrict__ y) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

}  // namespace saxpy
//! [scalar]
