/// \file
/// How samples are taken: first launch, warm-up, batch size, order. Pure C++: it neither knows what
/// is timed nor with which clock, so that tests drive it with a clock of their own.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "plan.hpp"
#include "program.hpp"
#include "units.hpp"

namespace mf {

/// One interval as it was measured.
struct TimedInterval {
    double total_ms = 0;    ///< the whole interval
    double enqueue_ms = 0;  ///< host time spent on launching; 0 where that has no meaning
};

/// Something to be timed.
struct Subject {
    std::string name;
    std::string boundary;
    std::function<void()> prepare;           ///< before each sample, outside the interval; or empty
    std::function<TimedInterval(int)> time;  ///< one interval that holds so many launches
    std::function<void(int)> validate;       ///< throws if it misses work; or empty
    double least_ms = 2 * event_resolution_ms;  ///< a shorter interval is refused
};

/// A sample of several launches lasts at least this long. Two errors shrink with its length: the
/// resolution of the events (0.5 us, here 0.05 %) and what one pair of events carries of the launch
/// between them (about 5 us measured on an H200, here 0.5 %). Longer samples would buy little and
/// let interruptions in.
constexpr double least_sample_ms = 1.0;

/// No sample holds more launches: 2 us each, the fastest a host launches, make 0.2 s.
constexpr int most_launches = 100000;

/// How many launches to try next, when `launches` took `ms`: as many as the least length needs and
/// a fifth more, but at most ten times as many, since the first guesses rest on a cold clock.
inline int next_batch(int launches, double ms) {
    const double needed = ms > 0 ? std::ceil(1.2 * launches * least_sample_ms / ms) : 1e9;
    const double bounded = std::min({needed, 10.0 * launches, static_cast<double>(most_launches)});
    return std::max(launches, static_cast<int>(bounded));
}

namespace detail {

using SteadyClock = std::chrono::steady_clock;

inline double ms_since(SteadyClock::time_point start) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

inline TimedInterval checked_interval(const Subject& subject, int launches) {
    if (subject.prepare) subject.prepare();
    const TimedInterval interval = subject.time(launches);
    require_time(interval.total_ms, subject.name, subject.least_ms);
    return interval;
}

inline void validate(const Subject& subject, int launches) {
    if (!subject.validate) return;
    if (subject.prepare) subject.prepare();
    subject.validate(launches);
}

/// The first launch, reported apart; then launches until both the time is over and a sample has its
/// length. On return the series knows how many launches a sample holds.
inline void warm_up(const Subject& subject, const MeasurePlan& plan, Series& series) {
    const bool automatic = plan.inner == 0 && !plan.cold;
    int launches = plan.cold ? 1 : std::max(plan.inner, 1);
    series.first_ms = checked_interval(subject, 1).total_ms;
    // Before any batch grows on it: an interval that misses its work looks short.
    validate(subject, 1);

    const auto start = SteadyClock::now();
    bool long_enough = false;
    do {
        const double ms = checked_interval(subject, launches).total_ms;
        series.warm_up_launches += launches;
        long_enough = !automatic || ms >= least_sample_ms || launches >= most_launches;
        if (!long_enough) launches = next_batch(launches, ms);
    } while (!long_enough || ms_since(start) < plan.warm_up_ms);
    series.warm_up_ms = ms_since(start);
    series.launches_per_sample = launches;
    if (launches > 1) validate(subject, launches);
}

}  // namespace detail

/// Takes `plan.repeats` samples of each subject in the plan's order; the series come in the order
/// of the subjects. `around` is called between warm-up and samples (false) and after them (true),
/// with the series concerned: the place to read the clock.
inline std::vector<Series> take_samples(
    const MeasurePlan& plan, const std::vector<Subject>& subjects,
    const std::function<void(const std::vector<Series*>&, bool after)>& around = {}) {
    std::vector<Series> all(subjects.size());
    std::vector<std::vector<double>> enqueue(subjects.size());
    const auto sample = [&](std::size_t i) {
        const int launches = all[i].launches_per_sample;
        const TimedInterval interval = detail::checked_interval(subjects[i], launches);
        all[i].ms.push_back(interval.total_ms / launches);
        enqueue[i].push_back(interval.enqueue_ms / interval.total_ms);
    };
    const auto call_around = [&](const std::vector<std::size_t>& which, bool after) {
        if (!around) return;
        std::vector<Series*> series;
        for (const std::size_t i : which)
            series.push_back(&all[i]);
        around(series, after);
    };

    std::vector<std::size_t> forward(subjects.size());
    for (std::size_t i = 0; i < subjects.size(); ++i)
        forward[i] = i;
    const std::vector<std::size_t> backward(forward.rbegin(), forward.rend());

    for (const std::size_t i : forward) {
        all[i].name = subjects[i].name;
        all[i].boundary = subjects[i].boundary;
        all[i].cold = plan.cold;
    }
    if (plan.order == Order::interleaved) {
        for (const std::size_t i : forward)
            detail::warm_up(subjects[i], plan, all[i]);
        call_around(forward, false);
        for (int round = 0; round < plan.repeats; ++round) {
            for (const std::size_t i : round % 2 == 0 ? forward : backward)
                sample(i);
        }
        call_around(forward, true);
    } else {
        for (const std::size_t i : plan.order == Order::ab ? forward : backward) {
            detail::warm_up(subjects[i], plan, all[i]);
            call_around({i}, false);
            for (int round = 0; round < plan.repeats; ++round)
                sample(i);
            call_around({i}, true);
        }
    }
    for (const std::size_t i : forward)
        all[i].enqueue_share = median(enqueue[i]);
    return all;
}

}  // namespace mf
