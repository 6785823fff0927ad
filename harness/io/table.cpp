#include "harness/io/table.hpp"

#include <algorithm>
#include <numeric>

#include "harness/io/bad_file.hpp"
#include "harness/io/cell.hpp"

namespace espalier::io {
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

void check_columns(const std::string& path, const Table& table) {
    for (const Column& column : table.schema.attributes)
        if (column.kind == ColumnKind::undecided)
            throw BadFile(path, "column '" + printable(column.name) + "' has no value in any of the " +
                                    std::to_string(table.rows.size()) + " rows; leave it out with --ignore " +
                                    std::to_string(column.position + 1));
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
    const std::size_t most = options.max_bytes / row_bytes;
    Table table;
    constexpr std::size_t kStep = 65536;
    while (reader.read(table.rows, kStep))
        if (table.rows.size() > most)
            throw BadFile(path, "needs more than the memory budget of " + std::to_string(options.max_bytes >> 20) +
                                    " MiB; raise --memory or use fewer rows");
    table.schema = reader.schema();
    check_columns(path, table);
    if (table.schema.label.kind == ColumnKind::nominal && !table.schema.numbered_classes) {
        const auto new_code = sort_classes(table.schema.label.values);
        for (auto& label : table.rows.classes) label = new_code[static_cast<std::size_t>(label)];
    }
    return table;
}

}  // namespace espalier::io
