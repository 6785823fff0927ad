#pragma once

#include <span>
#include <vector>

#include "harness/learn/matrix.hpp"
#include "harness/learn/splits.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

/// A node of a tree that has no rankings yet. Children by index, -1 for none; node 0 is the root.
struct GrownNode {
    Test test{};
    int yes = -1, no = -1;
    Loss leaf_loss = 0;  ///< total loss of the best single choice for its rows
    std::vector<std::size_t> rows;

    [[nodiscard]] bool inner() const { return yes >= 0; }
};
using GrownTree = std::vector<GrownNode>;

struct GrowOptions {
    SplitOptions split;
    int deepest = 10;     ///< tests on any path
    Loss least_gain = 0;  ///< stop where even perfect choices would win no more than this
};

/// Grows the leaves of `start` (a single leaf with all rows, or a tree on `rows`) greedily: each is parted by the
/// split that leaves the least loss once either side is split once more, until that lowers nothing.
GrownTree grow(const Matrix& matrix, const GrownTree& start, const GrowOptions& options = {});
GrownTree grow(const Matrix& matrix, std::span<const std::size_t> rows, const GrowOptions& options = {});

[[nodiscard]] int leaves(const GrownTree& tree);
[[nodiscard]] Loss total_loss(const GrownTree& tree);

}  // namespace espalier::bench::learn
