/// \file
/// Measuring work on the device and whole tasks on the host, by the rules of sampling.hpp.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache.hpp"
#include "check.hpp"
#include "clock.hpp"
#include "device.hpp"
#include "event_timer.hpp"
#include "plan.hpp"
#include "rates.hpp"
#include "sampling.hpp"

namespace mf {

/// Work on the device, timed by events.
struct Variant {
    std::string name;
    std::string boundary;                      ///< what lies between the events, in words
    std::function<void(cudaStream_t)> launch;  ///< puts one launch of the work into the stream
    std::function<void(cudaStream_t)> prepare = {};  ///< before each sample, outside; may be empty
};

/// A whole task, timed by the host's steady clock. `work` must wait for all that it starts.
struct HostVariant {
    std::string name;
    std::string boundary;
    std::function<void()> work;
    std::function<void()> prepare = {};
};

namespace detail {

/// Refuses an interval whose work goes on after its end: part of it lies in another stream, or was
/// not waited for. One late wake-up of the host proves nothing, three do. Not looked at under a
/// tool that does work of its own at every wait.
inline void require_idle_after(const std::string& name,
                               const std::function<double()>& interval_ms) {
    if (!attached_tool().empty()) return;
    double interval = 0;
    double tail = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        CUDA_CHECK(cudaDeviceSynchronize());
        interval = interval_ms();
        const auto end = SteadyClock::now();
        CUDA_CHECK(cudaDeviceSynchronize());
        tail = ms_since(end);
        if (tail < 0.1 + 0.25 * interval) return;
    }
    throw MeasurementRefused(name + ": the device worked on for " + readable(tail) +
                             " ms after the end of an interval of " + readable(interval) +
                             " ms. Is part of the work in another stream than the events, or not "
                             "waited for?");
}

inline TimedInterval time_by_events(const Variant& variant, cudaStream_t stream, int launches) {
    EventTimer timer(stream);
    timer.start();
    const auto enqueue_start = SteadyClock::now();
    for (int i = 0; i < launches; ++i) {
        variant.launch(stream);
        check_launch(variant.name.c_str(), __FILE__, __LINE__);
    }
    const double enqueue_ms = ms_since(enqueue_start);
    timer.stop();
    return {timer.elapsed_ms(variant.name), enqueue_ms};
}

inline TimedInterval time_by_host(const HostVariant& variant, int launches) {
    const auto start = SteadyClock::now();
    for (int i = 0; i < launches; ++i)
        variant.work();
    return {ms_since(start), 0};
}

/// Warming up by time lets the clock of a GPU settle; an emulated device has none.
constexpr double emulated_warm_up_ms = 20;

/// Takes the samples with the clock of the device read around them.
inline std::vector<Series> take_samples_on_device(const MeasurePlan& plan, cudaStream_t stream,
                                                  const std::vector<Subject>& subjects,
                                                  const char* timer) {
    const bool emulated = current_device().emulated;
    MeasurePlan fitting = plan;
    if (emulated) fitting.warm_up_ms = std::min(plan.warm_up_ms, emulated_warm_up_ms);
    std::vector<Subject> shortened = subjects;
    const bool with_tool = !attached_tool().empty();
    if (with_tool) {  // its times mean nothing, and it makes each launch slow
        fitting.warm_up_ms = 0;
        fitting.repeats = fitting.inner = 1;
        for (Subject& subject : shortened)
            subject.validate = {};
    }
    auto all = take_samples(
        fitting, shortened, [stream, with_tool](const std::vector<Series*>& series, bool after) {
            if (with_tool) return;
            const double mhz = sm_clock_mhz(stream);
            for (Series* const one : series) {
                if (!after) one->clocks.emplace();
                (after ? one->clocks->after_mhz : one->clocks->before_mhz) = mhz;
            }
        });
    for (Series& series : all) {
        series.timer = timer;
        series.emulated = emulated;
    }
    return all;
}

}  // namespace detail

/// Measures variants of the same work, interleaved or in the order that the plan asks for.
inline std::vector<Series> measure_variants(const MeasurePlan& plan, cudaStream_t stream,
                                            const std::vector<Variant>& variants) {
    const auto flusher = plan.cold ? std::make_shared<CacheFlusher>() : nullptr;
    std::vector<Subject> subjects;
    for (const Variant& variant : variants) {
        Subject subject;
        subject.name = variant.name;
        subject.boundary = variant.boundary;
        // Before the start event, in the same stream: done when the interval begins, not inside it.
        subject.prepare = [&variant, stream, flusher] {
            if (variant.prepare) variant.prepare(stream);
            if (flusher) flusher->flush(stream);
        };
        subject.time = [&variant, stream](int launches) {
            return detail::time_by_events(variant, stream, launches);
        };
        subject.validate = [&variant, stream](int launches) {
            detail::require_idle_after(variant.name, [&variant, stream, launches] {
                return detail::time_by_events(variant, stream, launches).total_ms;
            });
        };
        subjects.push_back(std::move(subject));
    }
    return detail::take_samples_on_device(plan, stream, subjects, "CUDA events");
}

/// Measures one piece of work on the device.
inline Series measure(const MeasurePlan& plan, cudaStream_t stream, const Variant& variant) {
    return measure_variants(plan, stream, {variant}).front();
}

inline Series measure(const MeasurePlan& plan, cudaStream_t stream, const std::string& name,
                      const std::string& boundary, std::function<void(cudaStream_t)> launch) {
    return measure(plan, stream, Variant{name, boundary, std::move(launch), {}});
}

/// Takes samples of intervals that the program times by itself, with whatever clock; `timer` says
/// which. Warm-up, order and the reading of the SM clock are those of measure_variants.
inline std::vector<Series> measure_subjects(const MeasurePlan& plan, cudaStream_t stream,
                                            const std::vector<Subject>& subjects,
                                            const char* timer) {
    return detail::take_samples_on_device(plan, stream, subjects, timer);
}

/// Measures whole tasks by the host's steady clock: right for work that waits for itself (uploads,
/// kernels, downloads, host code), and wrong for a bare launch, which returns before its work
/// began.
inline std::vector<Series> measure_host_variants(const MeasurePlan& plan,
                                                 const std::vector<HostVariant>& variants) {
    const auto flusher = plan.cold ? std::make_shared<CacheFlusher>() : nullptr;
    std::vector<Subject> subjects;
    for (const HostVariant& variant : variants) {
        Subject subject;
        subject.name = variant.name;
        subject.boundary = variant.boundary;
        subject.prepare = [&variant, flusher] {
            if (variant.prepare) variant.prepare();
            if (!flusher) return;
            flusher->flush(nullptr);
            CUDA_CHECK(cudaDeviceSynchronize());
        };
        subject.time = [&variant](int launches) { return detail::time_by_host(variant, launches); };
        subject.least_ms = 0;  // the steps of the host's clock are nanoseconds
        subject.validate = [&variant](int launches) {
            detail::require_idle_after(variant.name, [&variant, launches] {
                return detail::time_by_host(variant, launches).total_ms;
            });
        };
        subjects.push_back(std::move(subject));
    }
    return detail::take_samples_on_device(plan, nullptr, subjects, "host steady clock");
}

inline Series measure_host(const MeasurePlan& plan, const std::string& name,
                           const std::string& boundary, std::function<void()> work) {
    return measure_host_variants(plan, {HostVariant{name, boundary, std::move(work), {}}}).front();
}

}  // namespace mf
