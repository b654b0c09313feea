/// \file
/// The device's clocks and the special registers that tell where a thread runs.

#include "support.hpp"

using namespace conformance;

namespace {

__device__ unsigned multiprocessor() {
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

__device__ unsigned lane() {
    unsigned number;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(number));
    return number;
}

/// Differences of the cycle counter around growing amounts of work; `sink` keeps the work.
__global__ void read_cycles(long long* cycles, int readings, unsigned* sink) {
    unsigned state = threadIdx.x;
    for (int i = 0; i < readings; ++i) {
        cycles[i] = clock64();
        for (int step = 0; step < 1000; ++step)
            state = state * 1664525u + 1013904223u;
        *sink = state;
    }
}

__global__ void spin(unsigned long long nanoseconds, unsigned long long* times, long long* cycles) {
    times[0] = globaltimer_ns();
    cycles[0] = clock64();
    while (globaltimer_ns() - times[0] < nanoseconds) {
    }
    cycles[1] = clock64();
    times[1] = globaltimer_ns();
}

__global__ void spin_by_short_clock(unsigned long long nanoseconds, unsigned* elapsed) {
    const unsigned long long start = globaltimer_ns();
    const clock_t before = clock();
    while (globaltimer_ns() - start < nanoseconds) {
    }
    *elapsed = static_cast<unsigned>(clock() - before);  // modulo 2^32
}

__global__ void where(unsigned* multiprocessors, unsigned* lanes) {
    if (threadIdx.x == 0) multiprocessors[blockIdx.x] = multiprocessor();
    if (blockIdx.x == 0) lanes[threadIdx.x] = lane();
}

__global__ void take_naps(unsigned* out) {
    for (int i = 0; i < 10; ++i)
        __nanosleep(100);
    *out = 1;
}

}  // namespace

TEST_CASE("the cycle counter never runs backwards", "[clocks]") {
    constexpr int readings = 100;
    const DeviceArray<long long> cycles(readings);
    const DeviceArray<unsigned> sink(1);
    read_cycles<<<1, 1>>>(cycles.get(), readings, sink.get());
    REQUIRE_COMPLETES();
    const std::vector<long long> seen = cycles.download();
    for (int i = 1; i < readings; ++i)
        REQUIRE(seen[i] >= seen[i - 1]);
    CHECK(seen[readings - 1] > seen[0]);
}

TEST_CASE("the timer measures what the host measures", "[clocks][time]") {
    const DeviceArray<unsigned long long> times(2);
    const DeviceArray<long long> cycles(2);
    for (const int milliseconds : {1, 10}) {
        const auto before = std::chrono::steady_clock::now();
        spin<<<1, 1>>>(milliseconds * 1000000ull, times.get(), cycles.get());
        REQUIRE_COMPLETES();
        const std::chrono::duration<double, std::milli> host =
            std::chrono::steady_clock::now() - before;
        const auto seen = times.download();
        const double device = (seen[1] - seen[0]) / 1e6;
        CHECK(device >= milliseconds);
        CHECK(host.count() >= 0.98 * milliseconds);
        CHECK(device <= 1.02 * host.count() + 0.01);
        // Any clock between 100 MHz and 10 GHz.
        const auto counted = cycles.download();
        const double megahertz = (counted[1] - counted[0]) / (device * 1e3);
        CHECK(megahertz > 100);
        CHECK(megahertz < 10000);
    }
}

TEST_CASE("the short clock goes on", "[clocks]") {
    const DeviceArray<unsigned> elapsed(std::vector<unsigned>{0});
    spin_by_short_clock<<<1, 1>>>(1000000, elapsed.get());
    REQUIRE_COMPLETES();
    CHECK(elapsed.download()[0] > 0);
}

TEST_CASE("blocks run on multiprocessors that exist", "[clocks]") {
    constexpr unsigned blocks = 200;
    const DeviceArray<unsigned> multiprocessors(blocks), lanes(64);
    where<<<blocks, 64>>>(multiprocessors.get(), lanes.get());
    REQUIRE_COMPLETES();
    const unsigned count = attribute(cudaDevAttrMultiProcessorCount);
    for (const unsigned number : multiprocessors.download())
        REQUIRE(number < count);
    const std::vector<unsigned> seen = lanes.download();
    for (unsigned thread = 0; thread < 64; ++thread)
        REQUIRE(seen[thread] == thread % 32);
}

TEST_CASE("a thread may sleep", "[clocks]") {
    const DeviceArray<unsigned> out(1);
    take_naps<<<1, 1>>>(out.get());
    REQUIRE_COMPLETES();
    CHECK(out.download()[0] == 1);
}
