#include "harness/select/learn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "harness/select/folds.hpp"
#include "harness/select/ranking.hpp"

namespace espalier::select {
namespace {

/// Loss of what the tree chooses; without a time it counts as the slowest choice.
double loss_of(const Matrix& matrix, const Tree& tree, std::size_t problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(matrix.row(problem))];
    const std::size_t c = chosen(matrix, problem, leaf.ranking);
    const Loss loss = matrix.loss_of(problem, c);
    const double slowest = matrix.log_slowdown(problem, c) * static_cast<double>(kLossUnit);
    return loss >= kInfeasible ? slowest : static_cast<double>(loss);
}

std::vector<GrownTree> sizes_on(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    SizesOptions sizes = options.sizes;
    sizes.most_leaves = options.most_leaves;
    sizes.least_gain = static_cast<Loss>(options.least_gain * kLossUnit * static_cast<double>(rows.size()));
    return trees_by_size(matrix, rows, sizes);
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Index of the size to take: its number of leaves less one.
std::size_t choose_size(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    std::vector<std::vector<double>> losses(static_cast<std::size_t>(options.most_leaves));
    for (const Fold& fold : deal_folds(matrix, rows, options.folds, options.seed)) {
        const auto sizes = sizes_on(matrix, fold.training, options);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const Tree tree = finish(matrix, sizes[i]);
            const double price = options.least_gain * kLossUnit * static_cast<double>(tree.leaves.size());
            for (const std::size_t p : fold.held_out) losses[i].push_back(loss_of(matrix, tree, p) + price);
        }
    }
    if (losses.front().empty()) return 0;
    const auto by_mean = [](const auto& a, const auto& b) { return mean(a) < mean(b); };
    return static_cast<std::size_t>(std::min_element(losses.begin(), losses.end(), by_mean) - losses.begin());
}

}  // namespace

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const std::size_t size = choose_size(matrix, rows, options);
    Tree tree = finish(matrix, sizes_on(matrix, rows, options)[size]);
    annotate(matrix, tree, options.seed);
    return tree;
}

}  // namespace espalier::select
