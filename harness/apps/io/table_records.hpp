#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/csv.hpp"
#include "harness/apps/io/header.hpp"

namespace espalier::bench::io {

/// The records of a table below its first line, each with as many fields as it has columns.
class TableRecords {
public:
    TableRecords(std::string path, const TableOptions& options);

    [[nodiscard]] const FirstLines& first_lines() const { return first_lines_; }

    /// The next record's fields, valid until the next call; false at the end. Throws BadFile for a record of another
    /// length, and for fewer or more rows than a scikit-learn line declares.
    bool next(std::vector<std::string_view>& fields);

    /// Puts the first line before the others: it is a row.
    void take_first() { waiting_ = &first_lines_.first; }

    /// The line of the last record.
    [[nodiscard]] std::int64_t line() const { return line_; }
    [[nodiscard]] const std::string& path() const { return csv_.path(); }
    [[nodiscard]] const CsvReader& csv() const { return csv_; }

private:
    void check_length(const std::vector<std::string_view>& fields) const;

    CsvReader csv_;
    FirstLines first_lines_;
    const std::vector<std::string>* waiting_;  ///< read already and not handed out; null: none
    std::int64_t line_ = 0, rows_ = 0;
};

}  // namespace espalier::bench::io
