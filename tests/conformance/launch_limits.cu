/// \file
/// What a launch may ask for, and the code that each excess gives.

#include "support.hpp"

using namespace conformance;

namespace {

constexpr int default_shared_limit = 48 * 1024;  // bytes a block, without opting in

__global__ void count_threads(unsigned* threads) {
    atomicAdd(threads, 1u);
}

/// Writes its dynamic shared memory whole and reads it back across the block.
__global__ void use_dynamic_shared(unsigned* wrong, int bytes) {
    extern __shared__ unsigned char dynamic_bytes[];
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) {
        dynamic_bytes[i] = static_cast<unsigned char>(i * 7 + blockIdx.x);
    }
    __syncthreads();
    unsigned errors = 0;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) {
        const int mirrored = bytes - 1 - i;
        if (dynamic_bytes[mirrored] != static_cast<unsigned char>(mirrored * 7 + blockIdx.x)) {
            ++errors;
        }
    }
    atomicAdd(wrong, errors);
}

/// 16 KB of its own beside what the launch adds.
__global__ void use_both(unsigned* wrong, int bytes) {
    __shared__ unsigned char own[16 * 1024];
    extern __shared__ unsigned char dynamic_bytes[];
    for (int i = threadIdx.x; i < 16 * 1024; i += blockDim.x)
        own[i] = 0xA5;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        dynamic_bytes[i] = 0x5A;
    __syncthreads();
    unsigned errors = 0;
    for (int i = threadIdx.x; i < 16 * 1024; i += blockDim.x)
        errors += own[i] != 0xA5;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        errors += dynamic_bytes[i] != 0x5A;
    atomicAdd(wrong, errors);
}

/// The number of threads that run in this shape; 0 if the launch is refused, as it must be exactly
/// when it is not `possible`.
unsigned threads_of(dim3 grid, dim3 block, bool possible) {
    const DeviceArray<unsigned> threads(std::vector<unsigned>{0});
    count_threads<<<grid, block>>>(threads.get());
    if (possible) {
        CHECK_OK(cudaGetLastError());
    } else {
        CHECK_REFUSED_FOR_SHAPE();
    }
    CHECK_OK(cudaDeviceSynchronize());
    return threads.download()[0];
}

constexpr bool possible = true, impossible = false;

}  // namespace

TEST_CASE("block sizes", "[launch]") {
    CHECK(threads_of(1, 1, possible) == 1);
    CHECK(threads_of(1, 1024, possible) == 1024);
    CHECK(threads_of(1, 1025, impossible) == 0);
    CHECK(threads_of(1, dim3(32, 32), possible) == 1024);
    CHECK(threads_of(1, dim3(33, 32), impossible) == 0);
    CHECK(threads_of(1, dim3(1, 1024), possible) == 1024);
    CHECK(threads_of(1, dim3(1, 1025), impossible) == 0);
    CHECK(threads_of(1, dim3(1, 1, 64), possible) == 64);
    CHECK(threads_of(1, dim3(1, 1, 65), impossible) == 0);
    CHECK(threads_of(1, dim3(16, 1, 64), possible) == 1024);
    CHECK(threads_of(1, dim3(65536, 65536), impossible) == 0);
}

TEST_CASE("a dimension of zero", "[launch]") {
    CHECK(threads_of(0, 32, impossible) == 0);
    CHECK(threads_of(1, 0, impossible) == 0);
    CHECK(threads_of(dim3(1, 0), 32, impossible) == 0);
    CHECK(threads_of(dim3(1, 1, 0), 32, impossible) == 0);
    CHECK(threads_of(1, dim3(32, 0), impossible) == 0);
}

TEST_CASE("grid sizes", "[launch]") {
    CHECK(threads_of(70000, 1, possible) == 70000);
    CHECK(threads_of(dim3(1, 65535), 1, possible) == 65535);
    CHECK(threads_of(dim3(1, 65536), 1, impossible) == 0);
    CHECK(threads_of(dim3(1, 1, 65535), 1, possible) == 65535);
    CHECK(threads_of(dim3(1, 1, 65536), 1, impossible) == 0);
    CHECK(threads_of(dim3(0x80000000u), 1, impossible) == 0);
}

TEST_CASE("dynamic shared memory up to the default limit", "[launch][shared]") {
    DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
    for (const int bytes : {0, 1, 1000, default_shared_limit}) {
        INFO(bytes << " bytes");
        use_dynamic_shared<<<3, 64, bytes>>>(wrong.get(), bytes);
        REQUIRE_COMPLETES();
        CHECK(wrong.download()[0] == 0);
    }
    use_dynamic_shared<<<1, 64, default_shared_limit + 1>>>(wrong.get(), 16);
    CHECK_CODE(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_CASE("static and dynamic shared memory share the limit", "[launch][shared]") {
    DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
    const int left = default_shared_limit - 16 * 1024;
    use_both<<<2, 64, left>>>(wrong.get(), left);
    REQUIRE_COMPLETES();
    CHECK(wrong.download()[0] == 0);
    use_both<<<2, 64, left + 1>>>(wrong.get(), left);
    CHECK_CODE(cudaGetLastError(), cudaErrorInvalidValue);
}

namespace {

/// Kernels of their own, so that no other test has opted in for them.
__global__ void opted_in(unsigned* wrong, int bytes) {
    extern __shared__ unsigned char dynamic_bytes[];
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) {
        dynamic_bytes[i] = static_cast<unsigned char>(i / 256);
    }
    __syncthreads();
    unsigned errors = 0;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) {
        const int other = bytes - 1 - i;
        errors += dynamic_bytes[other] != static_cast<unsigned char>(other / 256);
    }
    atomicAdd(wrong, errors);
}

}  // namespace

TEST_CASE("more shared memory after opting in", "[launch][shared]") {
    const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlock) == default_shared_limit);
    if (most <= default_shared_limit) return;

    DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
    opted_in<<<1, 128, most>>>(wrong.get(), most);
    CHECK_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_FAILS(
        cudaFuncSetAttribute(opted_in, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1),
        cudaErrorInvalidValue);
    REQUIRE_OK(cudaFuncSetAttribute(opted_in, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    opted_in<<<4, 128, most>>>(wrong.get(), most);
    REQUIRE_COMPLETES();
    CHECK(wrong.download()[0] == 0);
    opted_in<<<1, 128, most + 1>>>(wrong.get(), most);
    CHECK_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    cudaFuncAttributes attributes;
    REQUIRE_OK(cudaFuncGetAttributes(&attributes, opted_in));
    CHECK(attributes.maxDynamicSharedSizeBytes == most);
}
