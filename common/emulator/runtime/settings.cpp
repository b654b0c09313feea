#include "settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace emu {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& value, const char* expected) {
    std::fprintf(stderr, "emulator: %s=%s makes no sense: expected %s\n", name, value.c_str(),
                 expected);
    std::_Exit(2);
}

std::string read(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

/// A whole number from `low` to `high`, or -1.
long long whole_number(const std::string& text, long long low, long long high) {
    if (text.empty() || text.size() > 18) return -1;
    for (const char c : text) {
        if (c < '0' || c > '9') return -1;
    }
    const long long value = std::strtoll(text.c_str(), nullptr, 10);
    return value < low || value > high ? -1 : value;
}

Settings read_settings() {
    const unsigned cores = std::thread::hardware_concurrency();
    Settings result{cores == 0 ? 1 : cores, ThreadOrder::forward, 1, 60.0};

    if (const std::string workers = read("EMULATOR_WORKERS"); !workers.empty()) {
        const long long count = whole_number(workers, 1, 1024);
        if (count < 0) refuse("EMULATOR_WORKERS", workers, "a whole number from 1 to 1024");
        result.workers = static_cast<unsigned>(count);
    }
    if (const std::string order = read("EMULATOR_ORDER"); !order.empty()) {
        const std::string with_seed = "random:";
        if (order == "reverse") {
            result.order = ThreadOrder::reverse;
        } else if (order == "random") {
            result.order = ThreadOrder::random;
        } else if (order.compare(0, with_seed.size(), with_seed) == 0) {
            const long long seed =
                whole_number(order.substr(with_seed.size()), 0, 999999999999999999LL);
            if (seed < 0) refuse("EMULATOR_ORDER", order, "a whole number after random:");
            result.order = ThreadOrder::random;
            result.seed = static_cast<std::uint64_t>(seed);
        } else if (order != "forward") {
            refuse("EMULATOR_ORDER", order, "forward, reverse, random or random:SEED");
        }
    }
    if (const std::string seconds = read("EMULATOR_WATCHDOG"); !seconds.empty()) {
        const long long count = whole_number(seconds, 1, 86400);
        if (count < 0) refuse("EMULATOR_WATCHDOG", seconds, "whole seconds from 1 to 86400");
        result.watchdog_s = static_cast<double>(count);
    }
    return result;
}

}  // namespace

const Settings& settings() {
    static const Settings value = read_settings();
    return value;
}

}  // namespace emu
