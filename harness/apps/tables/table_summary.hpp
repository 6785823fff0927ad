#pragma once

#include <string>
#include <vector>

#include "harness/apps/tables/table.hpp"

namespace espalier::bench::io {

/// What a training table was taken for, in lines for people: its rows and its first line, then a line per column with
/// its name, type, range or categories, and missing cells. Of more than `most` columns the rest are counted.
std::vector<std::string> summary_of(const std::string& path, const Table& table, std::size_t most);

/// What of a training table is likely to be no intention: a column that numbers the rows, which is a feature like any
/// other; codes that doubles cannot tell apart; a label of nearly as many numbers as rows. Each names the option that
/// says otherwise.
std::vector<std::string> hints_of(const Table& table);

}  // namespace espalier::bench::io
