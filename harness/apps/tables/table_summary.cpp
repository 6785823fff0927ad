#include "harness/apps/tables/table_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::io {
namespace {

std::string range_of(std::span<const Number> values) {
    Number least = INFINITY, most = -INFINITY;
    for (const Number value : values) {
        if (std::isnan(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    return fmt::format("{} to {}", least + 0.0, most + 0.0);  // not -0
}

std::string categories_of(const Column& column, const char* one, const char* more) {
    constexpr std::size_t kShown = 5;
    std::string text = counted(column.values.size(), one, more) + ": ";
    for (std::size_t i = 0; i < std::min(column.values.size(), kShown); ++i)
        text.append(i == 0 ? "" : ", ").append(printable(column.values[i]));
    return text + (column.values.size() > kShown ? ", ..." : "");
}

std::string unit_of(const Column& column) {
    if (!column.unit) return "";
    switch (column.unit->kind) {
        case Unit::Kind::date:
        case Unit::Kind::instant: return " days since 1970-01-01";
        case Unit::Kind::time: return " of a day";
        case Unit::Kind::quantity: break;
    }
    return column.unit->text.empty() ? "" : " '" + printable(column.unit->text) + "'";
}

std::string line_of(const Column& column, std::span<const Number> values) {
    std::string line = "  " + printable(column.name) + ": ";
    line += column.kind == ColumnKind::nominal ? "nominal, " + categories_of(column, "category", "categories")
                                               : "numeric, " + range_of(values) + unit_of(column);
    return column.missing > 0 ? line + fmt::format(", {} missing", column.missing) : line;
}

std::string line_of_label(const Table& table) {
    const Column& label = table.schema.label;
    const std::string line =
        "  " + printable(label.name) + ": label, " +
        (label.kind == ColumnKind::nominal ? categories_of(label, "class", "classes") : range_of(table.rows.targets));
    const Unlabelled& without = table.unlabelled;
    if (without.rows == 0) return line;
    return line + fmt::format("; {} without a label skipped, the first in line {}", counted(without.rows, "row"),
                              without.first_line);
}

/// Whether the values are those of consecutive rows: 0, 1, 2, ... or from any other whole number on.
bool count_rows(std::span<const Number> values, const std::vector<std::size_t>& numbers) {
    if (values.size() < 3 || values[0] != std::floor(values[0])) return false;
    const auto row = [&](std::size_t i) { return static_cast<Number>(numbers.empty() ? i : numbers[i]); };
    for (std::size_t i = 1; i < values.size(); ++i)
        if (values[i] - values[0] != row(i) - row(0)) return false;
    return true;
}

/// Whether the values are whole numbers, each of which occurs once.
bool are_different_whole_numbers(std::span<const Number> column) {
    if (column.size() < 3) return false;
    std::vector<Number> values(column.begin(), column.end());
    if (std::any_of(values.begin(), values.end(), [](Number value) { return value != std::floor(value); }))
        return false;
    std::sort(values.begin(), values.end());
    return std::adjacent_find(values.begin(), values.end()) == values.end();
}

/// Whether the values are whole numbers of up to 19 digits, some of them beyond those that doubles tell apart.
bool are_codes_beyond_doubles(std::span<const Number> values) {
    constexpr Number kLast = 9007199254740992, kTwentyDigits = 1e19;
    bool beyond = false;
    for (const Number value : values) {
        if (std::isnan(value)) continue;
        if (value != std::floor(value) || std::abs(value) >= kTwentyDigits) return false;
        beyond |= std::abs(value) >= kLast;
    }
    return beyond;
}

/// As programs that write tables call the numbers of the rows.
bool is_called_as_indices_are(const Column& column, bool named) {
    constexpr std::array<std::string_view, 12> kNames{"id",    "index", "idx", "row",    "rowid", "row_id",
                                                      "rowno", "no",    "nr",  "number", "_id",   "#"};
    std::string name = column.name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    const bool no_name = named && name == "column " + std::to_string(column.position + 1);
    return no_name || name.starts_with("unnamed:") || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// The columns from the first that got no line of its own.
std::string line_of_rest(const std::vector<Column>& columns, std::size_t first) {
    std::size_t nominal = 0;
    std::int64_t missing = 0;
    for (std::size_t i = first; i < columns.size(); ++i) {
        nominal += columns[i].kind == ColumnKind::nominal;
        missing += columns[i].missing;
    }
    const std::size_t rest = columns.size() - first;
    return fmt::format("  and {}: {} numeric, {} nominal, {} missing", counted(rest, "more column"), rest - nominal,
                       nominal, counted(missing, "cell"));
}

}  // namespace

std::vector<std::string> summary_of(const std::string& path, const Table& table, std::size_t most) {
    const auto& columns = table.schema.attributes;
    std::vector<std::string> lines{bench::printable(path, 4096) + ": " + counted(table.rows.size(), "row") + "; " +
                                   table.header};
    const std::size_t shown = columns.size() <= most ? columns.size() : most - 1;
    for (std::size_t i = 0; i < shown; ++i) lines.push_back(line_of(columns[i], table.rows.attributes.column(i)));
    if (shown < columns.size()) lines.push_back(line_of_rest(columns, shown));
    if (table.schema.has_label) lines.push_back(line_of_label(table));
    return lines;
}

std::vector<std::string> hints_of(const Table& table) {
    std::vector<std::string> hints;
    const Schema& schema = table.schema;
    table.rows.attributes.for_each_column([&](std::size_t a, std::span<const Number> values) {
        const Column& column = schema.attributes[a];
        const bool counts = column.kind == ColumnKind::numeric && count_rows(values, table.numbers);
        const bool is_index = column.kind == ColumnKind::numeric && is_called_as_indices_are(column, schema.named) &&
                              are_different_whole_numbers(values);
        if (counts || is_index)
            hints.push_back("hint: column '" + printable(column.name) + "' numbers the rows (" + range_of(values) +
                            ") and is compared like any other; if it says nothing about them, leave it out with "
                            "--ignore " +
                            std::to_string(column.position + 1));
        else if (column.kind == ColumnKind::numeric && are_codes_beyond_doubles(values))
            hints.push_back("hint: column '" + printable(column.name) +
                            "' has whole numbers beyond 9007199254740992 (" + range_of(values) +
                            "), of which double precision cannot tell neighbours apart; if they are codes, compare "
                            "them as text with --nominal " +
                            std::to_string(column.position + 1));
    });
    constexpr std::size_t kFewClasses = 20;
    const std::size_t classes = schema.label.values.size();
    if (classes > kFewClasses && 2 * classes > table.rows.size())
        hints.push_back("hint: the label '" + printable(schema.label.name) + "' has " + std::to_string(classes) +
                        " classes in " + counted(table.rows.size(), "row") +
                        "; if it is a number to predict, say --regression");
    return hints;
}

}  // namespace espalier::bench::io
