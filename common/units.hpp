/// \file
/// Units and rates. One place for every conversion, each with its unit in its name.
/// GB = 10^9 bytes and GiB = 2^30 bytes, throughout.
#pragma once

#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

#include "program.hpp"

namespace mf {

constexpr double bytes_per_gb = 1e9;
constexpr double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;
constexpr double bytes_per_mib = 1024.0 * 1024.0;

constexpr double gb_of_bytes(double bytes) {
    return bytes / bytes_per_gb;
}
constexpr double gib_of_bytes(double bytes) {
    return bytes / bytes_per_gib;
}
constexpr double mib_of_bytes(double bytes) {
    return bytes / bytes_per_mib;
}
constexpr double us_of_ms(double ms) {
    return ms * 1e3;
}
constexpr double ms_of_ns(double ns) {
    return ns / 1e6;
}
constexpr double mhz_of_khz(double khz) {
    return khz / 1e3;
}
/// Cycles counted in so many nanoseconds, as a clock in MHz.
constexpr double mhz_of_cycles(double cycles, double ns) {
    return cycles / ns * 1e3;
}

/// The documented resolution of a CUDA event is about half a microsecond.
constexpr double event_resolution_ms = 0.5e-3;

/// Returns `ms` if it can be a time, and refuses it otherwise: nothing is ever divided by a time
/// that cannot be one. `what` names the work. Twice the resolution is the least that is accepted:
/// no launch, even of an empty kernel, is that short, but two events with nothing between them are.
/// For another clock than the events' `least_ms` may be less; above 0 it must be in any case.
inline double require_time(double ms, const std::string& what,
                           double least_ms = 2 * event_resolution_ms) {
    if (std::isfinite(ms) && ms > 0 && ms >= least_ms) return ms;
    char value[40];
    std::snprintf(value, sizeof value, "%.6g ms", ms);
    const char* const reason = std::isnan(ms)   ? "is not a number"
                               : std::isinf(ms) ? "is not finite"
                               : ms < 0         ? "is negative"
                               : ms == 0        ? "is zero"
                                                : "is below what events can tell apart (0.001 ms)";
    throw MeasurementRefused(what + ": a time of " + value + " " + reason +
                             ", so no rate follows from it. Did the launch fail? Is the stream of "
                             "the events empty, with the work in another one?");
}

/// Bytes a millisecond as GB/s. Throws MeasurementRefused for a senseless time or byte count.
inline double gb_per_s(double bytes, double ms) {
    if (!(bytes > 0) || !std::isfinite(bytes)) {
        throw MeasurementRefused("a rate needs a positive number of bytes");
    }
    return gb_of_bytes(bytes) / (require_time(ms, "rate") / 1e3);
}

/// The data-sheet bandwidth of a memory in GB/s, from the device's attributes: two transfers a
/// cycle (double data rate), `bus_bits` / 8 bytes each. Unknown where an attribute is 0, as newer
/// drivers and some integrated devices report it.
inline std::optional<double> peak_gb_per_s(int memory_clock_khz, int bus_bits) {
    if (memory_clock_khz <= 0 || bus_bits <= 0) return std::nullopt;
    return 2.0 * memory_clock_khz * 1e3 * (bus_bits / 8.0) / bytes_per_gb;
}

/// `part` in percent of `whole`, where there is a whole. Above 100 is left above 100.
inline std::optional<double> percent_of(double part, std::optional<double> whole) {
    if (!whole || !(*whole > 0)) return std::nullopt;
    return 100 * part / *whole;
}

/// Logical bytes, the least an algorithm must move: every input read once, every output written
/// once. Caches and partly used sectors make the traffic of the DRAM another number.
constexpr double saxpy_bytes(double n) {
    return 12 * n;
}  ///< read x, read y, write y: floats
constexpr double image_filter_bytes(double n) {
    return 2 * n;
}  ///< read and write a byte a pixel

/// A number with so many digits after the point.
inline std::string fixed(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

/// A number with four significant digits and no exponent in the range of times and rates.
inline std::string readable(double value) {
    const double size = std::fabs(value);
    return fixed(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 5);
}

/// A size in bytes as people read it: "48 KiB", "140.4 GiB", "50.33 MiB".
inline std::string readable_bytes(double bytes) {
    const char* const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    const bool whole = bytes == std::floor(bytes);
    return (whole ? fixed(bytes, 0) : readable(bytes)) + " " + names[unit];
}

}  // namespace mf
