#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/tables/header.hpp"
#include "harness/apps/tables/record_source.hpp"

namespace espalier::bench::io {

/// The records of a table below its first line, each with as many fields as it has columns.
class TableRecords {
public:
    /// `columns`: of the table that the rows must suit, 0 if there is none yet.
    TableRecords(const std::string& path, const TableOptions& options, std::size_t columns = 0);

    /// Those that were given, or what they mean for a format that has its own way of writing.
    [[nodiscard]] const TableOptions& options() const { return options_; }

    /// Whether the file's format says what the columns are; and what it says of one.
    [[nodiscard]] bool declares() const { return !source_->declared().empty(); }
    [[nodiscard]] DeclaredColumn declared(std::size_t position) const {
        return declares() ? source_->declared()[position] : DeclaredColumn{};
    }

    [[nodiscard]] const FirstLines& first_lines() const { return first_lines_; }

    /// The next record's fields, valid until the next call; false at the end. Throws BadFile for a record of another
    /// length, and for fewer or more rows than a scikit-learn line declares.
    bool next(std::vector<std::string_view>& fields);

    /// Puts the first line before the others: it is a row.
    void take_first() { waiting_ = &first_lines_.first; }

    /// The line of the last record.
    [[nodiscard]] std::int64_t line() const { return line_; }
    [[nodiscard]] const std::string& path() const { return source_->path(); }
    [[nodiscard]] double share() const { return source_->share(); }

private:
    void check_length(const std::vector<std::string_view>& fields) const;

    TableOptions options_;
    std::unique_ptr<RecordSource> source_;
    FirstLines first_lines_;
    const std::vector<std::string>* waiting_;  ///< read already and not handed out; null: none
    std::int64_t line_ = 0, rows_ = 0;
};

}  // namespace espalier::bench::io
