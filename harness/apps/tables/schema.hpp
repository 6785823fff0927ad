#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/apps/tables/amount.hpp"

namespace espalier::bench::io {

/// How many bytes one of a gzip file may stand for, on average. Tables are packed to a fifth as a rule, very sparse
/// ones to a hundredth; deflate ends at 1032.
inline constexpr double kMaxInflation = 200;

/// A delimiter: as many blanks and tabs as there are between two fields.
inline constexpr char kRunsOfBlanks = '\0';

enum class ColumnKind {
    undecided,  ///< not yet, or only missing values
    numeric,
    nominal,
};

/// A column of a table.
struct Column {
    std::string name;          ///< from the header, else "column 3"
    std::size_t position = 0;  ///< in the file, from 0
    ColumnKind kind = ColumnKind::undecided;
    std::vector<std::string> values{};  ///< of a nominal column; a value's code is its index
    std::int64_t missing = 0;           ///< missing cells among the rows read so far
    std::int64_t unknown = 0;           ///< cells of a test table whose value the training table does not have
    std::optional<Unit> unit{};         ///< of a column that an option reads as amounts
};

/// What a table's columns mean: learnt from a training file, demanded of a test file.
struct Schema {
    std::vector<Column> attributes;  ///< what distances are made of, in the file's order
    Column label;                    ///< nominal: its values are the classes; numeric: targets of a regression
    bool has_label = false;
    bool numbered_classes = false;  ///< the file's label cells hold class numbers from 0, as scikit-learn's do
    bool named = false;             ///< the names come from a header
    std::vector<Column> ignored{};
    std::size_t file_columns = 0;  ///< attributes, label and ignored columns

    [[nodiscard]] bool any_missing() const {
        for (const Column& column : attributes)
            if (column.missing > 0) return true;
        return false;
    }
};

/// How to read a table. Columns are given by name or by number from 1.
struct TableOptions {
    enum class Header { detect, present, absent };
    enum class Format { detect, csv, arff, libsvm };

    Format format_of_file = Format::detect;

    char delimiter = ',';
    char decimal = '.';
    char thousands = 0;  ///< as NumberFormat has it
    char comment = 0;    ///< what a line begins with that is no record; 0: nothing
    Header header = Header::detect;
    std::string label = "last";          ///< a column, "last", or "none"
    bool numeric_label = false;          ///< the label is a number to regress on, not a class
    std::vector<std::string> nominal{};  ///< columns to take as nominal although they hold numbers
    std::vector<std::string> numeric{};  ///< columns of amounts or dates to take as numbers (parse_amount)
    std::vector<std::string> ignored{};  ///< columns to leave out
    bool ignored_elsewhere = false;      ///< one of them that this table lacks is in the test table (its reader checks)
    std::vector<std::string> missing{};  ///< words for a value that is not known; none: the usual ones
    bool ignore_unknown = false;         ///< values that only a test table has are no errors: they equal none
    bool unheard_labels = false;         ///< so are labels: their rows get the class kUnheardClass
    std::size_t max_bytes = SIZE_MAX;    ///< of a table that is read whole
    double max_inflation = kMaxInflation;  ///< of a gzip file: bytes for each of its own

    [[nodiscard]] NumberFormat format() const { return {decimal, thousands}; }
};

}  // namespace espalier::bench::io
