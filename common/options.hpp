/// \file
/// The command line: strict, the same options in every program, one clear line for what is wrong.
/// Values come as "--name value" or "--name=value".
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "program.hpp"

namespace mf {

/// What every program can be told.
struct CommonOptions {
    int device = 0;
    MeasurePlan plan;
    std::uint64_t seed = 1;  ///< of the test data and of the bootstrap
    std::string json;        ///< file of the record; empty: none; "-": standard output
};

/// A width and a height in pixels.
struct ImageSize {
    int width = 0;
    int height = 0;
};

constexpr int most_repeats = 10000;
constexpr int most_inner = 1000000;
constexpr int longest_image_side = 65536;

/// A whole number in decimal digits and nothing else: no sign, no blank, no exponent. Returns false
/// where `text` is none, or lies outside [low, high].
inline bool parse_whole(const std::string& text, std::uint64_t low, std::uint64_t high,
                        std::uint64_t& value) {
    if (text.empty()) return false;
    std::uint64_t parsed = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') return false;
        const std::uint64_t next = static_cast<std::uint64_t>(digit - '0');
        if (parsed > (std::numeric_limits<std::uint64_t>::max() - next) / 10) return false;
        parsed = parsed * 10 + next;
    }
    if (parsed < low || parsed > high) return false;
    value = parsed;
    return true;
}

/// The number of insertions, deletions and replacements that turn `a` into `b` (Levenshtein).
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

/// Declares a program's options, then parses its command line.
class OptionParser {
public:
    /// `purpose`: one sentence for --help.
    OptionParser(std::string program, std::string purpose)
        : program_(std::move(program)), purpose_(std::move(purpose)) {}

    /// The options that all programs have.
    void add_common(CommonOptions& options) {
        add_number("--device", "N", "CUDA device to use", options.device, 0, 1023);
        add_number("--repeats", "N", "samples a series", options.plan.repeats, 1, most_repeats);
        add_number("--inner", "N", "launches a sample (default: as many as a sample needs)",
                   options.plan.inner, 1, most_inner);
        add_value("--order", "ab|ba|interleaved", "order in which variants are sampled",
                  words(options.plan.order), [&options](const std::string& value) {
                      for (const Order order : {Order::ab, Order::ba, Order::interleaved}) {
                          if (value == words(order)) {
                              options.plan.order = order;
                              return true;
                          }
                      }
                      return false;
                  });
        add_flag("--cold", "empty the caches before every sample", options.plan.cold);
        add_number("--seed", "N", "seed of the test data", options.seed, 0,
                   std::numeric_limits<std::uint64_t>::max());
        add_text("--json", "FILE", "write the record of this run (- for standard output)",
                 options.json);
        common_ = &options;
    }

    /// A whole number from `low` to `high`; the target's value is the default.
    template <typename Number>
    void add_number(const std::string& name, const std::string& placeholder,
                    const std::string& help, Number& target, std::uint64_t low,
                    std::uint64_t high) {
        const std::string range =
            "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
        const bool has_default = static_cast<std::uint64_t>(target) >= low;
        add_value(
            name, placeholder, help, has_default ? std::to_string(target) : "",
            [&target, low, high](const std::string& text) {
                std::uint64_t value = 0;
                if (!parse_whole(text, low, high, value)) return false;
                target = static_cast<Number>(value);
                return true;
            },
            range);
    }

    /// Any text but the empty one: a file's name, for instance.
    void add_text(const std::string& name, const std::string& placeholder, const std::string& help,
                  std::string& target) {
        add_value(
            name, placeholder, help, target,
            [&target](const std::string& value) {
                target = value;
                return !value.empty();
            },
            placeholder + " (not empty)");
    }

    /// "WIDTHxHEIGHT", each side from 1 to 65536.
    void add_size(const std::string& name, const std::string& help, ImageSize& target) {
        const std::string shown =
            target.width > 0 ? std::to_string(target.width) + "x" + std::to_string(target.height)
                             : "";
        add_value(
            name, "WxH", help, shown,
            [&target](const std::string& text) {
                const std::size_t cross = text.find('x');
                std::uint64_t width = 0;
                std::uint64_t height = 0;
                if (cross == std::string::npos ||
                    !parse_whole(text.substr(0, cross), 1, longest_image_side, width) ||
                    !parse_whole(text.substr(cross + 1), 1, longest_image_side, height)) {
                    return false;
                }
                target = {static_cast<int>(width), static_cast<int>(height)};
                return true;
            },
            "WIDTHxHEIGHT with both sides from 1 to " + std::to_string(longest_image_side));
    }

    void add_flag(const std::string& name, const std::string& help, bool& target) {
        options_.push_back({name, "", help, "", "", [&target](const std::string&) {
                                target = true;
                                return true;
                            }});
    }

    /// Any other value: `accept` stores it, or returns false for what is not `expected`.
    void add_value(const std::string& name, const std::string& placeholder, const std::string& help,
                   const std::string& default_text, std::function<bool(const std::string&)> accept,
                   const std::string& expected = "") {
        options_.push_back({name, placeholder, help, default_text,
                            expected.empty() ? placeholder : expected, std::move(accept)});
    }

    /// Returns false if --help was asked for (and printed): the program then ends with status 0.
    /// Throws UsageError for everything malformed.
    [[nodiscard]] bool parse(int argc, char** argv) {
        const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
        if (std::any_of(arguments.begin(), arguments.end(),
                        [](const std::string& a) { return a == "--help" || a == "-h"; })) {
            print_help();
            return false;
        }
        std::vector<std::string> seen;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const std::size_t equals = arguments[i].find('=');
            const std::string name = arguments[i].substr(0, equals);
            const Option& option = find(name);
            if (std::count(seen.begin(), seen.end(), name) > 0) {
                throw UsageError(name + " is given twice");
            }
            seen.push_back(name);

            std::string value;
            if (option.placeholder.empty()) {
                if (equals != std::string::npos) throw UsageError(name + " takes no value");
            } else if (equals != std::string::npos) {
                value = arguments[i].substr(equals + 1);
            } else if (i + 1 < arguments.size() && arguments[i + 1].compare(0, 2, "--") != 0) {
                value = arguments[++i];
            } else {
                throw UsageError(name + " needs a value: " + option.expected);
            }
            if (!option.accept(value)) {
                throw UsageError(name + ": \"" + value + "\" is not " + option.expected);
            }
        }
        if (common_ != nullptr && common_->plan.cold && common_->plan.inner > 1) {
            throw UsageError(
                "--cold allows one launch a sample, since the second would find the "
                "caches warm: leave --inner out");
        }
        return true;
    }

    void print_help() const {
        std::printf("%s: %s\n\nOptions:\n", program_.c_str(), purpose_.c_str());
        for (const Option& option : options_) {
            const std::string left =
                option.name + (option.placeholder.empty() ? "" : " " + option.placeholder);
            const std::string shown =
                option.default_text.empty() ? "" : " (default: " + option.default_text + ")";
            std::printf("  %-26s %s%s\n", left.c_str(), option.help.c_str(), shown.c_str());
        }
        std::printf("  %-26s %s\n\n", "--help", "print this text");
        std::printf(
            "Exit status: 0 all right, 1 wrong result or failure, 2 bad usage, "
            "77 no usable device.\n");
    }

private:
    struct Option {
        std::string name;
        std::string placeholder;  ///< empty: a flag
        std::string help;
        std::string default_text;
        std::string expected;  ///< what a value must be, in words
        std::function<bool(const std::string&)> accept;
    };

    const Option& find(const std::string& name) const {
        const Option* nearest = nullptr;
        std::size_t distance = 4;  // more than three slips are another word
        for (const Option& option : options_) {
            if (option.name == name) return option;
            const std::size_t slips = edit_distance(name, option.name);
            if (slips < distance && slips < option.name.size() / 2) {
                nearest = &option;
                distance = slips;
            }
        }
        if (name.empty() || name[0] != '-') {
            throw UsageError("unexpected argument \"" + name + "\"; --help lists the options");
        }
        throw UsageError("unknown option " + name + "; " +
                         (nearest != nullptr ? "did you mean " + nearest->name + "?"
                                             : "--help lists the options"));
    }

    std::string program_;
    std::string purpose_;
    std::vector<Option> options_;
    CommonOptions* common_ = nullptr;
};

}  // namespace mf
