/// \file
/// What the device says about itself, and the occupancy calls: relations that hold on any device.

#include <algorithm>

#include "support.hpp"

using namespace conformance;

namespace {

__global__ void plain(int* out) {
    *out = threadIdx.x;
}

__global__ void with_shared(int* out) {
    __shared__ int cells[1024];
    cells[threadIdx.x] = threadIdx.x;
    __syncthreads();
    *out = cells[(threadIdx.x + 1) % blockDim.x];
}

__global__ void __launch_bounds__(256) bounded(int* out) {
    *out = threadIdx.x;
}

/// Dynamic shared memory that grows with the block: 64 bytes a thread.
struct SharedPerThread {
    __host__ __device__ std::size_t operator()(int block_size) const {
        return std::size_t(block_size) * 64;
    }
};

int active_blocks(void (*kernel)(int*), int block_size, std::size_t dynamic_shared) {
    int blocks = -1;
    REQUIRE_OK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_size, dynamic_shared));
    return blocks;
}

}  // namespace

TEST_CASE("device attributes", "[device]") {
    CHECK(attribute(cudaDevAttrWarpSize) == 32);
    CHECK(attribute(cudaDevAttrMaxThreadsPerBlock) == 1024);
    CHECK(attribute(cudaDevAttrMaxBlockDimX) == 1024);
    CHECK(attribute(cudaDevAttrMaxBlockDimY) == 1024);
    CHECK(attribute(cudaDevAttrMaxBlockDimZ) == 64);
    CHECK(attribute(cudaDevAttrMaxGridDimX) == 2147483647);
    CHECK(attribute(cudaDevAttrMaxGridDimY) == 65535);
    CHECK(attribute(cudaDevAttrMaxGridDimZ) == 65535);
    CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlock) == 48 * 1024);
    CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= 48 * 1024);
    CHECK(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) >=
          attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    CHECK(attribute(cudaDevAttrMaxRegistersPerBlock) >= 32768);
    CHECK(attribute(cudaDevAttrMultiProcessorCount) >= 1);
    CHECK(attribute(cudaDevAttrMaxThreadsPerMultiProcessor) >= 1024);
    CHECK(attribute(cudaDevAttrComputeCapabilityMajor) >= 5);
    CHECK(attribute(cudaDevAttrUnifiedAddressing) == 1);
    CHECK(attribute(cudaDevAttrMemoryClockRate) >= 0);
    CHECK(attribute(cudaDevAttrGlobalMemoryBusWidth) >= 0);
    CHECK(attribute(cudaDevAttrClockRate) > 0);
}

TEST_CASE("properties agree with the attributes", "[device]") {
    cudaDeviceProp properties;
    REQUIRE_OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(std::string(properties.name).size() > 0);
    CHECK(properties.totalGlobalMem > 0);
    CHECK(properties.warpSize == 32);
    CHECK(properties.major == attribute(cudaDevAttrComputeCapabilityMajor));
    CHECK(properties.minor == attribute(cudaDevAttrComputeCapabilityMinor));
    CHECK(properties.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
    CHECK(properties.maxThreadsPerBlock == attribute(cudaDevAttrMaxThreadsPerBlock));
    CHECK(properties.maxThreadsDim[2] == 64);
    CHECK(properties.maxGridSize[0] == 2147483647);
    CHECK(properties.sharedMemPerBlock == 48 * 1024);
    CHECK(int(properties.sharedMemPerBlockOptin) ==
          attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    CHECK(properties.l2CacheSize == attribute(cudaDevAttrL2CacheSize));
    CHECK(properties.memoryBusWidth == attribute(cudaDevAttrGlobalMemoryBusWidth));
}

TEST_CASE("versions", "[device]") {
    int runtime = 0, driver = 0;
    REQUIRE_OK(cudaRuntimeGetVersion(&runtime));
    REQUIRE_OK(cudaDriverGetVersion(&driver));
    CHECK(runtime == CUDART_VERSION);
    CHECK(runtime >= 11080);
    CHECK(driver >= runtime / 1000 * 1000);
}

TEST_CASE("what a kernel needs", "[device][occupancy]") {
    const DeviceArray<int> out(1);
    with_shared<<<1, 32>>>(out.get());
    REQUIRE_COMPLETES();
    cudaFuncAttributes attributes;
    REQUIRE_OK(cudaFuncGetAttributes(&attributes, with_shared));
    CHECK(attributes.sharedSizeBytes == 4096);
    CHECK(attributes.maxThreadsPerBlock >= 256);
    CHECK(attributes.maxThreadsPerBlock <= 1024);
    CHECK(attributes.numRegs > 0);
    REQUIRE_OK(cudaFuncGetAttributes(&attributes, plain));
    CHECK(attributes.sharedSizeBytes == 0);
    bounded<<<1, 256>>>(out.get());
    REQUIRE_COMPLETES();
    CHECK_FAILS(cudaFuncGetAttributes(nullptr, plain), cudaErrorInvalidValue);
}

TEST_CASE("resident blocks", "[device][occupancy]") {
    const int threads = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    const int blocks = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    const int shared = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    int previous = blocks;
    for (const int size : {32, 64, 128, 256, 512, 1024}) {
        const int resident = active_blocks(plain, size, 0);
        CHECK(resident >= 1);
        CHECK(resident <= previous);  // larger blocks, fewer of them
        CHECK(resident * size <= threads);
        previous = resident;
    }
    // A trivial kernel is limited by nothing but threads and blocks.
    CHECK(active_blocks(plain, 1024, 0) == threads / 1024);
    CHECK(active_blocks(plain, 32, 0) == std::min(blocks, threads / 32));
    CHECK(active_blocks(plain, 33, 0) == std::min(blocks, threads / 64));
    const int large = 40 * 1024;
    CHECK(active_blocks(plain, 32, large) >= 1);
    CHECK(active_blocks(plain, 32, large) <= shared / large);
    CHECK(active_blocks(plain, 32, 48 * 1024 + 1) == 0);  // without opting in, none
    CHECK(active_blocks(plain, 1025, 0) == 0);
    int unused = 0;
    CHECK_FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&unused, plain, 0, 0),
                cudaErrorInvalidValue);
}

TEST_CASE("the block size with the most resident threads", "[device][occupancy]") {
    int grid = 0, block = 0;
    REQUIRE_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    CHECK(block % 32 == 0);
    CHECK(block >= 32);
    CHECK(block <= 1024);
    CHECK(grid == active_blocks(plain, block, 0) * attribute(cudaDevAttrMultiProcessorCount));
    REQUIRE_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 128));
    CHECK(block <= 128);
    REQUIRE_OK(
        cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, plain, SharedPerThread{}, 0));
    CHECK(block * 64 <= 48 * 1024);
}
