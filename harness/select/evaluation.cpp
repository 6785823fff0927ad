#include "harness/select/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "harness/select/ranking.hpp"
#include "harness/select/surrogate.hpp"

namespace espalier::select {
namespace {

/// A way of choosing that learns from some rows: from a problem to a ranking.
using Chooser = std::function<std::vector<std::size_t>(std::size_t problem)>;
using Trainer = std::function<Chooser(const std::vector<std::size_t>& rows)>;

HeldOut hold_out(const Matrix& matrix, const std::vector<Fold>& folds, const Trainer& train, std::uint64_t seed) {
    HeldOut result;
    if (folds.empty()) return result;
    result.logs.resize(matrix.rows());
    result.choices.resize(matrix.rows());
    for (const Fold& fold : folds) {
        const Chooser choose = train(fold.training);
        for (const std::size_t p : fold.held_out) {
            const std::size_t choice = chosen(matrix, p, choose(p));
            result.choices[p] = choice;
            result.logs[p] = matrix.log_slowdown(p, choice);
            result.unmeasured += matrix.state(p, choice) == CellState::missing;
        }
    }
    result.regret = summarise(result.logs, seed);
    return result;
}

/// Logarithms of the slowdowns against the best time measured, where the choice was measured itself. What is guessed is
/// not judged by guesses.
std::vector<double> measured_logs(const Matrix& matrix, const Chooser& choose) {
    std::vector<double> logs;
    for (const std::size_t p : matrix.all()) {
        const std::size_t choice = chosen(matrix, p, choose(p));
        if (matrix.state(p, choice) == CellState::guessed) continue;
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < matrix.candidates.size(); ++c)
            if (matrix.measured(p, c)) best = std::min(best, matrix.log_slowdown(p, c));
        if (std::isfinite(best)) logs.push_back(std::max(0.0, matrix.log_slowdown(p, choice) - best));
    }
    return logs;
}

double range(const Matrix& matrix, std::size_t column) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (std::size_t p = 0; p < matrix.rows(); ++p) {
        const double x = position(matrix.value(p, column));
        least = std::min(least, x), most = std::max(most, x);
    }
    return most - least;
}

}  // namespace

double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(matrix.row(problem))];
    return matrix.log_slowdown(problem, chosen(matrix, problem, leaf.ranking));
}

std::vector<Fold> evaluation_folds(const Matrix& matrix, const LearnOptions& options) {
    constexpr std::size_t kFolds = 10;
    return deal_folds(matrix, matrix.all(), kFolds, options.seed + 1);
}

std::vector<std::size_t> by_mean_slowdown(const Matrix& matrix, std::span<const std::size_t> rows) {
    std::vector<double> sums(matrix.candidates.size());
    for (std::size_t c = 0; c < sums.size(); ++c)
        for (const std::size_t p : rows)
            sums[c] += matrix.log_slowdown(p, chosen(matrix, p, std::vector{c, matrix.baseline}));
    std::vector<std::size_t> order(sums.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a] < sums[b]; });
    return order;
}

std::size_t nearest(const Matrix& matrix, std::size_t problem, std::span<const std::size_t> rows) {
    std::vector<double> distances(rows.size());
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
        if (matrix.columns[column].derived || !matrix.columns[column].known) continue;
        const double length = range(matrix, column);
        if (length == 0) continue;
        const double here = matrix.value(problem, column);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double there = matrix.value(rows[i], column);
            const double d = matrix.columns[column].categories > 0 ? static_cast<double>(here != there)
                                                                   : (position(here) - position(there)) / length;
            distances[i] += d * d;
        }
    }
    return rows[static_cast<std::size_t>(std::min_element(distances.begin(), distances.end()) - distances.begin())];
}

Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options) {
    const auto rows = matrix.all();
    const auto by_tree = [&](std::size_t p) { return tree.leaves[tree.leaf_of(matrix.row(p))].ranking; };
    Evaluation evaluation;
    evaluation.training = summarise(measured_logs(matrix, by_tree), options.seed);
    evaluation.best_single_candidate = by_mean_slowdown(matrix, rows).front();
    const std::vector single_and_baseline{evaluation.best_single_candidate, matrix.baseline};
    const auto singles = measured_logs(matrix, [&](std::size_t) { return single_and_baseline; });
    if (!singles.empty())
        evaluation.best_single =
            std::exp(std::accumulate(singles.begin(), singles.end(), 0.0) / static_cast<double>(singles.size()));
    // Guesses know the problems that would be held out.
    if (matrix.count(CellState::guessed) > 0) return evaluation;

    const auto folds = evaluation_folds(matrix, options);
    using Rows = std::vector<std::size_t>;
    const auto learned = [&](const Rows& training) {
        return [&matrix, without = learn(matrix, training, options)](std::size_t p) {
            return without.leaves[without.leaf_of(matrix.row(p))].ranking;
        };
    };
    const auto single = [&](const Rows& training) {
        const std::size_t first = by_mean_slowdown(matrix, training).front();
        return [ranking = Rows{first, matrix.baseline}](std::size_t) { return ranking; };
    };
    const auto neighbour = [&](const Rows& training) {
        return [&matrix, training](std::size_t p) {
            const std::size_t twin = nearest(matrix, p, training);
            Rows order = matrix.all_candidates();
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return matrix.loss_of(twin, a) < matrix.loss_of(twin, b);
            });
            return order;
        };
    };
    evaluation.held_out = hold_out(matrix, folds, learned, options.seed);
    evaluation.held_out_single = hold_out(matrix, folds, single, options.seed);
    evaluation.held_out_nearest = hold_out(matrix, folds, neighbour, options.seed);
    return evaluation;
}

}  // namespace espalier::select
