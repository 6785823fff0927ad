#include "harness/learn/prune.hpp"

#include <algorithm>
#include <limits>

namespace espalier::bench::learn {
namespace {

struct Subtree {
    Loss loss;
    int leaves;
};

const GrownNode& at(const GrownTree& tree, int node) { return tree[static_cast<std::size_t>(node)]; }

/// Copies the best subtree below `node` to the end of `out`. Returns what it costs.
double copy_pruned(const GrownTree& tree, int node, double per_leaf, GrownTree& out) {
    const GrownNode& from = at(tree, node);
    const auto index = out.size();
    out.push_back({.leaf_loss = from.leaf_loss, .rows = from.rows});
    const double as_leaf = static_cast<double>(from.leaf_loss) + per_leaf;
    if (!from.inner()) return as_leaf;

    const auto yes = static_cast<int>(out.size());
    double as_tree = copy_pruned(tree, from.yes, per_leaf, out);
    const auto no = static_cast<int>(out.size());
    as_tree += copy_pruned(tree, from.no, per_leaf, out);
    if (as_leaf <= as_tree) {
        out.resize(index + 1);
        return as_leaf;
    }
    out[index].test = from.test;
    out[index].yes = yes, out[index].no = no;
    return as_tree;
}

/// The least price at which some inner node becomes a leaf.
Subtree weakest_link(const GrownTree& tree, int node, double& weakest) {
    const GrownNode& n = at(tree, node);
    if (!n.inner()) return {n.leaf_loss, 1};
    const Subtree yes = weakest_link(tree, n.yes, weakest), no = weakest_link(tree, n.no, weakest);
    const Subtree both{yes.loss + no.loss, yes.leaves + no.leaves};
    weakest = std::min(weakest, static_cast<double>(n.leaf_loss - both.loss) / (both.leaves - 1));
    return both;
}

}  // namespace

GrownTree prune(const GrownTree& tree, double per_leaf) {
    GrownTree pruned;
    copy_pruned(tree, 0, per_leaf, pruned);
    return pruned;
}

std::vector<double> pruning_path(const GrownTree& tree) {
    std::vector<double> path{0};
    GrownTree rest = prune(tree, 0);
    while (rest.front().inner()) {
        double weakest = std::numeric_limits<double>::infinity();
        weakest_link(rest, 0, weakest);
        // A hair above the price, so that rounding does not leave the node that set it.
        weakest = weakest * (1 + 1e-9) + 1e-6;
        path.push_back(weakest);
        rest = prune(rest, weakest);
    }
    return path;
}

}  // namespace espalier::bench::learn
