#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/apps/tables/cells.hpp"
#include "harness/apps/tables/column_learner.hpp"
#include "harness/apps/tables/schema.hpp"
#include "harness/apps/tables/table_records.hpp"

namespace espalier::bench::io {

/// The class of a label that the training table does not have, where the options count such rows as wrong.
inline constexpr std::int32_t kUnheardClass = -2;

/// Rows of a table. A nominal value is its code, a missing one NaN.
struct Rows {
    Cells attributes;
    std::vector<std::int32_t> classes;   ///< codes of the label, if it is nominal
    std::vector<Number> targets;         ///< values of the label, if it is numeric
    std::vector<std::string> unheard{};  ///< the labels of class kUnheardClass, row by row

    [[nodiscard]] std::size_t size() const { return attributes.rows(); }
    void clear();
};

/// Rows of a training table that are left out because they have no label.
struct Unlabelled {
    std::int64_t rows = 0;
    std::int64_t first_line = 0;  ///< of the file
};

/// A training table. Classes are in the order that a tie between them is resolved in: by value if all are
/// numbers, else by text; a scikit-learn file's in its own order.
struct Table {
    Schema schema;
    Rows rows;
    std::string header;  ///< what the first line is, and why
    Unlabelled unlabelled{};
    std::vector<std::size_t> numbers{};  ///< which rows of the file `rows` are, from 0; empty: all
};

/// Reads a training table whole. Whole columns decide what they are: numeric if every known cell is a number, nominal
/// if most are texts; a column of numbers with some texts among them is an error, because they are typing errors
/// or unknown spellings of a missing value as a rule. The first line is a header if it does not suit the
/// columns below it; where nothing tells and it matters, the error asks for the option that does. Rows without a label
/// are left out and counted.
/// Memory beside the rows does not grow with the file. Throws BadFile with file, line, column and fix, also
/// for a column without any value and for more memory than `options.max_bytes`.
Table read_table(const std::string& path, const TableOptions& options);

/// Reads a table of the same columns as another one in chunks, with memory bounded by the chunk: columns by name where
/// both files have a header, else by position. The label may be absent, as a column or in every row of it. Nominal
/// values and classes that `schema` does not know are errors; with `ignore_unknown` such a value gets a code that no
/// training row has. The first line is a header if its cells are names of `schema`'s columns, or if it suits them as a
/// row worse than as a header. Everything throws BadFile with file, line, column and fix.
class TableReader {
public:
    TableReader(const std::string& path, const TableOptions& options, const Schema& schema);

    /// Appends up to `max_rows` rows to `rows`; false if there were none left.
    bool read(Rows& rows, std::size_t max_rows);

    [[nodiscard]] const Schema& schema() const { return schema_; }

    /// The share of the file that was read; 0 if it does not tell its size.
    [[nodiscard]] double share() const { return records_.share(); }

private:
    struct Target {  ///< where a column of the file goes
        enum class Kind { ignored, attribute, label } kind = Kind::ignored;
        std::size_t attribute = 0;
    };

    void index_values();
    void use_class_numbers();
    [[nodiscard]] bool first_is_header() const;
    [[nodiscard]] bool suits(const std::vector<std::string>& row, bool with_unknown) const;
    void match_by_name();
    void match_by_position(std::int64_t line);
    void check_ignored() const;
    void see_whether_labels_are_there();

    void append(Rows& rows);
    Number attribute_value(std::size_t attribute, std::string_view cell);
    void append_label(std::string_view cell, Rows& rows);
    void append_unheard(std::string_view cell, Rows& rows);
    Number number(Column& column, std::string_view cell) const;
    Number attribute_code(std::size_t attribute, std::string_view cell);
    [[nodiscard]] std::optional<std::int32_t> code_of(const Codes& codes, std::string_view cell) const;
    [[nodiscard]] bool is_missing_label(std::string_view cell) const;
    [[noreturn]] void fail_unknown(const Column& column, std::string_view cell) const;
    [[noreturn]] void fail(const Column& column, const std::string& problem) const;

    TableRecords records_;
    TableOptions options_;
    MissingWords missing_;
    Schema schema_;
    bool named_ = false;               ///< this file has a header
    bool labels_are_missing_ = false;  ///< in every row, so that there is no label
    std::vector<std::string> names_;   ///< of its columns
    std::vector<Target> targets_;      ///< one per column of the file
    std::vector<Codes> codes_;         ///< one per attribute
    Codes label_codes_;
    std::vector<std::string_view> fields_;
};

}  // namespace espalier::bench::io
