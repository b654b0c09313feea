/// \file
/// Copies and fills: directions, pitches, pinned and pageable memory, what is done on return.

#include <cstdint>
#include <cstring>
#include <numeric>

#include "support.hpp"

using namespace conformance;

namespace {

std::vector<int> ramp(std::size_t count, int first = 1) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

__global__ void add_to_all(int* values, int count, int summand) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] += summand;
}

}  // namespace

TEST_CASE("there and back", "[copies]") {
    for (const std::size_t count : {1, 2, 63, 64, 1000, 100003}) {
        const DeviceArray<int> there(ramp(count));
        REQUIRE_SAME(there.download(), ramp(count));
    }
}

TEST_CASE("device to device, host to host, and by address", "[copies]") {
    const DeviceArray<int> from(ramp(1000));
    const DeviceArray<int> to(1000);
    REQUIRE_OK(cudaMemcpy(to.get(), from.get(), to.bytes(), cudaMemcpyDeviceToDevice));
    REQUIRE_SAME(to.download(), ramp(1000));

    const std::vector<int> source = ramp(50);
    std::vector<int> target(50);
    REQUIRE_OK(cudaMemcpy(target.data(), source.data(), 200, cudaMemcpyHostToHost));
    REQUIRE_SAME(target, source);

    std::vector<int> back(1000);
    REQUIRE_OK(cudaMemcpy(back.data(), to.get(), to.bytes(), cudaMemcpyDefault));
    REQUIRE_SAME(back, ramp(1000));
}

TEST_CASE("part of an array", "[copies]") {
    const DeviceArray<int> whole(ramp(100));
    const std::vector<int> part{-1, -2, -3};
    REQUIRE_OK(cudaMemcpy(whole.get() + 40, part.data(), 12, cudaMemcpyHostToDevice));
    std::vector<int> expected = ramp(100);
    std::copy(part.begin(), part.end(), expected.begin() + 40);
    REQUIRE_SAME(whole.download(), expected);
}

TEST_CASE("an asynchronous copy from pinned memory is not done on return", "[copies][asynchrony]") {
    const DeviceArray<int> device(ramp(1000));
    PinnedArray<int> host(1000, -1);
    const Stream stream(cudaStreamNonBlocking);
    Gate gate;
    gate.close(stream);
    REQUIRE_OK(
        cudaMemcpyAsync(host.get(), device.get(), device.bytes(), cudaMemcpyDeviceToHost, stream));
    let_things_happen();
    CHECK(host[0] == -1);
    CHECK(host[999] == -1);
    gate.open();
    REQUIRE_OK(cudaStreamSynchronize(stream));
    CHECK(host[0] == 1);
    CHECK(host[999] == 1000);
}

TEST_CASE("pinned memory is read when the copy runs", "[copies][asynchrony]") {
    const DeviceArray<int> device(1);
    PinnedArray<int> host(1, 1);
    const Stream stream(cudaStreamNonBlocking);
    Gate gate;
    gate.close(stream);
    REQUIRE_OK(
        cudaMemcpyAsync(device.get(), host.get(), sizeof(int), cudaMemcpyHostToDevice, stream));
    host.set(0, 2);
    gate.open();
    REQUIRE_OK(cudaStreamSynchronize(stream));
    CHECK(device.download()[0] == 2);
}

TEST_CASE("pageable memory may be changed once an asynchronous copy has returned", "[copies]") {
    constexpr std::size_t count = 1 << 20;
    const DeviceArray<int> device(count);
    std::vector<int> host = ramp(count);
    const Stream stream(cudaStreamNonBlocking);
    REQUIRE_OK(
        cudaMemcpyAsync(device.get(), host.data(), device.bytes(), cudaMemcpyHostToDevice, stream));
    std::fill(host.begin(), host.end(), -7);
    REQUIRE_OK(cudaStreamSynchronize(stream));
    REQUIRE_SAME(device.download(), ramp(count));
}

TEST_CASE("an asynchronous copy to pageable memory is done on return", "[copies]") {
    constexpr std::size_t count = 1 << 20;
    const DeviceArray<int> device(ramp(count));
    std::vector<int> host(count, -1);
    const Stream stream(cudaStreamNonBlocking);
    REQUIRE_OK(
        cudaMemcpyAsync(host.data(), device.get(), device.bytes(), cudaMemcpyDeviceToHost, stream));
    REQUIRE_SAME(host, ramp(count));
}

TEST_CASE("registered host memory is pinned", "[copies]") {
    alignas(4096) static int values[4096];
    const Stream stream(cudaStreamNonBlocking);
    REQUIRE_OK(cudaHostRegister(values, sizeof values, cudaHostRegisterDefault));
    cudaPointerAttributes attributes;
    REQUIRE_OK(cudaPointerGetAttributes(&attributes, values));
    CHECK(attributes.type == cudaMemoryTypeHost);
    CHECK_FAILS(cudaHostRegister(values, sizeof values, cudaHostRegisterDefault),
                cudaErrorHostMemoryAlreadyRegistered);
    const DeviceArray<int> device(ramp(4096));
    REQUIRE_OK(
        cudaMemcpyAsync(values, device.get(), sizeof values, cudaMemcpyDeviceToHost, stream));
    REQUIRE_OK(cudaStreamSynchronize(stream));
    CHECK(values[4095] == 4096);
    REQUIRE_OK(cudaHostUnregister(values));
    CHECK_FAILS(cudaHostUnregister(values), cudaErrorHostMemoryNotRegistered);
}

TEST_CASE("kernels reach pinned and managed memory", "[copies][memory]") {
    PinnedArray<int> pinned(100, 5);
    add_to_all<<<1, 128>>>(pinned.get(), 100, 3);
    REQUIRE_COMPLETES();
    for (int i = 0; i < 100; ++i)
        REQUIRE(pinned[i] == 8);

    int* managed = nullptr;
    REQUIRE_OK(cudaMallocManaged(&managed, 100 * sizeof(int)));
    for (int i = 0; i < 100; ++i)
        managed[i] = i;
    add_to_all<<<1, 128>>>(managed, 100, 1);
    REQUIRE_COMPLETES();
    for (int i = 0; i < 100; ++i)
        REQUIRE(managed[i] == i + 1);
    REQUIRE_OK(cudaFree(managed));
}

TEST_CASE("fills", "[copies][memset]") {
    DeviceArray<unsigned> memory(100);
    REQUIRE_OK(cudaMemset(memory.get(), 0x1A5, memory.bytes()));  // its low byte counts
    REQUIRE_SAME(memory.download(), std::vector<unsigned>(100, 0xA5A5A5A5u));
    REQUIRE_OK(cudaMemset(memory.get() + 10, 0, 4 * sizeof(unsigned)));
    std::vector<unsigned> expected(100, 0xA5A5A5A5u);
    std::fill(expected.begin() + 10, expected.begin() + 14, 0u);
    REQUIRE_SAME(memory.download(), expected);
    REQUIRE_OK(cudaMemset(memory.get(), 7, 0));
    REQUIRE_SAME(memory.download(), expected);
}

TEST_CASE("a fill takes its turn in the stream", "[copies][memset][streams]") {
    DeviceArray<int> memory(std::vector<int>(1000, 1));
    const Stream stream(cudaStreamNonBlocking);
    add_to_all<<<8, 128, 0, stream>>>(memory.get(), 1000, 5);
    REQUIRE_OK(cudaMemsetAsync(memory.get(), 0, memory.bytes(), stream));
    add_to_all<<<8, 128, 0, stream>>>(memory.get(), 1000, 9);
    REQUIRE_OK(cudaStreamSynchronize(stream));
    REQUIRE_SAME(memory.download(), std::vector<int>(1000, 9));
}

TEST_CASE("rows with a pitch", "[copies][pitch]") {
    constexpr std::size_t width = 37, height = 11;  // bytes, rows
    unsigned char* device = nullptr;
    std::size_t pitch = 0;
    REQUIRE_OK(cudaMallocPitch(&device, &pitch, width, height));
    REQUIRE(pitch >= width);
    CHECK(pitch % 32 == 0);
    REQUIRE_OK(cudaMemset2D(device, pitch, 0xEE, pitch, height));

    constexpr std::size_t host_pitch = 50;
    std::vector<unsigned char> in(host_pitch * height), out(host_pitch * height, 0x11);
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<unsigned char>(i * 13);
    REQUIRE_OK(
        cudaMemcpy2D(device, pitch, in.data(), host_pitch, width, height, cudaMemcpyHostToDevice));
    REQUIRE_OK(
        cudaMemcpy2D(out.data(), host_pitch, device, pitch, width, height, cudaMemcpyDeviceToHost));
    std::vector<unsigned char> expected(host_pitch * height, 0x11);
    for (std::size_t y = 0; y < height; ++y) {
        std::memcpy(&expected[y * host_pitch], &in[y * host_pitch], width);
    }
    REQUIRE_SAME(out, expected);

    std::vector<unsigned char> padding(pitch * height);
    REQUIRE_OK(cudaMemcpy(padding.data(), device, padding.size(), cudaMemcpyDeviceToHost));
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = width; x < pitch; ++x)
            REQUIRE(padding[y * pitch + x] == 0xEE);
    }
    REQUIRE_OK(cudaFree(device));
}

TEST_CASE("a fill with a pitch leaves the rest of the rows", "[copies][pitch][memset]") {
    DeviceArray<unsigned char> memory(std::vector<unsigned char>(10 * 8, 1));
    REQUIRE_OK(cudaMemset2D(memory.get() + 2, 10, 9, 5, 8));
    std::vector<unsigned char> expected(80, 1);
    for (int y = 0; y < 8; ++y)
        std::fill_n(expected.begin() + y * 10 + 2, 5, 9);
    REQUIRE_SAME(memory.download(), expected);
}

TEST_CASE("memory figures make sense", "[memory]") {
    std::size_t free_bytes = 0, total_bytes = 0;
    REQUIRE_OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    CHECK(free_bytes > 0);
    CHECK(free_bytes <= total_bytes);
}

TEST_CASE("memory allocated in stream order", "[memory][streams]") {
    if (attribute(cudaDevAttrMemoryPoolsSupported) == 0) return;
    const Stream stream(cudaStreamNonBlocking);
    int* memory = nullptr;
    PinnedArray<int> out(64, -1);
    REQUIRE_OK(cudaMallocAsync(&memory, 64 * sizeof(int), stream));
    REQUIRE_OK(cudaMemsetAsync(memory, 0, 64 * sizeof(int), stream));
    add_to_all<<<1, 64, 0, stream>>>(memory, 64, 4);
    REQUIRE_OK(cudaMemcpyAsync(out.get(), memory, out.bytes(), cudaMemcpyDeviceToHost, stream));
    REQUIRE_OK(cudaFreeAsync(memory, stream));
    REQUIRE_OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 64; ++i)
        CHECK(out[i] == 4);
}
