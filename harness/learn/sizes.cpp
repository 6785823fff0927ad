#include "harness/learn/sizes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/learn/optimal.hpp"
#include "harness/learn/prune.hpp"

namespace espalier::bench::learn {
namespace {

/// By number of leaves; at least the single leaf.
std::vector<GrownTree> shallow_trees(const Matrix& matrix, std::span<const std::size_t> rows,
                                     const SizesOptions& options) {
    for (const int depth : {3, 2}) {
        if (depth > options.deepest) continue;
        auto trees = optimal_trees(matrix, rows, {options.split, depth, options.most_leaves, options.most_work});
        if (trees) return std::move(*trees);
    }
    return {grow(matrix, rows, {options.split, 0})};
}

}  // namespace

std::vector<GrownTree> trees_by_size(const Matrix& matrix, std::span<const std::size_t> rows,
                                     const SizesOptions& options) {
    std::vector<GrownTree> trees = shallow_trees(matrix, rows, options);
    const GrownTree start = trees.back();
    while (trees.size() < static_cast<std::size_t>(options.most_leaves)) trees.push_back(GrownTree(trees.back()));
    const GrowOptions further{options.split, options.deepest, options.least_gain};
    for (const GrownTree& full : {grow(matrix, start, further), grow(matrix, rows, further)})
        for (const double price : pruning_path(full)) {
            GrownTree pruned = prune(full, price);
            for (auto size = static_cast<std::size_t>(leaves(pruned)); size <= trees.size(); ++size)
                if (total_loss(pruned) < total_loss(trees[size - 1])) trees[size - 1] = pruned;
        }
    return trees;
}

}  // namespace espalier::bench::learn
