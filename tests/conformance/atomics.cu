/// \file
/// Atomic functions: every operation and type, what they return, many blocks at one address.

#include <algorithm>
#include <limits>
#include <type_traits>

#include "support.hpp"

using namespace conformance;

namespace {

/// Sums of integers wrap on the device; on the host they may do so only in unsigned types.
template <class T>
T sum(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
        return a + b;
    }
}

template <class T>
T difference(T a, T b) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
}

// One functor for each operation: `apply` on the device, `expected` as the definition has it.
#define OPERATION(name, function, formula)               \
    struct name {                                        \
        template <class T>                               \
        __device__ static T apply(T* address, T value) { \
            return function(address, value);             \
        }                                                \
        template <class T>                               \
        static T expected(T before, T value) {           \
            return static_cast<T>(formula);              \
        }                                                \
    };
#define OPERATION_SCOPES(name, function, formula)     \
    OPERATION(name, function, formula)                \
    OPERATION(name##Block, function##_block, formula) \
    OPERATION(name##System, function##_system, formula)

OPERATION_SCOPES(Add, atomicAdd, sum(before, value))
OPERATION_SCOPES(Sub, atomicSub, difference(before, value))
OPERATION_SCOPES(Exchange, atomicExch, ((void)before, value))
OPERATION_SCOPES(Min, atomicMin, std::min(before, value))
OPERATION_SCOPES(Max, atomicMax, std::max(before, value))
OPERATION_SCOPES(And, atomicAnd, before& value)
OPERATION_SCOPES(Or, atomicOr, before | value)
OPERATION_SCOPES(Xor, atomicXor, before ^ value)
OPERATION_SCOPES(Inc, atomicInc, before >= value ? 0 : before + 1)
OPERATION_SCOPES(Dec, atomicDec, before == 0 || before > value ? value : before - 1)

template <class Operation, class T>
__global__ void apply_once(T* memory, const T* values, T* returned, int count) {
    const int i = threadIdx.x;
    if (i < count) returned[i] = Operation::apply(memory + i, values[i]);
}

/// The same on shared memory.
template <class Operation, class T>
__global__ void apply_once_in_shared(T* memory, const T* values, T* returned, int count) {
    __shared__ T cells[64];
    const int i = threadIdx.x;
    if (i < count) cells[i] = memory[i];
    __syncthreads();
    if (i < count) returned[i] = Operation::apply(cells + i, values[i]);
    __syncthreads();
    if (i < count) memory[i] = cells[i];
}

/// Numbers that show a wrong width, sign or bound.
template <class T>
std::vector<T> interesting() {
    std::vector<T> values{T(0), T(1), T(2), T(7), T(100)};
    if constexpr (std::is_integral_v<T>) {
        values.insert(values.end(),
                      {std::numeric_limits<T>::max(), T(std::numeric_limits<T>::max() - 1),
                       std::numeric_limits<T>::min()});
    } else {
        values.insert(values.end(), {T(-2.5), T(0.125), T(1e6)});
    }
    return values;
}

template <class Operation, class T>
void check_operation(const char* name) {
    INFO(name);
    std::vector<T> memory, values, returned, expected;
    for (const T before : interesting<T>()) {
        for (const T value : interesting<T>()) {
            memory.push_back(before);
            values.push_back(value);
            expected.push_back(Operation::expected(before, value));
        }
    }
    returned = memory;
    REQUIRE(memory.size() <= 64);
    const int count = static_cast<int>(memory.size());
    const DeviceArray<T> value_cells(values), returned_cells(memory.size());
    DeviceArray<T> cells(memory);
    apply_once<Operation, T>
        <<<1, 64>>>(cells.get(), value_cells.get(), returned_cells.get(), count);
    REQUIRE_COMPLETES();
    REQUIRE_SAME(cells.download(), expected);
    REQUIRE_SAME(returned_cells.download(), returned);

    cells.upload(memory);
    apply_once_in_shared<Operation, T>
        <<<1, 64>>>(cells.get(), value_cells.get(), returned_cells.get(), count);
    REQUIRE_COMPLETES();
    REQUIRE_SAME(cells.download(), expected);
    REQUIRE_SAME(returned_cells.download(), returned);
}

#define CHECK_SCOPES(operation, type)                                   \
    check_operation<operation, type>(#operation " " #type);             \
    check_operation<operation##Block, type>(#operation "Block " #type); \
    check_operation<operation##System, type>(#operation "System " #type)

using ull = unsigned long long;

}  // namespace

TEST_CASE("atomic sums", "[atomics]") {
    CHECK_SCOPES(Add, int);
    CHECK_SCOPES(Add, unsigned);
    CHECK_SCOPES(Add, ull);
    CHECK_SCOPES(Add, float);
    CHECK_SCOPES(Add, double);
    CHECK_SCOPES(Sub, int);
    CHECK_SCOPES(Sub, unsigned);
}

TEST_CASE("atomic exchange", "[atomics]") {
    CHECK_SCOPES(Exchange, int);
    CHECK_SCOPES(Exchange, unsigned);
    CHECK_SCOPES(Exchange, ull);
    CHECK_SCOPES(Exchange, float);
}

TEST_CASE("atomic minimum and maximum", "[atomics]") {
    CHECK_SCOPES(Min, int);
    CHECK_SCOPES(Min, unsigned);
    CHECK_SCOPES(Min, ull);
    CHECK_SCOPES(Min, long long);
    CHECK_SCOPES(Max, int);
    CHECK_SCOPES(Max, unsigned);
    CHECK_SCOPES(Max, ull);
    CHECK_SCOPES(Max, long long);
}

TEST_CASE("atomic bit operations", "[atomics]") {
    CHECK_SCOPES(And, int);
    CHECK_SCOPES(And, unsigned);
    CHECK_SCOPES(And, ull);
    CHECK_SCOPES(Or, int);
    CHECK_SCOPES(Or, unsigned);
    CHECK_SCOPES(Or, ull);
    CHECK_SCOPES(Xor, int);
    CHECK_SCOPES(Xor, unsigned);
    CHECK_SCOPES(Xor, ull);
}

TEST_CASE("atomic counting round", "[atomics]") {
    CHECK_SCOPES(Inc, unsigned);
    CHECK_SCOPES(Dec, unsigned);
}

namespace {

template <class T>
__global__ void swap_if_equal(T* memory, T expected, T value, T* returned) {
    returned[0] = atomicCAS(memory, expected, value);
    returned[1] = atomicCAS(memory, expected, T(99));
    if constexpr (sizeof(T) > 2) {  // CUDA's 16-bit form has the device's scope alone
        returned[2] = atomicCAS_block(memory, value, T(3));
        returned[3] = atomicCAS_system(memory, T(3), T(4));
    } else {
        returned[2] = atomicCAS(memory, value, T(3));
        returned[3] = atomicCAS(memory, T(3), T(4));
    }
}

template <class T>
void check_compare_and_swap() {
    const T start = std::numeric_limits<T>::max();
    const DeviceArray<T> memory(std::vector<T>{start}), returned(4);
    swap_if_equal<T><<<1, 1>>>(memory.get(), start, T(17), returned.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(returned.download(), std::vector<T>({start, T(17), T(17), T(3)}));
    CHECK(memory.download()[0] == T(4));
}

/// Multiplication by compare and swap: the pattern for an operation that CUDA does not have.
__global__ void multiply(float* product, float factor) {
    auto* const bits = reinterpret_cast<unsigned*>(product);
    unsigned seen = *bits, assumed;
    do {
        assumed = seen;
        seen = atomicCAS(bits, assumed, __float_as_uint(__uint_as_float(assumed) * factor));
    } while (seen != assumed);
}

}  // namespace

TEST_CASE("atomic compare and swap", "[atomics]") {
    check_compare_and_swap<int>();
    check_compare_and_swap<unsigned>();
    check_compare_and_swap<ull>();
    check_compare_and_swap<unsigned short>();
    const DeviceArray<float> product(std::vector<float>{3});
    multiply<<<10, 2>>>(product.get(), 2.0f);
    REQUIRE_COMPLETES();
    CHECK(product.download()[0] == 3.0f * (1 << 20));
}

TEST_CASE("a 16-bit compare and swap leaves its neighbour", "[atomics]") {
    const DeviceArray<unsigned short> memory(std::vector<unsigned short>{1, 2, 3, 4});
    const DeviceArray<unsigned short> returned(4);
    swap_if_equal<unsigned short>
        <<<1, 1>>>(memory.get() + 1, (unsigned short)2, (unsigned short)17, returned.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(memory.download(), std::vector<unsigned short>({1, 4, 3, 4}));
}

namespace {

struct Totals {
    int sum;
    unsigned least, most, ored, ticket;
    ull wide;
    float real;
    double precise;
};

/// Every thread of every block at the same few addresses.
__global__ void crowd(Totals* totals, unsigned* tickets) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&totals->sum, 1);
    atomicMin(&totals->least, i + 5);
    atomicMax(&totals->most, i);
    atomicOr(&totals->ored, 1u << (i % 32));
    atomicAdd(&totals->wide, 1ull << 32);
    atomicAdd(&totals->real, 0.5f);
    atomicAdd(&totals->precise, 0.25);
    tickets[atomicAdd(&totals->ticket, 1u)] = i;
}

}  // namespace

TEST_CASE("many blocks at one address", "[atomics][contention]") {
    constexpr unsigned blocks = 64, threads = 256, count = blocks * threads;
    DeviceArray<Totals> totals(1);
    const DeviceArray<unsigned> tickets(count);
    const Totals start{0, 0xFFFFFFFFu, 0, 0, 0, 0, 0, 0};
    REQUIRE_OK(cudaMemcpy(totals.get(), &start, sizeof start, cudaMemcpyHostToDevice));
    crowd<<<blocks, threads>>>(totals.get(), tickets.get());
    REQUIRE_COMPLETES();
    Totals end;
    REQUIRE_OK(cudaMemcpy(&end, totals.get(), sizeof end, cudaMemcpyDeviceToHost));
    CHECK(end.sum == int(count));
    CHECK(end.least == 5);
    CHECK(end.most == count - 1);
    CHECK(end.ored == 0xFFFFFFFFu);
    CHECK(end.ticket == count);
    CHECK(end.wide == ull(count) << 32);
    CHECK(end.real == 0.5f * count);
    CHECK(end.precise == 0.25 * count);

    // Each thread drew a ticket of its own.
    std::vector<unsigned> drawn = tickets.download(), expected(count);
    std::sort(drawn.begin(), drawn.end());
    for (unsigned i = 0; i < count; ++i)
        expected[i] = i;
    REQUIRE_SAME(drawn, expected);
}

namespace {

/// A histogram with counts in shared memory, merged with one atomic a bin and block.
__global__ void histogram(const unsigned char* values, unsigned count, unsigned* bins) {
    __shared__ unsigned local[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        atomicAdd(&local[values[i]], 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        if (local[i] != 0) atomicAdd(&bins[i], local[i]);
    }
}

}  // namespace

// Case 18: every bin is compared, and their sum is the number of values.
TEST_CASE("a histogram in shared memory", "[atomics][shared]") {
    const unsigned count = GENERATE(1u, 255u, 1003u, 200003u);
    const bool identical = GENERATE(false, true);
    std::vector<unsigned char> values(count, 200);
    std::vector<unsigned> expected(256, 0);
    for (unsigned i = 0; i < count; ++i) {
        if (!identical) values[i] = static_cast<unsigned char>(i * 2654435761u >> 21);
        ++expected[values[i]];
    }
    const DeviceArray<unsigned char> device_values(values);
    const DeviceArray<unsigned> bins(std::vector<unsigned>(256, 0));
    histogram<<<13, 192>>>(device_values.get(), count, bins.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(bins.download(), expected);
}

namespace {

__global__ void hand_over(int* data, int* flag, int* seen) {
    if (blockIdx.x == 0) {
        *static_cast<volatile int*>(data) = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else if (atomicAdd(flag, 0) == 1) {
        __threadfence();
        *seen = *static_cast<volatile int*>(data);
    }
}

/// The last block to finish, known by a counter, sums what all of them wrote.
__global__ void last_block_sums(const int* in, int* partial, unsigned* done, int* total) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i)
            sum += static_cast<volatile int*>(partial)[i];
        *total = sum;
    }
}

}  // namespace

TEST_CASE("what lies before a fence is seen by whoever sees what lies after it",
          "[atomics][fence]") {
    for (int round = 0; round < 20; ++round) {
        const DeviceArray<int> data(std::vector<int>{-1}), flag(std::vector<int>{0}),
            seen(std::vector<int>{42});
        hand_over<<<2, 1>>>(data.get(), flag.get(), seen.get());
        REQUIRE_COMPLETES();
        REQUIRE(seen.download()[0] == 42);
    }
}

TEST_CASE("the last block sums up", "[atomics][fence]") {
    constexpr int blocks = 200;
    std::vector<int> in(blocks);
    int expected = 0;
    for (int i = 0; i < blocks; ++i)
        expected += in[i] = i * i;
    const DeviceArray<int> values(in), partial(blocks), total(1);
    const DeviceArray<unsigned> done(std::vector<unsigned>{0});
    for (int round = 0; round < 3; ++round) {  // the counter has gone round to 0 each time
        last_block_sums<<<blocks, 32>>>(values.get(), partial.get(), done.get(), total.get());
        REQUIRE_COMPLETES();
        CHECK(total.download()[0] == expected);
        CHECK(done.download()[0] == 0);
    }
}
