#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/tables/amount.hpp"
#include "harness/apps/tables/schema.hpp"

namespace espalier::bench::io {

/// Codes of names (name_of).
struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
};
using Codes = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

/// Makes a copy of what a column keeps of its cells, for the few questions that need it.
using KeptCells = std::function<std::vector<Number>()>;

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
    NumberFormat format{};
    const MissingWords* missing = nullptr;
    bool amounts = false;  ///< a numeric column whose cells may have units
};

/// Learns from all cells of a column whether it holds numbers or names.
///
/// Until that is known a number is kept as itself and a text as a NaN that carries its code, so that a column of
/// numbers needs no memory beside them.
class ColumnLearner {
public:
    explicit ColumnLearner(const ColumnRules& rules) : rules_(rules) {}

    /// A nominal column of these values and no others; their numbers from 0 stand for them, too.
    void restrict_to(const std::vector<std::string>& values);

    /// Whether the cell holds no value.
    [[nodiscard]] bool is_missing(std::string_view cell) const;

    /// Takes the next row's cell. Returns what is to be kept of it: a number, a code, or a NaN. Throws BadCell.
    Number add(std::string_view cell, std::int64_t line);

    /// Takes so many more cells like one that became `kept` before; of numbers, any that `parse_plain_number` reads.
    void add_again(Number kept, std::int64_t times);

    /// Whether plain numbers are kept as themselves.
    [[nodiscard]] bool takes_plain_numbers() const {
        return rules_.kind != ColumnKind::nominal && !rules_.amounts && rules_.format.thousands == 0;
    }
    /// Whether what is kept tells a number from a text, so that it may be remembered for other cells of the same text.
    [[nodiscard]] bool is_name(Number kept) const;

    /// Whether `settle` turns what is kept into something else.
    [[nodiscard]] bool changes_what_is_kept() const { return rules_.kind == ColumnKind::undecided && texts_ > 0; }

    /// Decides what the column is, and makes `kept` its numbers or codes, NaN where a cell is missing; where it changes
    /// nothing it may be empty. Throws BadCell
    /// for what is no decision: numbers with some texts among them, which are typing errors or unknown spellings of a
    /// missing value as a rule; numbers that are written in another way than the rules say, amounts and dates; and
    /// texts that are nearly all different.
    void settle(std::span<Number> kept);

    /// After `settle`: undecided if every cell is missing.
    [[nodiscard]] ColumnKind kind() const { return rules_.kind; }
    [[nodiscard]] std::vector<std::string> values() const;  ///< of a nominal column, by code
    [[nodiscard]] std::int64_t missing() const { return missing_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }  ///< that the texts take
    [[nodiscard]] std::optional<Unit> unit() const;             ///< of a column of amounts

    /// What cells so far say about a line that may be a header: whether all of them are numbers; whether one is this
    /// text; whether each occurs twice or more.
    [[nodiscard]] bool all_numbers() const { return numbers_ > 0 && texts_ == 0; }
    [[nodiscard]] bool has(std::string_view cell, const KeptCells& kept) const;
    [[nodiscard]] bool all_recur(const KeptCells& kept) const;
    [[nodiscard]] bool is_number(std::string_view cell) const;

private:
    struct Value {
        std::string text;
        std::int64_t count, line;
        bool number;  ///< in an undecided column one that no double holds: the others are kept as themselves
    };

    Number code(std::string_view cell, std::int64_t line);
    Number number(std::string_view cell, std::int64_t line);
    void decide();
    void refuse_amounts() const;
    void refuse_different_texts() const;
    void make_codes(std::span<Number> kept);
    [[noreturn]] void refuse_new_value(std::string_view cell, std::int64_t line) const;

    // What every cell asks for stands together: of a table of thousands of columns, each cell finds its column's in a
    // cache line or two that were displaced since the last row.
    ColumnRules rules_;
    bool closed_ = false;  ///< no values but those there are
    std::int64_t missing_ = 0, numbers_ = 0, texts_ = 0;
    std::size_t bytes_ = 0;
    std::int64_t unspelled_line_ = 0;
    std::string unspelled_;  ///< the first number that its value does not spell; it stands in `unspelled_line_`
    Codes codes_;
    std::vector<Value> values_;
    std::optional<Unit> unit_;
};

/// A number of a numeric column. Throws BadCell that says what to do about a text that is none. `unit`, of a column of
/// amounts, is set by its first cell and demanded of the others.
Number number_or_fail(std::string_view cell, std::int64_t line, const ColumnRules& rules, std::optional<Unit>& unit);

}  // namespace espalier::bench::io
