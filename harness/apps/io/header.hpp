#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/apps/io/csv.hpp"
#include "harness/apps/io/schema.hpp"

namespace espalier::bench::io {

/// What the first lines of a table say about its columns, and the first rows that were read to learn it.
///
/// A first line without any number in it is a header, unless the options say otherwise. scikit-learn's own
/// files begin with "rows,attributes,class 0,class 1,...", their label is the last column and holds class
/// numbers: this line is recognised when it consists of two whole numbers and then texts, the second number
/// is one less than the next line's fields, and the next line holds numbers only.
struct Header {
    std::vector<std::string> names;                      ///< one per column; "column 3" where the file has none
    bool named = false;                                  ///< the names come from the file
    std::vector<std::string> classes{};                  ///< from a scikit-learn line, else empty
    std::int64_t declared_rows = -1;                     ///< likewise, else -1
    std::vector<std::vector<std::string>> first_rows{};  ///< records consumed that are data
    std::vector<std::int64_t> first_lines{};             ///< and their lines
};

/// Reads it from the start of `csv`. Throws BadFile for a file without rows or with two columns of one name.
Header read_header(CsvReader& csv, TableOptions::Header wanted);

}  // namespace espalier::bench::io
