/// \file
/// Correct kernels that use what else the language offers. None of them must give a finding.

#include <cassert>

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;

namespace local_array_by_index {
__global__ void sort_four(const int* in, int* out) {
    int own[4];
    for (int k = 0; k < 4; ++k)
        own[k] = in[4 * threadIdx.x + k];
    for (int k = 1; k < 4; ++k) {
        for (int j = k; j > 0 && own[j - 1] > own[j]; --j) {
            const int swapped = own[j];
            own[j] = own[j - 1];
            own[j - 1] = swapped;
        }
    }
    out[threadIdx.x] = own[in[4 * threadIdx.x] % 4];
}

int run() {
    const Array<int> in(std::vector<int>{3, 2, 1, 0, 4, 9, 5, 7}), out(2);
    sort_four<<<1, 2>>>(in, out);
    const std::vector<int> values = out.values();
    return status(values[0] == 3 && values[1] == 4);
}
}  // namespace local_array_by_index

namespace address_of_a_local {
__device__ __attribute__((noinline)) void minimum_and_maximum(const int* values, int n, int* low,
                                                              int* high) {
    *low = *high = values[0];
    for (int i = 1; i < n; ++i) {
        if (values[i] < *low) *low = values[i];
        if (values[i] > *high) *high = values[i];
    }
}

__global__ void ranges(const int* in, int* out, int each) {
    int low, high;
    minimum_and_maximum(in + each * threadIdx.x, each, &low, &high);
    out[threadIdx.x] = high - low;
}

int run() {
    const Array<int> in(ramp<int>(64)), out(8);
    ranges<<<1, 8>>>(in, out, 8);
    return status(out.values()[7] == 7);
}
}  // namespace address_of_a_local

namespace struct_by_value {
struct Job {
    const int* in;
    int* out;
    int n;
    int weights[5];
};

__global__ void work(Job job) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.n) job.out[i] = job.in[i] * job.weights[i % 5];
}

int run() {
    const Array<int> in(ramp<int>(100)), out(100);
    work<<<4, 32>>>(Job{in, out, 100, {1, 2, 3, 4, 5}});
    return status(out.values()[99] == 495);
}
}  // namespace struct_by_value

namespace recursion {
__device__ __attribute__((noinline)) int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void numbers(int* out) {
    out[threadIdx.x] = fibonacci(threadIdx.x);
}

int run() {
    const Array<int> out(12);
    numbers<<<1, 12>>>(out);
    return status(out.values()[11] == 89);
}
}  // namespace recursion

namespace read_only_loads {
__global__ void gather(const float* __restrict__ in, const int* __restrict__ where, float* out) {
    out[threadIdx.x] = __ldg(&in[__ldg(&where[threadIdx.x])]);
}

int run() {
    const Array<float> in(ramp<float>(64)), out(3);
    const Array<int> where(std::vector<int>{63, 0, 63});
    gather<<<1, 3>>>(in, where, out);
    return status(out.values()[2] == 63.0f);
}
}  // namespace read_only_loads

namespace assert_and_printf {
__global__ void check(const int* in, int n) {
    assert(in[threadIdx.x] < n);
    if (in[threadIdx.x] < 0) printf("thread %d: %d\n", threadIdx.x, in[threadIdx.x]);
}

int run() {
    const Array<int> in(ramp<int>(32));
    check<<<1, 32>>>(in, 32);
    return status(cudaDeviceSynchronize() == cudaSuccess);
}
}  // namespace assert_and_printf

namespace template_kernel {
template <class T, int each>
__global__ void sums(const T* in, T* out) {
    __shared__ T cells[32 * each];
    for (int k = 0; k < each; ++k)
        cells[32 * k + threadIdx.x] = in[32 * k + threadIdx.x];
    __syncthreads();
    T sum{};
    for (int k = 0; k < each; ++k)
        sum += cells[each * threadIdx.x + k];
    out[threadIdx.x] = sum;
}

int run() {
    const Array<double> in(ramp<double>(96)), out(32);
    const Array<short> short_in(ramp<short>(64)), short_out(32);
    sums<double, 3><<<1, 32>>>(in, out);
    sums<short, 2><<<1, 32>>>(short_in, short_out);
    return status(out.values()[31] == 282.0 && short_out.values()[31] == 125);
}
}  // namespace template_kernel

/// Vector types as a whole, by member, and through a pointer to their first member.
namespace vector_types {
__global__ void mix(const int2* pairs, const uchar4* pixels, double2* out) {
    const int2 pair = pairs[threadIdx.x];
    const uchar4 pixel = pixels[threadIdx.x];
    out[threadIdx.x].x = pair.x + pixel.w;
    (&out[threadIdx.x].x)[1] = pair.y * pixel.x;
}

int run() {
    const Array<int2> pairs(std::vector<int2>(32, make_int2(3, 4)));
    const Array<uchar4> pixels(std::vector<uchar4>(32, make_uchar4(5, 6, 7, 8)));
    const Array<double2> out(32);
    mix<<<1, 32>>>(pairs, pixels, out);
    const double2 last = out.values()[31];
    return status(last.x == 11.0 && last.y == 20.0);
}
}  // namespace vector_types

/// Blocks and grids of three dimensions, and more blocks than there is work.
namespace three_dimensions {
__global__ void fill(int* out, int3 size) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= size.x || y >= size.y || z >= size.z) return;
    out[(z * size.y + y) * size.x + x] = 100 * z + 10 * y + x;
}

int run() {
    const Array<int> out(7 * 5 * 3);
    fill<<<dim3(2, 2, 2), dim3(4, 4, 2)>>>(out, make_int3(7, 5, 3));
    return status(out.values()[7 * 5 * 3 - 1] == 246);
}
}  // namespace three_dimensions

/// Registered memory of the host, which the device may use until it is unregistered.
namespace registered_memory {
__global__ void twice(int* data) {
    data[threadIdx.x] *= 2;
}

int run() {
    std::vector<int> values = ramp<int>(64);
    cudaHostRegister(values.data(), values.size() * sizeof(int), cudaHostRegisterMapped);
    int* data = nullptr;
    cudaHostGetDevicePointer(&data, values.data(), 0);
    twice<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaHostUnregister(values.data());
    return status(values[63] == 126);
}
}  // namespace registered_memory

int main(int argc, char** argv) {
    return corpus::main(
        {CORPUS_CASE(local_array_by_index), CORPUS_CASE(address_of_a_local),
         CORPUS_CASE(struct_by_value), CORPUS_CASE(recursion), CORPUS_CASE(read_only_loads),
         CORPUS_CASE(assert_and_printf), CORPUS_CASE(template_kernel), CORPUS_CASE(vector_types),
         CORPUS_CASE(three_dimensions), CORPUS_CASE(registered_memory)},
        argc, argv);
}
