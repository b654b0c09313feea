/// \file
/// Ratios, their intervals, and the words for them.
#include "compare.hpp"

#include <cmath>

#include "catch.hpp"

namespace {

/// Times around `center` with multiplicative noise of about `noise`.
std::vector<double> noisy(double center, double noise, std::size_t n, mf::Random& random) {
    std::vector<double> values(n);
    for (double& value : values) {
        // A sum of four uniform numbers is close enough to a normal one.
        double sum = -2;
        for (int i = 0; i < 4; ++i)
            sum += random.unit();
        value = center * std::exp(noise * sum);
    }
    return values;
}

mf::Series series(const std::string& name, const std::vector<double>& ms) {
    mf::Series s;
    s.name = name;
    s.ms = ms;
    s.launches_per_sample = 1;
    return s;
}

}  // namespace

TEST_CASE("the ratio is that of the variant to the baseline") {
    const std::vector<double> two(8, 2.0);
    const std::vector<double> three(8, 3.0);
    const mf::Interval paired = mf::paired_ratio(two, three, 1);
    CHECK(paired.estimate == 1.5);
    CHECK(paired.low == 1.5);
    CHECK(paired.high == 1.5);
    CHECK(mf::unpaired_ratio(three, two, 1).estimate == Approx(2.0 / 3));
}

TEST_CASE("pairing cancels what both samples of a pair share") {
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 1; i <= 10; ++i) {  // the clock falls to a tenth, the ratio stays
        a.push_back(i);
        b.push_back(1.1 * i);
    }
    const mf::Interval paired = mf::paired_ratio(a, b, 1);
    CHECK(paired.low == Approx(1.1));
    CHECK(paired.high == Approx(1.1));
    const mf::Interval unpaired = mf::unpaired_ratio(a, b, 1);
    CHECK(unpaired.low < 0.9);
    CHECK(unpaired.high > 1.4);
}

TEST_CASE("the same seed gives the same interval, another seed hardly another") {
    mf::Random random(5);
    const auto a = noisy(1, 0.05, 16, random);
    const auto b = noisy(1.2, 0.05, 16, random);
    const mf::Interval first = mf::paired_ratio(a, b, 7);
    const mf::Interval again = mf::paired_ratio(a, b, 7);
    const mf::Interval other = mf::paired_ratio(a, b, 8);
    CHECK(first.low == again.low);
    CHECK(first.high == again.high);
    CHECK(first.low == Approx(other.low).epsilon(0.03));
    CHECK(first.high == Approx(other.high).epsilon(0.03));
}

TEST_CASE("the interval holds the true ratio about as often as it says") {
    mf::Random random(11);
    const int trials = 150;
    int paired_hits = 0;
    int unpaired_hits = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const auto a = noisy(1, 0.1, 16, random);
        const auto b = noisy(1.3, 0.1, 16, random);
        const mf::Interval paired = mf::paired_ratio(a, b, static_cast<std::uint64_t>(trial));
        const mf::Interval unpaired = mf::unpaired_ratio(a, b, static_cast<std::uint64_t>(trial));
        paired_hits += paired.low <= 1.3 && 1.3 <= paired.high;
        unpaired_hits += unpaired.low <= 1.3 && 1.3 <= unpaired.high;
    }
    // 95 % are promised. The percentile interval of a median of 16 keeps nearly that; three
    // standard errors of 150 trials are 5.3 %.
    CHECK(paired_hits >= 0.88 * trials);
    CHECK(unpaired_hits >= 0.88 * trials);
}

TEST_CASE("verdicts: faster, slower, and inconclusive at every edge") {
    using mf::Verdict;
    CHECK(mf::verdict_of({0.5, 0.45, 0.55}, 16) == Verdict::faster);
    CHECK(mf::verdict_of({1.5, 1.45, 1.55}, 16) == Verdict::slower);
    CHECK(mf::verdict_of({1.0, 0.9, 1.1}, 16) == Verdict::inconclusive);
    CHECK(mf::verdict_of({0.9, 0.8, 1.0}, 16) == Verdict::inconclusive);
    // A difference below 1 % is not called, however sure it is.
    CHECK(mf::verdict_of({0.995, 0.994, 0.996}, 16) == Verdict::inconclusive);
    CHECK(mf::verdict_of({1.005, 1.004, 1.006}, 16) == Verdict::inconclusive);
    // Five pairs cannot give 95 %.
    CHECK(mf::verdict_of({0.5, 0.5, 0.5}, 5) == Verdict::inconclusive);
    CHECK(mf::verdict_of({0.5, 0.5, 0.5}, 6) == Verdict::faster);
}

TEST_CASE("one variant against itself is inconclusive nearly always") {
    mf::Random random(3);
    int called = 0;
    for (int trial = 0; trial < 100; ++trial) {
        const auto a = noisy(1, 0.05, 16, random);
        const auto b = noisy(1, 0.05, 16, random);
        const auto ratio = mf::paired_ratio(a, b, static_cast<std::uint64_t>(trial));
        called += mf::verdict_of(ratio, a.size()) != mf::Verdict::inconclusive;
    }
    CHECK(called <= 0.1 * 100);
}

TEST_CASE("the sentence holds the verdict and what it rests on") {
    const auto direct = series("direct", std::vector<double>(8, 2.0));
    const auto tiled = series("tiled", std::vector<double>(8, 1.0));
    const std::string faster = mf::compare(direct, tiled, mf::Order::interleaved).sentence();
    CHECK(faster.find("tiled is faster than direct") == 0);
    CHECK(faster.find("0.500 of its time") != std::string::npos);
    CHECK(faster.find("8 interleaved pairs") != std::string::npos);

    const std::string slower = mf::compare(tiled, direct, mf::Order::interleaved).sentence();
    CHECK(slower.find("direct is slower than tiled") == 0);

    const std::string same = mf::compare(direct, direct, mf::Order::interleaved).sentence();
    CHECK(same.find("inconclusive") == 0);

    const std::string ordered = mf::compare(direct, tiled, mf::Order::ab).sentence();
    CHECK(ordered.find("order ab") != std::string::npos);
    CHECK(ordered.find("drift") != std::string::npos);

    const auto few = series("few", {1, 1});
    const std::string short_one = mf::compare(few, few, mf::Order::interleaved).sentence();
    CHECK(short_one.find("fewer than 6 samples decide nothing") != std::string::npos);
}

TEST_CASE("senseless times are not compared") {
    CHECK_THROWS_AS(mf::paired_ratio({}, {}, 1), std::invalid_argument);
    CHECK_THROWS_AS(mf::paired_ratio({1, 2}, {1}, 1), std::invalid_argument);
    CHECK_THROWS_AS(mf::paired_ratio({1, 0}, {1, 1}, 1), std::invalid_argument);
    CHECK_THROWS_AS(mf::paired_ratio({1, 1}, {1, -1}, 1), std::invalid_argument);
    CHECK_THROWS_AS(mf::unpaired_ratio({1, NAN}, {1, 1}, 1), std::invalid_argument);
    CHECK_THROWS_AS(mf::unpaired_ratio({1, 1}, {1, INFINITY}, 1), std::invalid_argument);
}
