#include <algorithm>
#include <cmath>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/apps/io/table.hpp"

namespace espalier::bench::io {
namespace {

/// A column with more values than this is a key or free text, not a nominal attribute, and would let the
/// memory grow with the file.
constexpr std::size_t kMostValues = 65536;

}  // namespace

TableReader::TableReader(std::string path, const TableOptions& options)
    : csv_(std::move(path), options.delimiter),
      options_(options),
      header_(read_header(csv_, options.header)),
      learning_(true) {
    learn_columns();
    index_values();
}

TableReader::TableReader(std::string path, const TableOptions& options, const Schema& schema)
    : csv_(std::move(path), options.delimiter),
      options_(options),
      header_(read_header(csv_, options.header)),
      schema_(schema),
      learning_(false) {
    for (Column& column : schema_.attributes) column.missing = 0;
    if (schema_.named && header_.named)
        match_by_name();
    else
        match_by_position();
    index_values();
}

bool TableReader::read(Rows& rows, std::size_t max_rows) {
    rows.attributes.resize(schema_.attributes.size());
    for (std::size_t i = 0; i < max_rows; ++i) {
        if (!next_record()) return i > 0;
        append(rows);
        ++rows_read_;
    }
    return true;
}

/// The next row's cells in fields_: first those that were read to understand the header.
bool TableReader::next_record() {
    if (first_rows_used_ < header_.first_rows.size()) {
        const auto& row = header_.first_rows[first_rows_used_];
        fields_.assign(row.begin(), row.end());
        line_ = header_.first_lines[first_rows_used_++];
    } else if (csv_.next(fields_)) {
        line_ = csv_.line();
    } else {
        if (header_.declared_rows >= 0 && header_.declared_rows != rows_read_)
            throw BadFile(csv_.path(), "the first line declares " + std::to_string(header_.declared_rows) +
                                           " rows, the file has " + std::to_string(rows_read_) +
                                           "; get the whole file, or correct the first line");
        return false;
    }
    if (fields_.size() != targets_.size())
        throw BadFile(csv_.path(), "line " + std::to_string(line_) + ": " + std::to_string(fields_.size()) +
                                       (fields_.size() == 1 ? " field" : " fields") + " where the first line has " +
                                       std::to_string(targets_.size()) +
                                       " columns; complete the row, or quote a cell that holds the delimiter");
    return true;
}

void TableReader::append(Rows& rows) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const Target& target = targets_[i];
        if (target.kind == Target::Kind::attribute)
            rows.attributes[target.attribute].push_back(attribute_value(target.attribute, fields_[i]));
        else if (target.kind == Target::Kind::label)
            append_label(fields_[i], rows);
    }
}

float TableReader::attribute_value(std::size_t attribute, std::string_view cell) {
    Column& column = schema_.attributes[attribute];
    if (is_missing(cell)) {
        ++column.missing;
        return std::numeric_limits<float>::quiet_NaN();
    }
    if (column.kind == ColumnKind::undecided)
        column.kind = parse_number(cell) ? ColumnKind::numeric : ColumnKind::nominal;
    if (column.kind == ColumnKind::nominal) return static_cast<float>(code(column, codes_[attribute], cell));
    return number(column, cell);
}

void TableReader::append_label(std::string_view cell, Rows& rows) {
    Column& column = schema_.label;
    if (is_missing(cell)) fail(column, "the label is missing; fill it in or remove the row");
    if (column.kind == ColumnKind::numeric)
        rows.targets.push_back(number(column, cell));
    else
        rows.classes.push_back(code(column, label_codes_, cell));
}

float TableReader::number(const Column& column, std::string_view cell) const {
    const auto value = parse_number(cell);
    if (!value && &column == &schema_.label)
        fail(column, "'" + printable(cell) + "' is not a number; correct it, or predict classes without --regression");
    if (!value)
        fail(column, "'" + printable(cell) +
                         "' is not a number; correct it, leave it empty if it is unknown, or take "
                         "the column as nominal with --nominal " +
                         std::to_string(column.position + 1));
    if (std::isinf(*value))
        fail(column, "'" + printable(cell) + "' is infinite in single precision; scale the column down");
    return *value;
}

std::int32_t TableReader::code(Column& column, Codes& codes, std::string_view cell) {
    if (const auto known = codes.find(cell); known != codes.end()) return known->second;
    const bool label = &column == &schema_.label;
    if (learning_ && label && schema_.numbered_classes)
        fail(column, "'" + printable(cell) + "' is no class number; the first line names " +
                         std::to_string(column.values.size()) + " classes, numbered from 0");
    if (!learning_)
        fail(column, std::string(label ? "class" : "value") + " '" + printable(cell) +
                         "' does not occur in the training table (known: " + name_list(column.values) +
                         "); correct it" +
                         (label ? " or add such rows there" : ", or leave it empty if it is unknown"));
    if (column.values.size() == kMostValues)
        fail(column, label ? "more than 65,536 classes; for a number to predict use --regression"
                           : "more than 65,536 different values; leave the column out with --ignore " +
                                 std::to_string(column.position + 1));
    const auto next = static_cast<std::int32_t>(column.values.size());
    codes.emplace(cell, next);
    column.values.emplace_back(cell);
    return next;
}

void TableReader::fail(const Column& column, const std::string& problem) const {
    throw BadFile(csv_.path(),
                  "line " + std::to_string(line_) + ", column '" + printable(column.name) + "': " + problem);
}

}  // namespace espalier::bench::io
