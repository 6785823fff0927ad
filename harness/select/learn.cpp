#include "harness/select/learn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

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

double standard_error(const std::vector<double>& values) {
    const double m = mean(values);
    double squares = 0;
    for (const double v : values) squares += (v - m) * (v - m);
    const auto n = static_cast<double>(values.size());
    return std::sqrt(squares / (n * std::max(1.0, n - 1)));
}

/// The smallest size within one standard error of the best. `losses` are held out, by size and problem.
std::size_t one_standard_error(const std::vector<std::vector<double>>& losses) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < losses.size(); ++i)
        if (mean(losses[i]) < mean(losses[best])) best = i;
    for (std::size_t i = 0; i < best; ++i) {
        std::vector<double> difference(losses[i].size());
        for (std::size_t p = 0; p < difference.size(); ++p) difference[p] = losses[i][p] - losses[best][p];
        if (mean(difference) <= standard_error(difference)) return i;
    }
    return best;
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
    return losses.front().empty() ? 0 : one_standard_error(losses);
}

}  // namespace

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const std::size_t size = choose_size(matrix, rows, options);
    Tree tree = finish(matrix, sizes_on(matrix, rows, options)[size]);
    annotate(matrix, tree, options.seed);
    return tree;
}

double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(matrix.row(problem))];
    return matrix.log_slowdown(problem, chosen(matrix, problem, leaf.ranking));
}

std::vector<Fold> evaluation_folds(const Matrix& matrix, const LearnOptions& options) {
    constexpr std::size_t kFolds = 10;
    return deal_folds(matrix, matrix.all(), kFolds, options.seed + 1);
}

Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options) {
    const auto rows = matrix.all();
    std::vector<double> logs;
    for (const std::size_t p : rows) logs.push_back(log_regret(matrix, tree, p));
    Evaluation evaluation;
    evaluation.training = summarise(logs, options.seed);

    logs.clear();
    for (const Fold& fold : evaluation_folds(matrix, options)) {
        const Tree without = learn(matrix, fold.training, options);
        for (const std::size_t p : fold.held_out) logs.push_back(log_regret(matrix, without, p));
    }
    evaluation.held_out = summarise(logs, options.seed);

    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < matrix.candidates.size(); ++c) {
        double sum = 0;
        for (const std::size_t p : rows)
            sum += matrix.log_slowdown(p, chosen(matrix, p, std::vector{c, matrix.baseline}));
        if (sum < least) least = sum, evaluation.best_single_candidate = c;
    }
    evaluation.best_single = std::exp(least / static_cast<double>(rows.size()));
    return evaluation;
}

}  // namespace espalier::select
