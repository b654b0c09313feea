/// \file
/// How the text report puts numbers, words and tables on lines of 100 columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "symbols.hpp"
#include "table.hpp"

namespace emu::inspector {

constexpr std::size_t text_columns = 100;

/// 1234567 as "1,234,567"; from 10^9 on in millions, "1,235 M", so that tables keep their width.
std::string grouped(std::uint64_t value);

/// "1 block", "2,000 blocks".
std::string plural(std::uint64_t count, const char* noun);

/// A quotient with two digits after the point, from 1000 on without; "-" where there is nothing to
/// divide by.
std::string ratio(std::uint64_t value, std::uint64_t of);

/// "0.8 %"; what is not zero is not shown as zero.
std::string percent(std::uint64_t value, std::uint64_t of);

/// "blur.cu:12", "line 12" where the file is the one that was named before, or the address.
std::string place_text(const Place& place, Pc pc, const std::string& named = "");

/// The first `width` columns, the last three of them dots if there was more.
std::string cut(const std::string& text, std::size_t width);

/// Words in lines, each indented; what stands behind a line end in the text becomes an item of a
/// list, indented by two more.
std::string wrapped(const std::string& text, std::size_t indent);

/// A heading with a rule behind it, so that it is found when scrolling.
std::string heading(const std::string& text);

/// The table, indented by two.
std::string indented(const mf::Table& table);

}  // namespace emu::inspector
