#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/tables/schema.hpp"

namespace espalier::bench::io {

/// What a file declares of one of its columns.
struct DeclaredColumn {
    ColumnKind kind = ColumnKind::undecided;
    bool date = false;  ///< numeric, written as a date
};

/// The records of a table, whatever the format of its file.
class RecordSource {
public:
    RecordSource() = default;
    RecordSource(const RecordSource&) = delete;
    RecordSource& operator=(const RecordSource&) = delete;
    virtual ~RecordSource() = default;

    /// The next record's fields, valid until the next call; false at the end of the file. Of a format that declares its
    /// columns the first record is their names. Throws BadFile.
    virtual bool next(std::vector<std::string_view>& fields) = 0;

    /// The line, from 1, on which the last record began.
    [[nodiscard]] virtual std::int64_t line() const = 0;
    [[nodiscard]] virtual const std::string& path() const = 0;

    /// The part of the file that was read so far, 0 if its size is not known.
    [[nodiscard]] virtual double share() const = 0;

    /// What the file says of its columns, once the first record was read; empty if its format says nothing.
    [[nodiscard]] virtual const std::vector<DeclaredColumn>& declared() const;

    /// Throws BadFile about the last record.
    [[noreturn]] void fail(const std::string& problem) const;
};

/// Opens a table in the format that the options name, or that its first lines or its name tell: CSV unless they begin
/// as ARFF or libsvm does. Of a libsvm file `columns` are the columns of the table that its rows must suit, 0 if the
/// file itself says how many there are.
std::unique_ptr<RecordSource> open_records(const std::string& path, const TableOptions& options, std::size_t columns);

}  // namespace espalier::bench::io
