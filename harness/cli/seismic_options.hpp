#pragma once

#include <string>
#include <vector>

#include "harness/apps/seismic/geometry.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {

/// The grid of trial sources as options, the same for `synthesize` and `locate`.
struct GridOptions {
    std::string nodes = "10x10x10", spacing = "50", origin = "0,0,500";
};
void add_grid_options(CLI::App& command, GridOptions& options);

/// Throws Failure (usage) that names the option.
seismic::Grid grid_of(const GridOptions& options);

/// "1,2,3" -> {1, 2, 3}; exactly `count` finite numbers. Throws Failure.
std::vector<double> parse_numbers(const std::string& text, std::size_t count, const char* option);

/// "30s" or "2m" -> samples at this rate; a number without a unit is samples already. Throws Failure.
std::int64_t parse_samples(const std::string& text, double rate, const char* option);

}  // namespace espalier::bench::cli
