#include "harness/learn/grow.hpp"

#include <algorithm>
#include <utility>

namespace espalier::bench::learn {
namespace {

using Rows = std::vector<std::size_t>;

class Grower {
public:
    Grower(const Matrix& matrix, const Rows& rows, const GrowOptions& options)
        : matrix_(matrix), options_(options), splitter_(matrix, rows, options.split) {}

    GrownTree grow(const GrownTree& start) {
        copy(start, 0, 0);
        return std::move(tree_);
    }

private:
    int copy(const GrownTree& start, int node, int depth) {
        const GrownNode& from = start[static_cast<std::size_t>(node)];
        if (!from.inner()) return add(from.rows, depth);
        const auto index = tree_.size();
        tree_.push_back(from);
        const int yes = copy(start, from.yes, depth + 1), no = copy(start, from.no, depth + 1);
        tree_[index].yes = yes, tree_[index].no = no;
        return static_cast<int>(index);
    }

    int add(const Rows& rows, int depth) {
        const auto index = tree_.size();
        const Loss leaf = splitter_.leaf_loss(rows);
        tree_.push_back({.leaf_loss = leaf, .rows = rows});
        if (depth >= options_.deepest || leaf - splitter_.ideal_loss(rows) <= options_.least_gain)
            return static_cast<int>(index);
        // Looking one split further finds the corners that no single split improves.
        const std::vector<DeepSplit> splits = splitter_.narrowed(rows).all_deep(rows);
        const auto deep =
            std::ranges::min_element(splits, {}, [](const DeepSplit& s) { return s.yes_split + s.no_split; });
        if (deep == splits.end() || deep->yes_split + deep->no_split >= leaf) return static_cast<int>(index);
        const Split& best = deep->split;
        Rows yes, no;
        for (const std::size_t r : rows) (best.holds(matrix_.row(r)) ? yes : no).push_back(r);
        const int yes_index = add(yes, depth + 1), no_index = add(no, depth + 1);
        tree_[index].test = best.readable();
        tree_[index].yes = yes_index, tree_[index].no = no_index;
        return static_cast<int>(index);
    }

    const Matrix& matrix_;
    const GrowOptions& options_;
    Splitter splitter_;
    GrownTree tree_;
};

}  // namespace

GrownTree grow(const Matrix& matrix, const GrownTree& start, const GrowOptions& options) {
    return Grower(matrix, start.front().rows, options).grow(start);
}

GrownTree grow(const Matrix& matrix, std::span<const std::size_t> rows, const GrowOptions& options) {
    return grow(matrix, GrownTree{{.rows = {rows.begin(), rows.end()}}}, options);
}

int leaves(const GrownTree& tree) {
    return static_cast<int>(std::count_if(tree.begin(), tree.end(), [](const GrownNode& n) { return !n.inner(); }));
}

Loss total_loss(const GrownTree& tree) {
    Loss sum = 0;
    for (const GrownNode& node : tree)
        if (!node.inner()) sum += node.leaf_loss;
    return sum;
}

}  // namespace espalier::bench::learn
