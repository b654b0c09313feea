/// \file
/// How a measurement is to be made, and the series that comes out of it. Pure C++.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "statistics.hpp"

namespace mf {

/// In which order the variants of a comparison are sampled.
enum class Order {
    interleaved,  ///< A B B A A B B A …: a drift of the clock meets both alike
    ab,           ///< all samples of the first variant, then all of the next
    ba            ///< all samples of the last variant first
};

inline const char* words(Order order) {
    switch (order) {
        case Order::ab:
            return "ab";
        case Order::ba:
            return "ba";
        case Order::interleaved:
            break;
    }
    return "interleaved";
}

struct MeasurePlan {
    int repeats = 16;  ///< samples a series; an even number gives A B and B A equal shares
    int inner = 0;     ///< launches a sample; 0: as many as a sample needs (see sampling.hpp)
    double warm_up_ms = 200;  ///< warm up at least so long (and by at least one launch)
    bool cold = false;        ///< empty the caches before every sample; then a sample is one launch
    Order order = Order::interleaved;
};

/// The SM clock around the samples, in MHz.
struct ClockPair {
    double before_mhz = 0;
    double after_mhz = 0;

    double drift_percent() const { return 100 * (after_mhz - before_mhz) / before_mhz; }
    /// 5 %: a boost clock moves by one or two steps of about 1 % in steady work.
    bool drifted() const { return !(drift_percent() <= 5 && drift_percent() >= -5); }
};

/// What measuring gives: never a bare number. Times are milliseconds a launch.
struct Series {
    std::string name;
    std::string boundary;   ///< what lies inside the interval, in words
    std::string timer;      ///< "CUDA events" or "host steady clock"
    bool emulated = false;  ///< times of the emulator: not to be compared with a GPU's
    bool cold = false;
    double first_ms = 0;       ///< the very first launch: it contains the loading of the code
    int warm_up_launches = 0;  ///< beside the first one
    double warm_up_ms = 0;     ///< how long the warm-up took
    int launches_per_sample = 0;
    std::vector<double> ms;    ///< one a sample, in the order of sampling: sample ÷ launches
    double enqueue_share = 0;  ///< median share of a sample that the host spent on launching
    std::optional<ClockPair> clocks;  ///< none for work without a device

    Summary summary() const { return summarize(ms); }
    /// The length of a whole sample, by the median.
    double sample_ms() const { return median(ms) * launches_per_sample; }
    /// The host could hardly launch faster than the device worked: the time is one of launching.
    /// (Beyond about a thousand waiting launches the host is held up by the queue, and its share
    /// says nothing.)
    bool launch_bound() const { return enqueue_share > 0.9 && launches_per_sample <= 1000; }
};

}  // namespace mf
