#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/learn/grow.hpp"
#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

struct OptimalOptions {
    SplitOptions split;
    int deepest = 4;                        ///< tests on any path
    int most_leaves = 16;                   ///< of the whole tree
    std::size_t most_work = 1'000'000'000;  ///< additions to spend; a second is worth about as many
};

/// The trees with the least loss of all within the limits that have at most 1, 2, ... leaves, by dynamic
/// programming over the subsets of rows that conjunctions of tests cut out, bounded by what perfect choices
/// would cost. Nothing if the search would take more than `most_work`.
std::optional<std::vector<GrownTree>> optimal_trees(const Matrix& matrix, std::span<const std::size_t> rows,
                                                    const OptimalOptions& options = {});

}  // namespace espalier::bench::learn
