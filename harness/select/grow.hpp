#pragma once

#include <span>
#include <vector>

#include "harness/select/matrix.hpp"
#include "harness/select/tree.hpp"

namespace espalier::select {

struct GrowOptions {
    std::size_t least_rows = 2;               ///< problems in every leaf
    int deepest = 8;                          ///< tests on any path
    Loss least_gain = 0;                      ///< stop where even perfect choices would win no more than this
    std::size_t lookahead_work = 20'000'000;  ///< additions per node that looking one step ahead may take
};

/// A node of a tree that is still to be pruned. Children by index, -1 for none; node 0 is the root.
struct GrownNode {
    Test test;
    int yes = -1, no = -1;
    Loss leaf_loss = 0;  ///< total loss of the best single choice for its rows
    std::vector<std::size_t> rows;

    [[nodiscard]] bool inner() const { return yes >= 0; }
};
using GrownTree = std::vector<GrownNode>;

/// Grows a tree on `rows` until no split lowers the loss. Each split is the one after which the better of
/// stopping and splitting once more costs least (so that patterns that need two tests are found), then
/// the one that costs least by itself; among splits that part the rows alike one on a derived column is
/// preferred, because families derive what their times depend on; then the first column, the least value.
GrownTree grow(const Matrix& matrix, std::span<const std::size_t> rows, const GrowOptions& options = {});

}  // namespace espalier::select
