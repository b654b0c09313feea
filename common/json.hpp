/// \file
/// A JSON value that can be built and written (RFC 8259). A bare nvcc line has no JSON library.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "program.hpp"

namespace mf {

/// Strings become valid UTF-8: bytes that are none (in a file's name, say) turn into U+FFFD.
inline std::string json_string(const std::string& text) {
    const auto byte = [&text](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = byte(i);
        if (first < 0x20 || first == 0x7F) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", first);
            out += escape;
            ++i;
            continue;
        }
        if (first < 0x80) {
            if (first == '"' || first == '\\') out += '\\';
            out += text[i++];
            continue;
        }
        // The well-formed sequences of the Unicode standard, table 3-7.
        const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                                   : (first & 0xF0) == 0xE0         ? 3
                                   : first >= 0xF0 && first <= 0xF4 ? 4
                                                                    : 0;
        bool valid = length > 0;
        for (std::size_t j = 1; j < length; ++j)
            valid = valid && (byte(i + j) & 0xC0) == 0x80;
        const unsigned second = byte(i + 1);
        if (first == 0xE0) valid = valid && second >= 0xA0;
        if (first == 0xED) valid = valid && second <= 0x9F;
        if (first == 0xF0) valid = valid && second >= 0x90;
        if (first == 0xF4) valid = valid && second <= 0x8F;
        out += valid ? text.substr(i, length) : "\xEF\xBF\xBD";
        i += valid ? length : 1;
    }
    return out + "\"";
}

/// The shortest decimal text that reads back as the same number, without an exponent for numbers of
/// usual size. JSON has no NaN and no infinity, and a null in their place would hide that a
/// measurement failed: they are refused.
inline std::string json_number(double value) {
    if (!std::isfinite(value)) {
        throw MeasurementRefused("a record holds finite numbers only; one is not");
    }
    char text[40];
    for (int digits = 1; digits <= 17; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, value);
        const bool plain = std::strchr(text, 'e') == nullptr;
        const bool usual = std::fabs(value) >= 1e-4 && std::fabs(value) < 1e15;
        if ((plain || !usual) && std::strtod(text, nullptr) == value) break;
    }
    return text;
}

class Json {
public:
    Json(std::nullptr_t) : kind_(Kind::atom), text_("null") {}
    Json(const char* text) : kind_(Kind::atom), text_(json_string(text)) {}
    Json(const std::string& text) : kind_(Kind::atom), text_(json_string(text)) {}
    template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
    Json(T value) : kind_(Kind::atom) {
        if constexpr (std::is_same<T, bool>::value) {
            text_ = value ? "true" : "false";
        } else if constexpr (std::is_integral<T>::value) {
            text_ = std::to_string(value);
        } else {
            text_ = json_number(static_cast<double>(value));
        }
    }
    /// Null where there is no value.
    template <typename T>
    Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json(nullptr)) {}
    template <typename T>
    Json(const std::vector<T>& values) : kind_(Kind::array) {
        for (const T& value : values)
            children_.push_back({"", Json(value)});
    }
    /// An object with these members: Json{{"name", "direct"}, {"passed", true}}.
    Json(std::initializer_list<std::pair<std::string, Json>> members)
        : kind_(Kind::object), children_(members) {}

    static Json object() { return Json(Kind::object); }
    static Json array() { return Json(Kind::array); }

    Json& set(const std::string& key, Json value) {
        children_.push_back({key, std::move(value)});
        return *this;
    }
    Json& push(Json value) { return set("", std::move(value)); }

    /// The value as text, one member a line; arrays of plain values stay on one line.
    std::string text(int depth = 0) const {
        if (kind_ == Kind::atom) return text_;
        const char* const brackets = kind_ == Kind::object ? "{}" : "[]";
        bool flat = kind_ == Kind::array;
        for (const auto& child : children_)
            flat = flat && child.second.kind_ == Kind::atom;
        const std::string indent(2 * static_cast<std::size_t>(depth + 1), ' ');
        std::string out(1, brackets[0]);
        for (std::size_t i = 0; i < children_.size(); ++i) {
            if (i > 0) out += flat ? ", " : ",";
            if (!flat) out += "\n" + indent;
            if (kind_ == Kind::object) out += json_string(children_[i].first) + ": ";
            out += children_[i].second.text(depth + 1);
        }
        if (!flat && !children_.empty()) out += "\n" + indent.substr(2);
        return out + brackets[1];
    }

private:
    enum class Kind { atom, array, object };
    explicit Json(Kind kind) : kind_(kind) {}

    Kind kind_;
    std::string text_;  ///< of an atom, as it is written
    std::vector<std::pair<std::string, Json>> children_;
};

}  // namespace mf
