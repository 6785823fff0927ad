#pragma once

#include <vector>

#include "harness/learn/grow.hpp"

namespace espalier::bench::learn {

/// The subtree (with the same root) that minimises loss + `per_leaf` x leaves; the smaller one of equals.
GrownTree prune(const GrownTree& tree, double per_leaf);

/// The prices of a leaf at which the best subtree changes, ascending from 0 (minimal cost-complexity
/// pruning, Breiman et al. 1984, chapter 3): between two of them `prune` gives one and the same tree, and
/// from the last one on a single leaf.
std::vector<double> pruning_path(const GrownTree& tree);

}  // namespace espalier::bench::learn
