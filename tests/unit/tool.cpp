/// \file
/// What a run under compute-sanitizer or a profiler leads to.
#include <cstdlib>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "record.hpp"
#include "report.hpp"
#include "sample_record.hpp"

namespace {

/// Sets a variable of the environment for as long as it lives.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

}  // namespace

TEST_CASE("without a tool there is no reason to keep rates back") {
    CHECK(mf::attached_tool().empty());
    CHECK(mf::reason_for_no_rates().empty());
    CHECK(sample_record().text().find("\"tool\": null") != std::string::npos);
}

TEST_CASE("a tool is recognised by the variables that it sets") {
    {
        const Variable sanitizer("NV_SANITIZER_INJECTION_PORT_BASE", "49152");
        CHECK(mf::attached_tool() == "compute-sanitizer");
    }
    for (const char* const name : {"NV_NSIGHT_INJECTION_PORT_BASE", "CUDA_INJECTION64_PATH"}) {
        const Variable profiler(name, "1");
        CHECK(mf::attached_tool() == "a profiler");
    }
}

TEST_CASE("a run under a tool gives no rate and no verdict, and says why") {
    const Variable sanitizer("NV_SANITIZER_INJECTION_PORT_BASE", "49152");
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
    mf::print_comparison(out, mf::Comparison{});
    CHECK(out.str().find("GB/s") == std::string::npos);
    CHECK(out.str().find("Run under compute-sanitizer") != std::string::npos);
    CHECK(out.str().find("no verdict") != std::string::npos);
    CHECK(sample_record().text().find("\"tool\": \"compute-sanitizer\"") != std::string::npos);
}

TEST_CASE("the revision of the environment goes before the build's") {
    const Variable revision("MEASURE_FIRST_REVISION", "0123456789ab");
    CHECK(mf::source_revision() == "0123456789ab");
}
