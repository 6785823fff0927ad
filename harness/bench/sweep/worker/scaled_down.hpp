#pragma once

#include <optional>
#include <string>

#include "harness/bench/families/family.hpp"

namespace espalier::bench {

/// Operations that the naive oracles get through in a fraction of a second: what a sweep asks of them.
inline constexpr double kOracleOperations = 1e8;

/// What computing a problem costs an oracle, by the family's cost model.
double operations_of(const Family& family, const std::string& problem);

/// A smaller problem that stands in for one that the oracle cannot afford: the largest sizes are halved until it
/// costs no more than `operations`, each keeping its remainder modulo 256 (then 32), so that tiles, vectors and tails
/// are met as they are in the original. Nothing if the sizes cannot shrink enough.
std::optional<std::string> scaled_down_problem(const Family& family, const std::string& problem, double operations);

}  // namespace espalier::bench
