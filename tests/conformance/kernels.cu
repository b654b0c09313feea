/// \file
/// Ways to write and launch kernels: templates, overloads, pointers, recursion, parameters, printf.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "support.hpp"

using namespace conformance;

namespace {

__global__ void add(int* to, int value) {
    *to += value;
}
__global__ void subtract(int* to, int value) {
    *to -= value;
}

__device__ __noinline__ int doubled(int value) {
    return 2 * value;
}
__global__ void store_doubled(int* to, int value) {
    *to = doubled(value);
}

template <class T>
__global__ void fill(T* to, T value, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = value;
}

template <int Factor, class T = int>
__global__ void scale(T* values) {
    values[threadIdx.x] *= Factor;
}

struct Square {
    __device__ int operator()(int x) const { return x * x; }
};

struct AddConstant {
    int constant;
    __device__ int operator()(int x) const { return x + constant; }
};

template <class Function>
__global__ void transform(int* values, Function function) {
    values[threadIdx.x] = function(values[threadIdx.x]);
}

__global__ void overloaded(int* to) {
    *to = 1;
}
__global__ void overloaded(float* to) {
    *to = 2.0f;
}

}  // namespace

TEST_CASE("kernels through pointers", "[kernels]") {
    const DeviceArray<int> value(std::vector<int>{10});
    void (*kernel)(int*, int) = add;
    kernel<<<1, 1>>>(value.get(), 5);
    (*kernel)<<<1, 1>>>(value.get(), 5);
    void (*const kernels[])(int*, int) = {add, subtract};
    for (int i = 0; i < 2; ++i)
        kernels[i]<<<1, 1>>>(value.get(), 3 * (i + 1));
    struct {
        void (*kernel)(int*, int);
    } chosen{subtract};
    chosen.kernel<<<1, 1>>>(value.get(), 7);
    REQUIRE_COMPLETES();
    CHECK(value.download()[0] == 10 + 5 + 5 + 3 - 6 - 7);
}

TEST_CASE("kernel templates", "[kernels][templates]") {
    const DeviceArray<int> ints(10);
    fill<<<1, 32>>>(ints.get(), 7, 10);
    scale<3><<<1, 10>>>(ints.get());
    scale<2, int><<<1, 5>>>(ints.get());
    REQUIRE_COMPLETES();
    std::vector<int> expected(10, 21);
    std::fill_n(expected.begin(), 5, 42);
    REQUIRE_SAME(ints.download(), expected);
    const DeviceArray<double> doubles(3);
    fill<double><<<1, 32>>>(doubles.get(), 1, 3);
    REQUIRE_COMPLETES();
    REQUIRE_SAME(doubles.download(), std::vector<double>(3, 1.0));
}

TEST_CASE("kernels that take a function object", "[kernels][templates]") {
    const DeviceArray<int> values(std::vector<int>{0, 1, 2, 3});
    transform<<<1, 4>>>(values.get(), Square());
    transform<<<1, 4>>>(values.get(), AddConstant{10});
    REQUIRE_COMPLETES();
    REQUIRE_SAME(values.download(), std::vector<int>({10, 11, 14, 19}));
}

TEST_CASE("overloaded kernels", "[kernels]") {
    const DeviceArray<int> whole(1);
    const DeviceArray<float> real(1);
    overloaded<<<1, 1>>>(whole.get());
    overloaded<<<1, 1>>>(real.get());
    REQUIRE_COMPLETES();
    CHECK(whole.download()[0] == 1);
    CHECK(real.download()[0] == 2.0f);
}

namespace {

struct Parameters {
    int counts[50];
    float factor;
    double* out;
};

__global__ void take_structure(Parameters parameters, const float4 vector, bool flag, char letter) {
    double sum = flag ? letter : 0;
    for (const int count : parameters.counts)
        sum += count;
    *parameters.out = sum * parameters.factor + vector.x + vector.w;
}

__global__ void change_parameter(int value, int* out) {
    value += threadIdx.x;  // each thread's own copy
    out[threadIdx.x] = value;
}

__global__ void convert(long long wide, const void* null, float real, int* out) {
    *out = static_cast<int>(wide) + (null == nullptr ? 1000 : 0) + static_cast<int>(real * 2);
}

__global__ void swap_pointers(int* a, int* b) {
    int* const held = a;
    a = b;
    b = held;
    if (threadIdx.x == 0) *a = 2 * *b;
}

}  // namespace

TEST_CASE("parameters are values", "[kernels]") {
    const DeviceArray<double> result(1);
    Parameters parameters{};
    for (int i = 0; i < 50; ++i)
        parameters.counts[i] = i;
    parameters.factor = 0.5f;
    parameters.out = result.get();
    take_structure<<<1, 1>>>(parameters, make_float4(1, 2, 3, 4), true, 'A');
    parameters.factor = 100;  // too late to matter
    REQUIRE_COMPLETES();
    CHECK(result.download()[0] == (1225 + 65) * 0.5 + 5);

    const DeviceArray<int> out(4), first(std::vector<int>{21}), second(std::vector<int>{0});
    change_parameter<<<1, 4>>>(10, out.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), std::vector<int>({10, 11, 12, 13}));
    swap_pointers<<<1, 2>>>(first.get(), second.get());
    REQUIRE_COMPLETES();
    CHECK(second.download()[0] == 42);
}

TEST_CASE("arguments convert to the parameters' types", "[kernels]") {
    const DeviceArray<int> out(1);
    const short narrow = 7;
    convert<<<1, 1>>>(narrow, nullptr, 3, out.get());
    REQUIRE_COMPLETES();
    CHECK(out.download()[0] == 1013);
    convert<<<1, 1>>>(-1, out.get(), 1.5, out.get());
    REQUIRE_COMPLETES();
    CHECK(out.download()[0] == 2);
}

namespace {

__device__ unsigned long long fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int depth_of(int left) {
    volatile int here = left;
    return left == 0 ? 0 : 1 + depth_of(here - 1);
}

__global__ void recurse(unsigned long long* numbers, int* depth) {
    numbers[threadIdx.x] = fibonacci(threadIdx.x);
    if (threadIdx.x == 0) *depth = depth_of(20);
}

__device__ int twice(int x) {
    return 2 * x;
}
__device__ int negated(int x) {
    return -x;
}

__global__ void choose(int* out) {
    int (*const functions[])(int) = {twice, negated};
    out[threadIdx.x] = functions[threadIdx.x % 2](threadIdx.x);
}

/// Local arrays with an index known only at run time.
__global__ void local_array(int* out) {
    int digits[16];
    for (int i = 0; i < 16; ++i)
        digits[i] = (i * 7 + threadIdx.x) % 16;
    int sum = 0;
    for (int i = 0; i < 16; ++i)
        sum = sum * 3 + digits[digits[i]];
    out[threadIdx.x] = sum;
}

}  // namespace

TEST_CASE("a function that is not inlined", "[kernels]") {
    const DeviceArray<int> out(1);
    store_doubled<<<1, 1>>>(out.get(), 21);
    REQUIRE_COMPLETES();
    CHECK(out.download()[0] == 42);
}

TEST_CASE("recursion", "[kernels]") {
    const DeviceArray<unsigned long long> numbers(12);
    const DeviceArray<int> depth(1);
    recurse<<<1, 12>>>(numbers.get(), depth.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(numbers.download(),
                 std::vector<unsigned long long>({0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89}));
    CHECK(depth.download()[0] == 20);
}

TEST_CASE("pointers to device functions", "[kernels]") {
    const DeviceArray<int> out(4);
    choose<<<1, 4>>>(out.get());
    REQUIRE_COMPLETES();
    REQUIRE_SAME(out.download(), std::vector<int>({0, -1, 4, -3}));
}

TEST_CASE("local arrays", "[kernels]") {
    const DeviceArray<int> out(32);
    local_array<<<1, 32>>>(out.get());
    REQUIRE_COMPLETES();
    std::vector<int> expected(32);
    for (int thread = 0; thread < 32; ++thread) {
        int digits[16];
        for (int i = 0; i < 16; ++i)
            digits[i] = (i * 7 + thread) % 16;
        for (int i = 0; i < 16; ++i)
            expected[thread] = expected[thread] * 3 + digits[digits[i]];
    }
    REQUIRE_SAME(out.download(), expected);
}

TEST_CASE("ten thousand launches", "[kernels][launch]") {
    const DeviceArray<int> value(std::vector<int>{0});
    for (int i = 0; i < 10000; ++i)
        add<<<1, 1>>>(value.get(), 1);
    REQUIRE_COMPLETES();
    CHECK(value.download()[0] == 10000);
}

TEST_CASE("a launch as part of other statements", "[kernels][launch]") {
    const DeviceArray<int> value(std::vector<int>{0});
    for (int i = 0; i < 4; ++i)
        if (i % 2 == 0)
            add<<<1, 1>>>(value.get(), 1);
        else
            add<<<1, 1>>>(value.get(), 10);
    const auto launch = [&value](int summand) { add<<<1, 1>>>(value.get(), summand); };
    launch(100);
    value.get() != nullptr ? launch(1000) : launch(2000);
#define ADD_BY_MACRO(summand) add<<<1, 1>>>(value.get(), summand)
    ADD_BY_MACRO(10000);
    REQUIRE_COMPLETES();
    CHECK(value.download()[0] == 11122);
}

namespace {

__global__ void say(int number) {
    printf("thread %d of block %d: %s %d %5.2f %c %% %x %llu\n", int(threadIdx.x), int(blockIdx.x),
           "number", number, number / 4.0, 'z', 255u, 1ull << 40);
}

/// Sends what is written to standard output into a file, and gives it back as lines.
class CapturedOutput {
public:
    CapturedOutput() : file_(std::tmpfile()) {
        REQUIRE(file_ != nullptr);
        std::fflush(stdout);
        before_ = dup(STDOUT_FILENO);
        dup2(fileno(file_), STDOUT_FILENO);
    }
    CapturedOutput(const CapturedOutput&) = delete;
    CapturedOutput& operator=(const CapturedOutput&) = delete;
    ~CapturedOutput() {
        restore();
        std::fclose(file_);
    }
    std::vector<std::string> sorted_lines() {
        restore();
        std::rewind(file_);
        std::vector<std::string> lines;
        char line[256];
        while (std::fgets(line, sizeof line, file_) != nullptr)
            lines.emplace_back(line);
        std::sort(lines.begin(), lines.end());
        return lines;
    }

private:
    void restore() {
        if (before_ < 0) return;
        std::fflush(stdout);
        dup2(before_, STDOUT_FILENO);
        close(before_);
        before_ = -1;
    }

    std::FILE* file_;
    int before_ = -1;
};

}  // namespace

TEST_CASE("printf from a kernel", "[kernels][printf]") {
    std::vector<std::string> lines;
    cudaError_t error = cudaSuccess;
    {
        CapturedOutput output;
        say<<<2, 3>>>(10);
        error = cudaDeviceSynchronize();
        lines = output.sorted_lines();
    }
    REQUIRE_OK(error);
    REQUIRE(lines.size() == 6);
    std::vector<std::string> expected;
    for (int thread = 0; thread < 3; ++thread) {
        for (int block = 0; block < 2; ++block) {
            std::ostringstream line;
            line << "thread " << thread << " of block " << block
                 << ": number 10  2.50 z % ff 1099511627776\n";
            expected.push_back(line.str());
        }
    }
    CHECK(lines == expected);
}
