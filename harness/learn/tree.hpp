#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/learn/matrix.hpp"
#include "harness/learn/regret.hpp"

namespace espalier::bench::learn {

/// A question about one column: `x <= value` for a number, `x == value` for a category.
struct Test {
    std::size_t column = 0;
    bool category = false;
    double value = 0;

    [[nodiscard]] bool holds(std::span<const double> row) const {
        return category ? row[column] == value : row[column] <= value;
    }
};

/// One inner node or leaf; children and leaves by index.
struct Node {
    Test test{};
    int yes = -1, no = -1;
    int leaf = -1;  ///< index in Tree::leaves, -1 for an inner node
};

/// What to run in a leaf, best first, and the evidence for it, of the training problems.
struct TreeLeaf {
    std::vector<std::size_t> rows;     ///< the training problems that fell into it; or lie nearby
    bool nearby = false;               ///< none fell into it
    std::vector<std::size_t> ranking;  ///< candidates; the last one is the baseline (rank())
    std::vector<double> slowdowns{};   ///< of each, geometric mean over the problems that it was measured on
    double margin = 1;  ///< slowdown of the best choice of another variant over the first; 1 if there is none
    double regret = 1;  ///< geometric mean of the first choice's slowdown
    Interval regret_interval{1, 1};  ///< its bootstrap 95% interval
};

/// A trained tree. Node 0 is the root; leaves are numbered from the left, where a test holds.
struct Tree {
    std::vector<Node> nodes;
    std::vector<TreeLeaf> leaves;

    [[nodiscard]] std::size_t leaf_of(std::span<const double> row) const {
        const Node* node = nodes.data();
        while (node->leaf < 0) node = &nodes[static_cast<std::size_t>(node->test.holds(row) ? node->yes : node->no)];
        return static_cast<std::size_t>(node->leaf);
    }
    [[nodiscard]] int depth() const { return nodes.empty() ? 0 : depth_below(0); }

private:
    [[nodiscard]] int depth_below(int node) const {
        const Node& n = nodes[static_cast<std::size_t>(node)];
        return n.leaf >= 0 ? 0 : 1 + std::max(depth_below(n.yes), depth_below(n.no));
    }
};

}  // namespace espalier::bench::learn
