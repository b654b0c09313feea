/// \file
/// Threads of a block that meet in shared memory, without and with what orders them.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;
using corpus::zeros;

constexpr int threads = 64;

namespace tile_without_barrier {
__global__ void reverse(const int* in, int* out) {
    __shared__ int tile[threads];
    tile[threadIdx.x] = in[threadIdx.x];                 // EXPECT shared_race
    out[threadIdx.x] = tile[threads - 1 - threadIdx.x];  // EXPECT shared_race
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    reverse<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace tile_without_barrier

/// Each thread reads back only what it stored itself.
namespace own_cell_without_barrier {
__global__ void twice(const int* in, int* out) {
    __shared__ int tile[threads];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = 2 * tile[threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    twice<<<1, threads>>>(in, out);
    return status(out.values()[63] == 126);
}
}  // namespace own_cell_without_barrier

/// The next round's store may overtake this round's load.
namespace second_barrier_missing {
__global__ void rotate(const int* in, int* out) {
    __shared__ int tile[threads];
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[threadIdx.x] = in[round * threads + threadIdx.x];  // EXPECT shared_race
        __syncthreads();
        sum += tile[(threadIdx.x + 33) % threads];  // EXPECT shared_race
    }
    out[threadIdx.x] = sum;
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), out(threads);
    rotate<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace second_barrier_missing

namespace barriers_before_and_after {
__global__ void rotate(const int* in, int* out) {
    __shared__ int tile[threads];
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[threadIdx.x] = in[round * threads + threadIdx.x];
        __syncthreads();
        sum += tile[(threadIdx.x + 33) % threads];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), out(threads);
    rotate<<<1, threads>>>(in, out);
    return status(out.values()[0] == 4 * 33 + 6 * threads);
}
}  // namespace barriers_before_and_after

namespace reduction_without_barrier {
__global__ void sum(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        const unsigned t = threadIdx.x;
        if (t < half) cells[t] += cells[t + half];  // EXPECT shared_race
    }
    if (threadIdx.x == 0) *out = cells[0];
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(1);
    sum<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace reduction_without_barrier

/// The last warp goes on without a word, as was the custom before Volta.
namespace last_warp_without_syncwarp {
__global__ void sum(const int* in, int* out) {
    __shared__ int cells[2 * threads];
    const unsigned t = threadIdx.x;
    cells[t] = in[t];
    __syncthreads();
    for (unsigned half = threads; half > 32; half /= 2) {
        if (t < half) cells[t] += cells[t + half];
        __syncthreads();
    }
    if (t < 32) {
        volatile int* const last = cells;
        for (unsigned half = 32; half > 0; half /= 2) {
            if (t < half) last[t] = last[t] + last[t + half];  // EXPECT shared_race
        }
    }
    if (t == 0) *out = cells[0];
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), out(1);
    sum<<<1, 2 * threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace last_warp_without_syncwarp

namespace last_warp_with_syncwarp {
__global__ void sum(const int* in, int* out) {
    __shared__ int cells[2 * threads];
    const unsigned t = threadIdx.x;
    cells[t] = in[t];
    __syncthreads();
    for (unsigned half = threads; half > 32; half /= 2) {
        if (t < half) cells[t] += cells[t + half];
        __syncthreads();
    }
    if (t < 32) {
        int own = cells[t];
        for (unsigned half = 32; half > 0; half /= 2) {
            own += cells[t + half];
            __syncwarp();
            cells[t] = own;
            __syncwarp();
        }
        if (t == 0) *out = own;
    }
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), out(1);
    sum<<<1, 2 * threads>>>(in, out);
    return status(out.values()[0] == 8128);
}
}  // namespace last_warp_with_syncwarp

namespace reduction_with_barriers {
__global__ void sum(const int* in, int* out, int n) {
    __shared__ int cells[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    cells[threadIdx.x] = i < n ? in[i] : 0;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) cells[threadIdx.x] += cells[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = cells[0];
}

int run() {
    const Array<int> in(ramp<int>(1000)), out(16);
    sum<<<16, threads>>>(in, out, 1000);
    const std::vector<int> parts = out.values();
    return status(std::accumulate(parts.begin(), parts.end(), 0) == 499500);
}
}  // namespace reduction_with_barriers

namespace plain_increments {
__global__ void histogram(const unsigned char* in, unsigned* bins) {
    __shared__ unsigned local[8];
    if (threadIdx.x < 8) local[threadIdx.x] = 0;
    __syncthreads();
    local[in[threadIdx.x] % 8]++;  // EXPECT shared_race
    __syncthreads();
    if (threadIdx.x < 8) bins[threadIdx.x] = local[threadIdx.x];
}

int run() {
    const Array<unsigned char> in(ramp<unsigned char>(threads));
    const Array<unsigned> bins(8);
    histogram<<<1, threads>>>(in, bins);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace plain_increments

/// Plain increments, but each thread has bins of its own.
namespace bins_of_its_own {
__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned char local[8][threads];
    for (int bin = 0; bin < 8; ++bin)
        local[bin][threadIdx.x] = 0;
    for (int i = threadIdx.x; i < n; i += threads)
        local[in[i] % 8][threadIdx.x]++;
    __syncthreads();
    if (threadIdx.x < 8) {
        unsigned sum = 0;
        for (int k = 0; k < threads; ++k)
            sum += local[threadIdx.x][k];
        bins[threadIdx.x] = sum;
    }
}

int run() {
    const Array<unsigned char> in(ramp<unsigned char>(200));
    const Array<unsigned> bins(8);
    histogram<<<1, threads>>>(in, bins, 200);
    return status(bins.values()[7] == 25);
}
}  // namespace bins_of_its_own

namespace atomics_then_barrier_then_read {
__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned local[8];
    if (threadIdx.x < 8) local[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[in[i] % 8], 1u);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int run() {
    const Array<unsigned char> in(ramp<unsigned char>(200));
    const Array<unsigned> bins(zeros<unsigned>(8));
    histogram<<<4, threads>>>(in, bins, 200);
    return status(bins.values()[7] == 25);
}
}  // namespace atomics_then_barrier_then_read

namespace neighbour_exchange {
__global__ void difference(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const int own = cells[threadIdx.x];
    if (threadIdx.x > 0) cells[threadIdx.x] = own - cells[threadIdx.x - 1];  // EXPECT shared_race
    __syncthreads();
    out[threadIdx.x] = cells[threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    difference<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace neighbour_exchange

/// All read, then all write: the barrier lies between.
namespace read_barrier_write {
__global__ void difference(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const int left = threadIdx.x > 0 ? cells[threadIdx.x - 1] : 0;
    __syncthreads();
    cells[threadIdx.x] -= left;
    __syncthreads();
    out[threadIdx.x] = cells[threads - 1 - threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    difference<<<1, threads>>>(in, out);
    return status(out.values()[0] == 1);
}
}  // namespace read_barrier_write

/// Two buffers taken in turns need one barrier a round; here is none between fill and use.
namespace double_buffer_without_barrier {
__global__ void pipeline(const int* in, int* out, int rounds) {
    __shared__ int buffer[2][threads];
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        buffer[round % 2][threadIdx.x] = in[round * threads + threadIdx.x];  // EXPECT shared_race
        sum += buffer[round % 2][threads - 1 - threadIdx.x];                 // EXPECT shared_race
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), out(threads);
    pipeline<<<1, threads>>>(in, out, 4);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace double_buffer_without_barrier

/// One barrier a round is enough: the other buffer's readers have passed it.
namespace double_buffer {
__global__ void pipeline(const int* in, int* out, int rounds) {
    __shared__ int buffer[2][threads];
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        buffer[round % 2][threadIdx.x] = in[round * threads + threadIdx.x];
        __syncthreads();
        sum += buffer[round % 2][threads - 1 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

int run() {
    const Array<int> in(ramp<int>(5 * threads)), out(threads);
    pipeline<<<1, threads>>>(in, out, 5);
    return status(out.values()[63] == 10 * threads);
}
}  // namespace double_buffer

namespace transposed_tile_without_barrier {
__global__ void transpose(const int* in, int* out) {
    __shared__ int tile[8][9];
    tile[threadIdx.y][threadIdx.x] = in[8 * threadIdx.y + threadIdx.x];   // EXPECT shared_race
    out[8 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // EXPECT shared_race
}

int run() {
    const Array<int> in(ramp<int>(64)), out(64);
    transpose<<<1, dim3(8, 8)>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace transposed_tile_without_barrier

namespace warp_without_syncwarp {
__global__ void reverse(const int* in, int* out) {
    __shared__ int cells[32];
    cells[threadIdx.x] = in[threadIdx.x];        // EXPECT shared_race
    out[threadIdx.x] = cells[31 - threadIdx.x];  // EXPECT shared_race
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    reverse<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace warp_without_syncwarp

/// __syncwarp orders the memory accesses of the warp's lanes.
namespace warp_with_syncwarp {
__global__ void reverse(const int* in, int* out) {
    __shared__ int cells[4][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    cells[warp][lane] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = cells[warp][31 - lane];
}

int run() {
    const Array<int> in(ramp<int>(128)), out(128);
    reverse<<<1, 128>>>(in, out);
    return status(out.values()[127] == 96);
}
}  // namespace warp_with_syncwarp

/// Half a warp, in a branch, with a mask of just these lanes.
namespace half_warp_with_syncwarp {
__global__ void reverse(const int* in, int* out) {
    __shared__ int cells[16];
    if (threadIdx.x < 16) {
        cells[threadIdx.x] = in[threadIdx.x];
        __syncwarp(0x0000FFFFu);
        out[threadIdx.x] = cells[15 - threadIdx.x];
    } else {
        out[threadIdx.x] = in[threadIdx.x];
    }
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    reverse<<<1, 32>>>(in, out);
    const std::vector<int> values = out.values();
    return status(values[0] == 15 && values[31] == 31);
}
}  // namespace half_warp_with_syncwarp

/// __syncwarp covers half of the lanes that meet in the tile.
namespace syncwarp_of_the_wrong_half {
__global__ void rotate(const int* in, int* out) {
    __shared__ int cells[32];
    cells[threadIdx.x] = in[threadIdx.x];  // EXPECT shared_race
    if (threadIdx.x < 16) {
        __syncwarp(0x0000FFFFu);
    } else {
        __syncwarp(0xFFFF0000u);
    }
    out[threadIdx.x] = cells[31 - threadIdx.x];  // EXPECT shared_race
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    rotate<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace syncwarp_of_the_wrong_half

/// __syncwarp where two warps share the tile: a barrier of the block is needed.
namespace syncwarp_between_two_warps {
__global__ void reverse(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];  // EXPECT shared_race
    __syncwarp();
    out[threadIdx.x] = cells[threads - 1 - threadIdx.x];  // EXPECT shared_race
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    reverse<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace syncwarp_between_two_warps

/// __threadfence_block orders a thread's own accesses; it waits for nobody.
namespace fence_instead_of_barrier {
__global__ void reverse(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];  // EXPECT shared_race
    __threadfence_block();
    out[threadIdx.x] = cells[threads - 1 - threadIdx.x];  // EXPECT shared_race
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    reverse<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace fence_instead_of_barrier

namespace different_values_to_one_cell {
__global__ void last(int* out) {
    __shared__ int winner;
    winner = threadIdx.x;  // EXPECT shared_race
    __syncthreads();
    if (threadIdx.x == 0) *out = winner;
}

int run() {
    const Array<int> out(1);
    last<<<1, threads>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace different_values_to_one_cell

/// Who writes at all writes the same value; read only behind the barrier.
namespace same_value_to_one_flag {
__global__ void any_above(const int* in, int* out, int limit) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (in[threadIdx.x] > limit) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(1);
    any_above<<<1, threads>>>(in, out, 40);
    return status(out.values()[0] == 1);
}
}  // namespace same_value_to_one_flag

/// One thread fetches for all, and all read without waiting for it.
namespace broadcast_without_barrier {
__global__ void scale(const int* factor, int* data) {
    __shared__ int cached;
    if (threadIdx.x == 0) cached = *factor;  // EXPECT shared_race
    data[threadIdx.x] *= cached;             // EXPECT shared_race
}

int run() {
    const Array<int> factor(std::vector<int>{3}), data(ramp<int>(threads));
    scale<<<1, threads>>>(factor, data);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace broadcast_without_barrier

/// One array for two purposes, with a barrier between them.
namespace shared_memory_reused {
__global__ void twice_reversed(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const int other = cells[threads - 1 - threadIdx.x];
    __syncthreads();
    float* const floats = reinterpret_cast<float*>(cells);
    floats[threadIdx.x] = 0.5f * other;
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(2 * floats[threads - 1 - threadIdx.x]);
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    twice_reversed<<<1, threads>>>(in, out);
    return status(out.values()[5] == 5);
}
}  // namespace shared_memory_reused

/// Two arrays of different types in one piece of dynamic shared memory.
namespace dynamic_shared_carved {
__global__ void both(const float* in, float* out, int n) {
    extern __shared__ __align__(8) unsigned char memory[];
    double* const wide = reinterpret_cast<double*>(memory);
    short* const narrow = reinterpret_cast<short*>(wide + n);
    wide[threadIdx.x] = in[threadIdx.x];
    narrow[threadIdx.x] = static_cast<short>(n - 1 - threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = static_cast<float>(wide[narrow[threadIdx.x]]);
}

int run() {
    const Array<float> in(ramp<float>(33)), out(33);
    both<<<1, 33, 33 * (sizeof(double) + sizeof(short))>>>(in, out, 33);
    return status(out.values()[0] == 32.0f && out.values()[32] == 0.0f);
}
}  // namespace dynamic_shared_carved

/// Neighbouring bytes and halves of one word belong to different threads.
namespace neighbouring_bytes {
__global__ void bytes(unsigned* out) {
    __shared__ unsigned words[threads / 4];
    reinterpret_cast<unsigned char*>(words)[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x < threads / 4) out[threadIdx.x] = words[threadIdx.x];
}

int run() {
    const Array<unsigned> out(threads / 4);
    bytes<<<1, threads>>>(out);
    return status(out.values()[1] == 0x07060504u);
}
}  // namespace neighbouring_bytes

/// Inclusive scan by doubling distances, two barriers a step.
namespace scan_of_a_block {
__global__ void scan(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned distance = 1; distance < threads; distance *= 2) {
        const int left = threadIdx.x >= distance ? cells[threadIdx.x - distance] : 0;
        __syncthreads();
        cells[threadIdx.x] += left;
        __syncthreads();
    }
    out[threadIdx.x] = cells[threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    scan<<<1, threads>>>(in, out);
    return status(out.values()[63] == 2016);
}
}  // namespace scan_of_a_block

/// The same scan with one barrier a step: loads and stores of a step run into each other.
namespace scan_in_place_one_barrier {
__global__ void scan(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];
    for (unsigned distance = 1; distance < threads; distance *= 2) {
        __syncthreads();
        const unsigned t = threadIdx.x;
        const int left = t >= distance ? cells[t - distance] : 0;  // EXPECT shared_race
        cells[t] += left;                                          // EXPECT shared_race
    }
    out[threadIdx.x] = cells[threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    scan<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace scan_in_place_one_barrier

int main(int argc, char** argv) {
    return corpus::main({CORPUS_CASE(tile_without_barrier),
                         CORPUS_CASE(own_cell_without_barrier),
                         CORPUS_CASE(second_barrier_missing),
                         CORPUS_CASE(barriers_before_and_after),
                         CORPUS_CASE(reduction_without_barrier),
                         CORPUS_CASE(last_warp_without_syncwarp),
                         CORPUS_CASE(last_warp_with_syncwarp),
                         CORPUS_CASE(reduction_with_barriers),
                         CORPUS_CASE(plain_increments),
                         CORPUS_CASE(bins_of_its_own),
                         CORPUS_CASE(atomics_then_barrier_then_read),
                         CORPUS_CASE(neighbour_exchange),
                         CORPUS_CASE(read_barrier_write),
                         CORPUS_CASE(double_buffer_without_barrier),
                         CORPUS_CASE(double_buffer),
                         CORPUS_CASE(transposed_tile_without_barrier),
                         CORPUS_CASE(warp_without_syncwarp),
                         CORPUS_CASE(warp_with_syncwarp),
                         CORPUS_CASE(half_warp_with_syncwarp),
                         CORPUS_CASE(syncwarp_of_the_wrong_half),
                         CORPUS_CASE(syncwarp_between_two_warps),
                         CORPUS_CASE(fence_instead_of_barrier),
                         CORPUS_CASE(different_values_to_one_cell),
                         CORPUS_CASE(same_value_to_one_flag),
                         CORPUS_CASE(broadcast_without_barrier),
                         CORPUS_CASE(shared_memory_reused),
                         CORPUS_CASE(dynamic_shared_carved),
                         CORPUS_CASE(neighbouring_bytes),
                         CORPUS_CASE(scan_of_a_block),
                         CORPUS_CASE(scan_in_place_one_barrier)},
                        argc, argv);
}
