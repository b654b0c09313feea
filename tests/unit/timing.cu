/// \file
/// The measuring headers on a device: one source for a GPU and for the emulator. Times on a shared
/// machine are long at will and never short, so bounds from below are tight and those from above
/// are set far from what a mistake would give.
#include "timing.hpp"

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "catch.hpp"
#include "device.hpp"
#include "fastest_device.hpp"
#include "gate.hpp"
#include "stream.hpp"

namespace {

/// Keeps one thread of the device busy for so many nanoseconds.
__global__ void spin(unsigned long long ns) {
    const unsigned long long start = mf::global_timer_ns();
    while (mf::global_timer_ns() - start < ns) {
    }
}

__global__ void fill(int* values, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = value;
}

void launch_spin(double ms, cudaStream_t stream) {
    spin<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(ms * 1e6));
    CUDA_CHECK_LAUNCH();
}

mf::MeasurePlan quick(int repeats = 4) {
    mf::MeasurePlan plan;
    plan.repeats = repeats;
    plan.warm_up_ms = 0;
    return plan;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

template <typename Work>
std::string refusal_of(Work&& work) {
    try {
        work();
    } catch (const mf::MeasurementRefused& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("owners of streams, events and memory can be moved and not copied") {
    const auto move_only = [](auto type) {
        using T = typename decltype(type)::type;
        return std::is_move_constructible<T>::value && std::is_move_assignable<T>::value &&
               !std::is_copy_constructible<T>::value && !std::is_copy_assignable<T>::value;
    };
    CHECK(move_only(std::common_type<mf::Stream>()));
    CHECK(move_only(std::common_type<mf::Event>()));
    CHECK(move_only(std::common_type<mf::EventTimer>()));
    CHECK(move_only(std::common_type<mf::DeviceBuffer<int>>()));
    CHECK(move_only(std::common_type<mf::PinnedBuffer<int>>()));
    CHECK(move_only(std::common_type<mf::CacheFlusher>()));

    mf::DeviceBuffer<int> a(std::vector<int>{1, 2, 3});
    mf::DeviceBuffer<int> b = std::move(a);
    CHECK(a.size() == 0);
    a = std::move(b);
    CHECK(a.download() == std::vector<int>{1, 2, 3});
}

TEST_CASE("a buffer of no elements is none") {
    mf::DeviceBuffer<int> empty(0);
    CHECK(empty.bytes() == 0);
    empty.upload(std::vector<int>{});
    empty.poison();
    CHECK(empty.download().empty());
    CHECK(mf::PinnedBuffer<int>(0).bytes() == 0);
    CHECK_THROWS_AS(empty.upload(std::vector<int>{1}), std::invalid_argument);
    CHECK_THROWS_AS(mf::DeviceBuffer<double>(~std::size_t{0} / 4), std::length_error);
}

TEST_CASE("a poisoned buffer holds no old result") {
    mf::DeviceBuffer<unsigned> buffer(std::vector<unsigned>{1, 2, 3});
    buffer.poison();
    CHECK(buffer.download() == std::vector<unsigned>(3, 0xA5A5A5A5u));
}

TEST_CASE("a download waits for work in a non-blocking stream") {
    const mf::Stream stream;
    mf::DeviceBuffer<int> values(std::vector<int>(1000, 0));
    launch_spin(20, stream);
    fill<<<4, 256, 0, stream>>>(values.get(), 1000, 7);
    CUDA_CHECK_LAUNCH();
    CHECK(values.download() == std::vector<int>(1000, 7));
}

TEST_CASE("a timer in the stream of the work contains the work") {
    const mf::Stream stream;
    for (const double ms : {1.0, 20.0}) {
        const double measured = mf::time_once_ms(stream, [&] { launch_spin(ms, stream); });
        CHECK(measured >= ms);
    }
}

TEST_CASE("work behind a gate waits until the gate is opened, and other streams do not") {
    const mf::Stream held;
    const mf::Stream other;
    const mf::DeviceBuffer<int> values(std::vector<int>{0, 0});
    {
        mf::Gate gate(held);
        fill<<<1, 1, 0, held>>>(values.get(), 1, 7);
        CUDA_CHECK_LAUNCH();
        fill<<<1, 1, 0, other>>>(values.get() + 1, 1, 8);
        CUDA_CHECK_LAUNCH();
        other.synchronize();
        CHECK(cudaStreamQuery(held) == cudaErrorNotReady);
        static_cast<void>(cudaGetLastError());
        gate.open();
        held.synchronize();
        gate.open();
    }
    CHECK(values.download() == std::vector<int>{7, 8});
    {
        const mf::Gate never_opened(held);
        fill<<<1, 1, 0, held>>>(values.get(), 1, 9);
        CUDA_CHECK_LAUNCH();
    }
    CHECK(values.download()[0] == 9);
}

TEST_CASE("intervals that a program times by itself are sampled like the others") {
    const mf::Stream stream;
    mf::Subject subject;
    subject.name = "asleep";
    subject.boundary = "a made-up time";
    subject.time = [](int launches) { return mf::TimedInterval{2.0 * launches, 0}; };
    const auto all = mf::measure_subjects(quick(3), stream, {subject}, "host steady clock");
    CHECK(all[0].ms == std::vector<double>(3, 2.0));
    CHECK(all[0].timer == "host steady clock");
    CHECK(all[0].clocks.has_value());
}

TEST_CASE("a timer in another stream does not contain the work") {
    const mf::Stream work;
    const mf::Stream other;
    launch_spin(0.01, work);
    work.synchronize();
    constexpr double ms = 200;
    mf::EventTimer timer(other);
    timer.start();
    launch_spin(ms, work);
    timer.stop();
    double measured = 0;  // a time too small for a launch is refused, which is as good
    const std::string refused =
        refusal_of([&] { measured = timer.elapsed_ms("in another stream"); });
    CHECK((!refused.empty() || measured < ms / 2));
    work.synchronize();
}

TEST_CASE("measuring refuses work in another stream than the events") {
    const mf::Stream stream;
    const mf::Stream other;
    const std::string refused = refusal_of([&] {
        static_cast<void>(mf::measure(quick(), stream, "astray", "nothing",
                                      [&](cudaStream_t) { launch_spin(20, other); }));
    });
    INFO(refused);
    CHECK(contains(refused, "astray"));
    CHECK(contains(refused, "stream"));
    other.synchronize();
}

TEST_CASE("measuring refuses an interval with nothing in it") {
    const mf::Stream stream;
    mf::MeasurePlan plan = quick();
    plan.inner = 1;
    // Two events in a row lie about as far apart as a clock step; where the pair happens to be
    // farther apart than an event resolves, there is a time, and it is tiny.
    double measured = 0;
    const std::string refused = refusal_of([&] {
        measured = mf::median(mf::measure(plan, stream, "empty", "", [](cudaStream_t) {}).ms);
    });
    CHECK((contains(refused, "Is the stream of the events empty") || measured < 0.5));
}

TEST_CASE("a host clock around a bare launch sees only the launch") {
    const mf::Stream stream;
    launch_spin(0.01, stream);
    stream.synchronize();
    constexpr double ms = 200;
    const auto start = std::chrono::steady_clock::now();
    launch_spin(ms, stream);
    const double enqueued = mf::detail::ms_since(start);
    stream.synchronize();
    const double completed = mf::detail::ms_since(start);
    CHECK(enqueued < ms / 2);
    CHECK(completed >= ms);
}

TEST_CASE("measuring on the host refuses work that does not wait for itself") {
    const mf::Stream stream;
    const std::string refused = refusal_of([&] {
        static_cast<void>(mf::measure_host(quick(), "not waited for", "a launch",
                                           [&] { launch_spin(20, stream); }));
    });
    CHECK(contains(refused, "not waited for"));
    const mf::Series waited = mf::measure_host(quick(), "waited for", "a launch and its end", [&] {
        launch_spin(5, stream);
        stream.synchronize();
    });
    CHECK(waited.summary().min >= 5);
    CHECK(waited.timer == "host steady clock");
}

TEST_CASE("a task of the host may be shorter than what events can tell apart") {
    mf::MeasurePlan plan = quick();
    plan.inner = 1;
    int done = 0;
    const mf::Series series = mf::measure_host(plan, "count", "one addition", [&] { ++done; });
    CHECK(done >= 4);
    CHECK(series.summary().min > 0);
}

TEST_CASE("the first launch is reported apart") {
    const mf::Stream stream;
    int launches = 0;
    const mf::Series series = mf::measure(quick(5), stream, "lazy", "a spin", [&](cudaStream_t s) {
        launch_spin(launches++ == 0 ? 200 : 2, s);
    });
    CHECK(series.first_ms >= 200);
    CHECK(series.summary().min >= 2);
    CHECK(series.summary().median < 100);
}

TEST_CASE("a short kernel is batched, and its time is that of one launch") {
    const mf::Stream stream;
    mf::MeasurePlan plan = quick();
    plan.warm_up_ms = 20;  // every undisturbed launch of it makes too short a batch grow
    const mf::Series series = mf::measure(plan, stream, "short", "a spin of 50 us",
                                          [](cudaStream_t s) { launch_spin(0.05, s); });
    CHECK(series.launches_per_sample > 1);
    CHECK(series.sample_ms() >= 0.9 * mf::least_sample_ms);
    CHECK(series.summary().min >= 0.05);
    REQUIRE(series.clocks);
    CHECK(series.clocks->before_mhz > 0);
}

TEST_CASE("what prepares a sample lies outside the interval") {
    const mf::Stream stream;
    mf::Variant variant{"prepared", "a spin of 1 ms", [](cudaStream_t s) { launch_spin(1, s); },
                        [](cudaStream_t s) { launch_spin(100, s); }};
    const mf::Series series = mf::measure(quick(3), stream, variant);
    CHECK(series.summary().min >= 1);
    CHECK(series.summary().median < 60);
}

TEST_CASE("the flush of a cold sample lies outside the interval") {
    const mf::Stream stream;
    mf::MeasurePlan plan = quick(5);
    plan.cold = true;
    const mf::Series cold = mf::measure(plan, stream, "cold", "a spin of 1 us",
                                        [](cudaStream_t s) { launch_spin(0.001, s); });
    CHECK(cold.cold);
    CHECK(cold.launches_per_sample == 1);

    const mf::CacheFlusher flusher;
    CHECK(flusher.bytes() >= 2 * mf::current_device().l2_bytes);
    CHECK(flusher.bytes() >= (std::size_t{1} << 20));
    const mf::Series flush = mf::measure(quick(5), stream, "flush", "the flush alone",
                                         [&](cudaStream_t s) { flusher.flush(s); });
    // On a GPU a launch alone takes 5 to 10 us and a flush five times that at the least.
    CHECK(cold.summary().min < flush.summary().median);
}

TEST_CASE("variants are told apart in words, interleaved") {
    const mf::Stream stream;
    const std::vector<mf::Variant> variants{
        {"one", "a spin of 2 ms", [](cudaStream_t s) { launch_spin(2, s); }},
        {"other", "a spin of 6 ms", [](cudaStream_t s) { launch_spin(6, s); }}};
    const auto series = mf::measure_variants(quick(12), stream, variants);
    const auto comparison = mf::compare(series[0], series[1], mf::Order::interleaved);
    INFO(comparison.sentence());
    CHECK(comparison.verdict == mf::Verdict::slower);
    CHECK(mf::compare(series[1], series[0], mf::Order::interleaved).verdict == mf::Verdict::faster);
}

TEST_CASE("a timer used out of turn says so") {
    const mf::Stream stream;
    mf::EventTimer timer(stream);
    CHECK_THROWS_AS(timer.stop(), std::logic_error);
    CHECK_THROWS_AS(static_cast<void>(timer.elapsed_ms()), std::logic_error);
    timer.start();
    CHECK_THROWS_AS(static_cast<void>(timer.elapsed_ms()), std::logic_error);
}

TEST_CASE("a launch beyond the limits is an error with the limits named, never a time") {
    const mf::Stream stream;
    const auto too_large = [](cudaStream_t s) { spin<<<1, 4096, 0, s>>>(1000); };
    std::string message;
    try {
        // The launcher does not check; measuring does.
        static_cast<void>(mf::measure(quick(), stream, "too large", "a launch", too_large));
    } catch (const mf::CudaError& error) {
        message = error.what();
        // CUDA 13 gives the first, earlier versions give the second.
        const bool known =
            error.code() == cudaErrorInvalidValue || error.code() == cudaErrorInvalidConfiguration;
        CHECK(known);
    }
    INFO(message);
    CHECK(contains(message, "too large"));
    CHECK(contains(message, "cudaErrorInvalid"));
    CHECK(contains(message, "1024 threads a block"));
    // The error is taken back: the next launch is judged by itself.
    launch_spin(0.01, stream);
    stream.synchronize();
}

TEST_CASE("a failed call names the call, the place and the remedy") {
    std::string message;
    try {
        void* pointer = nullptr;
        CUDA_CHECK(cudaMalloc(&pointer, std::size_t{1} << 62));
    } catch (const mf::CudaError& error) {
        message = error.what();
    }
    CHECK(contains(message, "timing.cu:"));
    CHECK(contains(message, "cudaMalloc(&pointer"));
    CHECK(contains(message, "cudaErrorMemoryAllocation"));
    CHECK(contains(message, "smaller input"));
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("remedies name what to do") {
    const auto info = mf::current_device();
    const std::string arch =
        "-arch=sm_" + std::to_string(info.compute_major) + std::to_string(info.compute_minor);
    CHECK(contains(mf::remedy(cudaErrorNoKernelImageForDevice), arch));
    CHECK(contains(mf::remedy(cudaErrorUnsupportedPtxVersion), "update the driver"));
    CHECK(contains(mf::remedy(cudaErrorUnsupportedPtxVersion), arch));
    CHECK(contains(mf::remedy(cudaErrorNoDevice), "CUDA_VISIBLE_DEVICES"));
    CHECK(contains(mf::remedy(cudaErrorDevicesUnavailable), "--device"));
    CHECK(contains(mf::remedy(cudaErrorInvalidConfiguration), "1024 threads a block"));
    for (const cudaError_t code :
         {cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert, cudaErrorLaunchFailure,
          cudaErrorMisalignedAddress, cudaErrorECCUncorrectable}) {
        CHECK(mf::is_sticky(code));
        CHECK(contains(mf::remedy(code), "must be restarted"));
    }
    CHECK_FALSE(mf::is_sticky(cudaErrorInvalidValue));
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a device that is not there is bad usage where there are others") {
    CHECK_THROWS_AS(mf::pick_device(99), mf::UsageError);
    CHECK_THROWS_AS(mf::pick_device(-1), mf::UsageError);
    const mf::DeviceInfo info = mf::pick_device(0);
    CHECK_FALSE(info.name.empty());
    CHECK(info.multiprocessors > 0);
    if (info.emulated) {
        CHECK_FALSE(info.peak_gb_per_s.has_value());
        CHECK(info.driver_model == "emulated");
    }
}

TEST_CASE("the fastest device has the most SMs times clock; the first of equals") {
    std::vector<mf::DeviceInfo> devices(3);
    CHECK(mf::fastest_of({}) == 0);
    CHECK(mf::fastest_of(devices) == 0);
    const int multiprocessors[] = {40, 132, 142};
    const int clocks_khz[] = {1500000, 1980000, 1200000};
    for (std::size_t i = 0; i < devices.size(); ++i) {
        devices[i].multiprocessors = multiprocessors[i];
        devices[i].clock_khz = clocks_khz[i];
    }
    CHECK(mf::fastest_of(devices) == 1);
    CHECK(mf::pick_device(mf::fastest_device()).multiprocessors > 0);
}

TEST_CASE("the clock and the ceilings of this run") {
    const mf::Stream stream;
    const double mhz = mf::sm_clock_mhz(stream);
    CHECK(mhz > 100);
    CHECK(mhz < 5000);
    const mf::Ceilings ceilings = mf::measure_ceilings(stream, mf::current_device());
    REQUIRE(ceilings.copy_gb_per_s);
    CHECK(*ceilings.copy_gb_per_s > 0);
    REQUIRE(ceilings.launch_overhead);
    CHECK(ceilings.launch_overhead->single_ms >= 2 * mf::event_resolution_ms);
}

TEST_CASE("what is emulated says so, in the series and in print") {
    const mf::Stream stream;
    const auto series = mf::measure(quick(), stream, "spin", "a spin of 1 ms",
                                    [](cudaStream_t s) { launch_spin(1, s); });
    std::ostringstream out;
    mf::print_conditions(out, mf::current_device());
    mf::print_series(out, "kernel ms", {series});
    const bool emulated = mf::current_device().emulated;
    CHECK(series.emulated == emulated);
    CHECK(contains(out.str(), "EMULATED") == emulated);
    CHECK(contains(out.str(), "spin (emulated)") == emulated);
}
