/// \file
/// Every conversion of units, every refusal of a senseless time, every rate.
#include "units.hpp"

#include <cmath>

#include "catch.hpp"
#include "rates.hpp"
#include "sampling.hpp"

namespace {

mf::Series series_of(double ms, bool cold = false) {
    mf::Series series;
    series.name = "test";
    series.ms = {ms, ms, ms};
    series.launches_per_sample = 1;
    series.cold = cold;
    return series;
}

mf::Ceilings h200() {
    return {4814.0, 4240.0, 60u << 20, std::nullopt};
}

std::string refusal(double ms) {
    try {
        mf::require_time(ms, "blur");
    } catch (const mf::MeasurementRefused& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("the data-sheet bandwidth comes from clock and bus width, doubled") {
    // A memory of 5005 MHz on 256 bits: 320 GB/s, not 32 and not 160.
    CHECK(*mf::peak_gb_per_s(5005000, 256) == Approx(320.32));
    CHECK(*mf::peak_gb_per_s(3201000, 6016) == Approx(4814.304));
    CHECK(*mf::peak_gb_per_s(877000, 4096) == Approx(898.048));
}

TEST_CASE("a memory clock or bus width of 0 makes the peak unknown, not 0 and not infinite") {
    CHECK_FALSE(mf::peak_gb_per_s(0, 256).has_value());
    CHECK_FALSE(mf::peak_gb_per_s(5005000, 0).has_value());
    CHECK_FALSE(mf::peak_gb_per_s(-1, 256).has_value());
    CHECK_FALSE(mf::percent_of(100, std::nullopt).has_value());
    CHECK_FALSE(mf::percent_of(100, 0.0).has_value());
}

TEST_CASE("GB are 10^9 bytes and GiB are 2^30") {
    CHECK(mf::gb_of_bytes(1e9) == 1);
    CHECK(mf::gib_of_bytes(1073741824) == 1);
    CHECK(mf::gb_of_bytes(1073741824) == Approx(1.073741824));
    CHECK(mf::mib_of_bytes(1048576) == 1);
    CHECK(mf::gb_per_s(1e9, 1000) == Approx(1));
    CHECK(mf::gb_per_s(1073741824, 1) == Approx(1073.741824));
    CHECK(mf::gb_per_s(320, 0.001) == Approx(0.32));
}

TEST_CASE("times and clocks") {
    CHECK(mf::us_of_ms(0.5) == 500);
    CHECK(mf::ms_of_ns(1.5e6) == 1.5);
    CHECK(mf::mhz_of_khz(1980000) == 1980);
    CHECK(mf::mhz_of_cycles(1980000, 1e6) == Approx(1980));
    CHECK(mf::mhz_of_cycles(1000000, 1e6) == Approx(1000));
}

TEST_CASE("logical bytes: saxpy moves 12 bytes an element, an image filter 2 a pixel") {
    CHECK(mf::saxpy_bytes(4194304) == 50331648);
    CHECK(mf::saxpy_bytes(1) == 12);
    CHECK(mf::image_filter_bytes(1003 * 769) == 1542614);
}

TEST_CASE("numbers for people") {
    CHECK(mf::fixed(1.005, 1) == "1.0");
    CHECK(mf::readable(4814.3) == "4814");
    CHECK(mf::readable(320.32) == "320.3");
    CHECK(mf::readable(32.032) == "32.03");
    CHECK(mf::readable(3.2032) == "3.203");
    CHECK(mf::readable(0.00432) == "0.00432");
    CHECK(mf::readable_bytes(48 * 1024) == "48 KiB");
    CHECK(mf::readable_bytes(0) == "0 bytes");
    CHECK(mf::readable_bytes(50331648) == "48 MiB");
    CHECK(mf::readable_bytes(1.5 * 1024 * 1024) == "1.500 MiB");
}

TEST_CASE("a senseless time is refused, with the reason and the two questions") {
    CHECK(refusal(NAN).find("is not a number") != std::string::npos);
    CHECK(refusal(INFINITY).find("is not finite") != std::string::npos);
    CHECK(refusal(-0.25).find("is negative") != std::string::npos);
    CHECK(refusal(0).find("is zero") != std::string::npos);
    CHECK(refusal(1e-42).find("below what events can tell apart") != std::string::npos);
    CHECK(refusal(0.00099).find("below what events can tell apart") != std::string::npos);
    for (const double ms : {double(NAN), double(INFINITY), -1.0, 0.0, 1e-42}) {
        const std::string text = refusal(ms);
        CHECK(text.find("blur") == 0);
        CHECK(text.find("Did the launch fail?") != std::string::npos);
        CHECK(text.find("Is the stream of the events empty") != std::string::npos);
        CHECK(text.find('\n') == std::string::npos);
        CHECK_THROWS_AS(mf::gb_per_s(1e9, ms), mf::MeasurementRefused);
    }
    CHECK(mf::require_time(0.001, "blur") == 0.001);
}

TEST_CASE("a finer clock may tell a shorter time, but never none") {
    CHECK(mf::require_time(0.0005, "launch", 0) == 0.0005);
    CHECK_THROWS_AS(mf::require_time(0.0005, "launch"), mf::MeasurementRefused);
    CHECK_THROWS_AS(mf::require_time(0, "launch", 0), mf::MeasurementRefused);
    CHECK_THROWS_AS(mf::require_time(-1, "launch", -2), mf::MeasurementRefused);
}

TEST_CASE("a rate needs bytes") {
    CHECK_THROWS_AS(mf::gb_per_s(0, 1), mf::MeasurementRefused);
    CHECK_THROWS_AS(mf::gb_per_s(-1, 1), mf::MeasurementRefused);
    CHECK_THROWS_AS(mf::gb_per_s(NAN, 1), mf::MeasurementRefused);
    CHECK_THROWS_AS(mf::gb_per_s(INFINITY, 1), mf::MeasurementRefused);
}

TEST_CASE("a rate is held against the data sheet and against the copy of this run") {
    const auto rate = *mf::rate_of(series_of(1), 2.407e9, h200());
    CHECK(rate.gb_per_s == Approx(2407));
    CHECK(*rate.percent_of_data_sheet == Approx(50));
    CHECK(*rate.percent_of_copy == Approx(100 * 2407.0 / 4240));
    CHECK(rate.residency == mf::Residency::memory);
    CHECK(rate.note().empty());
}

TEST_CASE("more than the data sheet is flagged as cache-resident and not clamped") {
    const auto rate = *mf::rate_of(series_of(1), 5.019e9, h200());
    CHECK(rate.gb_per_s == Approx(5019));
    CHECK(*rate.percent_of_data_sheet == Approx(104.26).epsilon(0.001));
    CHECK(rate.residency == mf::Residency::cached);
    CHECK(rate.note().find("cache-resident") == 0);
}

TEST_CASE("data that fit the L2 cache are flagged below 100 % too, unless it was emptied") {
    const double bytes = mf::saxpy_bytes(4194304);
    const double footprint = bytes * 8 / 12;
    const double ms = bytes / 4021e9 * 1e3;  // 84 % of the data sheet, out of the L2
    const auto warm = *mf::rate_of(series_of(ms), bytes, h200(), footprint);
    CHECK(*warm.percent_of_data_sheet < 100);
    CHECK(warm.residency == mf::Residency::possibly_cached);
    CHECK(warm.note().find("may be cache-resident") == 0);
    const auto cold = *mf::rate_of(series_of(ms, true), bytes, h200(), footprint);
    CHECK(cold.residency == mf::Residency::memory);
}

TEST_CASE("the footprint may be smaller than the logical bytes") {
    const mf::Ceilings ceilings{4814.0, 4240.0, 40u << 20, std::nullopt};
    const auto small = *mf::rate_of(series_of(1), 60e6, ceilings, 40e6);
    const auto large = *mf::rate_of(series_of(1), 60e6, ceilings);
    CHECK(small.residency == mf::Residency::possibly_cached);
    CHECK(large.residency == mf::Residency::memory);
}

TEST_CASE("an unknown peak leaves the percent unknown") {
    const auto rate = *mf::rate_of(series_of(1), 1e9, mf::Ceilings{});
    CHECK_FALSE(rate.percent_of_data_sheet.has_value());
    CHECK_FALSE(rate.percent_of_copy.has_value());
    CHECK(rate.gb_per_s == Approx(1000));
}

TEST_CASE("a drift of the clock above 5 % is a drift, up or down") {
    CHECK_FALSE(mf::ClockPair{1980, 1980}.drifted());
    CHECK_FALSE(mf::ClockPair{1000, 1049}.drifted());
    CHECK(mf::ClockPair{1000, 1051}.drifted());
    CHECK(mf::ClockPair{1000, 949}.drifted());
    CHECK(mf::ClockPair{210, 3150}.drift_percent() == Approx(1400));
}
