/// \file
/// What a series of samples says: order statistics, mean, spread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace mf {

/// The `q`-quantile (0 <= q <= 1) of values that are sorted already, interpolated linearly between
/// the two neighbours: type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The
/// American Statistician 50 (1996). Throws std::invalid_argument for no values or q outside.
inline double quantile_of_sorted(const std::vector<double>& sorted, double q) {
    if (sorted.empty()) throw std::invalid_argument("no samples, no quantile");
    if (!(q >= 0 && q <= 1)) throw std::invalid_argument("a quantile lies between 0 and 1");
    const double position = q * static_cast<double>(sorted.size() - 1);
    const std::size_t below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = position - static_cast<double>(below);
    return sorted[below] + weight * (sorted[above] - sorted[below]);
}

inline double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return quantile_of_sorted(values, q);
}

/// The middle value; of an even number of values, the mean of the two in the middle.
inline double median(std::vector<double> values) {
    return quantile(std::move(values), 0.5);
}

/// A series in seven numbers. The median is the one to quote: an interrupted sample moves the mean
/// and the largest value, hardly the median.
struct Summary {
    std::size_t n = 0;
    double min = 0;
    double median = 0;
    double p05 = 0;  ///< 5 % of the samples lie below
    double p95 = 0;  ///< 5 % of the samples lie above
    double mean = 0;
    double cv = 0;  ///< coefficient of variation: sample standard deviation (n - 1) over mean
};

/// Throws std::invalid_argument for an empty series or one that holds a NaN or an infinity.
inline Summary summarize(const std::vector<double>& samples) {
    if (samples.empty()) throw std::invalid_argument("no samples, no summary");
    for (const double sample : samples) {
        if (!std::isfinite(sample)) throw std::invalid_argument("a sample is not a finite number");
    }
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());

    Summary summary;
    summary.n = sorted.size();
    summary.min = sorted.front();
    summary.median = quantile_of_sorted(sorted, 0.5);
    summary.p05 = quantile_of_sorted(sorted, 0.05);
    summary.p95 = quantile_of_sorted(sorted, 0.95);

    const double n = static_cast<double>(sorted.size());
    double sum = 0;
    for (const double sample : sorted)
        sum += sample;
    summary.mean = sum / n;

    double squares = 0;
    for (const double sample : sorted)
        squares += (sample - summary.mean) * (sample - summary.mean);
    const double deviation = sorted.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
    summary.cv = summary.mean != 0 ? deviation / std::fabs(summary.mean) : 0;
    return summary;
}

}  // namespace mf
