#include "harness/apps/io/table_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/text/counted.hpp"

namespace espalier::bench::io {
namespace {

std::string range_of(const std::vector<Number>& values) {
    Number least = INFINITY, most = -INFINITY;
    for (const Number value : values) {
        if (std::isnan(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    return fmt::format("{} to {}", least, most);
}

std::string categories_of(const Column& column, const char* one, const char* more) {
    constexpr std::size_t kShown = 5;
    std::string text = counted(column.values.size(), one, more) + ": ";
    for (std::size_t i = 0; i < std::min(column.values.size(), kShown); ++i)
        text.append(i == 0 ? "" : ", ").append(printable(column.values[i]));
    return text + (column.values.size() > kShown ? ", ..." : "");
}

std::string line_of(const Column& column, const std::vector<Number>& values) {
    std::string line = "  " + printable(column.name) + ": ";
    line += column.kind == ColumnKind::nominal ? "nominal, " + categories_of(column, "category", "categories")
                                               : "numeric, " + range_of(values);
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
    for (std::size_t i = 0; i < shown; ++i) lines.push_back(line_of(columns[i], table.rows.attributes[i]));
    if (shown < columns.size()) lines.push_back(line_of_rest(columns, shown));
    if (table.schema.has_label) lines.push_back(line_of_label(table));
    return lines;
}

}  // namespace espalier::bench::io
