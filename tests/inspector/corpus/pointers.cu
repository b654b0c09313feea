/// \file
/// Freed memory, wrong alignment, pointers of the host; and the legal ways to see memory otherwise.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;
using corpus::zeros;

namespace launch_after_free {
__global__ void increment(int* data) {
    data[threadIdx.x] = 1;  // EXPECT use_after_free
}

int run() {
    int* data = nullptr;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaFree(data);
    increment<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace launch_after_free

namespace freed_through_an_alias {
struct View {
    const int* first;
};

__global__ void twice(View in, int* out) {
    out[threadIdx.x] = 2 * in.first[threadIdx.x];  // EXPECT use_after_free
}

int run() {
    int* data = nullptr;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 0, 64 * sizeof(int));
    const View view{data + 32};
    const Array<int> out(32);
    cudaFree(data);
    twice<<<1, 32>>>(view, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace freed_through_an_alias

/// The first of two buffers is freed after a swap: it is the one still in use.
namespace freed_the_wrong_one_after_a_swap {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // EXPECT use_after_free
}

int run() {
    int *a = nullptr, *b = nullptr;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMalloc(&b, 64 * sizeof(int));
    cudaMemset(b, 0, 64 * sizeof(int));
    const int* const in = b;
    std::swap(a, b);
    cudaFree(a);
    twice<<<1, 64>>>(in, b);
    cudaDeviceSynchronize();
    cudaFree(b);
    return 0;
}
}  // namespace freed_the_wrong_one_after_a_swap

/// The same addresses may come again; they are then new memory.
namespace freed_and_allocated_anew {
__global__ void fill(int* data, int value) {
    data[threadIdx.x] = value;
}

int run() {
    std::vector<int> values(64);
    for (int round = 0; round < 3; ++round) {
        const Array<int> data(64);
        fill<<<1, 64>>>(data, round);
        values = data.values();
    }
    return status(values[63] == 2);
}
}  // namespace freed_and_allocated_anew

/// cudaFree waits for the kernel, which still may use the memory.
namespace freed_behind_the_launch {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];
}

int run() {
    const Array<int> out(64);
    {
        const Array<int> in(ramp<int>(64));
        twice<<<1, 64>>>(in, out);
    }
    return status(out.values()[63] == 126);
}
}  // namespace freed_behind_the_launch

namespace misaligned_float4 {
__global__ void sums(const float* in, float* out) {
    const float4 v = reinterpret_cast<const float4*>(in + 1)[threadIdx.x];  // EXPECT misaligned
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int run() {
    const Array<float> in(ramp<float>(200)), out(32);
    sums<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace misaligned_float4

namespace misaligned_float2 {
__global__ void store(float* out) {
    *reinterpret_cast<float2*>(out + 2 * threadIdx.x + 1) = float2{1, 2};  // EXPECT misaligned
}

int run() {
    const Array<float> out(70);
    store<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace misaligned_float2

namespace misaligned_double {
__global__ void sum(const char* bytes, double* out) {
    out[threadIdx.x] = *reinterpret_cast<const double*>(bytes + 4);  // EXPECT misaligned
}

int run() {
    const Array<char> bytes(zeros<char>(64));
    const Array<double> out(1);
    sum<<<1, 1>>>(bytes, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace misaligned_double

/// A record of five bytes packed one behind the other: a byte, then an int.
namespace misaligned_int {
__global__ void second(const unsigned char* records, int* out) {
    const unsigned char* const record = records + 5 * threadIdx.x;
    out[threadIdx.x] = *reinterpret_cast<const int*>(record + 1);  // EXPECT misaligned
}

int run() {
    const Array<unsigned char> records(std::vector<unsigned char>(5 * 8, 1));
    const Array<int> out(8);
    second<<<1, 8>>>(records, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace misaligned_int

/// Dynamic shared memory carved by bytes: the doubles begin at 4.
namespace misaligned_in_shared_memory {
__global__ void carve(double* out) {
    extern __shared__ __align__(16) unsigned char bytes[];
    double* const doubles = reinterpret_cast<double*>(bytes + sizeof(float));
    doubles[threadIdx.x] = threadIdx.x;  // EXPECT misaligned
    out[threadIdx.x] = bytes[0];
}

int run() {
    const Array<double> out(1);
    carve<<<1, 1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace misaligned_in_shared_memory

/// The packed record again, put together from bytes.
namespace packed_bytes_put_together {
__global__ void second(const unsigned char* records, int* out) {
    const unsigned char* const record = records + 5 * threadIdx.x;
    out[threadIdx.x] = record[1] | record[2] << 8 | record[3] << 16 | record[4] << 24;
}

int run() {
    const Array<unsigned char> records(std::vector<unsigned char>(5 * 8, 1));
    const Array<int> out(8);
    second<<<1, 8>>>(records, out);
    return status(out.values()[7] == 0x01010101);
}
}  // namespace packed_bytes_put_together

/// An offset of four floats keeps the alignment of a float4.
namespace aligned_offset {
__global__ void sums(const float* in, float* out) {
    const float4 v = reinterpret_cast<const float4*>(in + 4)[threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int run() {
    const Array<float> in(ramp<float>(132)), out(32);
    sums<<<1, 32>>>(in, out);
    return status(out.values()[0] == 22.0f);
}
}  // namespace aligned_offset

/// float3 is three floats, aligned to 4 bytes.
namespace float3_array {
__global__ void lengths(const float3* in, float* out, int n) {
    const int i = threadIdx.x;
    if (i < n) out[i] = in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z;
}

int run() {
    const Array<float3> in(std::vector<float3>(33, make_float3(1, 2, 3)));
    const Array<float> out(33);
    lengths<<<1, 64>>>(in, out, 33);
    return status(out.values()[32] == 14.0f);
}
}  // namespace float3_array

namespace host_vector {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // EXPECT host_pointer
}

int run() {
    const std::vector<int> in(64, 1);
    const Array<int> out(64);
    twice<<<1, 64>>>(in.data(), out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace host_vector

namespace host_stack {
__global__ void count(int* total) {
    *total = blockDim.x;  // EXPECT host_pointer
}

int run() {
    int total = 0;
    count<<<1, 1>>>(&total);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace host_stack

/// Pinned memory is the device's to read and write, too.
namespace pinned_memory_by_the_kernel {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];
}

int run() {
    int *in = nullptr, *out = nullptr;
    cudaHostAlloc(&in, 64 * sizeof(int), cudaHostAllocMapped);
    cudaMallocHost(&out, 64 * sizeof(int));
    for (int i = 0; i < 64; ++i)
        in[i] = i;
    twice<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    const bool right = out[63] == 126;
    cudaFreeHost(in);
    cudaFreeHost(out);
    return status(right);
}
}  // namespace pinned_memory_by_the_kernel

namespace managed_memory_with_a_wait {
__global__ void twice(int* data) {
    data[threadIdx.x] *= 2;
}

int run() {
    int* data = nullptr;
    cudaMallocManaged(&data, 64 * sizeof(int));
    for (int i = 0; i < 64; ++i)
        data[i] = i;
    twice<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    data[0] += data[63];
    twice<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    const bool right = data[0] == 252 && data[63] == 252;
    cudaFree(data);
    return status(right);
}
}  // namespace managed_memory_with_a_wait

namespace union_of_types {
union Word {
    float number;
    unsigned bits;
    unsigned char bytes[4];
};

__global__ void split(const float* in, unsigned* bits, unsigned char* high) {
    Word word;
    word.number = in[threadIdx.x];
    bits[threadIdx.x] = word.bits;
    high[threadIdx.x] = word.bytes[3];
}

int run() {
    const Array<float> in(std::vector<float>(32, 1.0f));
    const Array<unsigned> bits(32);
    const Array<unsigned char> high(32);
    split<<<1, 32>>>(in, bits, high);
    return status(bits.values()[31] == 0x3F800000u && high.values()[31] == 0x3F);
}
}  // namespace union_of_types

/// The same memory as floats in one kernel, as ints and as bytes in the next ones.
namespace views_of_one_buffer {
__global__ void as_floats(float* data) {
    data[threadIdx.x] = static_cast<float>(threadIdx.x);
}

__global__ void as_ints(int* data) {
    data[threadIdx.x] ^= static_cast<int>(0x80000000u);
}

__global__ void as_bytes(const unsigned char* data, int* signs) {
    signs[threadIdx.x] = data[4 * threadIdx.x + 3] >> 7;
}

int run() {
    const Array<float> data(32);
    const Array<int> signs(32);
    as_floats<<<1, 32>>>(data);
    as_ints<<<1, 32>>>(reinterpret_cast<int*>(static_cast<float*>(data)));
    as_bytes<<<1, 32>>>(reinterpret_cast<unsigned char*>(static_cast<float*>(data)), signs);
    return status(data.values()[31] == -31.0f && signs.values()[31] == 1);
}
}  // namespace views_of_one_buffer

/// The bytes between the members are copied with the struct; nobody ever wrote them.
namespace struct_with_padding {
struct Padded {
    char tag;
    double value;
    short last;
};

__global__ void make(Padded* out) {
    out[threadIdx.x].tag = 'a';
    out[threadIdx.x].value = threadIdx.x;
    out[threadIdx.x].last = 7;
}

__global__ void copy(const Padded* in, Padded* out) {
    out[threadIdx.x] = in[threadIdx.x];
}

int run() {
    const Array<Padded> in(32), out(32);
    make<<<1, 32>>>(in);
    copy<<<1, 32>>>(in, out);
    const Padded last = out.values()[31];
    return status(last.tag == 'a' && last.value == 31.0 && last.last == 7);
}
}  // namespace struct_with_padding

int main(int argc, char** argv) {
    return corpus::main({CORPUS_CASE(launch_after_free),
                         CORPUS_CASE(freed_through_an_alias),
                         CORPUS_CASE(freed_the_wrong_one_after_a_swap),
                         CORPUS_CASE(freed_and_allocated_anew),
                         CORPUS_CASE(freed_behind_the_launch),
                         CORPUS_CASE(misaligned_float4),
                         CORPUS_CASE(misaligned_float2),
                         CORPUS_CASE(misaligned_double),
                         CORPUS_CASE(misaligned_int),
                         CORPUS_CASE(misaligned_in_shared_memory),
                         CORPUS_CASE(packed_bytes_put_together),
                         CORPUS_CASE(aligned_offset),
                         CORPUS_CASE(float3_array),
                         CORPUS_CASE(host_vector),
                         CORPUS_CASE(host_stack),
                         CORPUS_CASE(pinned_memory_by_the_kernel),
                         CORPUS_CASE(managed_memory_with_a_wait),
                         CORPUS_CASE(union_of_types),
                         CORPUS_CASE(views_of_one_buffer),
                         CORPUS_CASE(struct_with_padding)},
                        argc, argv);
}
