/// \file
/// Results against a reference: every element, and the first wrong one named. Pure C++.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace mf {

/// The outcome of one check, as it is printed and recorded.
struct CheckResult {
    std::string name;
    bool passed = false;
    std::string message;  ///< empty if passed; else the first wrong place, expected and actual

    const char* words() const { return passed ? "PASS" : "FAIL"; }
};

/// Compares all elements; `same(expected, actual)` decides, and `place(index)` names a position.
template <typename Values, typename OtherValues, typename Same>
CheckResult check_all(const std::string& name, const Values& expected, const OtherValues& actual,
                      Same&& same, const std::function<std::string(std::size_t)>& place = {}) {
    CheckResult result;
    result.name = name;
    std::ostringstream message;
    if (expected.size() != actual.size()) {
        message << expected.size() << " elements expected, " << actual.size() << " found";
        result.message = message.str();
        return result;
    }
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (same(expected[i], actual[i])) continue;
        if (wrong++ == 0) first = i;
    }
    result.passed = wrong == 0;
    if (!result.passed) {
        message.precision(9);
        // Unary plus prints a byte as a number.
        message << (place ? place(first) : "element " + std::to_string(first)) << ": expected "
                << +expected[first] << ", found " << +actual[first] << " (" << wrong << " of "
                << expected.size() << " wrong)";
        result.message = message.str();
    }
    return result;
}

/// Equal, element by element. A NaN equals nothing and so never passes.
template <typename Values, typename OtherValues>
CheckResult check_equal(const std::string& name, const Values& expected, const OtherValues& actual,
                        const std::function<std::string(std::size_t)>& place = {}) {
    return check_all(
        name, expected, actual, [](const auto& e, const auto& a) { return e == a; }, place);
}

/// Within `relative` of the expected magnitude or within `absolute`. The test is of the form "is
/// within", so that a NaN, which is within nothing, never passes.
template <typename Values, typename OtherValues>
CheckResult check_close(const std::string& name, const Values& expected, const OtherValues& actual,
                        double relative, double absolute = 0) {
    return check_all(name, expected, actual, [relative, absolute](const auto& e, const auto& a) {
        const double difference = std::fabs(static_cast<double>(a) - static_cast<double>(e));
        return difference <= absolute + relative * std::fabs(static_cast<double>(e));
    });
}

/// Throws WrongResult for a failed check: nothing is timed after it.
inline void require(const CheckResult& check) {
    if (!check.passed) throw WrongResult(check.name + ": FAIL: " + check.message);
}

/// "direct=PASS, tiled=FAIL": the line that a program prints.
inline std::string checks_line(const std::vector<CheckResult>& checks) {
    std::string line;
    for (const CheckResult& check : checks) {
        line += (line.empty() ? "" : ", ") + check.name + "=" + check.words();
    }
    return line;
}

inline bool all_passed(const std::vector<CheckResult>& checks) {
    for (const CheckResult& check : checks) {
        if (!check.passed) return false;
    }
    return true;
}

}  // namespace mf
