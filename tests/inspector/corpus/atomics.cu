/// \file
/// Atomic accesses beside plain ones to the same cell, without and with what orders them.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;
using corpus::zeros;

constexpr int threads = 64;

/// The counter is read while others still count.
namespace plain_read_of_a_counter {
__global__ void count(const int* in, int* counter, int* seen) {
    if (in[blockIdx.x * threads + threadIdx.x] % 2 == 0)
        atomicAdd(counter, 1);                          // EXPECT atomic_mixed
    if (threadIdx.x == 0) seen[blockIdx.x] = *counter;  // EXPECT atomic_mixed
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), counter(zeros<int>(1)), seen(2);
    count<<<2, threads>>>(in, counter, seen);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace plain_read_of_a_counter

/// Each block takes what its own atomic returned.
namespace returned_value_of_an_atomic {
__global__ void count(int* counter, int* seen) {
    if (threadIdx.x == 0) seen[blockIdx.x] = atomicAdd(counter, 1);
}

int run() {
    const Array<int> counter(zeros<int>(1)), seen(8);
    count<<<8, threads>>>(counter, seen);
    const std::vector<int> places = seen.values();
    return status(std::accumulate(places.begin(), places.end(), 0) == 28);
}
}  // namespace returned_value_of_an_atomic

namespace shared_reset_in_the_same_phase {
__global__ void count(const int* in, int* out) {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 0;                     // EXPECT atomic_mixed
    if (in[threadIdx.x] % 2 == 0) atomicAdd(&counter, 1);  // EXPECT atomic_mixed
    __syncthreads();
    if (threadIdx.x == 0) *out = counter;
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(1);
    count<<<1, threads>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace shared_reset_in_the_same_phase

namespace shared_reset_then_barrier {
__global__ void count(const int* in, int* out) {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    if (in[threadIdx.x] % 2 == 0) atomicAdd(&counter, 1);
    __syncthreads();
    if (threadIdx.x == 0) *out = counter;
}

int run() {
    const Array<int> in(ramp<int>(threads)), out(1);
    count<<<1, threads>>>(in, out);
    return status(out.values()[0] == threads / 2);
}
}  // namespace shared_reset_then_barrier

namespace shared_read_without_barrier {
__global__ void histogram(const int* in, int* bins) {
    __shared__ int local[threads];
    local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local[in[threadIdx.x] % 8], 1);  // EXPECT atomic_mixed
    bins[threadIdx.x] = local[threadIdx.x];     // EXPECT atomic_mixed
}

int run() {
    const Array<int> in(ramp<int>(threads)), bins(threads);
    histogram<<<1, threads>>>(in, bins);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace shared_read_without_barrier

namespace global_reset_by_one_thread {
__global__ void count(int* counter) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *counter = 0;  // EXPECT atomic_mixed
    atomicAdd(counter, 1);                                  // EXPECT atomic_mixed
}

int run() {
    const Array<int> counter(zeros<int>(1));
    count<<<2, threads>>>(counter);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace global_reset_by_one_thread

/// The reset is a launch of its own.
namespace global_reset_by_the_launch_before {
__global__ void reset(int* counter) {
    *counter = 0;
}

__global__ void count(int* counter) {
    atomicAdd(counter, 1);
}

int run() {
    const Array<int> counter(1);
    int total = 0;
    for (int round = 0; round < 3; ++round) {
        reset<<<1, 1>>>(counter);
        count<<<2, threads>>>(counter);
        total += counter.values()[0];
    }
    return status(total == 6 * threads);
}
}  // namespace global_reset_by_the_launch_before

/// A lock-less maximum reads plainly before it decides whether to try.
namespace plain_look_before_atomic_max {
__global__ void maximum(const int* in, int* best) {
    const int own = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (own > *best) atomicMax(best, own);  // EXPECT atomic_mixed
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), best(zeros<int>(1));
    maximum<<<2, threads>>>(in, best);
    return status(best.values()[0] == 2 * threads - 1);
}
}  // namespace plain_look_before_atomic_max

namespace atomics_of_every_kind {
__global__ void all(const int* in, int* out) {
    const int own = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicMax(&out[0], own);
    atomicMin(&out[1], own);
    atomicOr(&out[2], own);
    atomicXor(&out[3], own);
    atomicSub(&out[4], 1);
    atomicExch(&out[5], own);
}

int run() {
    const Array<int> in(ramp<int>(2 * threads, 1)), out(std::vector<int>{0, 1000, 0, 0, 0, 0});
    all<<<2, threads>>>(in, out);
    const std::vector<int> values = out.values();
    return status(values[0] == 2 * threads && values[1] == 1 && values[2] == 255 &&
                  values[4] == -2 * threads && values[5] > 0);
}
}  // namespace atomics_of_every_kind

int main(int argc, char** argv) {
    return corpus::main(
        {CORPUS_CASE(plain_read_of_a_counter), CORPUS_CASE(returned_value_of_an_atomic),
         CORPUS_CASE(shared_reset_in_the_same_phase), CORPUS_CASE(shared_reset_then_barrier),
         CORPUS_CASE(shared_read_without_barrier), CORPUS_CASE(global_reset_by_one_thread),
         CORPUS_CASE(global_reset_by_the_launch_before), CORPUS_CASE(plain_look_before_atomic_max),
         CORPUS_CASE(atomics_of_every_kind)},
        argc, argv);
}
