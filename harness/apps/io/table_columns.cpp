// The part of TableReader that settles, before any row, which column of the file is what.

#include <algorithm>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/apps/io/table.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

std::size_t position_of(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? kNoColumn : static_cast<std::size_t>(found - names.begin());
}

/// "3" is the third of `count` columns.
std::size_t column_number(const std::string& text, std::size_t count) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return kNoColumn;
    const std::size_t number = std::stoul(text);
    return number >= 1 && number <= count ? number - 1 : kNoColumn;
}

bool is_at(const std::vector<Column>& columns, std::size_t position) {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& c) { return c.position == position; });
}

}  // namespace

std::size_t TableReader::find_column(const std::string& column, const char* option) const {
    if (const auto by_name = position_of(header_.names, column); by_name != kNoColumn) return by_name;
    if (const auto by_number = column_number(column, header_.names.size()); by_number != kNoColumn) return by_number;
    throw BadFile(csv_.path(), "has no column '" + printable(column) + "' for " + option + "; its columns are " +
                                   name_list(header_.names) + " (or use a number from 1 to " +
                                   std::to_string(header_.names.size()) + ")");
}

void TableReader::learn_columns() {
    const std::size_t count = header_.names.size();
    schema_.named = header_.named;
    schema_.file_columns = count;
    schema_.has_label = options_.label != "none";
    std::vector<bool> ignored(count), nominal(count);
    for (const auto& column : options_.ignored) ignored[find_column(column, "--ignore")] = true;
    for (const auto& column : options_.nominal) nominal[find_column(column, "--nominal")] = true;
    std::size_t label = kNoColumn;
    if (options_.label == "last" && position_of(header_.names, "last") == kNoColumn) {
        label = count;
        while (label > 0 && ignored[label - 1]) --label;
        --label;  // wraps to kNoColumn if every column is ignored, which is an error below
    } else if (schema_.has_label) {
        label = find_column(options_.label, "--label");
        if (ignored[label])
            throw BadFile(csv_.path(), "column '" + printable(options_.label) + "' is both label and ignored; choose");
    }

    for (std::size_t i = 0; i < count; ++i) {
        Column column{header_.names[i], i, nominal[i] ? ColumnKind::nominal : ColumnKind::undecided};
        if (i == label) {
            column.kind = options_.numeric_label ? ColumnKind::numeric : ColumnKind::nominal;
            targets_.push_back({Target::Kind::label});
            schema_.label = std::move(column);
        } else if (ignored[i]) {
            targets_.push_back({Target::Kind::ignored});
            schema_.ignored.push_back(std::move(column));
        } else {
            targets_.push_back({Target::Kind::attribute, schema_.attributes.size()});
            schema_.attributes.push_back(std::move(column));
        }
    }
    if (schema_.attributes.empty())
        throw BadFile(csv_.path(), "has no column to compute distances from beside the label; is the delimiter '" +
                                       std::string(1, options_.delimiter) + "' right (--delimiter)?");
    schema_.numbered_classes = !header_.classes.empty() && label == count - 1 && !options_.numeric_label;
    if (schema_.numbered_classes) schema_.label.values = header_.classes;
}

void TableReader::match_by_name() {
    const auto find = [](const std::vector<Column>& columns, const std::string& name) {
        const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
        return found == columns.end() ? kNoColumn : static_cast<std::size_t>(found - columns.begin());
    };
    std::vector<bool> present(schema_.attributes.size());
    const bool want_label = schema_.has_label;
    schema_.has_label = false;
    for (std::size_t i = 0; i < header_.names.size(); ++i) {
        const std::string& name = header_.names[i];
        if (want_label && name == schema_.label.name) {
            targets_.push_back({Target::Kind::label});
            schema_.label.position = i;
            schema_.has_label = true;
        } else if (const auto attribute = find(schema_.attributes, name); attribute != kNoColumn) {
            targets_.push_back({Target::Kind::attribute, attribute});
            schema_.attributes[attribute].position = i;
            present[attribute] = true;
        } else if (find(schema_.ignored, name) != kNoColumn || position_of(options_.ignored, name) != kNoColumn) {
            targets_.push_back({Target::Kind::ignored});
        } else {
            throw BadFile(csv_.path(), "line 1: column '" + printable(name) +
                                           "' is not in the training table; correct the name or leave the column "
                                           "out with --ignore");
        }
    }
    for (std::size_t a = 0; a < present.size(); ++a)
        if (!present[a])
            throw BadFile(csv_.path(), "line 1: column '" + printable(schema_.attributes[a].name) +
                                           "' of the training table is missing (here are " + name_list(header_.names) +
                                           "); add it, empty where unknown");
}

void TableReader::match_by_position() {
    const std::size_t count = header_.names.size();
    const bool without_label = schema_.has_label && count + 1 == schema_.file_columns;
    if (count != schema_.file_columns && !without_label)
        throw BadFile(csv_.path(), "line " + std::to_string(header_.named ? 1 : header_.first_lines.front()) + ": " +
                                       std::to_string(count) + (count == 1 ? " column" : " columns") +
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

/// Codes of the values that are known from the start.
void TableReader::index_values() {
    codes_.resize(schema_.attributes.size());
    for (std::size_t a = 0; a < codes_.size(); ++a)
        for (const auto& value : schema_.attributes[a].values)
            codes_[a].emplace(value, static_cast<std::int32_t>(codes_[a].size()));
    for (const auto& value : schema_.label.values)
        label_codes_.emplace(value, static_cast<std::int32_t>(label_codes_.size()));
    if (schema_.has_label && (schema_.numbered_classes || !header_.classes.empty())) use_class_numbers();
}

/// A file that begins with its class names numbers them in that order; one cut out of such a file by hand
/// keeps the numbers without the names.
void TableReader::use_class_numbers() {
    const auto& names = header_.classes.empty() ? schema_.label.values : header_.classes;
    if (schema_.label.kind != ColumnKind::nominal) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto known = label_codes_.find(names[i]);
        if (known == label_codes_.end())
            throw BadFile(csv_.path(), "line 1: class '" + printable(names[i]) +
                                           "' does not occur in the training table (known: " +
                                           name_list(schema_.label.values) + "); correct it");
        label_codes_.emplace(std::to_string(i), known->second);
    }
}

}  // namespace espalier::bench::io
