/// \file
/// Statistics against series whose values can be worked out by hand.
#include "statistics.hpp"

#include <limits>

#include "catch.hpp"

using mf::median;
using mf::quantile;
using mf::summarize;

TEST_CASE("the median of an odd number of values is the middle one") {
    CHECK(median({7}) == 7);
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({5, 1, 4, 2, 3}) == 3);
}

TEST_CASE("the median of an even number of values is the mean of the two in the middle") {
    CHECK(median({1, 2}) == 1.5);
    CHECK(median({4, 1, 3, 2}) == 2.5);
    CHECK(median({10, 1, 2, 100}) == 6);
    CHECK(median({6, 5, 4, 3, 2, 1}) == 3.5);
    CHECK(median({2, 2, 2, 2}) == 2);
}

TEST_CASE("quantiles interpolate linearly between neighbours (type 7)") {
    const std::vector<double> values{15, 20, 35, 40, 50};
    CHECK(quantile(values, 0) == 15);
    CHECK(quantile(values, 1) == 50);
    CHECK(quantile(values, 0.25) == 20);
    CHECK(quantile(values, 0.4) == Approx(29));
    CHECK(quantile({0, 10}, 0.05) == Approx(0.5));
    CHECK(quantile({0, 10}, 0.95) == Approx(9.5));
    CHECK(quantile({42}, 0.95) == 42);
}

TEST_CASE("quantiles refuse what has none") {
    CHECK_THROWS_AS(quantile({}, 0.5), std::invalid_argument);
    CHECK_THROWS_AS(quantile({1, 2}, -0.1), std::invalid_argument);
    CHECK_THROWS_AS(quantile({1, 2}, 1.1), std::invalid_argument);
    CHECK_THROWS_AS(quantile({1, 2}, std::numeric_limits<double>::quiet_NaN()),
                    std::invalid_argument);
}

TEST_CASE("a summary of a known series") {
    const mf::Summary s = summarize({9, 2, 5, 4, 4, 4, 5, 7});
    CHECK(s.n == 8);
    CHECK(s.min == 2);
    CHECK(s.median == 4.5);
    CHECK(s.mean == 5);
    // Squared deviations 16+9+0+1+1+1+0+4 = 32, over n - 1 = 7.
    CHECK(s.cv == Approx(std::sqrt(32.0 / 7) / 5));
    CHECK(s.p05 == Approx(2 + 0.35 * 2));
    CHECK(s.p95 == Approx(7 + 0.65 * 2));
}

TEST_CASE("a summary of one sample has no spread") {
    const mf::Summary s = summarize({3});
    CHECK(s.n == 1);
    CHECK(s.cv == 0);
    CHECK(s.min == 3);
    CHECK(s.p95 == 3);
}

TEST_CASE("a summary refuses no samples, NaN and infinity") {
    CHECK_THROWS_AS(summarize({}), std::invalid_argument);
    CHECK_THROWS_AS(summarize({1, std::numeric_limits<double>::quiet_NaN()}),
                    std::invalid_argument);
    CHECK_THROWS_AS(summarize({std::numeric_limits<double>::infinity()}), std::invalid_argument);
}
