#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/bench/compare/compare.hpp"

namespace espalier::bench::cli {

/// What `espalier compare --json` prints and plots/compare.py reads.
nlohmann::ordered_json comparison_json(const Comparison& comparison);

/// Prints the machine's shift, what changed, or `all` of it, and how many that are.
void print_comparison(const Comparison& comparison, bool all);

/// Says on the standard error what was left out or cannot be told apart.
void tell_limits(const Comparison& comparison);

}  // namespace espalier::bench::cli
