#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/learn/matrix.hpp"
#include "harness/bench/learn/regret.hpp"
#include "kernels/core/selector.hpp"

namespace espalier::bench::learn {

/// The ranking of a leaf, best first, and the evidence for it, of the training problems.
struct TreeLeaf {
    std::vector<std::size_t> rows;     ///< the training problems that fell into it; its figures are of these
    std::size_t alike = 0;             ///< more of them, that were measured on devices that are alike: if there are no
                                       ///< others, the figures are predicted ones
    std::vector<std::size_t> ranking;  ///< candidates; the last one is the baseline (rank())
    std::vector<double> slowdowns{};   ///< of each, geometric mean over the problems that it was measured on
    double margin = 1;  ///< slowdown of the best choice of another variant over the first; 1 if there is none
    double regret = 1;  ///< geometric mean of the first choice's slowdown
    Interval regret_interval{1, 1};  ///< its bootstrap 95% interval
};

/// A trained tree, its nodes as the library has them: their columns are the matrix's. Leaves are numbered from the
/// left, where a test holds.
struct Tree {
    std::vector<TreeNode> nodes;
    std::vector<TreeLeaf> leaves;

    [[nodiscard]] std::size_t leaf_of(std::span<const double> row) const {
        return espalier::leaf_of(nodes, [&](std::size_t column) { return row[column]; });
    }
    /// The most tests on the way to a leaf.
    [[nodiscard]] int depth() const {
        std::vector<int> depths(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (!nodes[i].is_leaf()) depths[i + 1] = depths[nodes[i].no] = depths[i] + 1;
        return nodes.empty() ? 0 : *std::ranges::max_element(depths);
    }
};

}  // namespace espalier::bench::learn
