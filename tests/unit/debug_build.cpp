/// \file
/// What nvcc -G leads to: this file is compiled with __CUDACC_DEBUG__ defined.
#include <sstream>

#include "catch.hpp"
#include "record.hpp"
#include "report.hpp"
#include "sample_record.hpp"

static_assert(mf::device_debug_build, "to be compiled with -D__CUDACC_DEBUG__");

TEST_CASE("a build with device debugging gives no rate and prints none") {
    mf::Series series;
    series.name = "direct";
    series.timer = "CUDA events";
    series.ms = {1, 1, 1};
    series.launches_per_sample = 1;
    const mf::Ceilings ceilings{4814.0, 4240.0, 0, std::nullopt};
    const auto rate = mf::rate_of(series, 1e9, ceilings);
    CHECK_FALSE(rate.has_value());

    std::ostringstream out;
    mf::print_ceilings(out, ceilings);
    mf::print_series(out, "kernel ms", {series}, {rate});
    CHECK(out.str().find("GB/s") == std::string::npos);
    CHECK(out.str().find("Built with -G") != std::string::npos);
}

TEST_CASE("a record of such a build says so and holds no rate") {
    const std::string text = sample_record().text();
    CHECK(text.find("\"device_debug\": true") != std::string::npos);
    CHECK(text.find("\"gb_per_s\"") == std::string::npos);
}
