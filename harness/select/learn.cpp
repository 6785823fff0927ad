#include "harness/select/learn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "harness/select/folds.hpp"
#include "harness/select/prune.hpp"
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

GrownTree grow_on(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    GrowOptions grow_options = options.grow;
    grow_options.least_gain = static_cast<Loss>(options.least_gain * kLossUnit * static_cast<double>(rows.size()));
    return grow(matrix, rows, grow_options);
}

/// Prices of a leaf per problem, one for each size that the full tree can be pruned to, ascending.
std::vector<double> prices(const GrownTree& full, const LearnOptions& options) {
    const auto rows = static_cast<double>(full.front().rows.size());
    const double least = options.least_gain * kLossUnit;
    std::vector<double> breaks{least};
    for (const double price : pruning_path(full))
        if (price / rows > least) breaks.push_back(price / rows);
    std::vector<double> prices;
    for (std::size_t i = 0; i + 1 < breaks.size(); ++i) prices.push_back(std::sqrt(breaks[i] * breaks[i + 1]));
    prices.push_back(2 * breaks.back());
    return prices;
}

GrownTree priced(const GrownTree& full, double price) {
    return prune(full, price * static_cast<double>(full.front().rows.size()));
}

/// Index of the price to use: one standard error rule over the held-out losses [price][problem].
std::size_t one_standard_error(const std::vector<std::vector<double>>& losses) {
    const auto mean = [](const std::vector<double>& v) {
        double sum = 0;
        for (const double x : v) sum += x;
        return sum / static_cast<double>(v.size());
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < losses.size(); ++i)
        if (mean(losses[i]) <= mean(losses[best])) best = i;
    for (std::size_t i = losses.size() - 1; i > best; --i) {
        std::vector<double> difference(losses[i].size());
        for (std::size_t p = 0; p < difference.size(); ++p) difference[p] = losses[i][p] - losses[best][p];
        const double d = mean(difference);
        double squares = 0;
        for (const double x : difference) squares += (x - d) * (x - d);
        const auto n = static_cast<double>(difference.size());
        if (d <= std::sqrt(squares / (n * std::max(1.0, n - 1)))) return i;
    }
    return best;
}

std::size_t choose_price(const Matrix& matrix, std::span<const std::size_t> rows, const std::vector<double>& prices,
                         const LearnOptions& options) {
    const auto folds = deal_folds(matrix, rows, options.folds, options.seed);
    if (folds.empty()) return prices.size() - 1;
    std::vector<std::vector<double>> losses(prices.size());
    for (const Fold& fold : folds) {
        const GrownTree full = grow_on(matrix, fold.training, options);
        for (std::size_t i = 0; i < prices.size(); ++i) {
            const Tree tree = finish(matrix, priced(full, prices[i]));
            for (const std::size_t p : fold.held_out) losses[i].push_back(loss_of(matrix, tree, p));
        }
    }
    return one_standard_error(losses);
}

}  // namespace

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const GrownTree full = grow_on(matrix, rows, options);
    const auto candidates = prices(full, options);
    std::size_t chosen_price = candidates.size() == 1 ? 0 : choose_price(matrix, rows, candidates, options);
    while (chosen_price + 1 < candidates.size() && leaves(priced(full, candidates[chosen_price])) > options.most_leaves)
        ++chosen_price;
    Tree tree = finish(matrix, priced(full, candidates[chosen_price]));
    annotate(matrix, tree, options.seed);
    return tree;
}

double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(matrix.row(problem))];
    return matrix.log_slowdown(problem, chosen(matrix, problem, leaf.ranking));
}

Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options) {
    const auto rows = matrix.all();
    std::vector<double> logs;
    for (const std::size_t p : rows) logs.push_back(log_regret(matrix, tree, p));
    Evaluation evaluation;
    evaluation.training = summarise(logs, options.seed);

    logs.clear();
    for (const Fold& fold : deal_folds(matrix, rows, options.folds, options.seed + 1)) {
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
