/// \file
/// The block's barrier, its votes, and threads that leave before it.

#include <algorithm>

#include "support.hpp"

using namespace conformance;

namespace {

/// Passes each value on by one place, `rounds` times, through shared memory.
__global__ void rotate(int* out, int rounds) {
    __shared__ int cells[1024];
    const unsigned i = threadIdx.x, next = (i + 1) % blockDim.x;
    int value = static_cast<int>(i);
    for (int round = 0; round < rounds; ++round) {
        cells[i] = value;
        __syncthreads();
        value = cells[next];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + i] = value;
}

}  // namespace

TEST_CASE("a barrier orders the block's memory", "[barrier]") {
    for (const int threads : {1, 2, 31, 32, 33, 64, 100, 255, 256, 257, 1023, 1024}) {
        const int blocks = 3, rounds = 7;
        const DeviceArray<int> out(blocks * threads);
        rotate<<<blocks, threads>>>(out.get(), rounds);
        REQUIRE_COMPLETES();
        std::vector<int> expected(blocks * threads);
        for (int i = 0; i < blocks * threads; ++i)
            expected[i] = (i % threads + rounds) % threads;
        REQUIRE_SAME(out.download(), expected);
    }
}

namespace {

/// Threads from `staying` on return at once; the others go through barriers.
__global__ void some_leave(int staying, int* out) {
    __shared__ int cells[1024];
    const int i = threadIdx.x;
    if (i >= staying) return;
    cells[i] = i;
    __syncthreads();
    const int value = cells[staying - 1 - i];
    __syncthreads();
    cells[i] = value * 2;
    __syncthreads();
    out[i] = cells[staying - 1 - i];
}

/// One thread leaves before each barrier, from the first one on.
__global__ void leave_one_by_one(int* out) {
    __shared__ int left_before[64];
    const int i = threadIdx.x;
    for (int round = 0; round < static_cast<int>(blockDim.x); ++round) {
        if (round == i) {
            left_before[i] = round;
            out[i] = i == 0 ? 0 : left_before[i - 1] + 1;
            return;
        }
        __syncthreads();
    }
}

/// The common form of an early exit: a grid that is larger than the data.
__global__ void guarded(const int* in, int* out, int count) {
    __shared__ int tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    const int in_block =
        min(count - static_cast<int>(blockIdx.x * blockDim.x), static_cast<int>(blockDim.x));
    out[i] = tile[in_block - 1 - threadIdx.x];
}

}  // namespace

TEST_CASE("threads that return before a barrier that others reach", "[barrier][exit]") {
    for (const int threads : {33, 64, 100, 255, 1024}) {
        for (const int staying : {1, 31, 32, 33}) {
            INFO(staying << " of " << threads << " threads stay");
            const DeviceArray<int> out(staying);
            some_leave<<<1, threads>>>(staying, out.get());
            REQUIRE_COMPLETES();
            std::vector<int> expected(staying);
            for (int i = 0; i < staying; ++i)
                expected[i] = 2 * i;
            REQUIRE_SAME(out.download(), expected);
        }
    }
}

TEST_CASE("threads that leave one by one", "[barrier][exit]") {
    const DeviceArray<int> out(64);
    leave_one_by_one<<<1, 64>>>(out.get());
    REQUIRE_COMPLETES();
    std::vector<int> expected(64);
    for (int i = 0; i < 64; ++i)
        expected[i] = i;
    REQUIRE_SAME(out.download(), expected);
}

TEST_CASE("a last block that is not full", "[barrier][exit]") {
    for (const int count : {1, 2, 127, 128, 129, 1000, 1009}) {
        std::vector<int> values(count), expected(count);
        for (int i = 0; i < count; ++i)
            values[i] = 3 * i + 1;
        for (int i = 0; i < count; ++i) {
            const int first = i / 128 * 128, in_block = std::min(count - first, 128);
            expected[i] = values[first + in_block - 1 - (i - first)];
        }
        const DeviceArray<int> in(values), out(count);
        guarded<<<(count + 127) / 128, 128>>>(in.get(), out.get(), count);
        REQUIRE_COMPLETES();
        REQUIRE_SAME(out.download(), expected);
    }
}

namespace {

struct Agreement {
    int count, all, any;
};

/// Threads below `limit` agree; `bits` is no 0 or 1.
__global__ void agree(int limit, Agreement* out) {
    const int predicate = static_cast<int>(threadIdx.x) < limit ? 8 : 0;
    Agreement mine;
    mine.count = __syncthreads_count(predicate);
    mine.all = __syncthreads_and(predicate) != 0;
    mine.any = __syncthreads_or(predicate) != 0;
    out[threadIdx.x] = mine;
}

__global__ void agree_after_exits(int leaving, int* out) {
    if (static_cast<int>(threadIdx.x) < leaving) return;
    out[threadIdx.x] = __syncthreads_count(threadIdx.x % 2);
}

}  // namespace

TEST_CASE("barriers that count", "[barrier][vote]") {
    for (const int threads : {1, 31, 32, 33, 100, 1024}) {
        const DeviceArray<Agreement> out(threads);
        for (const int limit : {0, 1, threads / 2, threads - 1, threads}) {
            agree<<<1, threads>>>(limit, out.get());
            REQUIRE_COMPLETES();
            INFO(limit << " of " << threads << " threads");
            for (const Agreement& told : out.download()) {
                REQUIRE(told.count == limit);
                REQUIRE(told.all == (limit == threads));
                REQUIRE(told.any == (limit > 0));
            }
        }
    }
}

TEST_CASE("barriers that count those who are left", "[barrier][vote][exit]") {
    const DeviceArray<int> out(100);
    agree_after_exits<<<1, 100>>>(40, out.get());
    REQUIRE_COMPLETES();
    const std::vector<int> told = out.download();
    for (int i = 40; i < 100; ++i)
        REQUIRE(told[i] == 30);
}

namespace {

/// Barriers in a loop whose length is the block's, in a function, in both branches of a uniform
/// `if`.
__device__ void wait_in_a_function() {
    __syncthreads();
}

__global__ void uniform_control_flow(int* out) {
    __shared__ int value;
    for (unsigned round = 0; round <= blockIdx.x; ++round) {
        if (threadIdx.x == round) value = round == 0 ? 1 : value * 2;
        wait_in_a_function();
    }
    if (blockIdx.x % 2 == 0) {
        __syncthreads();
        if (threadIdx.x == 0) value += 1000;
        __syncthreads();
    } else {
        __syncthreads();
    }
    if (threadIdx.x == blockDim.x - 1) out[blockIdx.x] = value;
}

}  // namespace

TEST_CASE("barriers under uniform conditions", "[barrier]") {
    const DeviceArray<int> out(8);
    uniform_control_flow<<<8, 64>>>(out.get());
    REQUIRE_COMPLETES();
    std::vector<int> expected(8);
    for (int i = 0; i < 8; ++i)
        expected[i] = (1 << i) + (i % 2 == 0 ? 1000 : 0);
    REQUIRE_SAME(out.download(), expected);
}
