/// \file
/// What waits for what: order in a stream, the legacy default stream, events, host functions.

#include <atomic>

#include "support.hpp"

using namespace conformance;

namespace {

__global__ void store(int* to, int value) {
    *static_cast<volatile int*>(to) = value;
}

__global__ void append_digit(unsigned long long* number, int digit) {
    *number = *number * 10 + digit;
}

/// Waits for the host, but not for ever. Writes whether it came.
__global__ void wait_for_host(const int* flag, int* came) {
    const unsigned long long start = globaltimer_ns();
    while (*static_cast<const volatile int*>(flag) == 0) {
        if (globaltimer_ns() - start > 10000000000ull) {
            *came = 0;
            return;
        }
    }
    *came = 1;
}

__global__ void increment(int* counter) {
    atomicAdd(counter, 1);
}

}  // namespace

TEST_CASE("a launch returns before the kernel ends", "[streams][asynchrony]") {
    PinnedArray<int> flag(1, 0), came(1, -1);
    wait_for_host<<<1, 1>>>(flag.get(), came.get());
    REQUIRE_OK(cudaGetLastError());
    flag.set(0, 1);  // reached only because the launch did not wait
    REQUIRE_OK(cudaDeviceSynchronize());
    CHECK(came[0] == 1);
}

TEST_CASE("work in one stream runs in order", "[streams]") {
    const unsigned flags = GENERATE(cudaStreamDefault, cudaStreamNonBlocking);
    const Stream stream(flags);
    DeviceArray<unsigned long long> number(std::vector<unsigned long long>{0});
    for (int digit = 1; digit <= 9; ++digit) {
        append_digit<<<1, 1, 0, stream>>>(number.get(), digit);
    }
    REQUIRE_OK(cudaStreamSynchronize(stream));
    CHECK(number.download()[0] == 123456789ull);
}

TEST_CASE("copies and kernels of one stream run in order", "[streams][copies]") {
    const Stream stream(cudaStreamNonBlocking);
    DeviceArray<int> value(1);
    PinnedArray<int> in(3), out(3, -1);
    for (int i = 0; i < 3; ++i)
        in.set(i, 10 * i);
    for (int i = 0; i < 3; ++i) {
        REQUIRE_OK(cudaMemcpyAsync(value.get(), in.get() + i, sizeof(int), cudaMemcpyHostToDevice,
                                   stream));
        increment<<<1, 7, 0, stream>>>(value.get());
        REQUIRE_OK(cudaMemcpyAsync(out.get() + i, value.get(), sizeof(int), cudaMemcpyDeviceToHost,
                                   stream));
    }
    REQUIRE_OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 3; ++i)
        CHECK(out[i] == 10 * i + 7);
}

TEST_CASE("a stream behind a gate is not ready", "[streams]") {
    PinnedArray<int> value(1, 0);
    const Stream stream(cudaStreamNonBlocking);
    Gate gate;
    CHECK_OK(cudaStreamQuery(stream));
    gate.close(stream);
    store<<<1, 1, 0, stream>>>(value.get(), 1);
    REQUIRE_OK(cudaGetLastError());
    let_things_happen();
    CHECK_CODE(cudaStreamQuery(stream), cudaErrorNotReady);
    (void)cudaGetLastError();
    CHECK(value[0] == 0);
    gate.open();
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK_OK(cudaStreamQuery(stream));
    CHECK(value[0] == 1);
}

TEST_CASE("the legacy default stream waits for blocking streams", "[streams][legacy]") {
    PinnedArray<int> value(1, 0);
    const Stream blocking(cudaStreamDefault);
    Gate gate;
    gate.close(blocking);
    store<<<1, 1>>>(value.get(), 1);
    REQUIRE_OK(cudaGetLastError());
    let_things_happen();
    CHECK(value[0] == 0);
    CHECK_CODE(cudaStreamQuery(nullptr), cudaErrorNotReady);
    (void)cudaGetLastError();
    gate.open();
    CHECK_OK(cudaStreamSynchronize(nullptr));
    CHECK(value[0] == 1);
    CHECK_FALSE(gate.gave_up());
}

TEST_CASE("blocking streams wait for the legacy default stream", "[streams][legacy]") {
    PinnedArray<int> value(1, 0);
    const Stream blocking(cudaStreamDefault);
    Gate gate;
    gate.close(nullptr);
    store<<<1, 1, 0, blocking>>>(value.get(), 1);
    REQUIRE_OK(cudaGetLastError());
    let_things_happen();
    CHECK(value[0] == 0);
    gate.open();
    CHECK_OK(cudaStreamSynchronize(blocking));
    CHECK(value[0] == 1);
    CHECK_FALSE(gate.gave_up());
}

TEST_CASE("non-blocking streams and the legacy default stream ignore each other",
          "[streams][legacy]") {
    PinnedArray<int> value(1, 0);
    const Stream independent(cudaStreamNonBlocking);
    Gate gate;
    SECTION("the legacy stream is held up") {
        gate.close(nullptr);
        store<<<1, 1, 0, independent>>>(value.get(), 1);
        CHECK_OK(cudaStreamSynchronize(independent));
    }
    SECTION("the non-blocking stream is held up") {
        gate.close(independent);
        store<<<1, 1>>>(value.get(), 1);
        CHECK_OK(cudaStreamSynchronize(nullptr));
    }
    CHECK(value[0] == 1);
    CHECK_FALSE(gate.gave_up());
}

TEST_CASE("two blocking streams do not wait for each other", "[streams]") {
    PinnedArray<int> value(1, 0);
    const Stream held(cudaStreamDefault), other(cudaStreamDefault);
    Gate gate;
    gate.close(held);
    store<<<1, 1, 0, other>>>(value.get(), 1);
    CHECK_OK(cudaStreamSynchronize(other));
    CHECK(value[0] == 1);
    CHECK_CODE(cudaStreamQuery(held), cudaErrorNotReady);
    (void)cudaGetLastError();
    CHECK_FALSE(gate.gave_up());
}

TEST_CASE("blocking streams meet at work of the legacy stream", "[streams][legacy]") {
    PinnedArray<int> value(1, 0);
    const Stream held(cudaStreamDefault), other(cudaStreamDefault);
    Gate gate;
    gate.close(held);
    store<<<1, 1>>>(value.get(), 1);            // waits for `held`
    store<<<1, 1, 0, other>>>(value.get(), 2);  // waits for the line above
    REQUIRE_OK(cudaGetLastError());
    let_things_happen();
    CHECK(value[0] == 0);
    gate.open();
    CHECK_OK(cudaStreamSynchronize(other));
    CHECK(value[0] == 2);
}

TEST_CASE("the handle of the legacy stream", "[streams][legacy]") {
    PinnedArray<int> value(1, 0);
    store<<<1, 1, 0, cudaStreamLegacy>>>(value.get(), 4);
    CHECK_OK(cudaGetLastError());
    CHECK_OK(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(value[0] == 4);
}

TEST_CASE("waiting for an event of another stream", "[streams][events]") {
    PinnedArray<int> value(1, 0);
    const Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
    const Event done(cudaEventDisableTiming);
    Gate gate;
    gate.close(first);
    store<<<1, 1, 0, first>>>(value.get(), 5);
    REQUIRE_OK(cudaEventRecord(done, first));
    REQUIRE_OK(cudaStreamWaitEvent(second, done, 0));
    increment<<<1, 1, 0, second>>>(value.get());
    REQUIRE_OK(cudaGetLastError());
    let_things_happen();
    CHECK_CODE(cudaStreamQuery(second), cudaErrorNotReady);
    (void)cudaGetLastError();
    CHECK(value[0] == 0);
    gate.open();
    CHECK_OK(cudaStreamSynchronize(second));
    CHECK(value[0] == 6);
}

TEST_CASE("a wait holds for the record it saw", "[streams][events]") {
    PinnedArray<int> value(1, 0);
    const Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
    const Event done(cudaEventDisableTiming);
    REQUIRE_OK(cudaEventRecord(done, first));
    REQUIRE_OK(cudaStreamWaitEvent(second, done, 0));
    Gate gate;
    gate.close(first);
    REQUIRE_OK(cudaEventRecord(done, first));  // later than the wait
    store<<<1, 1, 0, second>>>(value.get(), 1);
    CHECK_OK(cudaStreamSynchronize(second));
    CHECK(value[0] == 1);
    CHECK_CODE(cudaEventQuery(done), cudaErrorNotReady);
    (void)cudaGetLastError();
    CHECK_FALSE(gate.gave_up());
}

TEST_CASE("synchronising one stream leaves the others alone", "[streams]") {
    PinnedArray<int> value(1, 0);
    const Stream held(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
    Gate gate;
    gate.close(held);
    store<<<1, 1, 0, other>>>(value.get(), 3);
    CHECK_OK(cudaStreamSynchronize(other));
    CHECK(value[0] == 3);
    CHECK_CODE(cudaStreamQuery(held), cudaErrorNotReady);
    (void)cudaGetLastError();
    CHECK_FALSE(gate.gave_up());
}

TEST_CASE("synchronising the device waits for every stream", "[streams]") {
    std::atomic<int> finished{0};
    const auto slow = [](void* counter) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ++*static_cast<std::atomic<int>*>(counter);
    };
    const Stream blocking(cudaStreamDefault), independent(cudaStreamNonBlocking);
    REQUIRE_OK(cudaLaunchHostFunc(blocking, slow, &finished));
    REQUIRE_OK(cudaLaunchHostFunc(independent, slow, &finished));
    REQUIRE_OK(cudaLaunchHostFunc(nullptr, slow, &finished));
    REQUIRE_OK(cudaDeviceSynchronize());
    CHECK(finished == 3);
}

TEST_CASE("host functions take their turn in the stream", "[streams][host functions]") {
    struct Visit {
        PinnedArray<int> value{1, 1};
        int seen = -1;
        std::thread::id thread;
    } visit;
    const Stream stream(cudaStreamNonBlocking);
    const auto look = [](void* data) {
        Visit& here = *static_cast<Visit*>(data);
        here.seen = here.value[0];
        here.value.set(0, 100);
        here.thread = std::this_thread::get_id();
    };
    increment<<<1, 32, 0, stream>>>(visit.value.get());
    REQUIRE_OK(cudaLaunchHostFunc(stream, look, &visit));
    increment<<<1, 32, 0, stream>>>(visit.value.get());
    REQUIRE_OK(cudaStreamSynchronize(stream));
    CHECK(visit.seen == 33);
    CHECK(visit.value[0] == 132);
    CHECK(visit.thread != std::this_thread::get_id());
}

TEST_CASE("a synchronous copy waits for blocking streams", "[streams][copies]") {
    DeviceArray<int> value(std::vector<int>{0});
    const Stream blocking(cudaStreamDefault);
    const auto slow = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
    REQUIRE_OK(cudaLaunchHostFunc(blocking, slow, nullptr));
    store<<<1, 1, 0, blocking>>>(value.get(), 8);
    CHECK(value.download()[0] == 8);  // no other wait
}

TEST_CASE("a destroyed stream finishes its work", "[streams]") {
    PinnedArray<int> value(1, 0);
    cudaStream_t stream = nullptr;
    REQUIRE_OK(cudaStreamCreate(&stream));
    Gate gate;
    gate.close(stream);
    store<<<1, 1, 0, stream>>>(value.get(), 2);
    REQUIRE_OK(cudaStreamDestroy(stream));
    gate.open();
    REQUIRE_OK(cudaDeviceSynchronize());
    CHECK(value[0] == 2);
}

TEST_CASE("freeing memory waits for the device", "[streams][memory]") {
    std::atomic<bool> finished{false};
    const auto slow = [](void* flag) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        *static_cast<std::atomic<bool>*>(flag) = true;
    };
    const Stream independent(cudaStreamNonBlocking);
    int* memory = nullptr;
    REQUIRE_OK(cudaMalloc(&memory, 16));
    REQUIRE_OK(cudaLaunchHostFunc(independent, slow, &finished));
    REQUIRE_OK(cudaFree(memory));
    CHECK(finished);
    REQUIRE_OK(cudaDeviceSynchronize());
}

TEST_CASE("many streams, many launches", "[streams][launch]") {
    constexpr int stream_count = 8, launches = 200;
    DeviceArray<int> counters(std::vector<int>(stream_count, 0));
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < stream_count; ++i) {
        streams.push_back(
            std::make_unique<Stream>(i % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
    }
    for (int n = 0; n < launches; ++n) {
        for (int i = 0; i < stream_count; ++i) {
            increment<<<2, 16, 0, *streams[i]>>>(counters.get() + i);
        }
    }
    REQUIRE_COMPLETES();
    REQUIRE_SAME(counters.download(), std::vector<int>(stream_count, 2 * 16 * launches));
}

TEST_CASE("launches from several host threads", "[streams][launch]") {
    DeviceArray<int> counter(std::vector<int>{0});
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&counter, &failures] {
            for (int n = 0; n < 100; ++n) {
                increment<<<1, 10>>>(counter.get());
                if (cudaGetLastError() != cudaSuccess) ++failures;
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    REQUIRE_COMPLETES();
    CHECK(failures == 0);
    CHECK(counter.download()[0] == 4000);
}

TEST_CASE("flags and priorities of streams", "[streams]") {
    const Stream blocking(cudaStreamDefault), independent(cudaStreamNonBlocking);
    unsigned flags = 99;
    REQUIRE_OK(cudaStreamGetFlags(blocking, &flags));
    CHECK(flags == cudaStreamDefault);
    REQUIRE_OK(cudaStreamGetFlags(independent, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    int least = 1, greatest = 1;
    REQUIRE_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0);
    CHECK(greatest <= least);
    cudaStream_t urgent = nullptr;
    REQUIRE_OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    int priority = 1;
    REQUIRE_OK(cudaStreamGetPriority(urgent, &priority));
    CHECK(priority == greatest);
    REQUIRE_OK(cudaStreamDestroy(urgent));
}
