// The part of TableReader that settles, before any row, which column of the file is what.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/apps/tables/table.hpp"
#include "harness/base/text/counted.hpp"

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
    if (has_number(first, options_.format())) return false;
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
    const auto known = [&](const Column& column, const Codes& codes) {
        const std::string& text = cell(column);
        if (missing_.hold(text)) return true;
        if (column.unit) return parse_amount(text, options_.format()).has_value();
        if (column.kind == ColumnKind::numeric) return parse_number(text, options_.format()).has_value();
        return code_of(codes, text).has_value();
    };
    for (std::size_t a = 0; a < schema_.attributes.size(); ++a) {
        const bool may_be_any = with_unknown && schema_.attributes[a].kind == ColumnKind::nominal;
        if (!may_be_any && !known(schema_.attributes[a], codes_[a])) return false;
    }
    return without_label || !schema_.has_label || known(schema_.label, label_codes_);
}

std::optional<std::int32_t> TableReader::code_of(const Codes& codes, std::string_view cell) const {
    std::string scratch;
    const auto known = codes.find(name_of(cell, options_.format(), scratch));
    return known == codes.end() ? std::nullopt : std::optional(known->second);
}

/// A column that an option leaves out is one of the training table, or of this one.
void TableReader::check_ignored() const {
    const auto is_number_of_column = [&](const std::string& text) {
        return text.size() <= 9 && text.find_first_not_of("0123456789") == std::string::npos && std::stoul(text) >= 1 &&
               std::stoul(text) <= schema_.file_columns;
    };
    for (const std::string& column : options_.ignored) {
        const bool there =
            names_of(schema_).contains(column) || (named_ && holds(names_, column)) || is_number_of_column(column);
        if (!there)
            throw BadFile(records_.path(), "has no column '" + printable(column) +
                                               "' for --ignore, nor has the training table; here are " +
                                               name_list(names_));
    }
}

/// A label column without any value is none. The first row tells, and the others must agree.
void TableReader::see_whether_labels_are_there() {
    if (!schema_.has_label) return;
    const FirstLines& lines = records_.first_lines();
    const auto& row = named_ || lines.is_scikit_learn() ? lines.second : lines.first;
    const auto label = std::find_if(targets_.begin(), targets_.end(),
                                    [](const Target& target) { return target.kind == Target::Kind::label; });
    const auto position = static_cast<std::size_t>(label - targets_.begin());
    labels_are_missing_ = position < row.size() && is_missing_label(row[position]);
    if (labels_are_missing_) schema_.has_label = false;
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
    std::string scratch;
    const auto add = [&](Codes& codes, const std::string& value) {
        codes.emplace(name_of(value, options_.format(), scratch), static_cast<std::int32_t>(codes.size()));
    };
    for (std::size_t a = 0; a < codes_.size(); ++a)
        for (const auto& value : schema_.attributes[a].values) add(codes_[a], value);
    for (const auto& value : schema_.label.values) add(label_codes_, value);
}

/// A file that begins with its class names numbers them in that order; one cut out of such a file by hand
/// keeps the numbers without the names.
void TableReader::use_class_numbers() {
    const auto& classes = records_.first_lines().classes;
    const auto& names = classes.empty() ? schema_.label.values : classes;
    if (schema_.label.kind != ColumnKind::nominal) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto known = code_of(label_codes_, names[i]);
        if (!known && options_.unheard_labels) continue;
        if (!known)
            throw BadFile(records_.path(), "line 1: class '" + printable(names[i]) +
                                               "' does not occur in the training table (known: " +
                                               name_list(schema_.label.values) + "); correct it");
        label_codes_.emplace(std::to_string(i), *known);
    }
}

}  // namespace espalier::bench::io
