/// \file
/// Events: what each state answers, what lies between two of them, and what does not.

#include "support.hpp"

using namespace conformance;

namespace {

/// Keeps the device busy for a known time.
__global__ void spin(unsigned long long nanoseconds) {
    const unsigned long long start = globaltimer_ns();
    while (globaltimer_ns() - start < nanoseconds) {
    }
}

}  // namespace

TEST_CASE("an event that was never recorded", "[events]") {
    const Event never, recorded;
    REQUIRE_OK(cudaEventRecord(recorded));
    REQUIRE_OK(cudaEventSynchronize(recorded));
    CHECK_OK(cudaEventQuery(never));
    CHECK_OK(cudaEventSynchronize(never));
    CHECK_OK(cudaStreamWaitEvent(nullptr, never, 0));
    float ms = -1;
    CHECK_FAILS(cudaEventElapsedTime(&ms, recorded, never), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaEventElapsedTime(&ms, never, recorded), cudaErrorInvalidResourceHandle);
    CHECK_OK(cudaDeviceSynchronize());
}

TEST_CASE("an event without timing", "[events]") {
    const Event timed, untimed(cudaEventDisableTiming);
    REQUIRE_OK(cudaEventRecord(timed));
    REQUIRE_OK(cudaEventRecord(untimed));
    REQUIRE_OK(cudaEventSynchronize(untimed));
    CHECK_OK(cudaEventQuery(untimed));
    float ms = -1;
    CHECK_FAILS(cudaEventElapsedTime(&ms, timed, untimed), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaEventElapsedTime(&ms, untimed, timed), cudaErrorInvalidResourceHandle);
    CHECK_FAILS(cudaEventElapsedTime(nullptr, timed, timed), cudaErrorInvalidValue);
}

TEST_CASE("elapsed time read before the stop event is reached", "[events]") {
    const Stream stream(cudaStreamNonBlocking);
    const Event start, stop;
    Gate gate;
    REQUIRE_OK(cudaEventRecord(start, stream));
    gate.close(stream);
    REQUIRE_OK(cudaEventRecord(stop, stream));
    CHECK_CODE(cudaEventQuery(stop), cudaErrorNotReady);
    float ms = -1;
    CHECK_FAILS(cudaEventElapsedTime(&ms, start, stop), cudaErrorNotReady);
    gate.open();
    REQUIRE_OK(cudaEventSynchronize(stop));
    CHECK_OK(cudaEventQuery(stop));
    REQUIRE_OK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(ms > 0);
    (void)cudaGetLastError();
}

TEST_CASE("elapsed time contains the work between the events", "[events][time]") {
    const Stream stream(cudaStreamNonBlocking);
    const Event start, stop;
    for (const int milliseconds : {1, 5, 20}) {
        REQUIRE_OK(cudaEventRecord(start, stream));
        spin<<<1, 1, 0, stream>>>(milliseconds * 1000000ull);
        REQUIRE_OK(cudaGetLastError());
        REQUIRE_OK(cudaEventRecord(stop, stream));
        REQUIRE_OK(cudaEventSynchronize(stop));
        float ms = -1;
        REQUIRE_OK(cudaEventElapsedTime(&ms, start, stop));
        CHECK(ms >= 0.99f * milliseconds);
    }
}

TEST_CASE("elapsed time has a sign and adds up", "[events][time]") {
    const Event first, second, third;
    REQUIRE_OK(cudaEventRecord(first));
    spin<<<1, 1>>>(1000000);
    REQUIRE_OK(cudaEventRecord(second));
    spin<<<1, 1>>>(2000000);
    REQUIRE_OK(cudaEventRecord(third));
    REQUIRE_OK(cudaEventSynchronize(third));
    float to_second = 0, to_third = 0, whole = 0, back = 0, none = -1;
    REQUIRE_OK(cudaEventElapsedTime(&to_second, first, second));
    REQUIRE_OK(cudaEventElapsedTime(&to_third, second, third));
    REQUIRE_OK(cudaEventElapsedTime(&whole, first, third));
    REQUIRE_OK(cudaEventElapsedTime(&back, third, first));
    REQUIRE_OK(cudaEventElapsedTime(&none, first, first));
    CHECK(whole == Approx(to_second + to_third).epsilon(0.001));
    CHECK(back == Approx(-whole).epsilon(0.001));
    CHECK(none == 0.0f);
    CHECK(to_third >= 1.98f);
}

// Case 4: with the events on another stream than the work, the time is that of nothing.
TEST_CASE("events in the wrong stream do not contain the work", "[events][streams]") {
    const Stream work(cudaStreamNonBlocking);
    const Event wrong_start, wrong_stop, right_stop;
    Gate gate;
    REQUIRE_OK(cudaEventRecord(wrong_start));
    gate.close(work);
    REQUIRE_OK(cudaEventRecord(right_stop, work));
    REQUIRE_OK(cudaEventRecord(wrong_stop));
    CHECK_OK(cudaEventSynchronize(wrong_stop));
    float ms = -1;
    CHECK_OK(cudaEventElapsedTime(&ms, wrong_start, wrong_stop));
    CHECK(ms >= 0);
    CHECK_CODE(cudaEventQuery(right_stop), cudaErrorNotReady);
    gate.open();
    CHECK_OK(cudaEventSynchronize(right_stop));
    CHECK_FALSE(gate.gave_up());
    (void)cudaGetLastError();
}

TEST_CASE("an event stands for its latest record", "[events]") {
    const Stream stream(cudaStreamNonBlocking);
    const Event event;
    REQUIRE_OK(cudaEventRecord(event, stream));
    REQUIRE_OK(cudaEventSynchronize(event));
    Gate gate;
    gate.close(stream);
    CHECK_OK(cudaEventQuery(event));
    REQUIRE_OK(cudaEventRecord(event, stream));
    CHECK_CODE(cudaEventQuery(event), cudaErrorNotReady);
    gate.open();
    CHECK_OK(cudaEventSynchronize(event));
    CHECK_OK(cudaEventQuery(event));
    (void)cudaGetLastError();
}

TEST_CASE("an event recorded on the legacy stream waits for blocking streams",
          "[events][streams]") {
    const Stream blocking(cudaStreamDefault);
    const Event event;
    Gate gate;
    gate.close(blocking);
    REQUIRE_OK(cudaEventRecord(event));
    let_things_happen();
    CHECK_CODE(cudaEventQuery(event), cudaErrorNotReady);
    gate.open();
    CHECK_OK(cudaEventSynchronize(event));
    (void)cudaGetLastError();
}

TEST_CASE("a destroyed event's record still completes its stream", "[events]") {
    const Stream stream(cudaStreamNonBlocking);
    cudaEvent_t event = nullptr;
    REQUIRE_OK(cudaEventCreate(&event));
    Gate gate;
    gate.close(stream);
    REQUIRE_OK(cudaEventRecord(event, stream));
    REQUIRE_OK(cudaEventDestroy(event));
    gate.open();
    CHECK_OK(cudaStreamSynchronize(stream));
}
