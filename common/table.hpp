/// \file
/// A table whose columns line up. Pure C++.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace mf {

/// The first column is text and stands left; the others are numbers and stand right. Units belong
/// in the headers: "kernel ms", "GB/s".
class Table {
public:
    explicit Table(std::vector<std::string> headers) { rows_.push_back(std::move(headers)); }

    void add_row(std::vector<std::string> cells) {
        cells.resize(rows_.front().size());
        rows_.push_back(std::move(cells));
    }

    void print(std::ostream& out) const {
        std::vector<std::size_t> widths(rows_.front().size(), 0);
        for (const auto& row : rows_) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                widths[i] = std::max(widths[i], row[i].size());
            }
        }
        for (const auto& row : rows_) {
            std::string line;
            for (std::size_t i = 0; i < row.size(); ++i) {
                const std::string padding(widths[i] - row[i].size(), ' ');
                line += (i == 0 ? "" : "  ") + (i == 0 ? row[i] + padding : padding + row[i]);
            }
            line.erase(line.find_last_not_of(' ') + 1);
            out << line << "\n";
        }
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace mf
