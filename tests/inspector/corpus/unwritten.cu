/// \file
/// Reads of memory that nothing has written, and such that only look like it.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;

namespace input_never_copied {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // EXPECT never_written
}

int run() {
    const Array<int> in(64), out(64);
    twice<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace input_never_copied

/// 60 elements are copied; 64 are read.
namespace input_copied_in_part {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // EXPECT never_written
}

int run() {
    const std::vector<int> values = ramp<int>(60);
    const Array<int> in(64), out(64);
    cudaMemcpy(in, values.data(), 60 * sizeof(int), cudaMemcpyHostToDevice);
    twice<<<1, 64>>>(in, out);
    return status(out.values()[59] == 118);
}
}  // namespace input_copied_in_part

/// cudaMemset's size is in bytes, not in elements.
namespace memset_of_a_quarter {
__global__ void increment(int* counts) {
    counts[threadIdx.x] += 1;  // EXPECT never_written
}

int run() {
    const Array<int> counts(64);
    cudaMemset(counts, 0, 64);
    increment<<<1, 64>>>(counts);
    return status(counts.values()[15] == 1);
}
}  // namespace memset_of_a_quarter

namespace memset_of_all {
__global__ void increment(int* counts) {
    counts[threadIdx.x] += 1;
}

int run() {
    const Array<int> counts(64);
    cudaMemset(counts, 0, 64 * sizeof(int));
    increment<<<1, 64>>>(counts);
    return status(counts.values()[63] == 1);
}
}  // namespace memset_of_all

namespace accumulator_not_zeroed {
__global__ void sum(const int* in, int* total) {
    atomicAdd(total, in[threadIdx.x]);  // EXPECT never_written
}

int run() {
    const Array<int> in(ramp<int>(64)), total(1);
    sum<<<1, 64>>>(in, total);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace accumulator_not_zeroed

namespace memset_then_accumulate {
__global__ void sum(const int* in, int* total) {
    atomicAdd(total, in[threadIdx.x]);
}

int run() {
    const Array<int> in(ramp<int>(64)), total(1);
    cudaMemset(total, 0, sizeof(int));
    sum<<<1, 64>>>(in, total);
    return status(total.values()[0] == 2016);
}
}  // namespace memset_then_accumulate

/// The tile has a halo on both sides; the left one is loaded, the right one forgotten.
namespace halo_never_loaded {
__global__ void sums(const int* in, int* out, int n) {
    __shared__ int tile[66];
    const int i = threadIdx.x;
    tile[i + 1] = in[i];
    if (i == 0) tile[0] = 0;
    __syncthreads();
    if (i < n) out[i] = tile[i] + tile[i + 1] + tile[i + 2];  // EXPECT never_written
}

int run() {
    const Array<int> in(ramp<int>(64)), out(64);
    sums<<<1, 64>>>(in, out, 64);
    return status(out.values()[1] == 3);
}
}  // namespace halo_never_loaded

namespace halo_corner_never_loaded {
__global__ void blur(const int* in, int* out) {
    __shared__ int tile[10][10];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y + 1][x + 1] = in[8 * y + x];
    if (x == 0) tile[y + 1][0] = tile[y + 1][9] = 0;
    if (y == 0) tile[0][x + 1] = tile[9][x + 1] = 0;
    __syncthreads();
    int sum = 0;
    for (int dy = 0; dy < 3; ++dy) {
        for (int dx = 0; dx < 3; ++dx)
            sum += tile[y + dy][x + dx];  // EXPECT never_written
    }
    out[8 * y + x] = sum;
}

int run() {
    const Array<int> in(std::vector<int>(64, 1)), out(64);
    blur<<<1, dim3(8, 8)>>>(in, out);
    return status(out.values()[9] == 9);
}
}  // namespace halo_corner_never_loaded

/// A cross instead of a square: the corners are not needed, and stay unwritten.
namespace halo_without_corners {
__global__ void cross(const int* in, int* out) {
    __shared__ int tile[10][10];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y + 1][x + 1] = in[8 * y + x];
    if (x == 0) tile[y + 1][0] = tile[y + 1][9] = 0;
    if (y == 0) tile[0][x + 1] = tile[9][x + 1] = 0;
    __syncthreads();
    out[8 * y + x] = tile[y][x + 1] + tile[y + 1][x] + tile[y + 1][x + 1] + tile[y + 1][x + 2] +
                     tile[y + 2][x + 1];
}

int run() {
    const Array<int> in(std::vector<int>(64, 1)), out(64);
    cross<<<1, dim3(8, 8)>>>(in, out);
    const std::vector<int> sums = out.values();
    return status(sums[0] == 3 && sums[9] == 5);
}
}  // namespace halo_without_corners

/// Shared memory is new for every block: what the first block stored is gone.
namespace shared_kept_between_blocks {
__global__ void keep(int* out) {
    __shared__ int kept;
    if (blockIdx.x == 0 && threadIdx.x == 0) kept = 7;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = kept;  // EXPECT never_written
}

int run() {
    const Array<int> out(2);
    keep<<<2, 32>>>(out);
    return status(out.values()[0] == 7);
}
}  // namespace shared_kept_between_blocks

/// A shared histogram that nobody cleared.
namespace shared_bins_not_cleared {
__global__ void histogram(const unsigned char* in, unsigned* bins) {
    __shared__ unsigned local[4];
    atomicAdd(&local[in[threadIdx.x] % 4], 1u);  // EXPECT never_written
    __syncthreads();
    if (threadIdx.x < 4) bins[threadIdx.x] = local[threadIdx.x];
}

int run() {
    const Array<unsigned char> in(ramp<unsigned char>(64));
    const Array<unsigned> bins(4);
    histogram<<<1, 64>>>(in, bins);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace shared_bins_not_cleared

/// The second kernel reads a block more than the first one wrote.
namespace kernel_wrote_too_little {
__global__ void fill(int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void increment(int* data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;  // EXPECT never_written
}

int run() {
    const Array<int> data(256);
    fill<<<3, 64>>>(data);
    increment<<<4, 64>>>(data);
    return status(data.values()[191] == 2);
}
}  // namespace kernel_wrote_too_little

/// A copy of memory that nothing has written is as unwritten as its source.
namespace copy_of_unwritten_memory {
__global__ void increment(int* data) {
    data[threadIdx.x] += 1;  // EXPECT never_written
}

int run() {
    const Array<int> source(64), data(64);
    cudaMemcpy(data, source, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
    increment<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace copy_of_unwritten_memory

namespace copy_from_device_to_device {
__global__ void increment(int* data) {
    data[threadIdx.x] += 1;
}

int run() {
    const Array<int> source(ramp<int>(64)), data(64);
    cudaMemcpy(data, source, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
    increment<<<1, 64>>>(data);
    return status(data.values()[63] == 64);
}
}  // namespace copy_from_device_to_device

/// Only the half that was written is read.
namespace half_written_half_read {
__global__ void fill(int* data, int n) {
    if (static_cast<int>(threadIdx.x) < n) data[threadIdx.x] = threadIdx.x;
}

__global__ void twice(const int* in, int* out, int n) {
    if (static_cast<int>(threadIdx.x) < n) out[threadIdx.x] = 2 * in[threadIdx.x];
}

int run() {
    const Array<int> data(64), out(64);
    fill<<<1, 64>>>(data, 32);
    twice<<<1, 64>>>(data, out, 32);
    int last = 0;
    cudaMemcpy(&last, out + 31, sizeof(int), cudaMemcpyDeviceToHost);
    return status(last == 62);
}
}  // namespace half_written_half_read

/// Rows of a pitched image: the bytes between the rows stay unwritten and unread.
namespace pitched_rows_copied {
__global__ void add(const char* image, size_t pitch, int* total) {
    const float* const row = reinterpret_cast<const float*>(image + blockIdx.x * pitch);
    atomicAdd(total, static_cast<int>(row[threadIdx.x]));
}

int run() {
    const std::vector<float> rows(7 * 9, 2.0f);
    char* image = nullptr;
    size_t pitch = 0;
    cudaMallocPitch(&image, &pitch, 7 * sizeof(float), 9);
    cudaMemcpy2D(image, pitch, rows.data(), 7 * sizeof(float), 7 * sizeof(float), 9,
                 cudaMemcpyHostToDevice);
    const Array<int> total(std::vector<int>{0});
    add<<<9, 7>>>(image, pitch, total);
    const bool right = total.values()[0] == 126;
    cudaFree(image);
    return status(right);
}
}  // namespace pitched_rows_copied

namespace constants_and_device_variables {
__constant__ float weights[3];
__device__ int factor;
__device__ int zeroed[4];  // a variable without initialiser holds zeros

__global__ void weigh(float* out) {
    out[threadIdx.x] = weights[threadIdx.x] * factor + zeroed[threadIdx.x];
}

int run() {
    const float values[3] = {0.25f, 0.5f, 0.25f};
    const int four = 4;
    cudaMemcpyToSymbol(weights, values, sizeof(values));
    cudaMemcpyToSymbol(factor, &four, sizeof(four));
    const Array<float> out(3);
    weigh<<<1, 3>>>(out);
    return status(out.values()[1] == 2.0f);
}
}  // namespace constants_and_device_variables

/// The result is there from the kernel before; no copy ever came from the host.
namespace chain_of_kernels {
__global__ void fill(int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}

__global__ void reverse(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[n - 1 - i];
}

int run() {
    const Array<int> a(256), b(256);
    fill<<<4, 64>>>(a);
    reverse<<<4, 64>>>(a, b, 256);
    reverse<<<4, 64>>>(b, a, 256);
    return status(a.values()[255] == 3 && b.values()[255] == 0);
}
}  // namespace chain_of_kernels

int main(int argc, char** argv) {
    return corpus::main(
        {CORPUS_CASE(input_never_copied), CORPUS_CASE(input_copied_in_part),
         CORPUS_CASE(memset_of_a_quarter), CORPUS_CASE(memset_of_all),
         CORPUS_CASE(accumulator_not_zeroed), CORPUS_CASE(memset_then_accumulate),
         CORPUS_CASE(halo_never_loaded), CORPUS_CASE(halo_corner_never_loaded),
         CORPUS_CASE(halo_without_corners), CORPUS_CASE(shared_kept_between_blocks),
         CORPUS_CASE(shared_bins_not_cleared), CORPUS_CASE(kernel_wrote_too_little),
         CORPUS_CASE(copy_of_unwritten_memory), CORPUS_CASE(copy_from_device_to_device),
         CORPUS_CASE(half_written_half_read), CORPUS_CASE(pitched_rows_copied),
         CORPUS_CASE(constants_and_device_variables), CORPUS_CASE(chain_of_kernels)},
        argc, argv);
}
