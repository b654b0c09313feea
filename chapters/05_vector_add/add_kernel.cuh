//! [kernel question]
// The plain kernel of vector_add. In a file of its own because a later chapter measures the same
// kernel.
//! [kernel question]

//! [kernel includes]
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace vector_add {
//! [kernel includes]

//! [scalar]
constexpr int threads = 256;

__device__ inline std::size_t thread_index() {
    return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// One element a thread. The last block may reach beyond n.
__global__ void add_scalar(std::size_t n, const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ y) {
    const std::size_t i = thread_index();
    if (i < n) y[i] = a[i] + b[i];
}

}  // namespace vector_add
//! [scalar]
