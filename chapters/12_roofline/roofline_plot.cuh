//! [plot question]
// The picture of the roofline program: roofs and marks on logarithmic axes, as SVG text. In a file
// of its own because it is drawing, not measuring.
//! [plot question]

//! [plot includes]
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "units.hpp"

namespace roofline {
//! [plot includes]

//! [plot data]
/// A slanted roof: a memory that delivers so much.
struct MemoryRoof {
    std::string name;
    double gb_per_s;
};

/// A kernel under the roofs.
struct Mark {
    std::string name;
    double flop_per_byte;
    double gflop_per_s;
};

struct Plot {
    std::string title;
    std::vector<MemoryRoof> memories;  ///< the first is the one that the marks' bytes come from
    std::string peak_name;
    double peak_gflop_per_s;
    std::vector<Mark> marks;
    std::vector<std::string> notes;  ///< lines below the picture
};
//! [plot data]

//! [plot axes]
/// Text as XML needs it.
inline std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    }
    return out;
}

constexpr double left = 90, top = 60, width = 760, height = 440;

/// Both axes are logarithmic: equal steps are equal factors. Bounds are whole powers of the base,
/// wide enough for all that is drawn.
struct Axes {
    double x_low, x_high;  ///< log2 of FLOP/byte
    double y_low, y_high;  ///< log10 of GFLOP/s

    explicit Axes(const Plot& plot) {
        std::vector<double> across;
        std::vector<double> up = {plot.peak_gflop_per_s};
        for (const MemoryRoof& memory : plot.memories)
            across.push_back(plot.peak_gflop_per_s / memory.gb_per_s);
        for (const Mark& mark : plot.marks) {
            across.push_back(mark.flop_per_byte);
            up.push_back(mark.gflop_per_s);
        }
        const auto [low, high] = std::minmax_element(across.begin(), across.end());
        x_low = std::floor(std::log2(*low)) - 2;  // room for the names of the roofs
        x_high = std::ceil(std::log2(*high)) + 1;
        for (const MemoryRoof& memory : plot.memories)
            up.push_back(std::exp2(x_low) * memory.gb_per_s);
        const auto [bottom, most] = std::minmax_element(up.begin(), up.end());
        y_low = std::floor(std::log10(*bottom));
        y_high = std::floor(std::log10(*most)) + 1;
    }
    double x(double flop_per_byte) const {
        return left + width * (std::log2(flop_per_byte) - x_low) / (x_high - x_low);
    }
    double y(double gflop_per_s) const {
        return top + height * (y_high - std::log10(gflop_per_s)) / (y_high - y_low);
    }
};
//! [plot axes]

//! [plot elements]
inline std::string point(double x, double y) {
    return mf::fixed(x, 1) + "," + mf::fixed(y, 1);
}

inline std::string text_at(double x, double y, const std::string& attributes,
                           const std::string& text) {
    return "<text x=\"" + mf::fixed(x, 1) + "\" y=\"" + mf::fixed(y, 1) + "\" " + attributes + ">" +
           escaped(text) + "</text>\n";
}

inline std::string grid_line(double x1, double y1, double x2, double y2) {
    return "<path class=\"grid\" d=\"M" + point(x1, y1) + " L" + point(x2, y2) + "\"/>\n";
}

/// "1/8", "1", "32": a power of two.
inline std::string power_of_two(int exponent) {
    const std::string size = mf::fixed(std::ldexp(1.0, std::abs(exponent)), 0);
    return exponent < 0 ? "1/" + size : size;
}

inline std::string grid(const Axes& axes) {
    std::string out;
    for (int i = static_cast<int>(axes.x_low); i <= static_cast<int>(axes.x_high); ++i) {
        const double x = axes.x(std::ldexp(1.0, i));
        out += grid_line(x, top, x, top + height);
        out += text_at(x, top + height + 20, "text-anchor=\"middle\"", power_of_two(i));
    }
    for (int i = static_cast<int>(axes.y_low); i <= static_cast<int>(axes.y_high); ++i) {
        const double y = axes.y(std::pow(10.0, i));
        out += grid_line(left, y, left + width, y);
        const double value = std::pow(10.0, i);
        out += text_at(left - 8, y + 4, "text-anchor=\"end\"", mf::fixed(value, std::max(0, -i)));
    }
    return out;
}

/// From the left edge up to the peak. The lowest roof has its name below it, others above.
inline std::string memory_roof(const Plot& plot, const Axes& axes, const MemoryRoof& roof,
                               bool solid) {
    const bool lowest =
        std::all_of(plot.memories.begin(), plot.memories.end(),
                    [&roof](const MemoryRoof& m) { return roof.gb_per_s <= m.gb_per_s; });
    const double start = std::exp2(axes.x_low);
    const double ridge = plot.peak_gflop_per_s / roof.gb_per_s;
    const double x = axes.x(start);
    const double y = axes.y(start * roof.gb_per_s);
    const std::string name = roof.name + ", " + mf::readable(roof.gb_per_s) + " GB/s";
    const double slope = (axes.y(plot.peak_gflop_per_s) - y) / (axes.x(ridge) - x);
    const double angle = std::atan(slope) * 180 / std::acos(-1.0);
    const std::string turned = "class=\"name\" transform=\"rotate(" + mf::fixed(angle, 1) + " " +
                               mf::fixed(x, 1) + " " + mf::fixed(y, 1) + ")\"";
    return "<path class=\"roof " + std::string(solid ? "solid" : "dashed") + "\" d=\"M" +
           point(x, y) + " L" + point(axes.x(ridge), axes.y(plot.peak_gflop_per_s)) + "\"/>\n" +
           text_at(x + 12, lowest ? y + 18 : y - 8, turned, name);
}
//! [plot elements]

//! [plot svg]
/// The whole picture.
inline std::string svg(const Plot& plot) {
    const Axes axes(plot);
    const double lines = static_cast<double>(plot.notes.size());
    const std::string size =
        mf::fixed(left + width + 30, 0) + " " + mf::fixed(top + height + 70 + 20 * lines, 0);
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size +
        "\" role=\"img\" aria-labelledby=\"title\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<title id=\"title\">" +
        escaped(plot.title) +
        "</title>\n"
        "<style>\n"
        "svg { background: #ffffff } text { fill: #1b1f24 } .grid { stroke: #d0d7de }\n"
        ".roof { stroke: #0550ae; stroke-width: 2.5; fill: none } .dashed { stroke-dasharray: 7 5 "
        "}\n"
        ".name { fill: #0550ae } .mark { fill: #bc4c00 }\n"
        "@media (prefers-color-scheme: dark) {\n"
        "svg { background: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d }\n"
        ".roof { stroke: #79c0ff } .name { fill: #79c0ff } .mark { fill: #ffa657 } }\n"
        "</style>\n";
    out += text_at(left, 30, "font-size=\"17\"", plot.title);
    out += grid(axes);
    out += text_at(left + width / 2, top + height + 44, "text-anchor=\"middle\"",
                   "intensity, FLOP per byte of memory");
    const double middle = top + height / 2;
    out +=
        text_at(24, middle,
                "text-anchor=\"middle\" transform=\"rotate(-90 24 " + mf::fixed(middle, 1) + ")\"",
                "GFLOP/s");

    const double peak = axes.y(plot.peak_gflop_per_s);
    const double ridge = axes.x(plot.peak_gflop_per_s / plot.memories.front().gb_per_s);
    for (std::size_t i = 0; i < plot.memories.size(); ++i) {
        out += memory_roof(plot, axes, plot.memories[i], i == 0);
    }
    out += "<path class=\"roof solid\" d=\"M" + point(ridge, peak) + " L" +
           point(left + width, peak) + "\"/>\n";
    out += text_at(left + width - 6, peak - 8, "class=\"name\" text-anchor=\"end\"",
                   plot.peak_name + ", " + mf::readable(plot.peak_gflop_per_s) + " GFLOP/s");
    for (const Mark& mark : plot.marks) {
        const double x = axes.x(mark.flop_per_byte);
        const double y = axes.y(mark.gflop_per_s);
        out += "<circle class=\"mark\" cx=\"" + mf::fixed(x, 1) + "\" cy=\"" + mf::fixed(y, 1) +
               "\" r=\"5\"><title>" + escaped(mark.name) + ": " + mf::readable(mark.flop_per_byte) +
               " FLOP/byte, " + mf::readable(mark.gflop_per_s) + " GFLOP/s</title></circle>\n";
        out += text_at(x + 9, y + 15, "", mark.name);
    }
    for (std::size_t i = 0; i < plot.notes.size(); ++i) {
        out += text_at(left, top + height + 70 + 20 * static_cast<double>(i), "", plot.notes[i]);
    }
    return out + "</svg>\n";
}

}  // namespace roofline
//! [plot svg]
