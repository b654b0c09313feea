/// \file
/// Return codes of misused calls, and the last error.

#include "support.hpp"

using namespace conformance;

namespace {

__global__ void store(int* to, int value) {
    *to = value;
}

/// One thread more than any block may have.
void launch_too_large(int* to) {
    store<<<1, 1025>>>(to, 1);
}

}  // namespace

TEST_CASE("error names and texts", "[errors]") {
    CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
    CHECK(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
    CHECK(std::string(cudaGetErrorName(cudaErrorNotReady)) == "cudaErrorNotReady");
    CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) ==
          "invalid configuration argument");
    const auto unknown = static_cast<cudaError_t>(-1);
    CHECK(std::string(cudaGetErrorName(unknown)) == "unrecognized error code");
}

TEST_CASE("error numbers", "[errors]") {
    CHECK(static_cast<int>(cudaSuccess) == 0);
    CHECK(static_cast<int>(cudaErrorInvalidValue) == 1);
    CHECK(static_cast<int>(cudaErrorMemoryAllocation) == 2);
    CHECK(static_cast<int>(cudaErrorInvalidConfiguration) == 9);
    CHECK(static_cast<int>(cudaErrorInvalidPitchValue) == 12);
    CHECK(static_cast<int>(cudaErrorInvalidSymbol) == 13);
    CHECK(static_cast<int>(cudaErrorInvalidMemcpyDirection) == 21);
    CHECK(static_cast<int>(cudaErrorNoDevice) == 100);
    CHECK(static_cast<int>(cudaErrorInvalidDevice) == 101);
    CHECK(static_cast<int>(cudaErrorInvalidResourceHandle) == 400);
    CHECK(static_cast<int>(cudaErrorNotReady) == 600);
    CHECK(static_cast<int>(cudaErrorIllegalAddress) == 700);
    CHECK(static_cast<int>(cudaErrorLaunchOutOfResources) == 701);
    CHECK(static_cast<int>(cudaErrorLaunchTimeout) == 702);
    CHECK(static_cast<int>(cudaErrorAssert) == 710);
    CHECK(static_cast<int>(cudaErrorLaunchFailure) == 719);
}

TEST_CASE("the last error stays until it is got", "[errors]") {
    DeviceArray<int> out(1);
    REQUIRE_OK(cudaGetLastError());
    launch_too_large(out.get());
    const cudaError_t error = cudaPeekAtLastError();
    REQUIRE(is_bad_shape(error));
    CHECK_CODE(cudaPeekAtLastError(), error);
    SECTION("got once, it is gone") {
        CHECK_CODE(cudaGetLastError(), error);
        CHECK_OK(cudaGetLastError());
        CHECK_OK(cudaPeekAtLastError());
    }
    SECTION("calls that succeed do not clear it") {
        CHECK_OK(cudaDeviceSynchronize());
        store<<<1, 1>>>(out.get(), 5);
        CHECK_OK(cudaDeviceSynchronize());
        CHECK_CODE(cudaGetLastError(), error);
        CHECK(out.download()[0] == 5);
    }
    SECTION("a later error replaces it") {
        CHECK_CODE(cudaSetDevice(-1), cudaErrorInvalidDevice);
        CHECK_CODE(cudaGetLastError(), cudaErrorInvalidDevice);
    }
    SECTION("another thread does not see it") {
        cudaError_t seen = cudaErrorUnknown;
        std::thread([&seen] { seen = cudaGetLastError(); }).join();
        CHECK_OK(seen);
        CHECK_CODE(cudaGetLastError(), error);
    }
    (void)cudaGetLastError();
}

TEST_CASE("not being ready is no error", "[errors][streams]") {
    const Stream stream(cudaStreamNonBlocking);
    const Event event;
    REQUIRE_OK(cudaGetLastError());
    Gate gate;
    gate.close(stream);
    REQUIRE_OK(cudaEventRecord(event, stream));
    CHECK_CODE(cudaStreamQuery(stream), cudaErrorNotReady);
    CHECK_OK(cudaGetLastError());
    CHECK_CODE(cudaEventQuery(event), cudaErrorNotReady);
    CHECK_OK(cudaGetLastError());
}

TEST_CASE("a refused launch touches nothing and harms nothing", "[errors][launch]") {
    DeviceArray<int> out(std::vector<int>{17});
    launch_too_large(out.get());
    CHECK_REFUSED_FOR_SHAPE();
    REQUIRE_OK(cudaDeviceSynchronize());
    CHECK(out.download()[0] == 17);
    store<<<1, 1>>>(out.get(), 18);
    REQUIRE_COMPLETES();
    CHECK(out.download()[0] == 18);
}

TEST_CASE("a failed call is the last error too", "[errors]") {
    REQUIRE_OK(cudaGetLastError());
    void* memory = nullptr;
    CHECK_CODE(cudaMalloc(&memory, std::size_t(1) << 50), cudaErrorMemoryAllocation);
    CHECK_CODE(cudaGetLastError(), cudaErrorMemoryAllocation);
    SECTION("and does not last") {
        REQUIRE_OK(cudaMalloc(&memory, 16));
        CHECK_OK(cudaFree(memory));
    }
}

TEST_CASE("devices that are not there", "[errors][device]") {
    int count = 0;
    REQUIRE_OK(cudaGetDeviceCount(&count));
    REQUIRE(count >= 1);
    CHECK_FAILS(cudaSetDevice(count), cudaErrorInvalidDevice);
    CHECK_FAILS(cudaSetDevice(99), cudaErrorInvalidDevice);
    CHECK_FAILS(cudaSetDevice(-1), cudaErrorInvalidDevice);
    int value = 0;
    CHECK_FAILS(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count), cudaErrorInvalidDevice);
    cudaDeviceProp properties;
    CHECK_FAILS(cudaGetDeviceProperties(&properties, count), cudaErrorInvalidDevice);
    CHECK_FAILS(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(99999), 0),
                cudaErrorInvalidValue);
    int device = -1;
    REQUIRE_OK(cudaGetDevice(&device));
    CHECK(device == 0);
}

TEST_CASE("allocation", "[errors][memory]") {
    SECTION("nothing") {
        int* memory = reinterpret_cast<int*>(16);
        CHECK_OK(cudaMalloc(&memory, 0));
        CHECK(memory == nullptr);
        CHECK_OK(cudaFree(memory));
    }
    SECTION("nowhere to put the address") {
        CHECK_FAILS(cudaMalloc(static_cast<void**>(nullptr), 16), cudaErrorInvalidValue);
    }
    SECTION("freed twice") {
        int* memory = nullptr;
        REQUIRE_OK(cudaMalloc(&memory, 16));
        CHECK_OK(cudaFree(memory));
        CHECK_FAILS(cudaFree(memory), cudaErrorInvalidValue);
    }
    SECTION("null") {
        CHECK_OK(cudaFree(nullptr));
        CHECK_OK(cudaFreeHost(nullptr));
    }
    SECTION("not from where it is given back to") {
        std::vector<int> host(4);
        const DeviceArray<int> device(4);
        const PinnedArray<int> pinned(4);
        CHECK_FAILS(cudaFree(host.data()), cudaErrorInvalidValue);
        CHECK_FAILS(cudaFreeHost(host.data()), cudaErrorInvalidValue);
        CHECK_FAILS(cudaFree(pinned.get()), cudaErrorInvalidValue);
        CHECK_FAILS(cudaFreeHost(device.get()), cudaErrorInvalidValue);
        CHECK_FAILS(cudaFree(device.get() + 1), cudaErrorInvalidValue);
    }
    SECTION("aligned to at least 256 bytes") {
        DeviceArray<char> first(1), second(1);
        CHECK(reinterpret_cast<std::size_t>(first.get()) % 256 == 0);
        CHECK(reinterpret_cast<std::size_t>(second.get()) % 256 == 0);
    }
}

TEST_CASE("pointers know where they come from", "[errors][memory]") {
    cudaPointerAttributes attributes;
    SECTION("device") {
        DeviceArray<int> memory(4);
        REQUIRE_OK(cudaPointerGetAttributes(&attributes, memory.get() + 1));
        CHECK(attributes.type == cudaMemoryTypeDevice);
        CHECK(attributes.device == 0);
    }
    SECTION("pinned") {
        PinnedArray<int> memory(4);
        REQUIRE_OK(cudaPointerGetAttributes(&attributes, memory.get()));
        CHECK(attributes.type == cudaMemoryTypeHost);
        CHECK(attributes.hostPointer == memory.get());
        CHECK(attributes.devicePointer == memory.get());
    }
    SECTION("managed") {
        int* memory = nullptr;
        REQUIRE_OK(cudaMallocManaged(&memory, 16));
        REQUIRE_OK(cudaPointerGetAttributes(&attributes, memory));
        CHECK(attributes.type == cudaMemoryTypeManaged);
        CHECK_OK(cudaFree(memory));
    }
    SECTION("pageable") {
        std::vector<int> memory(4);
        REQUIRE_OK(cudaPointerGetAttributes(&attributes, memory.data()));
        CHECK(attributes.type == cudaMemoryTypeUnregistered);
    }
}

TEST_CASE("copies that cannot be", "[errors][copies]") {
    const DeviceArray<int> device(4);
    const PinnedArray<int> pinned(4);
    std::vector<int> host(8);
    CHECK_FAILS(cudaMemcpy(nullptr, host.data(), 16, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    CHECK_FAILS(cudaMemcpy(device.get(), host.data(), 16, static_cast<cudaMemcpyKind>(99)),
                cudaErrorInvalidMemcpyDirection);
    CHECK_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    CHECK_FAILS(cudaMemcpy2D(device.get(), 4, host.data(), 8, 8, 2, cudaMemcpyHostToDevice),
                cudaErrorInvalidPitchValue);
    SECTION("beyond the end") {
        CHECK_FAILS(cudaMemcpy(device.get(), host.data(), 17, cudaMemcpyHostToDevice),
                    cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemcpy(device.get() + 2, host.data(), 9, cudaMemcpyHostToDevice),
                    cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemcpy(host.data(), device.get(), 17, cudaMemcpyDeviceToHost),
                    cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemset(device.get(), 0, 17), cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemcpy2D(device.get(), 8, host.data(), 8, 8, 3, cudaMemcpyHostToDevice),
                    cudaErrorInvalidValue);
    }
    SECTION("against the direction") {
        // Some systems let the device reach all host memory; there these are no mistakes.
        if (attribute(cudaDevAttrPageableMemoryAccess) != 0) return;
        CHECK_FAILS(cudaMemcpy(host.data(), host.data() + 2, 8, cudaMemcpyHostToDevice),
                    cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemcpy(host.data(), device.get(), 16, cudaMemcpyHostToDevice),
                    cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemcpy(device.get(), host.data(), 16, cudaMemcpyDeviceToHost),
                    cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemcpy(host.data(), host.data() + 2, 8, cudaMemcpyDeviceToDevice),
                    cudaErrorInvalidValue);
        CHECK_FAILS(cudaMemset(host.data(), 0, 16), cudaErrorInvalidValue);
    }
    SECTION("the device may take pinned memory for its own") {
        CHECK_OK(cudaMemcpy(pinned.get(), host.data(), 16, cudaMemcpyHostToDevice));
        CHECK_OK(cudaMemcpy(host.data(), pinned.get(), 16, cudaMemcpyDeviceToHost));
        CHECK_OK(cudaMemset(pinned.get(), 0, 16));
        CHECK(pinned[3] == 0);
    }
    SECTION("to nowhere") {
        CHECK_FAILS(cudaMemset(nullptr, 0, 16), cudaErrorInvalidValue);
    }
}

TEST_CASE("handles and flags that are none", "[errors][events][streams]") {
    CHECK_FAILS(cudaEventRecord(nullptr, nullptr), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaEventQuery(nullptr), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaStreamWaitEvent(nullptr, nullptr, 0), cudaErrorInvalidResourceHandle);
    cudaEvent_t event = nullptr;
    cudaStream_t stream = nullptr;
    CHECK_FAILS(cudaEventCreate(nullptr), cudaErrorInvalidValue);
    CHECK_FAILS(cudaEventCreateWithFlags(&event, 0x80), cudaErrorInvalidValue);
    CHECK_FAILS(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
    CHECK_FAILS(cudaStreamCreateWithFlags(&stream, 0x80), cudaErrorInvalidValue);
    CHECK_FAILS(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
    CHECK_FAILS(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaLaunchHostFunc(nullptr, nullptr, nullptr), cudaErrorInvalidValue);
    CHECK_FAILS(cudaGetDevice(nullptr), cudaErrorInvalidValue);
}

TEST_CASE("no calls from a host function", "[errors][host functions]") {
    cudaError_t inside = cudaErrorUnknown;
    const auto call = [](void* result) {
        *static_cast<cudaError_t*>(result) = cudaDeviceSynchronize();
    };
    REQUIRE_OK(cudaLaunchHostFunc(nullptr, call, &inside));
    REQUIRE_OK(cudaDeviceSynchronize());
    CHECK_CODE(inside, cudaErrorNotPermitted);
    CHECK_OK(cudaGetLastError());
}
