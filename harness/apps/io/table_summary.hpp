#pragma once

#include <string>
#include <vector>

#include "harness/apps/io/table.hpp"

namespace espalier::bench::io {

/// What a training table was taken for, in lines for people: its rows and its first line, then a line per column with
/// its name, type, range or categories, and missing cells. Of more than `most` columns the rest are counted.
std::vector<std::string> summary_of(const std::string& path, const Table& table, std::size_t most);

}  // namespace espalier::bench::io
