#include "harness/learn/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "harness/families/parallel.hpp"
#include "harness/learn/distances.hpp"
#include "harness/learn/imputation.hpp"
#include "harness/learn/ranking.hpp"

namespace espalier::bench::learn {
namespace {

/// A way of choosing that learns from some rows: from a problem to a ranking.
using Chooser = std::function<std::vector<std::size_t>(std::size_t problem)>;
using Trainer = std::function<Chooser(const Matrix& matrix, const std::vector<std::size_t>& rows)>;

/// The logarithm of the slowdown against the best time measured; nothing where the choice was not measured:
/// imputed times measure no choice.
std::optional<double> measured_log(const Matrix& matrix, std::size_t problem, std::size_t choice) {
    if (matrix.state(problem, choice) == CellState::imputed) return std::nullopt;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < matrix.candidates.size(); ++c)
        if (matrix.measured(problem, c)) best = std::min(best, matrix.log_slowdown(problem, c));
    if (std::isinf(best)) return std::nullopt;
    return std::max(0.0, matrix.log_slowdown(problem, choice) - best);
}

std::vector<double> measured_logs(const Matrix& matrix, const Chooser& choose) {
    std::vector<double> logs;
    for (const std::size_t p : matrix.all())
        if (const auto log = measured_log(matrix, p, chosen(matrix, p, choose(p)))) logs.push_back(*log);
    return logs;
}

/// A fold and what is known without its held-out problems.
struct Part {
    Fold fold;
    Matrix seen;
};

std::vector<Part> parts_of(const Matrix& matrix, const std::vector<Fold>& folds) {
    std::vector<Part> parts(folds.size());
    in_parallel(folds.size(), [&](std::size_t i) {
        parts[i] = {folds[i], matrix};
        if (!matrix.log_times.empty()) impute(parts[i].seen, folds[i].training);
    });
    return parts;
}

HeldOut hold_out(const Matrix& matrix, const std::vector<Part>& parts, const Trainer& train, std::uint64_t seed) {
    HeldOut result;
    if (parts.empty()) return result;
    result.logs.resize(matrix.rows());
    result.choices.resize(matrix.rows());
    in_parallel(parts.size(), [&](std::size_t i) {
        const auto& [fold, seen] = parts[i];
        const Chooser choose = train(seen, fold.training);
        for (const std::size_t p : fold.held_out) {
            result.choices[p] = chosen(matrix, p, choose(p));
            result.logs[p] =
                measured_log(matrix, p, result.choices[p]).value_or(std::numeric_limits<double>::quiet_NaN());
        }
    });
    for (const Part& part : parts)
        for (const std::size_t p : part.fold.held_out)
            result.unmeasured += std::isnan(result.logs[p]) || matrix.state(p, result.choices[p]) == CellState::missing;
    std::vector<double> known;
    std::ranges::copy_if(result.logs, std::back_inserter(known), [](double log) { return !std::isnan(log); });
    result.regret = summarise(known, seed);
    return result;
}

/// Whether some problem has none but imputed times.
bool imputes_whole_problems(const Matrix& matrix) {
    return std::ranges::any_of(matrix.all(), [&](std::size_t p) {
        return matrix.any(p, CellState::imputed) && !matrix.any(p, CellState::measured);
    });
}

/// The choice of the least mean slowdown over `rows`, the baseline standing in where it is unsupported.
std::size_t best_single(const Matrix& matrix, std::span<const std::size_t> rows) {
    const auto cost = [&](std::size_t c) {
        double sum = 0;
        for (const std::size_t p : rows)
            sum += matrix.log_slowdown(p, chosen(matrix, p, std::vector{c, matrix.baseline}));
        return sum;
    };
    const auto candidates = matrix.all_candidates();
    return *std::ranges::min_element(candidates, {}, cost);
}

}  // namespace

double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(matrix.row(problem))];
    return matrix.log_slowdown(problem, chosen(matrix, problem, leaf.ranking));
}

std::vector<Fold> evaluation_folds(const Matrix& matrix, const LearnOptions& options) {
    return make_folds(matrix, matrix.all(), options.seed + 1);
}

Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options) {
    const auto by_tree = [&](std::size_t p) { return tree.leaves[tree.leaf_of(matrix.row(p))].ranking; };
    Evaluation evaluation;
    evaluation.training = summarise(measured_logs(matrix, by_tree), options.seed);
    evaluation.best_single_candidate = best_single(matrix, matrix.all());
    const std::vector single_and_baseline{evaluation.best_single_candidate, matrix.baseline};
    const auto singles = measured_logs(matrix, [&](std::size_t) { return single_and_baseline; });
    if (!singles.empty())
        evaluation.best_single =
            std::exp(std::accumulate(singles.begin(), singles.end(), 0.0) / static_cast<double>(singles.size()));
    if (imputes_whole_problems(matrix)) return evaluation;

    const std::vector<Part> parts = parts_of(matrix, evaluation_folds(matrix, options));
    using Rows = std::vector<std::size_t>;
    const auto learned = [&](const Matrix& seen, const Rows& training) {
        return [&seen, without = learn(seen, training, options)](std::size_t p) {
            return without.leaves[without.leaf_of(seen.row(p))].ranking;
        };
    };
    const auto single = [&](const Matrix& seen, const Rows& training) {
        const std::size_t first = best_single(seen, training);
        return [ranking = Rows{first, seen.baseline}](std::size_t) { return ranking; };
    };
    const auto neighbour = [&](const Matrix& seen, const Rows& training) {
        return [&seen, training, distance = Distances(seen)](std::size_t p) {
            const auto from_here = [&](std::size_t row) { return distance(p, row); };
            const std::size_t nearest = *std::ranges::min_element(training, {}, from_here);
            Rows order = seen.all_candidates();
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return seen.loss_of(nearest, a) < seen.loss_of(nearest, b);
            });
            return order;
        };
    };
    evaluation.held_out = hold_out(matrix, parts, learned, options.seed);
    evaluation.held_out_single = hold_out(matrix, parts, single, options.seed);
    evaluation.held_out_nearest = hold_out(matrix, parts, neighbour, options.seed);
    return evaluation;
}

}  // namespace espalier::bench::learn
