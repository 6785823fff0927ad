#pragma once

#include <optional>
#include <span>

#include "harness/select/grow.hpp"
#include "harness/select/matrix.hpp"

namespace espalier::select {

struct OptimalOptions {
    int deepest = 3;      ///< tests on any path
    int most_leaves = 8;  ///< of the whole tree
    std::size_t least_rows = 2;
    std::size_t most_work = 2'000'000'000;  ///< additions to spend, about a second
};

/// The tree with the least loss of all with these limits, by dynamic programming over the subsets of rows
/// that conjunctions of tests cut out, bounded by what perfect choices would cost. Among equal losses the
/// fewest leaves. Nothing if the search would take more than `most_work`. Exact, and therefore only for
/// shallow trees: a yardstick for `learn`.
std::optional<GrownTree> optimal_tree(const Matrix& matrix, std::span<const std::size_t> rows,
                                      const OptimalOptions& options = {});

}  // namespace espalier::select
