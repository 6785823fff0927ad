#pragma once

#include <span>
#include <vector>

#include "harness/learn/grow.hpp"
#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

struct SizesOptions {
    int most_leaves = 16;
    int deepest = GrowOptions{}.deepest;
    SplitOptions split;
    Loss least_gain = 0;                 ///< what a further leaf must win
    std::size_t most_work = 40'000'000;  ///< additions that the exact search may take before it settles for less depth
};

/// The best trees found with at most 1, 2, ... `most_leaves` leaves. Trees of up to three tests a path are
/// the best of all (`optimal_trees`), of two if three are too much work; larger ones continue the best of
/// these greedily, or grow from the root if that ends better, and are pruned back.
std::vector<GrownTree> trees_by_size(const Matrix& matrix, std::span<const std::size_t> rows,
                                     const SizesOptions& options = {});

}  // namespace espalier::bench::learn
