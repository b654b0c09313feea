/// \file
/// Barriers, warp primitives and launches that go wrong, and such that only look like it.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;
using corpus::zeros;

constexpr int threads = 64;

namespace barrier_for_half_a_warp {
__global__ void sum(const int* in, int* out) {
    __shared__ int cells[threads];
    cells[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 16) __syncthreads();  // EXPECT barrier
    out[threadIdx.x] = cells[threadIdx.x];
    __syncthreads();  // EXPECT barrier
    cells[threadIdx.x] = 0;
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    sum<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace barrier_for_half_a_warp

namespace different_barriers {
__global__ void fill(int* out) {
    if (threadIdx.x % 2 == 0) {
        out[threadIdx.x] = 0;
        __syncthreads();  // EXPECT barrier
    } else {
        __syncthreads();  // EXPECT barrier
        out[threadIdx.x] = 1;
    }
}

int run() {
    const Array<int> out(threads);
    fill<<<1, threads>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace different_barriers

/// The number of turns, and so of barriers, differs from thread to thread.
namespace barrier_in_a_loop_of_each_thread {
__global__ void count(const int* turns, int* out) {
    int sum = 0;
    for (int k = 0; k < turns[threadIdx.x]; ++k) {
        sum += k;
        __syncthreads();  // EXPECT barrier
    }
    out[threadIdx.x] = sum;
    __syncthreads();  // EXPECT barrier
    out[threadIdx.x] += out[threads - 1 - threadIdx.x] > 1000;
}

int run() {
    std::vector<int> turns(threads, 3);
    turns[5] = 2;
    const Array<int> in(turns), out(threads);
    count<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace barrier_in_a_loop_of_each_thread

/// All threads take the same number of turns.
namespace barrier_in_a_uniform_loop {
__global__ void rotate(const int* in, int* out, int turns) {
    __shared__ int cells[threads];
    int own = in[threadIdx.x];
    for (int k = 0; k < turns; ++k) {
        cells[threadIdx.x] = own;
        __syncthreads();
        own = cells[(threadIdx.x + 1) % threads];
        __syncthreads();
    }
    out[threadIdx.x] = own;
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(threads);
    rotate<<<1, threads>>>(in, out, 5);
    return status(out.values()[0] == 5);
}
}  // namespace barrier_in_a_uniform_loop

/// The branch depends on the block alone, so that all or none of its threads take it.
namespace barrier_in_a_uniform_branch {
__global__ void reverse(const int* in, int* out) {
    __shared__ int cells[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        cells[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = cells[threads - 1 - threadIdx.x];
    } else {
        out[i] = in[i];
    }
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), out(2 * threads);
    reverse<<<2, threads>>>(in, out);
    const std::vector<int> values = out.values();
    return status(values[0] == threads - 1 && values[threads] == threads);
}
}  // namespace barrier_in_a_uniform_branch

/// Whole blocks have nothing to do, and return before the barrier.
namespace whole_blocks_return {
__global__ void reverse(const int* in, int* out, int n) {
    __shared__ int cells[threads];
    const int first = blockIdx.x * threads;
    if (first >= n) return;
    cells[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    out[first + threadIdx.x] = cells[threads - 1 - threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), out(2 * threads);
    reverse<<<5, threads>>>(in, out, 2 * threads);
    return status(out.values()[threads] == 2 * threads - 1);
}
}  // namespace whole_blocks_return

/// Threads without an element skip the load, but not the barrier.
namespace skip_the_load_reach_the_barrier {
__global__ void reverse(const int* in, int* out, int n) {
    __shared__ int cells[threads];
    const int i = threadIdx.x;
    if (i < n) cells[i] = in[i];
    __syncthreads();
    if (i < n) out[i] = cells[n - 1 - i];
}

int run() {
    const Array<int> in(ramp<int>(37)), out(37);
    reverse<<<1, threads>>>(in, out, 37);
    return status(out.values()[0] == 36);
}
}  // namespace skip_the_load_reach_the_barrier

namespace mask_lacks_the_caller {
__global__ void broadcast(int* out) {
    out[threadIdx.x] = __shfl_sync(0xFFFFFFFEu, threadIdx.x, 5);  // EXPECT warp_mask
}

int run() {
    const Array<int> out(32);
    broadcast<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace mask_lacks_the_caller

/// All 32 lanes are named, 16 of them take another way to the barrier.
namespace mask_in_a_divergent_branch {
__global__ void sum(const int* in, int* out) {
    int own = in[threadIdx.x];
    if (threadIdx.x < 16) {
        own += __shfl_down_sync(0xFFFFFFFFu, own, 8);  // EXPECT warp_mask
    }
    __syncthreads();  // EXPECT warp_mask
    out[threadIdx.x] = own;
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    sum<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace mask_in_a_divergent_branch

/// The mask names exactly the lanes that take the branch.
namespace mask_of_the_branch {
__global__ void sum(const int* in, int* out) {
    int own = in[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int distance = 8; distance > 0; distance /= 2) {
            own += __shfl_down_sync(0x0000FFFFu, own, distance, 16);
        }
    }
    __syncthreads();
    out[threadIdx.x] = own;
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    sum<<<1, 32>>>(in, out);
    return status(out.values()[0] == 120);
}
}  // namespace mask_of_the_branch

/// __ballot_sync by all gives the mask for those who go on.
namespace mask_from_a_ballot {
__global__ void count(const int* in, int* out) {
    const bool odd = in[threadIdx.x] % 2 == 1;
    const unsigned mask = __ballot_sync(0xFFFFFFFFu, odd);
    int before = 0;
    if (odd) {
        const int leader = __ffs(mask) - 1;
        before = __shfl_sync(mask, in[threadIdx.x], leader);
    }
    out[threadIdx.x] = before;
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    count<<<1, 32>>>(in, out);
    return status(out.values()[31] == 1);
}
}  // namespace mask_from_a_ballot

/// Lanes of one mask wait in two different primitives.
namespace different_primitives {
__global__ void mixed(const int* in, int* out) {
    int own = in[threadIdx.x];
    if (threadIdx.x < 16) {
        own = __shfl_xor_sync(0xFFFFFFFFu, own, 1);  // EXPECT warp_mask
    } else {
        own = __any_sync(0xFFFFFFFFu, own > 20);  // EXPECT warp_mask
    }
    out[threadIdx.x] = own;
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    mixed<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace different_primitives

namespace shuffle_from_outside_the_mask {
__global__ void fetch(const int* in, int* out) {
    int own = in[threadIdx.x];
    if (threadIdx.x < 16) own = __shfl_sync(0x0000FFFFu, own, 20);  // EXPECT warp_mask
    out[threadIdx.x] = own;
}

int run() {
    const Array<int> in(ramp<int>(32)), out(32);
    fetch<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace shuffle_from_outside_the_mask

/// A reduction by shuffles alone: no memory, no barrier.
namespace reduction_by_shuffles {
__global__ void sum(const int* in, int* out) {
    int own = in[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
        own += __shfl_down_sync(0xFFFFFFFFu, own, distance);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = own;
}

int run() {
    const Array<int> in(ramp<int>(64)), out(2);
    sum<<<2, 32>>>(in, out);
    return status(out.values()[1] == 1520);
}
}  // namespace reduction_by_shuffles

/// Shuffles in each warp, one cell for each warp, a barrier, shuffles again.
namespace reduction_by_shuffles_of_a_block {
__global__ void sum(const int* in, int* out) {
    __shared__ int warps[8];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int own = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        own += __shfl_xor_sync(0xFFFFFFFFu, own, d);
    if (lane == 0) warps[warp] = own;
    __syncthreads();
    if (warp == 0) {
        own = lane < 8 ? warps[lane] : 0;
        for (int d = 4; d > 0; d /= 2)
            own += __shfl_xor_sync(0xFFFFFFFFu, own, d);
        if (lane == 0) *out = own;
    }
}

int run() {
    const Array<int> in(ramp<int>(256)), out(1);
    sum<<<1, 256>>>(in, out);
    return status(out.values()[0] == 32640);
}
}  // namespace reduction_by_shuffles_of_a_block

/// The last warp has 5 lanes; masks name these alone.
namespace short_last_warp {
__global__ void sum(const int* in, int* out, int n) {
    const int first = threadIdx.x & ~31, rest = n - first;
    const unsigned mask = rest >= 32 ? 0xFFFFFFFFu : (1u << rest) - 1;
    const int next = __shfl_down_sync(mask, in[threadIdx.x], 1);
    const int lane = threadIdx.x % 32;
    out[threadIdx.x] = lane + 1 < min(rest, 32) ? next : -1;
}

int run() {
    const Array<int> in(ramp<int>(37)), out(37);
    sum<<<1, 37>>>(in, out, 37);
    const std::vector<int> values = out.values();
    return status(values[30] == 31 && values[31] == -1 && values[35] == 36 && values[36] == -1);
}
}  // namespace short_last_warp

namespace too_many_threads {
__global__ void fill(int* out) {
    out[threadIdx.x] = 1;
}

int run() {
    const Array<int> out(zeros<int>(1025));
    fill<<<1, 1025>>>(out);  // EXPECT launch_error
    return status(out.values()[0] == 0);
}
}  // namespace too_many_threads

namespace too_much_shared_memory {
__global__ void fill(int* out) {
    extern __shared__ int cells[];
    cells[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = cells[threadIdx.x];
}

int run() {
    const Array<int> out(zeros<int>(32));
    fill<<<1, 32, 1 << 20>>>(out);  // EXPECT launch_error
    return status(out.values()[1] == 0);
}
}  // namespace too_much_shared_memory

namespace empty_grid {
__global__ void fill(int* out, int n) {
    if (static_cast<int>(threadIdx.x) < n) out[threadIdx.x] = 1;
}

int run() {
    const Array<int> out(zeros<int>(32));
    const int n = 0;
    fill<<<(n + 31) / 32, 32>>>(out, n);  // EXPECT launch_error
    return status(out.values()[0] == 0);
}
}  // namespace empty_grid

/// The launch fails, the program asks, and takes a smaller block.
namespace launch_error_asked_for {
__global__ void fill(int* out) {
    out[threadIdx.x] = 1;
}

int run() {
    const Array<int> out(zeros<int>(1025));
    fill<<<1, 1025>>>(out);
    if (cudaGetLastError() == cudaSuccess) return 1;
    fill<<<1, 1024>>>(out);
    const std::vector<int> values = out.values();
    return status(values[1023] == 1 && values[1024] == 0);
}
}  // namespace launch_error_asked_for

/// The largest block, and all the shared memory that needs no leave.
namespace largest_block {
__global__ void reverse(const int* in, int* out) {
    extern __shared__ int cells[];
    cells[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = cells[1023 - threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(1024)), out(1024);
    reverse<<<1, 1024, 48 * 1024>>>(in, out);
    return status(out.values()[0] == 1023);
}
}  // namespace largest_block

int main(int argc, char** argv) {
    return corpus::main({CORPUS_CASE(barrier_for_half_a_warp),
                         CORPUS_CASE(different_barriers),
                         CORPUS_CASE(barrier_in_a_loop_of_each_thread),
                         CORPUS_CASE(barrier_in_a_uniform_loop),
                         CORPUS_CASE(barrier_in_a_uniform_branch),
                         CORPUS_CASE(whole_blocks_return),
                         CORPUS_CASE(skip_the_load_reach_the_barrier),
                         CORPUS_CASE(mask_lacks_the_caller),
                         CORPUS_CASE(mask_in_a_divergent_branch),
                         CORPUS_CASE(mask_of_the_branch),
                         CORPUS_CASE(mask_from_a_ballot),
                         CORPUS_CASE(different_primitives),
                         CORPUS_CASE(shuffle_from_outside_the_mask),
                         CORPUS_CASE(reduction_by_shuffles),
                         CORPUS_CASE(reduction_by_shuffles_of_a_block),
                         CORPUS_CASE(short_last_warp),
                         CORPUS_CASE(too_many_threads),
                         CORPUS_CASE(too_much_shared_memory),
                         CORPUS_CASE(empty_grid),
                         CORPUS_CASE(launch_error_asked_for),
                         CORPUS_CASE(largest_block)},
                        argc, argv);
}
