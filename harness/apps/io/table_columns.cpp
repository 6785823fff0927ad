// The part of TableReader that settles, before any row, which column of the file is what.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/apps/io/table.hpp"
#include "harness/text/counted.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_at(const std::vector<Column>& columns, std::size_t position) {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& c) { return c.position == position; });
}

std::unordered_set<std::string_view> names_of(const Schema& schema) {
    std::unordered_set<std::string_view> names;
    if (!schema.named) return names;
    if (schema.has_label) names.insert(schema.label.name);
    for (const auto* columns : {&schema.attributes, &schema.ignored})
        for (const Column& column : *columns) names.insert(column.name);
    return names;
}

/// Positions by name.
std::unordered_map<std::string_view, std::size_t> places_of(const std::vector<Column>& columns) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < columns.size(); ++i) places.emplace(columns[i].name, i);
    return places;
}

}  // namespace

bool TableReader::first_is_header() const {
    const std::vector<std::string>& first = records_.first_lines().first;
    if (options_.header != TableOptions::Header::detect) return options_.header == TableOptions::Header::present;
    const auto known = names_of(schema_);
    const auto names =
        std::count_if(first.begin(), first.end(), [&](const std::string& cell) { return known.contains(cell); });
    if (names == static_cast<std::ptrdiff_t>(first.size())) return true;
    if (suits(first, false)) return false;
    if (names > 0) return true;
    if (has_number(first, options_.decimal)) return false;
    if (options_.ignore_unknown && suits(first, true))
        throw BadFile(records_.path(), "line " + std::to_string(records_.first_lines().first_line) +
                                           " may be a header or a row of unknown values; say --header if it names the "
                                           "columns, --no-header if it is a row");
    return true;
}

/// Whether it could be a row, its columns being in the training table's order; with values that are unknown there, too?
bool TableReader::suits(const std::vector<std::string>& row, bool with_unknown) const {
    const bool without_label = schema_.has_label && row.size() + 1 == schema_.file_columns;
    if (row.size() != schema_.file_columns && !without_label) return false;
    const auto cell = [&](const Column& column) -> const std::string& {
        return row[column.position - (without_label && column.position > schema_.label.position ? 1 : 0)];
    };
    for (std::size_t a = 0; a < schema_.attributes.size(); ++a) {
        const Column& column = schema_.attributes[a];
        const bool known = column.kind == ColumnKind::nominal
                               ? with_unknown || codes_[a].find(cell(column)) != codes_[a].end()
                               : parse_number(cell(column), options_.decimal).has_value();
        if (!known && !missing_.hold(cell(column))) return false;
    }
    if (without_label || !schema_.has_label) return true;
    return schema_.label.kind == ColumnKind::nominal ? label_codes_.find(cell(schema_.label)) != label_codes_.end()
                                                     : parse_number(cell(schema_.label), options_.decimal).has_value();
}

void TableReader::match_by_name() {
    const auto attributes = places_of(schema_.attributes), ignored = places_of(schema_.ignored);
    std::vector<bool> present(schema_.attributes.size());
    const bool want_label = schema_.has_label;
    schema_.has_label = false;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string& name = names_[i];
        if (want_label && name == schema_.label.name) {
            targets_.push_back({Target::Kind::label});
            schema_.label.position = i;
            schema_.has_label = true;
        } else if (const auto attribute = attributes.find(name); attribute != attributes.end()) {
            targets_.push_back({Target::Kind::attribute, attribute->second});
            schema_.attributes[attribute->second].position = i;
            present[attribute->second] = true;
        } else if (ignored.contains(name) || holds(options_.ignored, name)) {
            targets_.push_back({Target::Kind::ignored});
        } else {
            throw BadFile(records_.path(), "line 1: column '" + printable(name) +
                                               "' is not in the training table; correct the name or leave the column "
                                               "out with --ignore");
        }
    }
    for (std::size_t a = 0; a < present.size(); ++a)
        if (!present[a])
            throw BadFile(records_.path(), "line 1: column '" + printable(schema_.attributes[a].name) +
                                               "' of the training table is missing (here are " + name_list(names_) +
                                               "); add it, empty where unknown");
}

void TableReader::match_by_position(std::int64_t line) {
    const std::size_t count = names_.size();
    const bool without_label = schema_.has_label && count + 1 == schema_.file_columns;
    if (count != schema_.file_columns && !without_label)
        throw BadFile(records_.path(),
                      "line " + std::to_string(line) + ": " + counted(count, "column") +
                          " where the training table has " + std::to_string(schema_.file_columns) +
                          "; without names in both files they are matched by position, and only the label "
                          "may be absent: give both a header, or the missing columns empty cells");
    const std::size_t label = schema_.has_label ? schema_.label.position : kNoColumn;
    std::size_t attribute = 0;
    for (std::size_t i = 0; i < schema_.file_columns; ++i) {
        if (i == label && without_label) continue;
        if (i == label)
            targets_.push_back({Target::Kind::label});
        else if (is_at(schema_.ignored, i))
            targets_.push_back({Target::Kind::ignored});
        else
            targets_.push_back({Target::Kind::attribute, attribute++});
    }
    if (without_label) schema_.has_label = false;
}

/// Codes of the values that are known.
void TableReader::index_values() {
    codes_.resize(schema_.attributes.size());
    for (std::size_t a = 0; a < codes_.size(); ++a)
        for (const auto& value : schema_.attributes[a].values)
            codes_[a].emplace(value, static_cast<std::int32_t>(codes_[a].size()));
    for (const auto& value : schema_.label.values)
        label_codes_.emplace(value, static_cast<std::int32_t>(label_codes_.size()));
}

/// A file that begins with its class names numbers them in that order; one cut out of such a file by hand
/// keeps the numbers without the names.
void TableReader::use_class_numbers() {
    const auto& classes = records_.first_lines().classes;
    const auto& names = classes.empty() ? schema_.label.values : classes;
    if (schema_.label.kind != ColumnKind::nominal) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto known = label_codes_.find(names[i]);
        if (known == label_codes_.end())
            throw BadFile(records_.path(), "line 1: class '" + printable(names[i]) +
                                               "' does not occur in the training table (known: " +
                                               name_list(schema_.label.values) + "); correct it");
        label_codes_.emplace(std::to_string(i), known->second);
    }
}

}  // namespace espalier::bench::io
