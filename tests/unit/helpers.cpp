/// \file
/// The small parts: generator, checks of results, table, exit status.
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

#include "catch.hpp"
#include "program.hpp"
#include "random.hpp"
#include "table.hpp"
#include "verify.hpp"

TEST_CASE("the generator gives the published sequence") {
    // The first values of SplitMix64 for the seed 1234567, as its authors' code gives them.
    mf::Random random(1234567);
    CHECK(random.bits() == 6457827717110365317u);
    CHECK(random.bits() == 3203168211198807973u);
    CHECK(random.bits() == 9817491932198370423u);
}

TEST_CASE("the same seed gives the same data, another seed other data") {
    CHECK(mf::random_bytes(1003, 1) == mf::random_bytes(1003, 1));
    CHECK(mf::random_bytes(1003, 1) != mf::random_bytes(1003, 2));
    CHECK(mf::random_bytes(0, 1).empty());
    // A shorter run is the beginning of a longer one.
    const auto longer = mf::random_bytes(1003, 9);
    CHECK(mf::random_bytes(5, 9) == std::vector<unsigned char>(longer.begin(), longer.begin() + 5));
}

TEST_CASE("every byte value comes, about equally often") {
    std::vector<int> counts(256, 0);
    for (const unsigned char byte : mf::random_bytes(256 * 1000, 3))
        ++counts[byte];
    for (const int count : counts) {
        CHECK(count > 1000 - 6 * 32);
        CHECK(count < 1000 + 6 * 32);
    }
}

TEST_CASE("numbers stay in their range") {
    mf::Random random(0);
    for (int i = 0; i < 10000; ++i) {
        CHECK(random.below(7) < 7);
        const double unit = random.unit();
        CHECK((unit >= 0 && unit < 1));
        const float value = random.uniform(-1, 1);
        CHECK((value >= -1 && value <= 1));
    }
    CHECK(random.below(1) == 0);
}

TEST_CASE("all elements are compared, not the first ones only") {
    std::vector<int> expected(1000, 7);
    std::vector<int> actual = expected;
    CHECK(mf::check_equal("copy", expected, actual).passed);
    actual.back() = 8;
    const mf::CheckResult result = mf::check_equal("copy", expected, actual);
    CHECK_FALSE(result.passed);
    CHECK(result.message == "element 999: expected 7, found 8 (1 of 1000 wrong)");
    CHECK_THROWS_AS(mf::require(result), mf::WrongResult);
}

TEST_CASE("a length that differs is a failure, none at all is not") {
    CHECK_FALSE(mf::check_equal("a", std::vector<int>{1, 2}, std::vector<int>{1}).passed);
    CHECK(mf::check_equal("a", std::vector<int>{}, std::vector<int>{}).passed);
}

TEST_CASE("bytes are shown as numbers, and places by name") {
    const std::vector<unsigned char> expected{65, 66};
    const std::vector<unsigned char> actual{65, 7};
    const auto place = [](std::size_t i) { return "pixel (" + std::to_string(i) + ", 0)"; };
    CHECK(mf::check_equal("blur", expected, actual, place).message ==
          "pixel (1, 0): expected 66, found 7 (1 of 2 wrong)");
}

TEST_CASE("a NaN never passes, whatever the tolerance") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK_FALSE(mf::check_close("x", std::vector<float>{1}, std::vector<float>{nan}, 1e9).passed);
    CHECK_FALSE(mf::check_close("x", std::vector<float>{nan}, std::vector<float>{1}, 1e9).passed);
    CHECK_FALSE(mf::check_close("x", std::vector<float>{nan}, std::vector<float>{nan}, 1e9).passed);
    CHECK_FALSE(mf::check_equal("x", std::vector<float>{nan}, std::vector<float>{nan}).passed);
    CHECK_FALSE(
        mf::check_close("x", std::vector<float>{1}, std::vector<float>{infinity}, 1e-6).passed);
}

TEST_CASE("tolerances are relative to what was expected, plus an absolute part") {
    const std::vector<double> expected{100};
    CHECK(mf::check_close("x", expected, std::vector<double>{100.9}, 0.01).passed);
    CHECK_FALSE(mf::check_close("x", expected, std::vector<double>{101.1}, 0.01).passed);
    CHECK(mf::check_close("x", std::vector<double>{0}, std::vector<double>{0.1}, 0, 0.2).passed);
    CHECK_FALSE(mf::check_close("x", std::vector<double>{0}, std::vector<double>{0.1}, 0.5).passed);
}

TEST_CASE("the line of checks") {
    CHECK(mf::checks_line({{"direct", true, ""}, {"tiled", false, "x"}}) ==
          "direct=PASS, tiled=FAIL");
    CHECK_FALSE(mf::all_passed({{"direct", true, ""}, {"tiled", false, "x"}}));
    CHECK(mf::all_passed({}));
}

TEST_CASE("a table lines up") {
    mf::Table table({"variant", "kernel ms", "GB/s"});
    table.add_row({"direct", "1.5", "300"});
    table.add_row({"tiled version", "12.25"});
    std::ostringstream out;
    table.print(out);
    CHECK(out.str() ==
          "variant        kernel ms  GB/s\n"
          "direct               1.5   300\n"
          "tiled version      12.25\n");
}

TEST_CASE("exceptions become the exit status") {
    char name[] = "program";
    char* argv[] = {name, nullptr};
    const auto status = [&](auto body) { return mf::run_program(1, argv, body); };
    CHECK(status([](int, char**) { return 0; }) == 0);
    CHECK(status([](int, char**) { return 1; }) == 1);
    CHECK(status([](int, char**) -> int { throw mf::UsageError("x"); }) == 2);
    CHECK(status([](int, char**) -> int { throw mf::NoDevice("x"); }) == 77);
    CHECK(status([](int, char**) -> int { throw mf::WrongResult("x"); }) == 1);
    CHECK(status([](int, char**) -> int { throw mf::MeasurementRefused("x"); }) == 1);
    CHECK(status([](int, char**) -> int { throw std::bad_alloc(); }) == 1);
}
