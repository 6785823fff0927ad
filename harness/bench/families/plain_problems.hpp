#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/families/family.hpp"

/// Problems of plain families (plain.hpp) that nobody listed, by the names that their domains give to sizes and
/// alternatives.
namespace espalier::bench {

/// The keys of a default sweep: every size of the domain from the least to the largest, by factors of 4 (2 and fewer
/// with `full`, the least and the geometric mean alone with `quick`), with every alternative.
std::vector<std::string> grid_keys(const Domain& domain, Effort effort);

/// The keys of small problems: sizes from `least` on, around the widths of registers, warps, tiles and blocks, alike
/// and unlike, with every alternative in turn.
std::vector<std::string> small_keys(const Domain& domain, std::int64_t least);

}  // namespace espalier::bench
