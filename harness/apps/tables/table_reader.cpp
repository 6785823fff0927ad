#include <algorithm>
#include <cmath>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/apps/tables/table.hpp"

namespace espalier::bench::io {

void Rows::clear() {
    attributes.clear();
    classes.clear();
    targets.clear();
    unheard.clear();
}

TableReader::TableReader(const std::string& path, const TableOptions& options, const Schema& schema)
    : records_(path, options, schema.file_columns),
      options_(records_.options()),
      missing_(options_.missing),
      schema_(schema) {
    for (Column& column : schema_.attributes) column.missing = 0;
    index_values();
    const FirstLines& lines = records_.first_lines();
    named_ = !lines.is_scikit_learn() && first_is_header();
    if (named_ && lines.second.empty()) throw BadFile(records_.path(), "has a header and no rows");
    if (!named_ && !lines.is_scikit_learn()) records_.take_first();
    names_ = named_ ? named_columns(lines.first, records_.path(), lines.first_line) : numbered_columns(lines.columns());
    if (schema_.has_label && (schema_.numbered_classes || lines.is_scikit_learn())) use_class_numbers();
    if (schema_.named && named_)
        match_by_name();
    else
        match_by_position(lines.is_scikit_learn() ? lines.second_line : lines.first_line);
    check_ignored();
    see_whether_labels_are_there();
}

bool TableReader::read(Rows& rows, std::size_t max_rows) {
    if (rows.attributes.columns() == 0) rows.attributes = Cells(schema_.attributes.size());
    for (std::size_t i = 0; i < max_rows; ++i) {
        if (!records_.next(fields_)) return i > 0;
        append(rows);
    }
    return true;
}

void TableReader::append(Rows& rows) {
    const std::span<Number> row = rows.attributes.add_row();
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const Target& target = targets_[i];
        if (target.kind == Target::Kind::attribute)
            row[target.attribute] = attribute_value(target.attribute, fields_[i]);
        else if (target.kind == Target::Kind::label)
            append_label(fields_[i], rows);
    }
}

Number TableReader::attribute_value(std::size_t attribute, std::string_view cell) {
    Column& column = schema_.attributes[attribute];
    if (missing_.hold(cell)) {
        ++column.missing;
        return std::numeric_limits<Number>::quiet_NaN();
    }
    return column.kind == ColumnKind::nominal ? attribute_code(attribute, cell) : number(column, cell);
}

Number TableReader::attribute_code(std::size_t attribute, std::string_view cell) {
    Column& column = schema_.attributes[attribute];
    if (const auto known = code_of(codes_[attribute], cell)) return *known;
    if (!options_.ignore_unknown) fail_unknown(column, cell);
    ++column.unknown;
    return static_cast<Number>(column.values.size());
}

bool TableReader::is_missing_label(std::string_view cell) const {
    return schema_.label.kind == ColumnKind::nominal ? missing_.hold_class(cell) : missing_.hold(cell);
}

void TableReader::append_label(std::string_view cell, Rows& rows) {
    Column& column = schema_.label;
    const bool missing = is_missing_label(cell);
    if (labels_are_missing_ && missing) return;
    if (labels_are_missing_)
        fail(column, "there is a label, and the rows before have none; fill in all of them, or none");
    if (missing) fail(column, "the label is missing; fill it in or remove the row");
    if (column.kind != ColumnKind::nominal)
        rows.targets.push_back(number(column, cell));
    else if (const auto known = code_of(label_codes_, cell))
        rows.classes.push_back(*known);
    else
        append_unheard(cell, rows);
}

void TableReader::append_unheard(std::string_view cell, Rows& rows) {
    if (!options_.unheard_labels) fail_unknown(schema_.label, cell);
    ++schema_.label.unknown;
    rows.classes.push_back(kUnheardClass);
    rows.unheard.emplace_back(cell);
}

Number TableReader::number(Column& column, std::string_view cell) const {
    try {
        return number_or_fail(cell, records_.line(),
                              {.kind = column.kind,
                               .label = &column == &schema_.label,
                               .position = column.position,
                               .format = options_.format(),
                               .missing = &missing_,
                               .amounts = column.unit.has_value()},
                              column.unit);
    } catch (const BadCell& error) {
        fail(column, error.what());
    }
}

void TableReader::fail_unknown(const Column& column, std::string_view cell) const {
    const bool label = &column == &schema_.label;
    fail(column, std::string(label ? "class" : "value") + " '" + printable(cell) +
                     "' does not occur in the training table (known: " + name_list(column.values) + "); correct it" +
                     (label ? ", add such rows there, or say --unknown-labels wrong to count such rows as wrong"
                            : ", leave it empty, or say --unknown ignore to let it equal none"));
}

void TableReader::fail(const Column& column, const std::string& problem) const {
    const bool first = records_.line() == records_.first_lines().first_line && !named_ &&
                       options_.header == TableOptions::Header::detect;
    throw BadFile(records_.path(), "line " + std::to_string(records_.line()) + ", column '" + printable(column.name) +
                                       "': " + problem + (first ? " (--header if this line names the columns)" : ""));
}

}  // namespace espalier::bench::io
