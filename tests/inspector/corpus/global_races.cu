/// \file
/// Threads and blocks of one launch that meet in global memory, without and with what orders them.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;
using corpus::zeros;

constexpr int threads = 64;

namespace blocks_write_one_cell {
__global__ void last(int* out) {
    if (threadIdx.x == 0) *out = blockIdx.x;  // EXPECT global_race
}

int run() {
    const Array<int> out(1);
    last<<<4, threads>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace blocks_write_one_cell

namespace all_store_the_same_flag {
__global__ void any_above(const int* in, int* found, int limit) {
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > limit) *found = 1;
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), found(std::vector<int>{0});
    any_above<<<4, threads>>>(in, found, 100);
    return status(found.values()[0] == 1);
}
}  // namespace all_store_the_same_flag

namespace blur_in_place {
__global__ void blur(int* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n - 1) data[i] = (data[i - 1] + data[i] + data[i + 1]) / 3;  // EXPECT global_race
}

int run() {
    const Array<int> data(ramp<int>(4 * threads + 2));
    blur<<<4, threads>>>(data, 4 * threads + 2);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace blur_in_place

/// Within a block all read before any writes; across blocks nothing orders them.
namespace blur_in_place_with_barrier {
__global__ void blur(int* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int sum = 0;
    if (i < n - 1) sum = data[i - 1] + data[i] + data[i + 1];  // EXPECT global_race
    __syncthreads();
    if (i < n - 1) data[i] = sum / 3;  // EXPECT global_race
}

int run() {
    const Array<int> data(ramp<int>(4 * threads + 2));
    blur<<<4, threads>>>(data, 4 * threads + 2);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace blur_in_place_with_barrier

/// The same code is right as long as there is one block.
namespace blur_in_place_one_block {
__global__ void blur(int* data, int n) {
    const int i = threadIdx.x + 1;
    int sum = 0;
    if (i < n - 1) sum = data[i - 1] + data[i] + data[i + 1];
    __syncthreads();
    if (i < n - 1) data[i] = sum / 3;
}

int run() {
    const Array<int> data(ramp<int>(threads + 2));
    blur<<<1, threads>>>(data, threads + 2);
    return status(data.values()[threads] == threads);
}
}  // namespace blur_in_place_one_block

/// In place, but each thread touches only its own element.
namespace own_element_in_place {
__global__ void square(int* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= data[i];
}

int run() {
    const Array<int> data(ramp<int>(1000));
    square<<<16, threads>>>(data, 1000);
    return status(data.values()[999] == 998001);
}
}  // namespace own_element_in_place

/// From one buffer into another, then back: each launch reads what the one before wrote.
namespace blur_into_another_buffer {
__global__ void blur(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int left = i > 0 ? i - 1 : 0, right = i + 1 < n ? i + 1 : n - 1;
    out[i] = (in[left] + in[i] + in[right]) / 3;
}

int run() {
    const Array<int> a(ramp<int>(4 * threads)), b(4 * threads);
    for (int round = 0; round < 2; ++round) {
        blur<<<4, threads>>>(a, b, 4 * threads);
        blur<<<4, threads>>>(b, a, 4 * threads);
    }
    return status(a.values()[100] == 100);
}
}  // namespace blur_into_another_buffer

namespace histogram_with_plain_increments {
__global__ void histogram(const int* in, int* bins) {
    bins[in[blockIdx.x * blockDim.x + threadIdx.x] % 8]++;  // EXPECT global_race
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), bins(zeros<int>(8));
    histogram<<<2, threads>>>(in, bins);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace histogram_with_plain_increments

namespace histogram_with_atomics {
__global__ void histogram(const int* in, int* bins) {
    atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x] % 8], 1);
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), bins(zeros<int>(8));
    histogram<<<2, threads>>>(in, bins);
    return status(bins.values()[7] == threads / 4);
}
}  // namespace histogram_with_atomics

/// The warps of one block exchange through global memory, without a barrier.
namespace exchange_without_barrier {
__global__ void reverse(const int* in, int* scratch, int* out) {
    scratch[threadIdx.x] = in[threadIdx.x];                 // EXPECT global_race
    out[threadIdx.x] = scratch[threads - 1 - threadIdx.x];  // EXPECT global_race
}

int run() {
    const Array<int> in(ramp<int>(threads)), scratch(threads), out(threads);
    reverse<<<1, threads>>>(in, scratch, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace exchange_without_barrier

/// A barrier of the block orders global memory for the block's threads, too.
namespace exchange_with_barrier {
__global__ void reverse(const int* in, int* scratch, int* out) {
    const int first = blockIdx.x * threads;
    scratch[first + threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    out[first + threadIdx.x] = scratch[first + threads - 1 - threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), scratch(2 * threads), out(2 * threads);
    reverse<<<2, threads>>>(in, scratch, out);
    return status(out.values()[threads] == 2 * threads - 1);
}
}  // namespace exchange_with_barrier

/// The last block sums up the parts of all; nothing makes them visible to it.
namespace last_block_without_fence {
__global__ void sum(const int* in, int* parts, unsigned* done, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        int part = 0;
        for (int i = 0; i < threads; ++i)
            part += in[blockIdx.x * threads + i];
        parts[blockIdx.x] = part;  // EXPECT global_race
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (unsigned k = 0; k < gridDim.x; ++k)
            total += parts[k];  // EXPECT global_race
        *out = total;
    }
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), parts(4), out(1);
    const Array<unsigned> done(std::vector<unsigned>{0});
    sum<<<4, threads>>>(in, parts, done, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace last_block_without_fence

/// The fence stands behind the announcement instead of before it.
namespace fence_too_late {
__global__ void sum(const int* in, int* parts, unsigned* done, int* out) {
    if (threadIdx.x > 0) return;
    parts[blockIdx.x] = in[blockIdx.x];  // EXPECT global_race
    const bool last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
    if (!last) return;
    int total = 0;
    for (unsigned k = 0; k < gridDim.x; ++k)
        total += parts[k];  // EXPECT global_race
    *out = total;
}

int run() {
    const Array<int> in(ramp<int>(4)), parts(4), out(1);
    const Array<unsigned> done(std::vector<unsigned>{0});
    sum<<<4, 32>>>(in, parts, done, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace fence_too_late

/// Part, fence, announcement by one thread, as in the CUDA programming guide; the last block sets
/// the counter back for the next launch.
namespace last_block_with_fence {
__global__ void sum(const int* in, volatile int* parts, unsigned* done, int* out) {
    __shared__ int cells[threads];
    __shared__ bool last;
    cells[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        int part = 0;
        for (int i = 0; i < threads; ++i)
            part += cells[i];
        parts[blockIdx.x] = part;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    if (threadIdx.x < gridDim.x) cells[threadIdx.x] = parts[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (unsigned k = 0; k < gridDim.x; ++k)
            total += cells[k];
        *out = total;
    }
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), parts(4), out(1);
    const Array<unsigned> done(std::vector<unsigned>{0});
    bool right = true;
    for (int round = 0; round < 3; ++round) {
        cudaMemset(out, 0, sizeof(int));
        sum<<<4, threads>>>(in, parts, done, out);
        right = right && out.values()[0] == 32640;
    }
    return status(right);
}
}  // namespace last_block_with_fence

/// All threads write a part and fence it; a barrier; then one announces for the block. The last
/// block's thread fences again before it reads, and stores 0 into the counter.
namespace last_block_all_threads_fence {
__global__ void maxima(const int* in, int* parts, unsigned* done, int* out) {
    __shared__ bool last;
    const int i = blockIdx.x * threads + threadIdx.x;
    parts[i] = 2 * in[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k)
        sum += parts[k * threads + threadIdx.x];
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) *done = 0;
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), parts(4 * threads), out(threads);
    const Array<unsigned> done(std::vector<unsigned>{0});
    for (int round = 0; round < 2; ++round)
        maxima<<<4, threads>>>(in, parts, done, out);
    return status(out.values()[1] == 2 * (4 + 6 * threads));
}
}  // namespace last_block_all_threads_fence

/// All threads write, one fences for itself alone, and no barrier lies between.
namespace fence_of_one_thread_only {
__global__ void sums(const int* in, int* parts, unsigned* done, int* out) {
    __shared__ bool last;
    const int i = blockIdx.x * threads + threadIdx.x;
    parts[i] = 2 * in[i];  // EXPECT global_race
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) {
        sum += parts[k * threads + threadIdx.x];  // EXPECT global_race
    }
    out[threadIdx.x] = sum;
}

int run() {
    const Array<int> in(ramp<int>(4 * threads)), parts(4 * threads), out(threads);
    const Array<unsigned> done(std::vector<unsigned>{0});
    sums<<<4, threads>>>(in, parts, done, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace fence_of_one_thread_only

/// The maximum without a lock: compare and swap until nobody came between.
namespace maximum_by_compare_and_swap {
__global__ void maximum(const float* in, unsigned* bits) {
    const float own = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned seen = atomicOr(bits, 0u);
    while (__uint_as_float(seen) < own) {
        const unsigned before = atomicCAS(bits, seen, __float_as_uint(own));
        if (before == seen) break;
        seen = before;
    }
}

int run() {
    const Array<float> in(ramp<float>(4 * threads));
    const Array<unsigned> bits(std::vector<unsigned>{0});
    maximum<<<4, threads>>>(in, bits);
    float maximum = 0;
    std::memcpy(&maximum, bits.values().data(), sizeof(maximum));
    return status(maximum == 4 * threads - 1);
}
}  // namespace maximum_by_compare_and_swap

/// Every thread takes a place of its own in the output by an atomic.
namespace compaction_by_atomic_index {
__global__ void odd(const int* in, int* out, int* count) {
    const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (value % 2 == 1) out[atomicAdd(count, 1)] = value;
}

int run() {
    const Array<int> in(ramp<int>(2 * threads)), out(zeros<int>(threads));
    const Array<int> count(std::vector<int>{0});
    odd<<<2, threads>>>(in, out, count);
    const std::vector<int> values = out.values();
    return status(count.values()[0] == threads &&
                  std::accumulate(values.begin(), values.end(), 0) == threads * threads);
}
}  // namespace compaction_by_atomic_index

/// The ranges of neighbouring blocks overlap by one element, written with different values.
namespace overlapping_ranges {
__global__ void number(int* owner, int each) {
    const int first = blockIdx.x * each;
    for (int i = threadIdx.x; i <= each; i += blockDim.x) {
        owner[first + i] = blockIdx.x;  // EXPECT global_race
    }
}

int run() {
    const Array<int> owner(3 * 100 + 1);
    number<<<3, 32>>>(owner, 100);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace overlapping_ranges

int main(int argc, char** argv) {
    return corpus::main(
        {CORPUS_CASE(blocks_write_one_cell), CORPUS_CASE(all_store_the_same_flag),
         CORPUS_CASE(blur_in_place), CORPUS_CASE(blur_in_place_with_barrier),
         CORPUS_CASE(blur_in_place_one_block), CORPUS_CASE(own_element_in_place),
         CORPUS_CASE(blur_into_another_buffer), CORPUS_CASE(histogram_with_plain_increments),
         CORPUS_CASE(histogram_with_atomics), CORPUS_CASE(exchange_without_barrier),
         CORPUS_CASE(exchange_with_barrier), CORPUS_CASE(last_block_without_fence),
         CORPUS_CASE(fence_too_late), CORPUS_CASE(last_block_with_fence),
         CORPUS_CASE(last_block_all_threads_fence), CORPUS_CASE(fence_of_one_thread_only),
         CORPUS_CASE(maximum_by_compare_and_swap), CORPUS_CASE(compaction_by_atomic_index),
         CORPUS_CASE(overlapping_ranges)},
        argc, argv);
}
