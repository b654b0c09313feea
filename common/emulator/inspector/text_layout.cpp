#include "text_layout.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "finding_text.hpp"
#include "units.hpp"

namespace emu::inspector {
namespace {

/// How many columns UTF-8 text takes (East Asian wide characters counted as one).
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned>(c) & 0xC0) != 0x80;
    }));
}

/// How many bytes the first `width` columns are.
std::size_t bytes_in(const std::string& text, std::size_t width) {
    std::size_t end = 0;
    for (std::size_t column = 0; end < text.size(); ++end) {
        const bool begins = (static_cast<unsigned>(text[end]) & 0xC0) != 0x80;
        if (begins && ++column > width) break;
    }
    return end;
}

}  // namespace

std::string grouped(std::uint64_t value) {
    constexpr std::uint64_t million = 1000000;
    const bool large = value >= 1000 * million;
    std::string digits =
        std::to_string(large ? value / million + value % million * 2 / million : value);
    for (std::size_t i = digits.size(); i > 3; i -= 3)
        digits.insert(i - 3, ",");
    return digits + (large ? " M" : "");
}

std::string plural(std::uint64_t count, const char* noun) {
    return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string ratio(std::uint64_t value, std::uint64_t of) {
    if (of == 0) return "-";
    if (value / of >= 1000) return grouped(value / of);
    return mf::fixed(static_cast<double>(value) / static_cast<double>(of), 2);
}

std::string cut(const std::string& text, std::size_t width) {
    if (width_of(text) <= width) return text;
    return text.substr(0, bytes_in(text, width - 3)) + "...";
}

std::string wrapped(const std::string& text, std::size_t indent) {
    std::string out;
    std::istringstream paragraphs(text);
    bool first = true;
    for (std::string paragraph; std::getline(paragraphs, paragraph);) {
        std::string line(indent, ' ');
        bool empty = true;
        std::istringstream words(paragraph);
        for (std::string word; words >> word;) {
            if (!empty && width_of(line) + 1 + width_of(word) > text_columns) {
                out += line + "\n";
                line.assign(indent, ' ');
                empty = true;
            }
            if (!empty) line += ' ';
            empty = false;
            // A name longer than a line is broken, wherever the line ends.
            while (width_of(line) + width_of(word) > text_columns) {
                const std::size_t room = bytes_in(word, text_columns - width_of(line));
                out += line + word.substr(0, room) + "\n";
                word.erase(0, room);
                line.assign(indent, ' ');
            }
            line += word;
        }
        if (!empty) out += line + "\n";
        if (first) indent += 2;
        first = false;
    }
    return out;
}

std::string heading(const std::string& text) {
    const std::string start = "--- " + text + " ";
    const std::size_t width = width_of(start);
    if (width > text_columns) return wrapped("--- " + text, 0);
    return start + std::string(text_columns - width, '-') + "\n";
}

std::string indented(const mf::Table& table) {
    std::ostringstream text;
    table.print(text);
    std::istringstream lines(text.str());
    std::string out;
    for (std::string line; std::getline(lines, line);)
        out += "  " + line + "\n";
    return out;
}

std::string percent(std::uint64_t value, std::uint64_t of) {
    const double share = of == 0 ? 0 : 100.0 * static_cast<double>(value) / static_cast<double>(of);
    return value > 0 && share < 0.1 ? "under 0.1 %" : mf::fixed(share, 1) + " %";
}

std::string place_text(const Place& place, Pc pc, const std::string& named) {
    if (place.known() && place.file == named) return "line " + std::to_string(place.line);
    if (place.known()) return file_name(place.file) + ":" + std::to_string(place.line);
    char text[24];
    std::snprintf(text, sizeof text, "0x%x", pc);
    return pc == 0 ? "unknown line" : text;
}

}  // namespace emu::inspector
