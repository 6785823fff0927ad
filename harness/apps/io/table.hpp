#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/apps/io/csv.hpp"
#include "harness/apps/io/header.hpp"
#include "harness/apps/io/schema.hpp"

namespace espalier::bench::io {

/// Rows of a table, attribute-major: `attributes[a][i]` is attribute a of row i. A nominal value is its
/// code, a missing one NaN.
struct Rows {
    std::vector<std::vector<float>> attributes;
    std::vector<std::int32_t> classes;  ///< codes of the label, if it is nominal
    std::vector<float> targets;         ///< values of the label, if it is numeric

    [[nodiscard]] std::size_t size() const { return attributes.empty() ? 0 : attributes[0].size(); }
    void clear();
};

/// Reads a table in chunks, with memory bounded by the chunk. A cell that is empty, ?, NA or nan is missing.
/// A column's first value decides whether it is numeric or nominal; a later text in a numeric column is an
/// error rather than a change of mind, because it is usually a typing error.
/// Everything throws BadFile with file, line, column and fix.
class TableReader {
public:
    /// Learns the schema from the file as it goes.
    TableReader(std::string path, const TableOptions& options);

    /// Demands the schema of another file: columns by name where both files have a header, else by position.
    /// The label may be absent. Nominal values and classes that `schema` does not know are errors.
    TableReader(std::string path, const TableOptions& options, const Schema& schema);

    /// Appends up to `max_rows` rows to `rows`; false if there were none left.
    bool read(Rows& rows, std::size_t max_rows);

    [[nodiscard]] const Schema& schema() const { return schema_; }

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    using Codes = std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>>;

    struct Target {  ///< where a column of the file goes
        enum class Kind { ignored, attribute, label } kind = Kind::ignored;
        std::size_t attribute = 0;
    };

    [[nodiscard]] std::size_t find_column(const std::string& column, const char* option) const;
    void learn_columns();
    void match_by_name();
    void match_by_position();
    void index_values();
    void use_class_numbers();

    bool next_record();
    void append(Rows& rows);
    float attribute_value(std::size_t attribute, std::string_view cell);
    void append_label(std::string_view cell, Rows& rows);
    float number(const Column& column, std::string_view cell) const;
    std::int32_t code(Column& column, Codes& codes, std::string_view cell);
    [[noreturn]] void fail(const Column& column, const std::string& problem) const;

    CsvReader csv_;
    TableOptions options_;
    Header header_;
    Schema schema_;
    bool learning_;
    std::vector<Target> targets_;  ///< one per column of the file
    std::vector<Codes> codes_;     ///< one per attribute
    Codes label_codes_;
    std::vector<std::string_view> fields_;
    std::size_t first_rows_used_ = 0;
    std::int64_t line_ = 0;
    std::int64_t rows_read_ = 0;
};

/// A whole table. Classes are in the order that a tie between them is resolved in: by value if all are
/// numbers, else by text; a scikit-learn file's in its own order.
struct Table {
    Schema schema;
    Rows rows;
};

/// Reads a training table whole and checks what only the whole shows: a column without any value, more
/// memory than `options.max_bytes`. Throws BadFile.
Table read_table(const std::string& path, const TableOptions& options);

}  // namespace espalier::bench::io
