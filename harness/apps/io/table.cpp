#include "harness/apps/io/table.hpp"

#include <algorithm>
#include <numeric>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"

namespace espalier::bench::io {
namespace {

/// new_code[old_code] after sorting the classes.
std::vector<std::int32_t> sort_classes(std::vector<std::string>& classes) {
    const bool numbers =
        std::all_of(classes.begin(), classes.end(), [](const auto& text) { return parse_number(text).has_value(); });
    std::vector<std::size_t> order(classes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (numbers) {
            const float x = *parse_number(classes[a]);
            const float y = *parse_number(classes[b]);
            if (x != y) return x < y;
        }
        return classes[a] < classes[b];
    });
    std::vector<std::string> sorted(classes.size());
    std::vector<std::int32_t> new_code(classes.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted[i] = classes[order[i]];
        new_code[order[i]] = static_cast<std::int32_t>(i);
    }
    classes = std::move(sorted);
    return new_code;
}

constexpr std::size_t kRowsAtOnce = 65536;

void check_columns(const std::string& path, const Table& table) {
    for (const Column& column : table.schema.attributes)
        if (column.kind == ColumnKind::undecided)
            throw BadFile(path, "column '" + printable(column.name) + "' has no value in any of the " +
                                    std::to_string(table.rows.size()) + " rows; leave it out with --ignore " +
                                    std::to_string(column.position + 1));
}

/// Reads to the end without keeping the rows, so that it can say how much memory would do.
std::string too_large(TableReader& reader, Rows& rows, std::size_t row_bytes, std::size_t max_bytes) {
    std::size_t count = 0;
    do {
        count += rows.size();
        rows.clear();
    } while (reader.read(rows, kRowsAtOnce));
    return "has " + std::to_string(count) + " rows of " + std::to_string(row_bytes) + " bytes, together " +
           std::to_string(count * row_bytes) + " bytes, but the memory budget is " + std::to_string(max_bytes) +
           " bytes; raise --memory or use fewer rows";
}

}  // namespace

void Rows::clear() {
    for (auto& attribute : attributes) attribute.clear();
    classes.clear();
    targets.clear();
}

Table read_table(const std::string& path, const TableOptions& options) {
    TableReader reader(path, options);
    const std::size_t row_bytes = 4 * (reader.schema().attributes.size() + 1);
    Table table;
    while (reader.read(table.rows, kRowsAtOnce))
        if (table.rows.size() > options.max_bytes / row_bytes)
            throw BadFile(path, too_large(reader, table.rows, row_bytes, options.max_bytes));
    table.schema = reader.schema();
    check_columns(path, table);
    if (table.schema.label.kind == ColumnKind::nominal && !table.schema.numbered_classes) {
        const auto new_code = sort_classes(table.schema.label.values);
        for (auto& label : table.rows.classes) label = new_code[static_cast<std::size_t>(label)];
    }
    return table;
}

}  // namespace espalier::bench::io
