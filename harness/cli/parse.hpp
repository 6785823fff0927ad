#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier::bench::cli {

/// "90", "90s", "3m", "1.5h" -> seconds. Throws `Failure` with the exit code for wrong usage.
double parse_duration(const std::string& text, const char* option);

/// "0.5%", "0.005" -> 0.005; must lie between 0 and 1.
double parse_share(const std::string& text, const char* option);

/// "2/8" -> {2, 8}, from 1.
std::pair<int, int> parse_shard(const std::string& text);

/// "n=1000,2000" -> {"n", {"1000", "2000"}}
std::pair<std::string, std::vector<std::string>> parse_axis(const std::string& text);

}  // namespace espalier::bench::cli
