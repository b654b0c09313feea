/// \file
/// Memory access patterns, one small kernel each, whose counts are known: the inspector's are held
/// against values worked out by hand and against Nsight Compute's.
///
///     ./patterns            runs every pattern once, in the order of the list
///     ./patterns NAME…      runs these
///     ./patterns --list     prints their names, which are the kernels' names
///
/// EXPECT above a kernel names what one launch does, worked out by hand: requests:sectors of global
/// memory, requests:wavefronts of shared memory, and how often the lanes of a warp part. What is
/// not named does not happen; only divergent_branches may be left out.
///
/// Each line of output is a pattern and a checksum of what it wrote; a GPU and the emulator print
/// the same ones. No kernel reads what an earlier one wrote.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "check.hpp"
#include "program.hpp"

namespace {

constexpr unsigned threads = 256;         ///< a block
constexpr unsigned blocks = 16;           ///< of most patterns
constexpr unsigned n = threads * blocks;  ///< elements, one a thread
constexpr unsigned image_side = 128;
constexpr unsigned matrix_side = 256;
constexpr unsigned tile_side = 32;
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

__device__ unsigned global_index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- one element a thread, global memory ----

template <unsigned stride>
__device__ void copy_strided(const float* in, float* out) {
    const unsigned i = global_index();
    out[i] = in[i * stride];
}

// EXPECT global_load 128:512 global_store 128:512
__global__ void copy_stride_1(const float* in, float* out) {
    copy_strided<1>(in, out);
}

// EXPECT global_load 128:1024 global_store 128:512
__global__ void copy_stride_2(const float* in, float* out) {
    copy_strided<2>(in, out);
}

// EXPECT global_load 128:4096 global_store 128:512
__global__ void copy_stride_8(const float* in, float* out) {
    copy_strided<8>(in, out);
}

// EXPECT global_load 128:4096 global_store 128:512
__global__ void copy_stride_32(const float* in, float* out) {
    copy_strided<32>(in, out);
}

// EXPECT global_load 128:640 global_store 128:512
__global__ void copy_offset_by_one(const float* in, float* out) {
    const unsigned i = global_index();
    out[i] = in[i + 1];
}

// EXPECT global_load 128:512 global_store 128:512
__global__ void copy_reversed(const float* in, float* out) {
    const unsigned i = global_index();
    out[i] = in[n - 1 - i];
}

// EXPECT global_load 128:4096 global_store 128:512
__global__ void copy_random(const float* in, float* out) {
    const unsigned i = global_index();
    out[i] = in[(i * 2654435761u >> 12) % n];
}

// EXPECT global_load 128:128 global_store 128:512
__global__ void copy_same_element(const float* in, float* out) {
    const unsigned i = global_index();
    out[i] = in[blockIdx.x];
}

// EXPECT global_load 128:128 global_store 128:128
__global__ void copy_bytes(const unsigned char* in, unsigned char* out) {
    const unsigned i = global_index();
    out[i] = in[i];
}

// EXPECT global_load 128:512 global_store 128:512
__global__ void copy_uchar4(const uchar4* in, uchar4* out) {
    const unsigned i = global_index();
    out[i] = in[i];
}

// EXPECT global_load 128:1024 global_store 128:1024
__global__ void copy_double(const double* in, double* out) {
    const unsigned i = global_index();
    out[i] = in[i];
}

// EXPECT global_load 128:1024 global_store 128:1024
__global__ void copy_float2(const float2* in, float2* out) {
    const unsigned i = global_index();
    out[i] = in[i];
}

// EXPECT global_load 128:2048 global_store 128:2048
__global__ void copy_float4(const float4* in, float4* out) {
    const unsigned i = global_index();
    out[i] = in[i];
}

// EXPECT global_load 128:512 global_store 128:1024
__global__ void store_stride_2(const float* in, float* out) {
    const unsigned i = global_index();
    out[i * 2] = in[i];
}

// EXPECT global_load 384:1536 global_store 128:512
__global__ void structure_of_arrays(const float* x, const float* y, const float* z, float* out) {
    const unsigned i = global_index();
    out[i] = x[i] + y[i] + z[i];
}

// EXPECT global_load 384:4608 global_store 128:512
__global__ void array_of_structures(const float3* in, float* out) {
    const unsigned i = global_index();
    out[i] = in[i].x + in[i].y + in[i].z;
}

// EXPECT global_load 126:501 global_store 126:501 divergent_branches 1
__global__ void ragged_last_block(const float* in, float* out, unsigned count) {
    const unsigned i = global_index();
    if (i < count) out[i] = in[i];
}

// EXPECT global_load 157:626 global_store 157:626 divergent_branches 1
__global__ void grid_stride_loop(const float* in, float* out, unsigned count) {
    for (unsigned i = global_index(); i < count; i += gridDim.x * blockDim.x)
        out[i] = in[i];
}

// ---- two dimensions ----

/// A block of 32 × 8 threads moves 8 rows.
// EXPECT global_load 2048:8192 global_store 2048:65536
__global__ void transpose_naive(const float* in, float* out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * matrix_side + y] = in[y * matrix_side + x];
}

/// A block of 32 × 8 threads moves a tile of 32 × 32 by way of shared memory.
template <unsigned pitch>
__device__ void transpose_by_tile(const float* in, float* out, float (*tile)[pitch]) {
    const unsigned left = blockIdx.x * tile_side;
    const unsigned top = blockIdx.y * tile_side;
    for (unsigned row = threadIdx.y; row < tile_side; row += 8)
        tile[row][threadIdx.x] = in[(top + row) * matrix_side + left + threadIdx.x];
    __syncthreads();
    for (unsigned row = threadIdx.y; row < tile_side; row += 8)
        out[(left + row) * matrix_side + top + threadIdx.x] = tile[threadIdx.x][row];
}

// EXPECT global_load 2048:8192 global_store 2048:8192 shared_load 2048:65536
// EXPECT shared_store 2048:2048
__global__ void transpose_tile(const float* in, float* out) {
    __shared__ float tile[tile_side][tile_side];
    transpose_by_tile<tile_side>(in, out, tile);
}

// EXPECT global_load 2048:8192 global_store 2048:8192 shared_load 2048:2048
// EXPECT shared_store 2048:2048
__global__ void transpose_tile_padded(const float* in, float* out) {
    __shared__ float tile[tile_side][tile_side + 1];
    transpose_by_tile<tile_side + 1>(in, out, tile);
}

/// The mean of the pixels around each one that are inside of the image. 16 × 16 threads.
// EXPECT global_load 4608:11460 global_store 512:1024
__global__ void blur_direct(const unsigned char* in, unsigned char* out) {
    const int side = image_side;
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    unsigned sum = 0;
    unsigned count = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            const int px = x + dx;
            const int py = y + dy;
            if (px >= 0 && px < side && py >= 0 && py < side) {
                sum += in[py * side + px];
                ++count;
            }
        }
    }
    out[y * side + x] = static_cast<unsigned char>(sum / count);
}

/// The same with the pixels of a tile and its border loaded first, the image's edge repeated.
// EXPECT global_load 704:2570 global_store 512:1024 shared_load 4608:4608 shared_store 704:704
// EXPECT divergent_branches 64
__global__ void blur_halo_tile(const unsigned char* in, unsigned char* out) {
    constexpr int side = image_side;
    constexpr int pitch = 18;
    __shared__ unsigned char tile[pitch * pitch];
    const int left = static_cast<int>(blockIdx.x * 16) - 1;
    const int top = static_cast<int>(blockIdx.y * 16) - 1;
    const int thread = static_cast<int>(threadIdx.y * 16 + threadIdx.x);
    for (int at = thread; at < pitch * pitch; at += 256) {
        const int x = min(max(left + at % pitch, 0), side - 1);
        const int y = min(max(top + at / pitch, 0), side - 1);
        tile[at] = in[y * side + x];
    }
    __syncthreads();
    const int tx = static_cast<int>(threadIdx.x);
    const int ty = static_cast<int>(threadIdx.y);
    unsigned sum = 0;
    for (int dy = 0; dy < 3; ++dy) {
        for (int dx = 0; dx < 3; ++dx)
            sum += tile[(ty + dy) * pitch + tx + dx];
    }
    out[(top + 1 + ty) * side + left + 1 + tx] = static_cast<unsigned char>(sum / 9);
}

/// A sum over 9 neighbours, from a tile with 4 elements more on either side.
// EXPECT global_load 144:528 global_store 128:512 shared_load 1152:1152 shared_store 144:144
// EXPECT divergent_branches 16
__global__ void stencil_tile(const float* in, float* out) {
    constexpr unsigned radius = 4;
    __shared__ float tile[threads + 2 * radius];
    const unsigned t = threadIdx.x;
    const unsigned i = global_index();
    tile[t] = in[i];
    if (t < 2 * radius) tile[threads + t] = in[i + threads];
    __syncthreads();
    float sum = 0;
    for (unsigned k = 0; k <= 2 * radius; ++k)
        sum += tile[t + k];
    out[i] = sum;
}

// ---- shared memory: one warp a block fills `words` elements and reads one a lane ----

template <class T, unsigned words, class Index>
__device__ void shared_read(const T* in, T* out, T* memory, Index index) {
    for (unsigned i = threadIdx.x; i < words; i += 32)
        memory[i] = in[i];
    __syncthreads();
    out[global_index()] = memory[index(threadIdx.x)];
}

template <class T, unsigned stride>
__device__ void shared_read_strided(const T* in, T* out) {
    __shared__ T memory[32 * stride];
    shared_read<T, 32 * stride>(in, out, memory, [](unsigned lane) { return lane * stride; });
}

// EXPECT global_load 16:64 global_store 16:64 shared_load 16:16 shared_store 16:16
__global__ void shared_stride_1(const float* in, float* out) {
    shared_read_strided<float, 1>(in, out);
}

// EXPECT global_load 32:128 global_store 16:64 shared_load 16:32 shared_store 32:32
__global__ void shared_stride_2(const float* in, float* out) {
    shared_read_strided<float, 2>(in, out);
}

// EXPECT global_load 64:256 global_store 16:64 shared_load 16:64 shared_store 64:64
__global__ void shared_stride_4(const float* in, float* out) {
    shared_read_strided<float, 4>(in, out);
}

// EXPECT global_load 128:512 global_store 16:64 shared_load 16:128 shared_store 128:128
__global__ void shared_stride_8(const float* in, float* out) {
    shared_read_strided<float, 8>(in, out);
}

// EXPECT global_load 256:1024 global_store 16:64 shared_load 16:256 shared_store 256:256
__global__ void shared_stride_16(const float* in, float* out) {
    shared_read_strided<float, 16>(in, out);
}

// EXPECT global_load 512:2048 global_store 16:64 shared_load 16:512 shared_store 512:512
__global__ void shared_stride_32(const float* in, float* out) {
    shared_read_strided<float, 32>(in, out);
}

// EXPECT global_load 528:2112 global_store 16:64 shared_load 16:16 shared_store 528:528
__global__ void shared_stride_33(const float* in, float* out) {
    shared_read_strided<float, 33>(in, out);
}

// EXPECT global_load 16:64 global_store 16:64 shared_load 16:16 shared_store 16:16
__global__ void shared_broadcast(const float* in, float* out) {
    __shared__ float memory[32];
    shared_read<float, 32>(in, out, memory, [](unsigned) { return blockIdx.x; });
}

// EXPECT global_load 16:64 global_store 16:64 shared_load 16:16 shared_store 16:16
__global__ void shared_two_lanes_a_word(const float* in, float* out) {
    __shared__ float memory[32];
    shared_read<float, 32>(in, out, memory, [](unsigned lane) { return lane / 2; });
}

// EXPECT global_load 32:128 global_store 16:64 shared_load 16:32 shared_store 32:32
__global__ void shared_two_words_of_a_bank(const float* in, float* out) {
    __shared__ float memory[64];
    shared_read<float, 64>(in, out, memory, [](unsigned lane) { return lane % 2 * 32; });
}

// EXPECT global_load 16:16 global_store 16:16 shared_load 16:16 shared_store 16:16
__global__ void shared_bytes(const unsigned char* in, unsigned char* out) {
    __shared__ unsigned char memory[32];
    shared_read<unsigned char, 32>(in, out, memory, [](unsigned lane) { return lane; });
}

// EXPECT global_load 16:128 global_store 16:128 shared_load 16:32 shared_store 16:32
__global__ void shared_double_stride_1(const double* in, double* out) {
    shared_read_strided<double, 1>(in, out);
}

// EXPECT global_load 32:256 global_store 16:128 shared_load 16:64 shared_store 32:64
__global__ void shared_double_stride_2(const double* in, double* out) {
    shared_read_strided<double, 2>(in, out);
}

// EXPECT global_load 16:128 global_store 16:128 shared_load 16:16 shared_store 16:32
__global__ void shared_double_broadcast(const double* in, double* out) {
    __shared__ double memory[32];
    shared_read<double, 32>(in, out, memory, [](unsigned) { return blockIdx.x; });
}

// EXPECT global_load 16:128 global_store 16:128 shared_load 16:16 shared_store 16:32
__global__ void shared_double_pairs(const double* in, double* out) {
    __shared__ double memory[32];
    shared_read<double, 32>(in, out, memory, [](unsigned lane) { return lane / 2; });
}

// EXPECT global_load 16:128 global_store 16:128 shared_load 16:32 shared_store 16:32
__global__ void shared_double_halves(const double* in, double* out) {
    __shared__ double memory[32];
    shared_read<double, 32>(in, out, memory, [](unsigned lane) { return lane % 16; });
}

// EXPECT global_load 16:256 global_store 16:256 shared_load 16:64 shared_store 16:64
__global__ void shared_float4_stride_1(const float4* in, float4* out) {
    shared_read_strided<float4, 1>(in, out);
}

// EXPECT global_load 32:512 global_store 16:256 shared_load 16:128 shared_store 32:128
__global__ void shared_float4_stride_2(const float4* in, float4* out) {
    shared_read_strided<float4, 2>(in, out);
}

// EXPECT global_load 16:256 global_store 16:256 shared_load 16:32 shared_store 16:64
__global__ void shared_float4_broadcast(const float4* in, float4* out) {
    __shared__ float4 memory[32];
    shared_read<float4, 32>(in, out, memory, [](unsigned) { return blockIdx.x; });
}

// EXPECT global_load 16:256 global_store 16:256 shared_load 16:32 shared_store 16:64
__global__ void shared_float4_pairs(const float4* in, float4* out) {
    __shared__ float4 memory[32];
    shared_read<float4, 32>(in, out, memory, [](unsigned lane) { return lane / 2; });
}

// EXPECT global_load 16:64 global_store 16:64 shared_load 16:32 shared_store 16:32
__global__ void shared_store_stride_2(const float* in, float* out) {
    __shared__ float memory[64];
    memory[threadIdx.x * 2] = in[threadIdx.x];
    __syncthreads();
    out[global_index()] = memory[(31 - threadIdx.x) * 2];
}

// EXPECT global_load 16:64 global_store 16:128 shared_load 16:32 shared_store 16:32
__global__ void shared_store_double_pairs(const double* in, double* out) {
    __shared__ double memory[32];
    const unsigned lane = threadIdx.x;
    // Lanes of a pair write the same value to the same place.
    memory[lane / 2] = in[lane / 2];
    __syncthreads();
    out[global_index()] = memory[lane % 16];
}

// ---- reductions ----

// EXPECT global_load 128:512 global_store 16:16 shared_load 1520:1520 shared_store 880:880
// EXPECT divergent_branches 768
__global__ void reduce_interleaved(const float* in, float* out) {
    __shared__ float sums[threads];
    const unsigned t = threadIdx.x;
    sums[t] = in[global_index()];
    __syncthreads();
    for (unsigned step = 1; step < threads; step *= 2) {
        if (t % (2 * step) == 0) sums[t] += sums[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// EXPECT global_load 128:512 global_store 16:16 shared_load 400:1520 shared_store 320:880
// EXPECT divergent_branches 96
__global__ void reduce_interleaved_packed(const float* in, float* out) {
    __shared__ float sums[threads];
    const unsigned t = threadIdx.x;
    sums[t] = in[global_index()];
    __syncthreads();
    for (unsigned step = 1; step < threads; step *= 2) {
        const unsigned at = 2 * step * t;
        if (at < threads) sums[at] += sums[at + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// EXPECT global_load 128:512 global_store 16:16 shared_load 400:400 shared_store 320:320
// EXPECT divergent_branches 96
__global__ void reduce_sequential(const float* in, float* out) {
    __shared__ float sums[threads];
    const unsigned t = threadIdx.x;
    sums[t] = in[global_index()];
    __syncthreads();
    for (unsigned step = threads / 2; step > 0; step /= 2) {
        if (t < step) sums[t] += sums[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

// EXPECT global_load 128:512 global_store 128:128 divergent_branches 128
__global__ void reduce_shuffle(const unsigned* in, unsigned* out) {
    unsigned sum = in[global_index()];
    for (unsigned step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) out[global_index() / 32] = sum;
}

// ---- atomics ----

/// Adds to the bin that `bin` gives for a thread, then writes all bins.
template <unsigned bin_count, class Bin>
__device__ void shared_atomics(const unsigned* in, unsigned* out, unsigned* bins, Bin bin) {
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < bin_count; i += threads)
        bins[i] = 0;
    __syncthreads();
    atomicAdd(&bins[bin(t)], in[global_index()]);
    __syncthreads();
    if (t < bin_count) out[global_index()] = bins[t];
}

/// The same, adding 1, for which a GPU has an instruction of its own.
template <unsigned bin_count, class Bin>
__device__ void shared_count(unsigned* out, unsigned* bins, Bin bin) {
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < bin_count; i += threads)
        bins[i] = 0;
    __syncthreads();
    atomicAdd(&bins[bin(t)], 1u);
    __syncthreads();
    if (t < bin_count) out[global_index()] = bins[t];
}

// A compiler sees that all lanes add to one bin.
// EXPECT global_load 128:512 global_store 16:64 shared_load 16:16 shared_store 16:16
// EXPECT shared_atomic 128:4096
__global__ void shared_atomics_known_bin(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[32];
    shared_atomics<32>(in, out, bins, [](unsigned) { return 0u; });
}

// A compiler cannot see it: the bin comes out of memory, and is always 0.
// EXPECT global_load 256:1024 global_store 16:64 shared_load 16:16 shared_store 16:16
// EXPECT shared_atomic 128:4096
__global__ void shared_atomics_1_bin(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[32];
    shared_atomics<32>(in, out, bins, [in](unsigned t) { return in[t] >> 31; });
}

// EXPECT global_load 128:512 global_store 16:64 shared_load 16:16 shared_store 16:16
// EXPECT shared_atomic 128:128
__global__ void shared_atomics_32_bins(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[32];
    shared_atomics<32>(in, out, bins, [](unsigned t) { return t % 32; });
}

// EXPECT global_load 128:512 global_store 128:512 shared_load 128:128 shared_store 128:128
// EXPECT shared_atomic 128:128
__global__ void shared_atomics_256_bins(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[threads];
    shared_atomics<threads>(in, out, bins, [](unsigned t) { return t; });
}

// EXPECT global_load 128:512 global_store 128:512 shared_load 128:128 shared_store 128:128
// EXPECT shared_atomic 128:256
__global__ void shared_atomics_two_lanes_a_bin(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[threads];
    shared_atomics<threads>(in, out, bins, [](unsigned t) { return t / 2; });
}

// EXPECT global_load 128:512 global_store 128:512 shared_load 128:128 shared_store 256:256
// EXPECT shared_atomic 128:256
__global__ void shared_atomics_stride_2(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[2 * threads];
    shared_atomics<2 * threads>(in, out, bins, [](unsigned t) { return 2 * t; });
}

/// 16 lanes at each of two words of one bank.
// EXPECT global_load 128:512 global_store 32:128 shared_load 32:32 shared_store 32:32
// EXPECT shared_atomic 128:4096
__global__ void shared_atomics_two_words_of_a_bank(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[64];
    shared_atomics<64>(in, out, bins, [](unsigned t) { return t % 2 * 32; });
}

// EXPECT global_load 128:512 global_store 128:512 shared_load 128:128 shared_store 128:128
// EXPECT shared_atomic 128:128
__global__ void shared_atomics_float(const float* in, float* out) {
    __shared__ float sums[threads];
    const unsigned t = threadIdx.x;
    sums[t] = 0;
    __syncthreads();
    atomicAdd(&sums[t], in[global_index()]);
    __syncthreads();
    out[global_index()] = sums[t];
}

// EXPECT global_load 128:512 global_store 16:64 shared_load 16:16 shared_store 16:16
// EXPECT shared_atomic 128:128
__global__ void shared_count_1_bin(const unsigned* in, unsigned* out) {
    __shared__ unsigned bins[32];
    shared_count<32>(out, bins, [in](unsigned t) { return in[t] >> 31; });
}

// EXPECT global_store 128:512 shared_load 128:128 shared_store 128:128 shared_atomic 128:128
__global__ void shared_count_two_lanes_a_bin(const unsigned*, unsigned* out) {
    __shared__ unsigned bins[threads];
    shared_count<threads>(out, bins, [](unsigned t) { return t / 2; });
}

/// 16 lanes at each of two words of one bank.
// EXPECT global_store 32:128 shared_load 32:32 shared_store 32:32 shared_atomic 128:256
__global__ void shared_count_two_words_of_a_bank(const unsigned*, unsigned* out) {
    __shared__ unsigned bins[64];
    shared_count<64>(out, bins, [](unsigned t) { return t % 2 * 32; });
}

/// The bin of a hash, as of a picture's pixels.
// EXPECT global_store 128:512 shared_load 128:128 shared_store 128:128 shared_atomic 128:384
__global__ void shared_count_random(const unsigned*, unsigned* out) {
    __shared__ unsigned bins[threads];
    shared_count<threads>(out, bins,
                          [](unsigned t) { return (t * 2654435761u >> 12) % 97 * 7 % threads; });
}

// A compiler sees that all lanes add to one cell.
// EXPECT global_load 128:512 global_atomic 128:128
__global__ void global_atomics_known_cell(const unsigned* in, unsigned* out) {
    atomicAdd(out, in[global_index()]);
}

// EXPECT global_load 128:512 global_atomic 128:128
__global__ void global_atomics_one_cell(const unsigned* in, unsigned* out) {
    const unsigned i = global_index();
    atomicAdd(&out[in[i] >> 31], in[i]);
}

// EXPECT global_load 128:512 global_atomic 128:256
__global__ void global_atomics_two_lanes_a_cell(const unsigned* in, unsigned* out) {
    const unsigned i = global_index();
    atomicAdd(&out[i / 2], in[i]);
}

// EXPECT global_load 128:512 global_atomic 128:512
__global__ void global_atomics_cell_a_lane(const unsigned* in, unsigned* out) {
    const unsigned i = global_index();
    atomicAdd(&out[i], in[i]);
}

// EXPECT global_load 128:512 global_atomic 128:4096
__global__ void global_atomics_stride_8(const unsigned* in, unsigned* out) {
    const unsigned i = global_index();
    atomicAdd(&out[i * 8], in[i]);
}

/// Uses what the cell held, which a reduction in the cache could not give.
// EXPECT global_load 128:512 global_store 128:512 global_atomic 128:512
__global__ void global_atomics_returned(const unsigned* in, unsigned* out, unsigned* before) {
    const unsigned i = global_index();
    before[i] = atomicAdd(&out[i], in[i]);
}

// ---- lanes that part ----

/// Even and odd lanes take arrays of their own.
// EXPECT global_load 256:1024 global_store 256:1024 divergent_branches 128
__global__ void branch_even_odd(const float* even, const float* odd, float* out) {
    const unsigned i = global_index();
    if (i % 2 == 0) {
        out[i] = even[i] * 2;
    } else {
        out[i + n] = odd[i] * 4;
    }
}

/// Whole warps take arrays of their own: no warp parts.
// EXPECT global_load 128:512 global_store 128:512
__global__ void branch_by_warp(const float* even, const float* odd, float* out) {
    const unsigned i = global_index();
    if (i / 32 % 2 == 0) {
        out[i] = even[i] * 2;
    } else {
        out[i + n] = odd[i] * 4;
    }
}

/// Lane k goes around k times. Kept a loop, so that a GPU executes the same loads.
// EXPECT global_load 3968:9728 global_store 128:512 divergent_branches 3968
__global__ void loop_with_trips_of_lane(const float* in, float* out) {
    const unsigned i = global_index();
    float sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < i % 32; ++k)
        sum += in[i + k * 32];
    out[i] = sum;
}

/// In each turn of a loop half of the lanes load.
// EXPECT global_load 1024:4096 global_store 128:512 divergent_branches 1024
__global__ void branch_in_loop(const float* in, float* out) {
    const unsigned i = global_index();
    float sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 8; ++k) {
        if ((i + k) % 2 == 0) sum += in[i + k * 32];
    }
    out[i] = sum;
}

// ---- running them ----

/// Device memory that every pattern takes its operands from.
struct Memory {
    char* in = nullptr;
    char* out = nullptr;

    template <class T>
    const T* input(std::size_t byte = 0) const {
        return reinterpret_cast<const T*>(in + byte);
    }
    template <class T>
    T* output(std::size_t byte = 0) const {
        return reinterpret_cast<T*>(out + byte);
    }
};

struct Pattern {
    const char* name;
    void (*launch)(const Memory&);
};

template <class T>
void launch_copy(void (*kernel)(const T*, T*), const Memory& memory) {
    kernel<<<blocks, threads>>>(memory.input<T>(), memory.output<T>());
}

/// One warp a block.
template <class T>
void launch_warps(void (*kernel)(const T*, T*), const Memory& memory) {
    kernel<<<blocks, 32>>>(memory.input<T>(), memory.output<T>());
}

template <class T>
void launch_2d(void (*kernel)(const T*, T*), const Memory& memory, unsigned side, dim3 block,
               unsigned rows_a_block) {
    kernel<<<dim3(side / block.x, side / rows_a_block), block>>>(memory.input<T>(),
                                                                 memory.output<T>());
}

#define COPY(kernel)                                                       \
    Pattern {                                                              \
#kernel, [](const Memory& memory) { launch_copy(kernel, memory); } \
    }
#define WARPS(kernel)                                                       \
    Pattern {                                                               \
#kernel, [](const Memory& memory) { launch_warps(kernel, memory); } \
    }

const Pattern patterns[] = {
    COPY(copy_stride_1),
    COPY(copy_stride_2),
    COPY(copy_stride_8),
    COPY(copy_stride_32),
    COPY(copy_offset_by_one),
    COPY(copy_reversed),
    COPY(copy_random),
    COPY(copy_same_element),
    COPY(copy_bytes),
    COPY(copy_uchar4),
    COPY(copy_double),
    COPY(copy_float2),
    COPY(copy_float4),
    COPY(store_stride_2),
    {"structure_of_arrays",
     [](const Memory& m) {
         structure_of_arrays<<<blocks, threads>>>(m.input<float>(), m.input<float>(4 * n),
                                                  m.input<float>(8 * n), m.output<float>());
     }},
    {"array_of_structures",
     [](const Memory& m) {
         array_of_structures<<<blocks, threads>>>(m.input<float3>(), m.output<float>());
     }},
    {"ragged_last_block",
     [](const Memory& m) {
         ragged_last_block<<<blocks, threads>>>(m.input<float>(), m.output<float>(), n - 95);
     }},
    {"grid_stride_loop",
     [](const Memory& m) {
         grid_stride_loop<<<4, threads>>>(m.input<float>(), m.output<float>(), n + 905);
     }},
    {"transpose_naive",
     [](const Memory& m) { launch_2d(transpose_naive, m, matrix_side, dim3(32, 8), 8); }},
    {"transpose_tile",
     [](const Memory& m) { launch_2d(transpose_tile, m, matrix_side, dim3(32, 8), 32); }},
    {"transpose_tile_padded",
     [](const Memory& m) { launch_2d(transpose_tile_padded, m, matrix_side, dim3(32, 8), 32); }},
    {"blur_direct",
     [](const Memory& m) { launch_2d(blur_direct, m, image_side, dim3(16, 16), 16); }},
    {"blur_halo_tile",
     [](const Memory& m) { launch_2d(blur_halo_tile, m, image_side, dim3(16, 16), 16); }},
    COPY(stencil_tile),
    WARPS(shared_stride_1),
    WARPS(shared_stride_2),
    WARPS(shared_stride_4),
    WARPS(shared_stride_8),
    WARPS(shared_stride_16),
    WARPS(shared_stride_32),
    WARPS(shared_stride_33),
    WARPS(shared_broadcast),
    WARPS(shared_two_lanes_a_word),
    WARPS(shared_two_words_of_a_bank),
    WARPS(shared_bytes),
    WARPS(shared_double_stride_1),
    WARPS(shared_double_stride_2),
    WARPS(shared_double_broadcast),
    WARPS(shared_double_pairs),
    WARPS(shared_double_halves),
    WARPS(shared_float4_stride_1),
    WARPS(shared_float4_stride_2),
    WARPS(shared_float4_broadcast),
    WARPS(shared_float4_pairs),
    WARPS(shared_store_stride_2),
    WARPS(shared_store_double_pairs),
    COPY(reduce_interleaved),
    COPY(reduce_interleaved_packed),
    COPY(reduce_sequential),
    COPY(reduce_shuffle),
    COPY(shared_atomics_known_bin),
    COPY(shared_atomics_1_bin),
    COPY(shared_atomics_32_bins),
    COPY(shared_atomics_256_bins),
    COPY(shared_atomics_two_lanes_a_bin),
    COPY(shared_atomics_stride_2),
    COPY(shared_atomics_two_words_of_a_bank),
    COPY(shared_atomics_float),
    COPY(shared_count_1_bin),
    COPY(shared_count_two_lanes_a_bin),
    COPY(shared_count_two_words_of_a_bank),
    COPY(shared_count_random),
    COPY(global_atomics_known_cell),
    COPY(global_atomics_one_cell),
    COPY(global_atomics_two_lanes_a_cell),
    COPY(global_atomics_cell_a_lane),
    COPY(global_atomics_stride_8),
    {"global_atomics_returned",
     [](const Memory& m) {
         global_atomics_returned<<<blocks, threads>>>(m.input<unsigned>(), m.output<unsigned>(),
                                                      m.output<unsigned>(4 * n));
     }},
    {"branch_even_odd",
     [](const Memory& m) {
         branch_even_odd<<<blocks, threads>>>(m.input<float>(), m.input<float>(4 * n),
                                              m.output<float>());
     }},
    {"branch_by_warp",
     [](const Memory& m) {
         branch_by_warp<<<blocks, threads>>>(m.input<float>(), m.input<float>(4 * n),
                                             m.output<float>());
     }},
    COPY(loop_with_trips_of_lane),
    COPY(branch_in_loop),
};

/// Runs a pattern on fresh memory and prints a checksum (FNV-1a) of all that it may have written.
void run(const Pattern& pattern, const Memory& memory) {
    CUDA_CHECK(cudaMemset(memory.out, 0, buffer_bytes));
    pattern.launch(memory);
    CUDA_CHECK_LAUNCH();
    std::vector<unsigned char> bytes(buffer_bytes);
    CUDA_CHECK(cudaMemcpy(bytes.data(), memory.out, buffer_bytes, cudaMemcpyDeviceToHost));
    std::uint64_t checksum = 14695981039346656037u;
    for (const unsigned char byte : bytes)
        checksum = (checksum ^ byte) * 1099511628211u;
    std::printf("%-28s %016llx\n", pattern.name, static_cast<unsigned long long>(checksum));
}

const Pattern& pattern_called(const std::string& name) {
    for (const Pattern& pattern : patterns) {
        if (name == pattern.name) return pattern;
    }
    throw mf::UsageError("no pattern is called " + name + "; --list prints the names");
}

int body(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        for (const Pattern& pattern : patterns)
            std::printf("%s\n", pattern.name);
        return 0;
    }
    std::vector<Pattern> chosen;
    for (int i = 1; i < argc; ++i)
        chosen.push_back(pattern_called(argv[i]));
    if (chosen.empty()) chosen.assign(std::begin(patterns), std::end(patterns));

    // As floating-point numbers these words are so small that every sum of them is exact.
    std::vector<std::uint32_t> words(buffer_bytes / sizeof(std::uint32_t));
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = static_cast<std::uint32_t>(i % 251 * 0x10305u % 0xffff);
    Memory memory;
    CUDA_CHECK(cudaMalloc(&memory.in, buffer_bytes));
    CUDA_CHECK(cudaMalloc(&memory.out, buffer_bytes));
    CUDA_CHECK(cudaMemcpy(memory.in, words.data(), buffer_bytes, cudaMemcpyHostToDevice));
    for (const Pattern& pattern : chosen)
        run(pattern, memory);
    CUDA_CHECK(cudaFree(memory.in));
    CUDA_CHECK(cudaFree(memory.out));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return mf::run_program(argc, argv, body);
}
