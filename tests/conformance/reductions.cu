/// \file
/// Sums of every small size and of large ones, with the usual three ways to add within a block.

#include <algorithm>
#include <numeric>

#include "support.hpp"

using namespace conformance;

namespace {

using Sum = unsigned long long;

/// Adds up its elements thread by thread, then halves the block at each barrier.
template <class T>
__global__ void sum_by_tree(const T* values, std::size_t count, Sum* total) {
    __shared__ Sum partial[256];
    const unsigned thread = threadIdx.x;
    Sum sum = 0;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + thread; i < count;
         i += std::size_t(gridDim.x) * blockDim.x) {
        sum += values[i];
    }
    partial[thread] = sum;
    __syncthreads();
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
        if (thread < distance) partial[thread] += partial[thread + distance];
        __syncthreads();
    }
    if (thread == 0) atomicAdd(total, partial[0]);
}

/// Shuffles within the warps, then within the first warp.
template <class T>
__global__ void sum_by_shuffles(const T* values, std::size_t count, Sum* total) {
    __shared__ Sum partial[32];
    const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    Sum sum = 0;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + thread; i < count;
         i += std::size_t(gridDim.x) * blockDim.x) {
        sum += values[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
    }
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? partial[lane] : 0;
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
        }
        if (lane == 0) atomicAdd(total, sum);
    }
}

/// One atomic a thread.
template <class T>
__global__ void sum_by_atomics(const T* values, std::size_t count, Sum* total) {
    Sum sum = 0;
    for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += std::size_t(gridDim.x) * blockDim.x) {
        sum += values[i];
    }
    atomicAdd(total, sum);
}

/// All three sums of the first `count` values, in a grid of `blocks`.
template <class T>
std::vector<Sum> sums(const DeviceArray<T>& values, std::size_t count, unsigned blocks) {
    const DeviceArray<Sum> totals(std::vector<Sum>(3, 0));
    sum_by_tree<T><<<blocks, 256>>>(values.get(), count, totals.get());
    sum_by_shuffles<T><<<blocks, 256>>>(values.get(), count, totals.get() + 1);
    sum_by_atomics<T><<<blocks, 256>>>(values.get(), count, totals.get() + 2);
    REQUIRE_COMPLETES();
    return totals.download();
}

}  // namespace

// Case 16.
TEST_CASE("sums of every size from 0 to 1025", "[reduction]") {
    std::vector<unsigned> values(1025);
    for (unsigned i = 0; i < values.size(); ++i)
        values[i] = i * 2654435761u >> 8;
    const DeviceArray<unsigned> device_values(values);
    Sum expected = 0;
    for (std::size_t count = 0; count <= 1025; ++count) {
        INFO(count << " values");
        REQUIRE_SAME(sums(device_values, count, 2), std::vector<Sum>(3, expected));
        if (count < values.size()) expected += values[count];
    }
}

TEST_CASE("sums of prime sizes", "[reduction]") {
    const std::size_t count = GENERATE(2, 3, 31, 127, 257, 1009, 8191, 65537, 104729);
    std::vector<unsigned> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<unsigned>(i * 40503 % 65521);
    const Sum expected = std::accumulate(values.begin(), values.end(), Sum(0));
    const DeviceArray<unsigned> device_values(values);
    for (const unsigned blocks : {1u, 7u, 64u}) {
        REQUIRE_SAME(sums(device_values, count, blocks), std::vector<Sum>(3, expected));
    }
}

// Case 17: a sum of bytes needs more than the byte's, a float's, and in the end 32 bits.
TEST_CASE("sums of bytes that are all 255", "[reduction]") {
    // 128 · 255 = 32640; 2^24 + 1 values; the first sum that no longer fits 32 bits.
    const std::size_t count = GENERATE(128, 129, (1 << 24) + 1, 16843010);
    const DeviceArray<unsigned char> values(count);
    REQUIRE_OK(cudaMemset(values.get(), 255, count));
    REQUIRE_SAME(sums(values, count, 64), std::vector<Sum>(3, Sum(255) * count));
}

namespace {

__global__ void minimum_and_maximum(const int* values, int count, int* least, int* most) {
    __shared__ int low[128], high[128];
    const int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    low[thread] = i < count ? values[i] : 2147483647;
    high[thread] = i < count ? values[i] : -2147483647 - 1;
    for (int distance = 64; distance > 0; distance /= 2) {
        __syncthreads();
        if (thread < distance) {
            low[thread] = min(low[thread], low[thread + distance]);
            high[thread] = max(high[thread], high[thread + distance]);
        }
    }
    if (thread == 0) {
        atomicMin(least, low[0]);
        atomicMax(most, high[0]);
    }
}

/// Inclusive prefix sums of one block (Hillis and Steele 1986).
__global__ void prefix_sums(const int* in, int* out) {
    __shared__ int sums[1024];
    const unsigned i = threadIdx.x;
    sums[i] = in[i];
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        __syncthreads();
        const int left = i >= distance ? sums[i - distance] : 0;
        __syncthreads();
        sums[i] += left;
    }
    out[i] = sums[i];
}

}  // namespace

TEST_CASE("least and greatest value", "[reduction]") {
    for (const int count : {1, 127, 128, 129, 1000, 10007}) {
        std::vector<int> values(count);
        for (int i = 0; i < count; ++i)
            values[i] = (i * 7919 % 10007 - 5000) * 1000;
        const DeviceArray<int> device_values(values), least(std::vector<int>{2147483647}),
            most(std::vector<int>{-2147483647});
        minimum_and_maximum<<<(count + 127) / 128, 128>>>(device_values.get(), count, least.get(),
                                                          most.get());
        REQUIRE_COMPLETES();
        CHECK(least.download()[0] == *std::min_element(values.begin(), values.end()));
        CHECK(most.download()[0] == *std::max_element(values.begin(), values.end()));
    }
}

TEST_CASE("prefix sums of a block", "[reduction]") {
    for (const int count : {1, 2, 31, 32, 33, 100, 1000, 1023, 1024}) {
        std::vector<int> values(count), expected(count);
        for (int i = 0; i < count; ++i)
            values[i] = i * i % 17 - 8;
        std::partial_sum(values.begin(), values.end(), expected.begin());
        const DeviceArray<int> in(values), out(count);
        prefix_sums<<<1, count>>>(in.get(), out.get());
        REQUIRE_COMPLETES();
        REQUIRE_SAME(out.download(), expected);
    }
}
