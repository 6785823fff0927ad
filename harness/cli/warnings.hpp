#pragma once

#include <string>
#include <vector>

namespace espalier::bench::cli {

/// Says on the standard error what is wrong with files that are used nevertheless: the first ten, and how many more.
void tell_warnings(const std::vector<std::string>& warnings);

}  // namespace espalier::bench::cli
