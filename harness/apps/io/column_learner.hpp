#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/schema.hpp"

namespace espalier::bench::io {

/// Codes of texts.
struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
};
using Codes = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

/// A cell that its column cannot have.
class BadCell : public std::runtime_error {
public:
    BadCell(std::int64_t line, const std::string& problem) : std::runtime_error(problem), line_(line) {}
    [[nodiscard]] std::int64_t line() const { return line_; }

private:
    std::int64_t line_;
};

/// What is told of a column beforehand.
struct ColumnRules {
    ColumnKind kind = ColumnKind::undecided;
    bool label = false;
    std::size_t position = 0;  ///< in the file, from 0: for messages
    char decimal = '.';
    MissingWords missing{};
};

/// Learns from all cells of a column whether it holds numbers or names.
///
/// Until that is known a cell is kept as the code of its text. A column with more different ones than 4,096, all of
/// them numbers, is numeric for good, so that memory does not grow with the rows.
class ColumnLearner {
public:
    explicit ColumnLearner(ColumnRules rules) : rules_(std::move(rules)) {}

    /// A nominal column of these values and no others; their numbers from 0 stand for them, too.
    void restrict_to(const std::vector<std::string>& values);

    /// Whether the cell holds no value.
    [[nodiscard]] bool is_missing(std::string_view cell) const;

    /// Appends the next row's cell to `kept`: a number or a code, NaN where it is missing. Throws BadCell.
    void add(std::string_view cell, std::int64_t line, std::vector<Number>& kept);

    /// Decides what the column is, and makes `kept` numbers if it is numeric. Throws BadCell for a column of numbers
    /// with some texts among them, which are typing errors or unknown spellings of a missing value as a rule.
    void settle(std::vector<Number>& kept);

    /// After `settle`: undecided if every cell is missing.
    [[nodiscard]] ColumnKind kind() const { return rules_.kind; }
    [[nodiscard]] std::vector<std::string> values() const;  ///< of a nominal column, by code
    [[nodiscard]] std::int64_t missing() const { return missing_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }  ///< that the texts take

    /// What cells so far say about a line that may be a header: whether all of them are numbers; whether one is this
    /// text; whether each text occurs twice or more.
    [[nodiscard]] bool all_numbers() const { return numbers_ > 0 && texts_ == 0; }
    [[nodiscard]] bool has(std::string_view cell) const { return codes_.find(cell) != codes_.end(); }
    [[nodiscard]] bool all_recur() const;

private:
    struct Value {
        const std::string* text;
        Number number;  ///< NaN: none
        std::int64_t count, line;
    };

    Number code(std::string_view cell, std::int64_t line);
    Number number(std::string_view cell, std::int64_t line) const;
    void decide();
    void make_numbers(std::vector<Number>& kept);
    [[noreturn]] void refuse_new_value(std::string_view cell, std::int64_t line) const;

    ColumnRules rules_;
    Codes codes_;
    std::vector<Value> values_;
    bool closed_ = false;     ///< no values but those there are
    bool streaming_ = false;  ///< `kept` holds numbers already
    std::int64_t missing_ = 0, numbers_ = 0, texts_ = 0;
    std::size_t bytes_ = 0;
};

/// A number of a numeric column. Throws BadCell that says what to do about a text that is none.
Number number_or_fail(std::string_view cell, std::int64_t line, const ColumnRules& rules);

}  // namespace espalier::bench::io
