#include "harness/apps/tables/table_records.hpp"

#include "harness/apps/io/bad_file.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::io {

TableRecords::TableRecords(const std::string& path, const TableOptions& options, std::size_t columns)
    : options_(options),
      source_(open_records(path, options, columns)),
      first_lines_(read_first_lines(*source_, options.header)),
      waiting_(first_lines_.second.empty() ? nullptr : &first_lines_.second) {
    if (!declares()) return;
    options_.header = TableOptions::Header::present;
    options_.decimal = '.';
    options_.thousands = 0;
    if (options_.missing.empty()) options_.missing = {"?"};
    first_lines_.classes.clear();
    first_lines_.declared_rows = -1;
}

bool TableRecords::next(std::vector<std::string_view>& fields) {
    if (waiting_) {
        const bool is_first = waiting_ == &first_lines_.first;
        fields.assign(waiting_->begin(), waiting_->end());
        line_ = is_first ? first_lines_.first_line : first_lines_.second_line;
        waiting_ = is_first && !first_lines_.second.empty() ? &first_lines_.second : nullptr;
    } else if (source_->next(fields)) {
        line_ = source_->line();
    } else {
        if (first_lines_.is_scikit_learn() && first_lines_.declared_rows != rows_)
            throw BadFile(path(), "the first line declares " + std::to_string(first_lines_.declared_rows) +
                                      " rows, the file has " + std::to_string(rows_) +
                                      "; get the whole file, or correct the first line");
        return false;
    }
    check_length(fields);
    ++rows_;
    return true;
}

void TableRecords::check_length(const std::vector<std::string_view>& fields) const {
    if (fields.size() == first_lines_.columns()) return;
    const bool comment = !fields.empty() && fields[0].starts_with('#');
    throw BadFile(path(), "line " + std::to_string(line_) + ": " + counted(fields.size(), "field") +
                              " where the first line has " + std::to_string(first_lines_.columns()) + " columns; " +
                              (comment ? "if the line is a comment, say --comment '#'"
                                       : "complete the row, or quote a cell that holds the delimiter"));
}

}  // namespace espalier::bench::io
