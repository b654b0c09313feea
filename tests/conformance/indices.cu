/// \file
/// Indices and sizes of threads, blocks and grids in one, two and three dimensions.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "support.hpp"

using namespace conformance;

namespace {

__device__ unsigned fold(dim3 index, dim3 size) {
    return (index.z * size.y + index.y) * size.x + index.x;
}

/// Where each thread of the launch believes it is.
struct Place {
    unsigned thread[3], block[3], block_size[3], grid_size[3];
};

__global__ void note_places(Place* places) {
    const unsigned in_block = fold(threadIdx, blockDim), block = fold(blockIdx, gridDim);
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    places[block * threads + in_block] = {{threadIdx.x, threadIdx.y, threadIdx.z},
                                          {blockIdx.x, blockIdx.y, blockIdx.z},
                                          {blockDim.x, blockDim.y, blockDim.z},
                                          {gridDim.x, gridDim.y, gridDim.z}};
}

void check_places(dim3 grid, dim3 block) {
    const unsigned threads = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
    const DeviceArray<Place> places(std::size_t(threads) * blocks);
    note_places<<<grid, block>>>(places.get());
    REQUIRE_COMPLETES();
    const std::vector<Place> noted = places.download();
    for (unsigned i = 0; i < noted.size(); ++i) {
        const unsigned in_block = i % threads, in_grid = i / threads;
        const Place& place = noted[i];
        const bool right = place.thread[0] == in_block % block.x &&
                           place.thread[1] == in_block / block.x % block.y &&
                           place.thread[2] == in_block / block.x / block.y &&
                           place.block[0] == in_grid % grid.x &&
                           place.block[1] == in_grid / grid.x % grid.y &&
                           place.block[2] == in_grid / grid.x / grid.y &&
                           place.block_size[0] == block.x && place.block_size[1] == block.y &&
                           place.block_size[2] == block.z && place.grid_size[0] == grid.x &&
                           place.grid_size[1] == grid.y && place.grid_size[2] == grid.z;
        if (!right) FAIL("thread " << in_block << " of block " << in_grid << " is misplaced");
    }
}

}  // namespace

TEST_CASE("every thread knows its place", "[indices]") {
    check_places(1, 1);
    check_places(7, 33);
    check_places(dim3(3, 5), dim3(7, 4));
    check_places(dim3(2, 3, 4), dim3(5, 3, 2));
    check_places(dim3(1, 1, 3), dim3(1, 1, 64));
    check_places(dim3(1, 4), dim3(16, 16));
    check_places(2, 1024);
}

TEST_CASE("the special variables have CUDA's types", "[indices]") {
    STATIC_REQUIRE(std::is_same<decltype(uint3::x), unsigned>::value);
    const dim3 one, row(7), plane(7, 8), box(7, 8, 9);
    CHECK((one.x == 1 && one.y == 1 && one.z == 1));
    CHECK((row.x == 7 && row.y == 1 && row.z == 1));
    CHECK((plane.x == 7 && plane.y == 8 && plane.z == 1));
    CHECK((box.x == 7 && box.y == 8 && box.z == 9));
    const uint3 triple = box;
    const dim3 again = triple;
    CHECK((triple.z == 9 && again.y == 8));
}

namespace {

/// Marks its element once; a grid that is too large must not reach beyond.
__global__ void mark(int* marks, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(marks + i, 1);
}

__global__ void mark_with_stride(int* marks, unsigned count) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += blockDim.x * gridDim.x) {
        atomicAdd(marks + i, 1);
    }
}

__global__ void mark_pixels(int* marks, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) atomicAdd(marks + y * width + x, 1);
}

}  // namespace

TEST_CASE("each element is met exactly once", "[indices]") {
    for (const unsigned count : {1u, 31u, 32u, 33u, 255u, 256u, 257u, 1000u, 65537u}) {
        for (const unsigned threads : {1u, 33u, 256u, 1024u}) {
            if (count / threads > 3000) continue;
            INFO(count << " elements, " << threads << " threads a block");
            DeviceArray<int> marks(std::vector<int>(count, 0));
            mark<<<(count + threads - 1) / threads, threads>>>(marks.get(), count);
            REQUIRE_COMPLETES();
            REQUIRE_SAME(marks.download(), std::vector<int>(count, 1));
            mark_with_stride<<<3, threads>>>(marks.get(), count);
            REQUIRE_COMPLETES();
            REQUIRE_SAME(marks.download(), std::vector<int>(count, 2));
        }
    }
}

// Case 20: pictures smaller than a block, and widths that no block divides.
TEST_CASE("each pixel is met exactly once", "[indices]") {
    struct Size {
        int width, height;
    };
    for (const Size size : {Size{1, 1}, Size{1, 19}, Size{19, 1}, Size{15, 17}, Size{16, 16},
                            Size{101, 77}, Size{4097, 3}}) {
        INFO(size.width << "x" << size.height);
        const std::size_t pixels = std::size_t(size.width) * size.height;
        DeviceArray<int> marks(std::vector<int>(pixels, 0));
        const dim3 block(16, 16), grid((size.width + 15) / 16, (size.height + 15) / 16);
        mark_pixels<<<grid, block>>>(marks.get(), size.width, size.height);
        REQUIRE_COMPLETES();
        REQUIRE_SAME(marks.download(), std::vector<int>(pixels, 1));
    }
}

namespace {

/// Indices as of a grid that begins `first_block` blocks earlier.
__global__ void large_indices(unsigned first_block, unsigned* narrow, std::uint64_t* wide,
                              long long* scaled) {
    if (threadIdx.x != blockDim.x - 1) return;
    const unsigned block = first_block + blockIdx.x;
    narrow[blockIdx.x] = block * blockDim.x + threadIdx.x;
    wide[blockIdx.x] = std::uint64_t(block) * blockDim.x + threadIdx.x;
    scaled[blockIdx.x] = (static_cast<long long>(block) * blockDim.x + threadIdx.x) * 4 - 1;
}

}  // namespace

TEST_CASE("indices beyond 2^31 need 64 bits", "[indices]") {
    constexpr unsigned blocks = 4, threads = 1024;
    const unsigned first_block = GENERATE(2097150u, 4194302u, 2147483600u);
    const DeviceArray<unsigned> narrow(blocks);
    const DeviceArray<std::uint64_t> wide(blocks);
    const DeviceArray<long long> scaled(blocks);
    large_indices<<<blocks, threads>>>(first_block, narrow.get(), wide.get(), scaled.get());
    REQUIRE_COMPLETES();
    const auto narrow_seen = narrow.download();
    const auto wide_seen = wide.download();
    const auto scaled_seen = scaled.download();
    for (unsigned i = 0; i < blocks; ++i) {
        const std::uint64_t index = std::uint64_t(first_block + i) * threads + threads - 1;
        CHECK(wide_seen[i] == index);
        CHECK(narrow_seen[i] == static_cast<unsigned>(index));  // wraps
        CHECK(scaled_seen[i] == static_cast<long long>(index) * 4 - 1);
    }
}

namespace {

__global__ void square_into(const float* in, float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i] * in[i];
}

}  // namespace

TEST_CASE("results do not depend on the shape of the launch", "[indices]") {
    constexpr int count = 5003;
    std::vector<float> values(count), expected(count);
    for (int i = 0; i < count; ++i) {
        values[i] = 0.25f * i;
        expected[i] = values[i] * values[i];
    }
    const DeviceArray<float> in(values);
    for (const int threads : {1, 7, 32, 100, 512, 1024}) {
        const DeviceArray<float> out(count);
        square_into<<<(count + threads - 1) / threads, threads>>>(in.get(), out.get(), count);
        REQUIRE_COMPLETES();
        REQUIRE_SAME(out.download(), expected);
    }
}
