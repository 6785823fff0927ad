#include "harness/apps/seismic/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/csv.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/text/csv_field.hpp"

namespace espalier::bench::seismic {
namespace {

using CsvFields = std::vector<std::string_view>;

/// A finite one.
std::optional<double> number(std::string_view text) {
    const auto value = io::parse_number(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Which field holds what; -1 where the file has no such column.
struct Columns {
    int x = 0, y = 1, z = 2, name = -1, weight = -1;
};

bool is_header(const CsvFields& fields) {
    return std::none_of(fields.begin(), fields.end(), [](std::string_view f) { return number(f).has_value(); });
}

Columns columns_of(const io::CsvReader& csv, const CsvFields& header) {
    const auto find = [&](std::string_view name) {
        const auto at = std::find(header.begin(), header.end(), name);
        return at == header.end() ? -1 : static_cast<int>(at - header.begin());
    };
    const Columns columns{find("x"), find("y"), find("z"), find("name"), find("weight")};
    if (std::min({columns.x, columns.y, columns.z}) < 0)
        csv.fail("the header must name the columns x, y and z, and may name name and weight");
    return columns;
}

double coordinate(const io::CsvReader& csv, const CsvFields& fields, int column, const char* what) {
    if (column >= static_cast<int>(fields.size()))
        csv.fail(fmt::format("{} fields, and none of them is {}", fields.size(), what));
    const std::string_view text = fields[static_cast<std::size_t>(column)];
    const auto value = number(text);
    if (!value) csv.fail(fmt::format("{} is '{}', which is no finite number", what, io::printable(text)));
    return *value;
}

}  // namespace

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

Receivers read_receivers(const std::string& path) {
    io::CsvReader csv(path);
    CsvFields fields;
    Columns columns;
    Receivers receivers;
    for (bool first = true; csv.next(fields); first = false) {
        if (first && is_header(fields)) {
            columns = columns_of(csv, fields);
            continue;
        }
        receivers.positions.push_back({coordinate(csv, fields, columns.x, "x"), coordinate(csv, fields, columns.y, "y"),
                                       coordinate(csv, fields, columns.z, "z")});
        if (columns.weight >= 0)
            receivers.weights.push_back(static_cast<float>(coordinate(csv, fields, columns.weight, "weight")));
        if (columns.name >= 0 && columns.name < static_cast<int>(fields.size()))
            receivers.names.emplace_back(fields[static_cast<std::size_t>(columns.name)]);
    }
    if (receivers.count() == 0) csv.fail("lists no receivers; write one per line: name,x,y,z");
    if (receivers.names.size() != receivers.positions.size()) receivers.names.clear();
    return receivers;
}

void write_receivers(const std::string& path, const Receivers& receivers) {
    io::AtomicFile file(path);
    file.write("name,x,y,z\n");
    for (std::size_t r = 0; r < receivers.positions.size(); ++r) {
        const auto& [x, y, z] = receivers.positions[r];
        file.write(fmt::format("{},{},{},{}\n", csv_field(receivers.names[r]), x, y, z));
    }
    file.commit();
}

Point position(const Grid& grid, std::int64_t node) {
    const std::int64_t line = node / grid.columns;
    return {grid.origin.x + grid.spacing.x * static_cast<double>(node % grid.columns),
            grid.origin.y + grid.spacing.y * static_cast<double>(line % grid.rows),
            grid.origin.z + grid.spacing.z * static_cast<double>(line / grid.rows)};
}

double longest_path(const Grid& grid, const Receivers& receivers) {
    double longest = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const std::int64_t column = corner & 1 ? grid.columns - 1 : 0, row = corner & 2 ? grid.rows - 1 : 0,
                           layer = corner & 4 ? grid.layers - 1 : 0;
        const Point at = position(grid, (layer * grid.rows + row) * grid.columns + column);
        for (const Point& receiver : receivers.positions) longest = std::max(longest, distance(at, receiver));
    }
    return longest;
}

}  // namespace espalier::bench::seismic
