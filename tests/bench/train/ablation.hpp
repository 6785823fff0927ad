#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/bench/learn/learn.hpp"
#include "harness/bench/train/decisions.hpp"

namespace espalier::bench::learn {

/// Variants by their index in the registry.
using VariantSet = std::set<std::size_t>;

/// The variants that a trained selector could choose, the baseline's included.
VariantSet variants_of(const Trained& trained);

/// A selector that has only some of the variants, and its regrets. These stay those against the best choice of all
/// variants, so that they show what the missing ones were worth. The baseline is always kept: rankings end in it.
struct Ablation {
    VariantSet kept;
    double virtual_best = 1;  ///< geometric mean regret of choosing for each problem alone
    double tree = 1;          ///< that of the tree learned anew
    DecisionDiff diff;        ///< from the tree with all variants
};

Ablation ablate(const Trained& trained, const VariantSet& kept, const LearnOptions& options = {});

/// The set of at most `size` variants beside the baseline with the least `virtual_best` regret, by trying all of them;
/// beyond 20 variants by adding the best one each time. Ties go to the first in the registry's order.
VariantSet best_set(const Trained& trained, std::size_t size);

}  // namespace espalier::bench::learn
