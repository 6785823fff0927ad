#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/apps/tables/record_source.hpp"
#include "harness/apps/tables/schema.hpp"

namespace espalier::bench::io {

/// The first lines of a table, read before anything is known of its columns.
///
/// scikit-learn's own files begin with "rows,attributes,class 0,class 1,...", their label is the last column and holds
/// class numbers: this line is recognised when it consists of two whole numbers and then texts, the second number
/// is one less than the next line's fields, and the next line holds numbers only.
struct FirstLines {
    std::vector<std::string> first, second;  ///< records; the second is empty if there is none
    std::int64_t first_line = 0, second_line = 0;
    std::vector<std::string> classes{};  ///< from a scikit-learn line, else empty
    std::int64_t declared_rows = -1;     ///< likewise, else -1

    [[nodiscard]] bool is_scikit_learn() const { return declared_rows >= 0; }
    [[nodiscard]] std::size_t columns() const { return is_scikit_learn() ? second.size() : first.size(); }
};

/// Reads them from the start of `source`. Throws BadFile for an empty file and for one with more columns than a table
/// has.
FirstLines read_first_lines(RecordSource& source, TableOptions::Header wanted);

/// "column 1", "column 2", ...
std::vector<std::string> numbered_columns(std::size_t count);

/// The columns' names that a header gives, those without one numbered. Throws BadFile if two have the same.
std::vector<std::string> named_columns(const std::vector<std::string>& header, const std::string& path,
                                       std::int64_t line);

/// Whether a cell is a number, be it grouped or with decimals as no option says.
bool has_number(const std::vector<std::string>& record, const NumberFormat& format);

}  // namespace espalier::bench::io
