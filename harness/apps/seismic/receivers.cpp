// The file of the receivers' coordinates. What is not understood is refused: a column that is passed over, or names
// that are dropped, would put traces to the wrong places without a word.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/geometry.hpp"
#include "harness/apps/tables/csv.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/csv_field.hpp"

namespace espalier::bench::seismic {
namespace {

using CsvFields = std::vector<std::string_view>;

constexpr const char* kHeaderHelp =
    "write a header that names the columns x, y and z, and may name weight and one of name, station, sta and id";

std::optional<double> finite_number(std::string_view text) {
    const auto value = io::parse_number(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

bool is_number(std::string_view text) { return io::parse_number(text).has_value(); }

/// Which field holds what; -1 where the file has no such column.
struct ReceiverColumns {
    int x = 0, y = 1, z = 2, name = -1, weight = -1;
    std::size_t count = 3;
};

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower;
}

/// The column of `columns` that a header's field stands for; nothing for an unknown one.
int* column_for(ReceiverColumns& columns, const std::string& name) {
    if (name == "x") return &columns.x;
    if (name == "y") return &columns.y;
    if (name == "z") return &columns.z;
    if (name == "weight") return &columns.weight;
    if (name == "name" || name == "station" || name == "sta" || name == "id") return &columns.name;
    return nullptr;
}

ReceiverColumns columns_of(const io::CsvReader& csv, const CsvFields& header) {
    ReceiverColumns columns{-1, -1, -1, -1, -1, header.size()};
    for (std::size_t i = 0; i < header.size(); ++i) {
        int* const column = column_for(columns, lower_case(header[i]));
        if (column == nullptr)
            csv.fail(fmt::format("the column '{}' is not known; remove it, or rename it: {}", io::printable(header[i]),
                                 kHeaderHelp));
        if (*column >= 0)
            csv.fail(fmt::format("the columns '{}' and '{}' stand for the same; remove one",
                                 io::printable(header[static_cast<std::size_t>(*column)]), io::printable(header[i])));
        *column = static_cast<int>(i);
    }
    if (std::min({columns.x, columns.y, columns.z}) < 0)
        csv.fail(fmt::format("the header lacks {}; {}", columns.x < 0 ? "x" : columns.y < 0 ? "y" : "z", kHeaderHelp));
    return columns;
}

/// The columns of a file whose first line is `fields`. Three numbers are coordinates; of more nobody knows which.
ReceiverColumns first_line(const io::CsvReader& csv, const CsvFields& fields) {
    if (fields.size() == 1 && fields[0].find_first_of("; \t|") != std::string_view::npos)
        csv.fail(fmt::format("'{}' is one field, as no commas separate its numbers or names; write commas between them",
                             io::printable(fields[0])));
    const auto numbers = static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), is_number));
    if (numbers == 0) return columns_of(csv, fields);
    if (fields.size() != 3 || numbers != 3)
        csv.fail(fmt::format("there is no header, and {} are not x, y and z alone; {}, such as name,x,y,z",
                             counted(fields.size(), "field"), kHeaderHelp));
    return {};
}

double number_in(const io::CsvReader& csv, const CsvFields& fields, int column, const char* what) {
    const std::string_view text = fields[static_cast<std::size_t>(column)];
    const auto value = finite_number(text);
    if (!value) csv.fail(fmt::format("{} is '{}', which is no finite number", what, io::printable(text)));
    return *value;
}

}  // namespace

Receivers read_receivers(const std::string& path) {
    io::CsvReader csv(path);
    CsvFields fields;
    ReceiverColumns columns;
    Receivers receivers;
    for (bool first = true; csv.next(fields); first = false) {
        if (first) {
            columns = first_line(csv, fields);
            if (!is_number(fields[static_cast<std::size_t>(columns.x)])) continue;
        }
        if (fields.size() != columns.count)
            csv.fail(fmt::format("has {}, where the first line has {}; correct it", counted(fields.size(), "field"),
                                 columns.count));
        receivers.positions.push_back({number_in(csv, fields, columns.x, "x"), number_in(csv, fields, columns.y, "y"),
                                       number_in(csv, fields, columns.z, "z")});
        if (columns.weight >= 0)
            receivers.weights.push_back(static_cast<float>(number_in(csv, fields, columns.weight, "weight")));
        if (columns.name < 0) continue;
        const std::string_view name = fields[static_cast<std::size_t>(columns.name)];
        if (name.empty()) csv.fail("this receiver has no name; name all of them, or remove the column of names");
        receivers.names.emplace_back(name);
    }
    if (receivers.count() == 0) csv.fail("lists no receivers; write one per line: name,x,y,z");
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

}  // namespace espalier::bench::seismic
