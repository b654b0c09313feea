/// \file
/// Is one variant faster than another? A ratio of times with a bootstrap confidence interval, and a
/// verdict in words: faster, slower, or inconclusive.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "random.hpp"
#include "statistics.hpp"

namespace mf {

enum class Verdict { faster, slower, inconclusive };

inline const char* words(Verdict verdict) {
    switch (verdict) {
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "slower";
        case Verdict::inconclusive:
            break;
    }
    return "inconclusive";
}

/// An interval in which the ratio lies with the stated confidence.
struct Interval {
    double estimate = 0;
    double low = 0;
    double high = 0;
};

constexpr double confidence = 0.95;
constexpr int bootstrap_resamples = 5000;

/// The smallest and largest of n paired ratios enclose the true median with probability
/// 1 - 2^(1-n); six pairs are the fewest for which that reaches 95 %. With fewer there is no
/// honest 95 % interval at all, whatever the bootstrap says.
constexpr std::size_t fewest_pairs = 6;

/// Differences below 1 % are not called: another placement of the same buffers makes as much.
constexpr double smallest_difference = 0.01;

namespace detail {

inline void require_positive(const std::vector<double>& times) {
    if (times.empty()) throw std::invalid_argument("no samples to compare");
    for (const double time : times) {
        if (!(time > 0) || !std::isfinite(time)) {
            throw std::invalid_argument("only positive, finite times can be compared");
        }
    }
}

/// The median, by selection instead of sorting; reorders its argument.
inline double median_in_place(std::vector<double>& values) {
    const std::size_t middle = values.size() / 2;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
    std::nth_element(values.begin(), at, values.end());
    if (values.size() % 2 == 1) return *at;
    return (*at + *std::max_element(values.begin(), at)) / 2;
}

inline void resample(const std::vector<double>& from, std::vector<double>& to, Random& random) {
    to.resize(from.size());
    for (double& value : to)
        value = from[static_cast<std::size_t>(random.below(from.size()))];
}

/// The percentile interval: the bootstrap distribution's own 2.5 % and 97.5 % quantiles. Efron and
/// Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. Their BCa interval (chapter
/// 14) is not taken: its acceleration comes from the jackknife, which fails for a median.
inline Interval percentile_interval(double estimate, std::vector<double> resampled) {
    std::sort(resampled.begin(), resampled.end());
    const double tail = (1 - confidence) / 2;
    return {estimate, quantile_of_sorted(resampled, tail), quantile_of_sorted(resampled, 1 - tail)};
}

}  // namespace detail

/// variant ÷ baseline for samples taken side by side: the median of the ratios of each pair. Pairs
/// are drawn as pairs, so what both share (the clock of that moment) cancels. The same seed gives
/// the same interval.
inline Interval paired_ratio(const std::vector<double>& baseline,
                             const std::vector<double>& variant, std::uint64_t seed) {
    detail::require_positive(baseline);
    detail::require_positive(variant);
    if (baseline.size() != variant.size()) {
        throw std::invalid_argument("pairs need as many samples of one variant as of the other");
    }
    std::vector<double> ratios(baseline.size());
    for (std::size_t i = 0; i < ratios.size(); ++i)
        ratios[i] = variant[i] / baseline[i];

    Random random(seed);
    std::vector<double> drawn;
    std::vector<double> medians(bootstrap_resamples);
    for (double& value : medians) {
        detail::resample(ratios, drawn, random);
        value = detail::median_in_place(drawn);
    }
    return detail::percentile_interval(median(ratios), std::move(medians));
}

/// variant ÷ baseline for samples that were not taken side by side: the ratio of the medians, each
/// series drawn by itself.
inline Interval unpaired_ratio(const std::vector<double>& baseline,
                               const std::vector<double>& variant, std::uint64_t seed) {
    detail::require_positive(baseline);
    detail::require_positive(variant);
    Random random(seed);
    std::vector<double> drawn;
    std::vector<double> ratios(bootstrap_resamples);
    for (double& value : ratios) {
        detail::resample(variant, drawn, random);
        const double numerator = detail::median_in_place(drawn);
        detail::resample(baseline, drawn, random);
        value = numerator / detail::median_in_place(drawn);
    }
    return detail::percentile_interval(median(variant) / median(baseline), std::move(ratios));
}

/// What an interval of variant ÷ baseline from `samples` samples allows to say.
inline Verdict verdict_of(const Interval& ratio, std::size_t samples) {
    if (samples < fewest_pairs) return Verdict::inconclusive;
    if (ratio.high < 1 - smallest_difference) return Verdict::faster;
    if (ratio.low > 1 + smallest_difference) return Verdict::slower;
    return Verdict::inconclusive;
}

/// Two series held against each other.
struct Comparison {
    std::string baseline;
    std::string variant;
    Order order = Order::interleaved;
    Interval ratio;           ///< time of the variant ÷ time of the baseline
    std::size_t samples = 0;  ///< of each
    std::uint64_t seed = 0;   ///< of the bootstrap
    Verdict verdict = Verdict::inconclusive;

    bool paired() const { return order == Order::interleaved; }

    /// The verdict as a sentence, with everything that it rests on.
    std::string sentence() const {
        char numbers[200];
        std::snprintf(numbers, sizeof numbers,
                      "%.3f of its time, 95 %% interval %.3f to %.3f, %zu %s", ratio.estimate,
                      ratio.low, ratio.high, samples,
                      paired() ? "interleaved pairs" : "samples each");
        std::string text = verdict == Verdict::inconclusive
                               ? "inconclusive: " + variant + " against " + baseline
                               : variant + " is " + words(verdict) + " than " + baseline;
        text += std::string(" (") + numbers + ")";
        if (samples < fewest_pairs) {
            text += "; fewer than " + std::to_string(fewest_pairs) + " samples decide nothing";
        } else if (verdict == Verdict::inconclusive) {
            text += "; the interval does not exclude a difference below 1 %";
        }
        if (!paired()) {
            text += std::string("; order ") + words(order) +
                    ": a drift of the clock between the two is part of this ratio";
        }
        return text;
    }
};

/// Compares two series that were measured by one call of measure_variants.
inline Comparison compare(const Series& baseline, const Series& variant, Order order,
                          std::uint64_t seed = 1) {
    Comparison comparison;
    comparison.baseline = baseline.name;
    comparison.variant = variant.name;
    comparison.order = order;
    comparison.samples = std::min(baseline.ms.size(), variant.ms.size());
    comparison.seed = seed;
    comparison.ratio = comparison.paired() ? paired_ratio(baseline.ms, variant.ms, seed)
                                           : unpaired_ratio(baseline.ms, variant.ms, seed);
    comparison.verdict = verdict_of(comparison.ratio, comparison.samples);
    return comparison;
}

}  // namespace mf
