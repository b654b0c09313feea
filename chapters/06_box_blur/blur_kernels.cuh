//! [kernel question]
// The kernels of box_blur, with their reference and launcher. In a file of its own because a later
// chapter measures the same kernels.
//! [kernel question]

//! [kernel includes]
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "check.hpp"
#include "image.hpp"

namespace blur {
//! [kernel includes]

//! [reference]
/// The blur as its definition says it, on the host.
inline mf::GrayImage blur_reference(const mf::GrayImage& in) {
    mf::GrayImage out = in;
    for (int y = 0; y < in.height; ++y) {
        for (int x = 0; x < in.width; ++x) {
            int sum = 0;
            int count = 0;
            for (int ny = std::max(y - 1, 0); ny <= std::min(y + 1, in.height - 1); ++ny) {
                for (int nx = std::max(x - 1, 0); nx <= std::min(x + 1, in.width - 1); ++nx) {
                    sum += in.pixels[static_cast<std::size_t>(ny) * in.width + nx];
                    ++count;
                }
            }
            out.pixels[static_cast<std::size_t>(y) * in.width + x] =
                static_cast<unsigned char>(sum / count);
        }
    }
    return out;
}
//! [reference]

//! [direct]
/// Sides of a block in threads, and so of the part of the picture that it computes, in pixels.
constexpr int block_side = 16;

/// One pixel a thread, nine loads from global memory. A picture of 65536 x 65536 has more pixels
/// than an int counts: positions in memory are 64 bits wide.
__global__ void blur_direct(const unsigned char* __restrict__ in, unsigned char* __restrict__ out,
                            int width, int height) {
    const int x = blockIdx.x * block_side + threadIdx.x;
    const int y = blockIdx.y * block_side + threadIdx.y;
    if (x >= width || y >= height) return;

    int sum = 0;
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            const int nx = x + dx;
            const int ny = y + dy;
            if (nx < 0 || nx >= width || ny < 0 || ny >= height) continue;
            sum += in[static_cast<std::size_t>(ny) * width + nx];
            ++count;
        }
    }
    out[static_cast<std::size_t>(y) * width + x] = static_cast<unsigned char>(sum / count);
}
//! [direct]

//! [tiled]
/// The block's pixels with a border of one on each side: 18.
constexpr int tile_side = block_side + 2;

/// How many of i - 1, i and i + 1 lie inside 0 ... size - 1.
__device__ inline int inside(int i, int size) {
    return 1 + (i > 0 ? 1 : 0) + (i + 1 < size ? 1 : 0);
}

/// One pixel a thread, nine loads from shared memory. Pixels outside the picture count as 0 in the
/// sum and are left out of the divisor.
__global__ void blur_tiled(const unsigned char* __restrict__ in, unsigned char* __restrict__ out,
                           int width, int height) {
    __shared__ unsigned char tile[tile_side][tile_side];
    const int left = static_cast<int>(blockIdx.x) * block_side - 1;
    const int top = static_cast<int>(blockIdx.y) * block_side - 1;

    // 256 threads load 324 cells: some load two. Threads whose pixel lies outside the picture load
    // too, since their neighbours need the cells.
    const int thread = threadIdx.y * block_side + threadIdx.x;
    for (int cell = thread; cell < tile_side * tile_side; cell += block_side * block_side) {
        const int nx = left + cell % tile_side;
        const int ny = top + cell / tile_side;
        const bool in_picture = nx >= 0 && nx < width && ny >= 0 && ny < height;
        tile[cell / tile_side][cell % tile_side] =
            in_picture ? in[static_cast<std::size_t>(ny) * width + nx] : 0;
    }
    // Nobody reads a cell before all are loaded, and nobody has left the block before this line.
    __syncthreads();

    const int x = left + 1 + static_cast<int>(threadIdx.x);
    const int y = top + 1 + static_cast<int>(threadIdx.y);
    if (x >= width || y >= height) return;
    int sum = 0;
    for (int dy = 0; dy < 3; ++dy) {
        for (int dx = 0; dx < 3; ++dx)
            sum += tile[threadIdx.y + dy][threadIdx.x + dx];
    }
    out[static_cast<std::size_t>(y) * width + x] =
        static_cast<unsigned char>(sum / (inside(x, width) * inside(y, height)));
}
//! [tiled]

//! [launcher]
using BlurKernel = void (*)(const unsigned char*, unsigned char*, int, int);

/// Both versions take the same launch. A side has at most 65536 pixels, so 4096 blocks: far below
/// the 65535 blocks that a grid may have in y.
inline void launch(BlurKernel kernel, const unsigned char* in, unsigned char* out, int width,
                   int height, cudaStream_t stream) {
    const dim3 block(block_side, block_side);
    const dim3 grid((width + block_side - 1) / block_side, (height + block_side - 1) / block_side);
    kernel<<<grid, block, 0, stream>>>(in, out, width, height);
    CUDA_CHECK_LAUNCH();
}

}  // namespace blur
//! [launcher]
