/// \file
/// Shared memory: several declarations, scopes and types; templates; dynamic; alignment; blocks
/// apart.

#include <cstdint>

#include "support.hpp"

using namespace conformance;

namespace {

struct Pair {
    int first;
    double second;
};

/// Declarations of every kind in one kernel; each must be memory of its own.
__global__ void several(int* out) {
    __shared__ int numbers[64];
    __shared__ float factor, offsets[2];
    __shared__ Pair pair;
    __shared__ unsigned char grid[4][8];
    __shared__ double* address;
    const int i = threadIdx.x;
    numbers[i] = i;
    if (i == 0) factor = 2.0f;
    if (i == 1) offsets[0] = 100.0f;
    if (i == 2) offsets[1] = 200.0f;
    if (i == 3) pair = {3, 0.5};
    if (i == 4) address = &pair.second;
    if (i < 32) grid[i / 8][i % 8] = static_cast<unsigned char>(i);
    __syncthreads();
    {
        __shared__ int inner[64];
        inner[63 - i] = numbers[i];
        __syncthreads();
        numbers[i] = inner[i] * static_cast<int>(factor);
    }
    __syncthreads();
    out[i] = numbers[63 - i] + static_cast<int>(offsets[i % 2]) + pair.first +
             static_cast<int>(*address * 4) + grid[i % 4][i % 8];
}

}  // namespace

TEST_CASE("several shared variables in one kernel", "[shared]") {
    const DeviceArray<int> out(64);
    several<<<1, 64>>>(out.get());
    REQUIRE_COMPLETES();
    std::vector<int> expected(64);
    for (int i = 0; i < 64; ++i) {
        expected[i] = 2 * i + (i % 2 == 0 ? 100 : 200) + 3 + 2 + (i % 4 * 8 + i % 8);
    }
    REQUIRE_SAME(out.download(), expected);
}

namespace {

/// Shared memory that belongs to a function, whoever calls it.
__device__ int broadcast(int value, int from) {
    __shared__ int cell;
    __syncthreads();
    if (static_cast<int>(threadIdx.x) == from) cell = value;
    __syncthreads();
    return cell;
}

__global__ void first_caller(int* out) {
    out[threadIdx.x] = broadcast(threadIdx.x + 10, 3);
}

__global__ void second_caller(int* out) {
    out[threadIdx.x] = broadcast(threadIdx.x, 5) * 100 + broadcast(threadIdx.x, 7);
}

/// One array for each instantiation.
template <class T, int Count>
__global__ void reversed(const T* in, T* out) {
    __shared__ T cells[Count];
    const int i = threadIdx.x;
    cells[Count - 1 - i] = in[i];
    __syncthreads();
    out[i] = cells[i];
}

template <class T, int Count>
void check_reversed() {
    std::vector<T> values(Count), expected(Count);
    for (int i = 0; i < Count; ++i)
        values[i] = expected[Count - 1 - i] = static_cast<T>(i);
    const DeviceArray<T> in(values), out(Count);
    reversed<T, Count><<<1, Count>>>(in.get(), out.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), expected);
}

}  // namespace

TEST_CASE("shared memory of a device function", "[shared]") {
    const DeviceArray<int> out(32);
    first_caller<<<1, 32>>>(out.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), std::vector<int>(32, 13));
    second_caller<<<1, 32>>>(out.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), std::vector<int>(32, 507));
}

TEST_CASE("shared memory of templates", "[shared][templates]") {
    check_reversed<int, 32>();
    check_reversed<int, 100>();
    check_reversed<double, 100>();
    check_reversed<unsigned char, 255>();
    check_reversed<short, 1024>();
}

namespace {

/// A word of the launch's own size cut into two arrays of different types.
__global__ void cut_in_two(int count, const double* in, double* out) {
    extern __shared__ double whole[];
    double* const doubles = whole;
    int* const ints = reinterpret_cast<int*>(doubles + count);
    const int i = threadIdx.x;
    if (i < count) {
        doubles[i] = in[i];
        ints[i] = count - 1 - i;
    }
    __syncthreads();
    if (i < count) out[i] = doubles[ints[i]];
}

__global__ void static_and_dynamic(const int* in, int* out) {
    __shared__ int fixed[32];
    extern __shared__ int flexible[];
    const int i = threadIdx.x;
    fixed[i % 32] = 1000 * (i % 32);
    flexible[i] = in[i];
    __syncthreads();
    out[i] = flexible[blockDim.x - 1 - i] + fixed[31 - i % 32];
}

__global__ void dynamic_alignment(std::size_t* remainders) {
    extern __shared__ __align__(16) unsigned char aligned_bytes[];
    remainders[0] = reinterpret_cast<std::size_t>(aligned_bytes) % 16;
    __shared__ float4 vectors[2];
    remainders[1] = reinterpret_cast<std::size_t>(vectors) % 16;
    __shared__ double number;
    remainders[2] = reinterpret_cast<std::size_t>(&number) % 8;
}

}  // namespace

TEST_CASE("dynamic shared memory cut in two", "[shared][dynamic]") {
    for (const int count : {1, 2, 33, 256}) {
        std::vector<double> values(count), expected(count);
        for (int i = 0; i < count; ++i)
            values[i] = expected[count - 1 - i] = 0.5 * i;
        const DeviceArray<double> in(values), out(count);
        cut_in_two<<<1, 256, count*(sizeof(double) + sizeof(int))>>>(count, in.get(), out.get());
        REQUIRE_COMPLETES();
        REQUIRE_SAME(out.download(), expected);
    }
}

TEST_CASE("static beside dynamic shared memory", "[shared][dynamic]") {
    for (const int threads : {32, 64, 1024}) {
        std::vector<int> values(threads), expected(threads);
        for (int i = 0; i < threads; ++i)
            values[i] = i;
        for (int i = 0; i < threads; ++i) {
            expected[i] = threads - 1 - i + 1000 * (31 - i % 32);
        }
        const DeviceArray<int> in(values), out(threads);
        static_and_dynamic<<<1, threads, threads * sizeof(int)>>>(in.get(), out.get());
        REQUIRE_COMPLETES();
        REQUIRE_SAME(out.download(), expected);
    }
}

TEST_CASE("shared memory is aligned", "[shared]") {
    const DeviceArray<std::size_t> remainders(3);
    dynamic_alignment<<<1, 1, 64>>>(remainders.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(remainders.download(), std::vector<std::size_t>(3, 0));
}

namespace {

/// Each block counts in its own memory: no other block's counts show.
__global__ void count_in_block(int* counts, int rounds) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int i = 0; i < rounds; ++i)
        atomicAdd(&count, 1 + static_cast<int>(blockIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

/// A 32 by 32 transpose through a padded tile, the standard two-dimensional use.
__global__ void transpose(const int* in, int* out, int width, int height) {
    __shared__ int tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int row = 0; row < 32; row += 8) {
        if (x < width && y + row < height) {
            tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
        }
    }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int row = 0; row < 32; row += 8) {
        if (x < height && y + row < width) {
            out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
        }
    }
}

}  // namespace

TEST_CASE("each block has its own shared memory", "[shared]") {
    constexpr int blocks = 100, threads = 64, rounds = 5;
    const DeviceArray<int> counts(blocks);
    count_in_block<<<blocks, threads>>>(counts.get(), rounds);
    REQUIRE_COMPLETES();
    std::vector<int> expected(blocks);
    for (int i = 0; i < blocks; ++i)
        expected[i] = threads * rounds * (i + 1);
    REQUIRE_SAME(counts.download(), expected);
}

TEST_CASE("a transpose through shared memory", "[shared]") {
    struct Size {
        int width, height;
    };
    for (const Size size : {Size{1, 1}, Size{32, 32}, Size{33, 31}, Size{100, 77}}) {
        const int count = size.width * size.height;
        std::vector<int> values(count), expected(count);
        for (int i = 0; i < count; ++i)
            values[i] = i;
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x) {
                expected[x * size.height + y] = values[y * size.width + x];
            }
        }
        const DeviceArray<int> in(values), out(count);
        const dim3 grid((size.width + 31) / 32, (size.height + 31) / 32);
        transpose<<<grid, dim3(32, 8)>>>(in.get(), out.get(), size.width, size.height);
        REQUIRE_COMPLETES();
        REQUIRE_SAME(out.download(), expected);
    }
}
