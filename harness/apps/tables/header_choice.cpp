#include "harness/apps/tables/header_choice.hpp"

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/tables/header.hpp"
#include "harness/apps/tables/roles.hpp"

namespace espalier::bench::io {

HeaderEvidence::HeaderEvidence(const std::vector<std::string>& first, const TableOptions& options)
    : first_(first), options_(options), missing_(options.missing) {}

void HeaderEvidence::add(std::size_t position, const ColumnLearner& column, const KeptCells& kept) {
    const std::string& cell = first_[position];
    if (missing_.hold(cell)) return;  // may stand in any column, and in a header of an index
    if (column.all_numbers())
        (column.is_number(cell) ? numbers_ : clashes_).push_back(position);
    else if (column.has(cell, kept))
        recurring_.push_back(position);
    else if (column.all_recur(kept))
        unheard_.push_back(position);
}

HeaderChoice HeaderEvidence::choose(const std::string& path, std::int64_t line, std::size_t rows) const {
    using H = TableOptions::Header;
    const std::string this_line = "line " + std::to_string(line);
    const std::string is_header = this_line + " is a header", is_row = this_line + " is a row";
    const auto cell = [&](const std::vector<std::size_t>& positions) {
        return "'" + printable(first_[positions.front()]) + "'";
    };
    const auto refuse = [&](const std::string& why) {
        throw BadFile(path, this_line + " may be a header or a row: " + why +
                                "; say --header if it names the columns, --no-header if it is a row");
    };
    if (options_.header == H::present) return {true, is_header + ", as --header says"};
    if (options_.header == H::absent) return {false, is_row + ", as --no-header says"};
    if (is_named_by_option(first_, options_)) return {true, is_header + ": an option names a column by it"};
    if (rows == 0 && !has_number(first_, options_.format())) return {true, is_header};
    if (!clashes_.empty() && !recurring_.empty())
        refuse(cell(clashes_) + " is no number, as the rest of its column is, but " + cell(recurring_) +
               " stands in its column again");
    if (!clashes_.empty())
        return {true, is_header + ": " + cell(clashes_) + " is no number, as the rest of its column is"};
    if (!numbers_.empty() && recurring_.empty() && !unheard_.empty())
        refuse(cell(numbers_) + " suits its column, but " + cell(unheard_) + " stands nowhere else in its own");
    if (!recurring_.empty()) return {false, is_row + ": " + cell(recurring_) + " stands in its column again"};
    if (!numbers_.empty() || has_number(first_, options_.format()))
        return {false, is_row + ": its numbers suit their columns (--header if it names them)"};
    return {true, is_header + ": no cell of it is a number or occurs again (--no-header if it is a row)"};
}

}  // namespace espalier::bench::io
