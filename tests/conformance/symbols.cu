/// \file
/// Variables of the device: __constant__, __device__, __managed__, reached by name from the host.

#include "support.hpp"

using namespace conformance;

namespace {

__constant__ float coefficients[4] = {1.0f, 2.0f, 4.0f, 8.0f};
__constant__ int single;
__device__ int counter = 5;
__device__ int table[256];
__managed__ int shared_with_host = 40;

__global__ void evaluate(const float* x, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    y[i] = coefficients[0] +
           x[i] * (coefficients[1] + x[i] * (coefficients[2] + x[i] * coefficients[3]));
}

__global__ void pick(float* out) {
    out[threadIdx.x] = coefficients[threadIdx.x % 4] * single;
}

__global__ void count_up(int by) {
    atomicAdd(&counter, by);
}

__global__ void fill_table() {
    table[threadIdx.x] = 3 * threadIdx.x;
}

__global__ void add_to_managed(int value) {
    shared_with_host += value;
}

}  // namespace

TEST_CASE("constant memory has its initial values", "[symbols]") {
    float values[4] = {};
    REQUIRE_OK(cudaMemcpyFromSymbol(values, coefficients, sizeof values));
    CHECK(values[0] == 1.0f);
    CHECK(values[3] == 8.0f);
    DeviceArray<float> x(std::vector<float>{0, 1, 2, 0.5f}), y(4);
    evaluate<<<1, 32>>>(x.get(), y.get(), 4);
    REQUIRE_COMPLETES();
    REQUIRE_SAME(y.download(), std::vector<float>({1, 15, 85, 4}));
}

TEST_CASE("constant memory is written from the host", "[symbols]") {
    const float before[4] = {1, 2, 4, 8}, changed[4] = {3, 5, 7, 9};
    const int factor = 10;
    REQUIRE_OK(cudaMemcpyToSymbol(single, &factor, sizeof factor));
    REQUIRE_OK(cudaMemcpyToSymbol(coefficients, changed, sizeof changed));
    DeviceArray<float> out(8);
    pick<<<1, 8>>>(out.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), std::vector<float>({30, 50, 70, 90, 30, 50, 70, 90}));

    const float middle[2] = {-1, -2};
    REQUIRE_OK(cudaMemcpyToSymbol(coefficients, middle, sizeof middle, sizeof(float)));
    pick<<<1, 8>>>(out.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), std::vector<float>({30, -10, -20, 90, 30, -10, -20, 90}));
    float last = 0;
    REQUIRE_OK(cudaMemcpyFromSymbol(&last, coefficients, sizeof last, 3 * sizeof(float)));
    CHECK(last == 9.0f);
    REQUIRE_OK(cudaMemcpyToSymbol(coefficients, before, sizeof before));
}

TEST_CASE("a launch sees the constant of its turn", "[symbols][streams]") {
    const Stream stream(cudaStreamNonBlocking);
    PinnedArray<int> factors(2);
    factors.set(0, 2);
    factors.set(1, 3);
    DeviceArray<float> first(4), second(4);
    for (int i = 0; i < 2; ++i) {
        REQUIRE_OK(cudaMemcpyToSymbolAsync(single, factors.get() + i, sizeof(int), 0,
                                           cudaMemcpyHostToDevice, stream));
        pick<<<1, 4, 0, stream>>>(i == 0 ? first.get() : second.get());
    }
    REQUIRE_OK(cudaStreamSynchronize(stream));
    REQUIRE_SAME(first.download(), std::vector<float>({2, 4, 8, 16}));
    REQUIRE_SAME(second.download(), std::vector<float>({3, 6, 12, 24}));
}

TEST_CASE("device variables keep their values between launches", "[symbols]") {
    int start = 0;
    REQUIRE_OK(cudaMemcpyFromSymbol(&start, counter, sizeof start));
    count_up<<<4, 32>>>(1);
    count_up<<<1, 1>>>(1000);
    REQUIRE_COMPLETES();
    int value = 0;
    REQUIRE_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    CHECK(value - start == 1128);
}

TEST_CASE("addresses and sizes of device variables", "[symbols]") {
    void* address = nullptr;
    std::size_t size = 0;
    REQUIRE_OK(cudaGetSymbolAddress(&address, table));
    REQUIRE_OK(cudaGetSymbolSize(&size, table));
    CHECK(size == 256 * sizeof(int));
    REQUIRE_OK(cudaMemset(address, 0, size));
    fill_table<<<1, 256>>>();
    REQUIRE_COMPLETES();
    std::vector<int> values(256), expected(256);
    for (int i = 0; i < 256; ++i)
        expected[i] = 3 * i;
    REQUIRE_OK(cudaMemcpy(values.data(), address, size, cudaMemcpyDeviceToHost));
    REQUIRE_SAME(values, expected);
}

TEST_CASE("managed variables are the host's too", "[symbols]") {
    shared_with_host = 40;
    add_to_managed<<<1, 1>>>(2);
    REQUIRE_COMPLETES();
    CHECK(shared_with_host == 42);
}

TEST_CASE("a copy beyond a variable is refused", "[symbols][errors]") {
    const float five[5] = {};
    CHECK_FAILS(cudaMemcpyToSymbol(coefficients, five, sizeof five), cudaErrorInvalidValue);
    CHECK_FAILS(cudaMemcpyToSymbol(coefficients, five, 8, 12), cudaErrorInvalidValue);
    CHECK_FAILS(cudaMemcpyToSymbol(coefficients, five, 4, 0, cudaMemcpyDeviceToHost),
                cudaErrorInvalidMemcpyDirection);
    float one = 0;
    CHECK_FAILS(cudaMemcpyFromSymbol(&one, coefficients, 4, 0, cudaMemcpyHostToDevice),
                cudaErrorInvalidMemcpyDirection);
}
