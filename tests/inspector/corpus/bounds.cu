/// \file
/// Accesses outside of every allocation and variable, and such that stay just inside.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;

namespace read_one_past_end {
__global__ void add_next(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i + 1];  // EXPECT out_of_bounds
}

int run() {
    const Array<int> in(ramp<int>(1000)), out(1000);
    add_next<<<4, 256>>>(in, out, 1000);
    return status(out.values()[0] == 1);
}
}  // namespace read_one_past_end

/// The neighbour is read only where there is one.
namespace neighbour_with_guard {
__global__ void add_next(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + (i + 1 < n ? in[i + 1] : 0);
}

int run() {
    const Array<int> in(ramp<int>(1000)), out(1000);
    add_next<<<4, 256>>>(in, out, 1000);
    const std::vector<int> sums = out.values();
    return status(sums[0] == 1 && sums[998] == 1997 && sums[999] == 999);
}
}  // namespace neighbour_with_guard

namespace write_one_past_end {
__global__ void fill(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;  // EXPECT out_of_bounds
}

int run() {
    const Array<int> out(1000);
    fill<<<4, 256>>>(out, 1000);
    return status(out.values()[999] == 999);
}
}  // namespace write_one_past_end

namespace negative_index {
__global__ void difference(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] - in[i - 1];  // EXPECT out_of_bounds
}

int run() {
    const Array<float> in(ramp<float>(100)), out(100);
    difference<<<1, 128>>>(in, out, 100);
    return status(out.values()[99] == 1.0f);
}
}  // namespace negative_index

/// cudaMallocPitch gives bytes; here they are taken for elements.
namespace pitch_in_elements {
__global__ void fill(float* image, size_t pitch, int width) {
    const int x = threadIdx.x, y = blockIdx.x;
    if (x < width) image[y * pitch + x] = 1.0f;  // EXPECT out_of_bounds
}

int run() {
    float* image = nullptr;
    size_t pitch = 0;
    cudaMallocPitch(&image, &pitch, 20 * sizeof(float), 9);
    fill<<<9, 32>>>(image, pitch, 20);
    cudaFree(image);
    return 0;
}
}  // namespace pitch_in_elements

namespace pitch_in_bytes {
__global__ void fill(char* image, size_t pitch, int width) {
    const int x = threadIdx.x, y = blockIdx.x;
    float* const row = reinterpret_cast<float*>(image + y * pitch);
    if (x < width) row[x] = static_cast<float>(10 * y + x);
}

int run() {
    char* image = nullptr;
    size_t pitch = 0;
    cudaMallocPitch(&image, &pitch, 7 * sizeof(float), 9);
    fill<<<9, 32>>>(image, pitch, 7);
    std::vector<float> rows(7 * 9);
    cudaMemcpy2D(rows.data(), 7 * sizeof(float), image, pitch, 7 * sizeof(float), 9,
                 cudaMemcpyDeviceToHost);
    cudaFree(image);
    return status(rows[0] == 0.0f && rows[7 * 8 + 6] == 86.0f);
}
}  // namespace pitch_in_bytes

namespace rows_and_columns_swapped {
__global__ void fill(int* image, int width, int height) {
    const int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < height) image[x * width + y] = 1;  // EXPECT out_of_bounds
}

int run() {
    const Array<int> image(30 * 10);
    fill<<<10, 32>>>(image, 30, 10);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace rows_and_columns_swapped

/// The last row of blocks hangs over the image's lower edge.
namespace missing_guard_in_y {
__global__ void fill(int* image, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width) image[y * width + x] = 1;  // EXPECT out_of_bounds
}

int run() {
    const Array<int> image(20 * 20);
    fill<<<dim3(2, 2), dim3(16, 16)>>>(image, 20);
    return status(image.values()[399] == 1);
}
}  // namespace missing_guard_in_y

namespace missing_guard {
__global__ void fill(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;  // EXPECT out_of_bounds
}

int run() {
    const Array<int> out(1000);
    fill<<<4, 256>>>(out);
    return status(out.values()[999] == 999);
}
}  // namespace missing_guard

/// Without a guard, but there are exactly as many threads as elements.
namespace no_guard_needed {
__global__ void fill(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

int run() {
    const Array<int> out(999);
    fill<<<9, 111>>>(out);
    return status(out.values()[998] == 998);
}
}  // namespace no_guard_needed

namespace grid_stride_too_far {
__global__ void sums(const int* in, int* out, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int i = first; i <= n; i += gridDim.x * blockDim.x)
        sum += in[i];  // EXPECT out_of_bounds
    out[first] = sum;
}

int run() {
    const Array<int> in(ramp<int>(1000)), out(64);
    sums<<<2, 32>>>(in, out, 1000);
    return status(out.values()[0] == 7680);
}
}  // namespace grid_stride_too_far

namespace grid_stride_with_tail {
__global__ void sums(const int* in, int* out, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int i = first; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    out[first] = sum;
}

int run() {
    const Array<int> in(ramp<int>(1001)), out(64);
    sums<<<2, 32>>>(in, out, 1001);
    const std::vector<int> parts = out.values();
    return status(std::accumulate(parts.begin(), parts.end(), 0) == 500500);
}
}  // namespace grid_stride_with_tail

/// 1002 floats are not a multiple of four: the last vector's upper half lies behind them.
namespace float4_over_the_end {
__global__ void sums(const float* in, float* out, int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const float4 v = reinterpret_cast<const float4*>(in)[i];  // EXPECT out_of_bounds
    out[i] = v.x + v.y + v.z + v.w;
}

int run() {
    const Array<float> in(std::vector<float>(1002, 1.0f)), out(251);
    sums<<<1, 256>>>(in, out, 251);
    return status(out.values()[0] == 4.0f);
}
}  // namespace float4_over_the_end

namespace float4_with_scalar_tail {
__global__ void twice(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        const float4 v = reinterpret_cast<const float4*>(in)[i];
        reinterpret_cast<float4*>(out)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    }
    if (i < n % 4) out[n - 1 - i] = 2 * in[n - 1 - i];
}

int run() {
    const Array<float> in(ramp<float>(1003)), out(1003);
    twice<<<1, 256>>>(in, out, 1003);
    const std::vector<float> doubled = out.values();
    return status(doubled[999] == 1998.0f && doubled[1000] == 2000.0f && doubled[1002] == 2004.0f);
}
}  // namespace float4_with_scalar_tail

namespace static_shared_past_end {
__global__ void shift(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x + 1] = threadIdx.x;  // EXPECT out_of_bounds
    if (threadIdx.x == 0) tile[0] = 0;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

int run() {
    const Array<int> out(64);
    shift<<<1, 64>>>(out);
    return status(out.values()[63] == 62);
}
}  // namespace static_shared_past_end

namespace shared_before_begin {
__global__ void shift(int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const int left = static_cast<int>(threadIdx.x) - 1;
    out[threadIdx.x] = tile[left];  // EXPECT out_of_bounds
}

int run() {
    const Array<int> out(64);
    shift<<<1, 64>>>(out);
    return status(out.values()[63] == 62);
}
}  // namespace shared_before_begin

/// One element more than threads: every index is inside.
namespace shared_with_room_for_one_more {
__global__ void shift(int* out) {
    __shared__ int tile[65];
    tile[threadIdx.x + 1] = threadIdx.x;
    if (threadIdx.x == 0) tile[0] = -1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

int run() {
    const Array<int> out(64);
    shift<<<1, 64>>>(out);
    return status(out.values()[0] == -1 && out.values()[63] == 62);
}
}  // namespace shared_with_room_for_one_more

namespace dynamic_shared_past_size {
__global__ void reverse(int* out) {
    extern __shared__ int cells[];
    cells[threadIdx.x] = threadIdx.x;  // EXPECT out_of_bounds
    __syncthreads();
    out[threadIdx.x] = cells[threadIdx.x / 2];
}

int run() {
    const Array<int> out(64);
    reverse<<<1, 64, 63 * sizeof(int)>>>(out);
    return status(out.values()[63] == 31);
}
}  // namespace dynamic_shared_past_size

namespace dynamic_shared_of_exact_size {
__global__ void reverse(int* out) {
    extern __shared__ int cells[];
    cells[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = cells[blockDim.x - 1 - threadIdx.x];
}

int run() {
    const Array<int> out(63);
    reverse<<<1, 63, 63 * sizeof(int)>>>(out);
    return status(out.values()[62] == 0 && out.values()[0] == 62);
}
}  // namespace dynamic_shared_of_exact_size

namespace far_out {
__global__ void gather(const int* in, int* out, long long stride) {
    out[threadIdx.x] = in[threadIdx.x * stride];  // EXPECT out_of_bounds
}

int run() {
    const Array<int> in(ramp<int>(1000)), out(2);
    gather<<<1, 2>>>(in, out, 1LL << 38);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace far_out

namespace null_pointer {
__global__ void increment(int* data) {
    data[threadIdx.x] += 1;  // EXPECT out_of_bounds
}

int run() {
    increment<<<1, 1>>>(nullptr);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace null_pointer

/// A null pointer that the kernel tests for, and never uses.
namespace optional_pointer {
__global__ void increment(int* data, int* log) {
    data[threadIdx.x] += 1;
    if (log) log[threadIdx.x] = data[threadIdx.x];
}

int run() {
    const Array<int> data(ramp<int>(32));
    increment<<<1, 32>>>(data, nullptr);
    return status(data.values()[31] == 32);
}
}  // namespace optional_pointer

namespace byte_past_odd_size {
__global__ void sum(const unsigned char* in, int* out, int n) {
    int total = 0;
    for (int i = 1; i <= n; ++i)
        total += in[i];  // EXPECT out_of_bounds
    *out = total;
}

int run() {
    const Array<unsigned char> in(std::vector<unsigned char>{1, 2, 3});
    const Array<int> out(1);
    sum<<<1, 1>>>(in, out, 3);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace byte_past_odd_size

namespace last_byte_of_odd_size {
__global__ void sum(const unsigned char* in, int* out, int n) {
    int total = 0;
    for (int i = 0; i < n; ++i)
        total += in[i];
    *out = total;
}

int run() {
    const Array<unsigned char> in(std::vector<unsigned char>{1, 2, 3});
    const Array<int> out(1);
    sum<<<1, 1>>>(in, out, 3);
    return status(out.values()[0] == 6);
}
}  // namespace last_byte_of_odd_size

/// 40 bytes: compilers align what follows such an array to 16 or 32, so that no other variable
/// begins right behind it.
namespace device_variable_past_end {
__device__ int table[10] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81};

__global__ void look_up(const int* keys, int* out) {
    out[threadIdx.x] = table[keys[threadIdx.x]];  // EXPECT out_of_bounds
}

int run() {
    const Array<int> keys(ramp<int>(11)), out(11);
    look_up<<<1, 11>>>(keys, out);
    return status(out.values()[9] == 81);
}
}  // namespace device_variable_past_end

namespace device_variable_to_its_end {
__device__ int table[10] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81};

__global__ void look_up(const int* keys, int* out) {
    out[threadIdx.x] = table[keys[threadIdx.x]];
}

int run() {
    const Array<int> keys(ramp<int>(10)), out(10);
    look_up<<<1, 10>>>(keys, out);
    return status(out.values()[9] == 81);
}
}  // namespace device_variable_to_its_end

/// The value 256 has no bin.
namespace atomic_past_end {
__global__ void histogram(const int* in, unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1u);  // EXPECT out_of_bounds
}

int run() {
    const Array<int> in(ramp<int>(257));
    const Array<unsigned> bins(256);
    cudaMemset(bins, 0, 256 * sizeof(unsigned));
    histogram<<<2, 256>>>(in, bins, 257);
    return status(bins.values()[255] == 1);
}
}  // namespace atomic_past_end

/// Coordinates outside of the image are moved to its edge.
namespace halo_clamped_to_the_edge {
constexpr int tile = 16;

__global__ void blur(const int* in, int* out, int width, int height) {
    __shared__ int cells[tile + 2][tile + 2];
    const int left = blockIdx.x * tile - 1, top = blockIdx.y * tile - 1;
    for (int k = threadIdx.y * tile + threadIdx.x; k < (tile + 2) * (tile + 2); k += tile * tile) {
        const int row = k / (tile + 2), column = k % (tile + 2);
        const int x = min(max(left + column, 0), width - 1);
        const int y = min(max(top + row, 0), height - 1);
        cells[row][column] = in[y * width + x];
    }
    __syncthreads();
    const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0;
    for (int dy = 0; dy < 3; ++dy) {
        for (int dx = 0; dx < 3; ++dx)
            sum += cells[threadIdx.y + dy][threadIdx.x + dx];
    }
    out[y * width + x] = sum;
}

int run() {
    const Array<int> in(std::vector<int>(37 * 21, 2)), out(37 * 21);
    blur<<<dim3(3, 2), dim3(tile, tile)>>>(in, out, 37, 21);
    for (const int sum : out.values()) {
        if (sum != 18) return 1;
    }
    return 0;
}
}  // namespace halo_clamped_to_the_edge

/// The second dimension is one longer than the tile, against bank conflicts.
namespace padded_transpose {
__global__ void transpose(const int* in, int* out, int n) {
    __shared__ int tile[32][33];
    const int x = blockIdx.x * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        tile[y][threadIdx.x] = in[(blockIdx.y * 32 + y) * n + x];
    }
    __syncthreads();
    const int column = blockIdx.y * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        out[(blockIdx.x * 32 + y) * n + column] = tile[threadIdx.x][y];
    }
}

int run() {
    const Array<int> in(ramp<int>(64 * 64)), out(64 * 64);
    transpose<<<dim3(2, 2), dim3(32, 8)>>>(in, out, 64);
    const std::vector<int> turned = out.values();
    return status(turned[1] == 64 && turned[64 * 63 + 2] == 2 * 64 + 63);
}
}  // namespace padded_transpose

int main(int argc, char** argv) {
    return corpus::main({CORPUS_CASE(read_one_past_end),
                         CORPUS_CASE(neighbour_with_guard),
                         CORPUS_CASE(write_one_past_end),
                         CORPUS_CASE(negative_index),
                         CORPUS_CASE(pitch_in_elements),
                         CORPUS_CASE(pitch_in_bytes),
                         CORPUS_CASE(rows_and_columns_swapped),
                         CORPUS_CASE(missing_guard_in_y),
                         CORPUS_CASE(missing_guard),
                         CORPUS_CASE(no_guard_needed),
                         CORPUS_CASE(grid_stride_too_far),
                         CORPUS_CASE(grid_stride_with_tail),
                         CORPUS_CASE(float4_over_the_end),
                         CORPUS_CASE(float4_with_scalar_tail),
                         CORPUS_CASE(static_shared_past_end),
                         CORPUS_CASE(shared_before_begin),
                         CORPUS_CASE(shared_with_room_for_one_more),
                         CORPUS_CASE(dynamic_shared_past_size),
                         CORPUS_CASE(dynamic_shared_of_exact_size),
                         CORPUS_CASE(far_out),
                         CORPUS_CASE(null_pointer),
                         CORPUS_CASE(optional_pointer),
                         CORPUS_CASE(byte_past_odd_size),
                         CORPUS_CASE(last_byte_of_odd_size),
                         CORPUS_CASE(device_variable_past_end),
                         CORPUS_CASE(device_variable_to_its_end),
                         CORPUS_CASE(atomic_past_end),
                         CORPUS_CASE(halo_clamped_to_the_edge),
                         CORPUS_CASE(padded_transpose)},
                        argc, argv);
}
