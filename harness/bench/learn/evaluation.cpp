#include "harness/bench/learn/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "harness/bench/families/parallel.hpp"
#include "harness/bench/learn/distances.hpp"
#include "harness/bench/learn/imputation.hpp"
#include "harness/bench/learn/ranking.hpp"

namespace espalier::bench::learn {
namespace {

/// A way of choosing that learns from some rows: from a problem to a ranking.
using Chooser = std::function<std::vector<std::size_t>(std::size_t problem)>;
/// One or more of them, from what is known in one part of a cross-validation.
using Trainer = std::function<std::vector<Chooser>(std::size_t part)>;

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

/// The regret of what was held out in all parts, and how many choices of it have no time.
void sum_up(const Matrix& matrix, const std::vector<Part>& parts, std::uint64_t seed, HeldOut& result) {
    for (const Part& part : parts)
        for (const std::size_t p : part.fold.held_out)
            result.unmeasured += std::isnan(result.logs[p]) || matrix.state(p, result.choices[p]) == CellState::missing;
    std::vector<double> known;
    std::ranges::copy_if(result.logs, std::back_inserter(known), [](double log) { return !std::isnan(log); });
    result.regret = summarise(known, seed);
}

/// The costs of `ways` ways of choosing that are trained together.
std::vector<HeldOut> hold_out(const Matrix& matrix, const std::vector<Part>& parts, std::size_t ways,
                              const Trainer& train, std::uint64_t seed) {
    std::vector<HeldOut> results(ways);
    for (HeldOut& result : results)
        result.logs.resize(matrix.rows()), result.costs.resize(matrix.rows()), result.choices.resize(matrix.rows());
    in_parallel(parts.size(), [&](std::size_t i) {
        const std::vector<Chooser> choosers = train(i);
        for (std::size_t way = 0; way < ways; ++way)
            for (const std::size_t p : parts[i].fold.held_out) {
                HeldOut& result = results[way];
                result.choices[p] = chosen(matrix, p, choosers[way](p));
                result.logs[p] =
                    measured_log(matrix, p, result.choices[p]).value_or(std::numeric_limits<double>::quiet_NaN());
                result.costs[p] = matrix.lent.empty() ? result.logs[p] : matrix.log_slowdown(p, result.choices[p]);
            }
    });
    for (HeldOut& result : results) sum_up(matrix, parts, seed, result);
    return results;
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

Chooser best_of_all(const Part& part) {
    const std::vector ranking{best_single(part.seen, part.fold.training), part.seen.baseline};
    return [ranking](std::size_t) { return ranking; };
}

Chooser best_of_nearest(const Part& part) {
    return [&part, distance = Distances(part.seen)](std::size_t p) {
        const auto from_here = [&](std::size_t row) { return distance(p, row); };
        const std::size_t nearest = *std::ranges::min_element(part.fold.training, {}, from_here);
        std::vector<std::size_t> order = part.seen.all_candidates();
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return part.seen.loss_of(nearest, a) < part.seen.loss_of(nearest, b);
        });
        return order;
    };
}

struct MeanCost {
    double mean = 0, standard_error = 0;
};

MeanCost mean_of(std::span<const double> costs) {
    if (costs.size() < 2) return {};
    double sum = 0, squares = 0;
    for (const double cost : costs) sum += cost, squares += cost * cost;
    const auto count = static_cast<double>(costs.size());
    const double mean = sum / count;
    return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean) / (count - 1))};
}

/// Of what trees of one size cost, over the problems where the choice of each has a cost.
MeanCost cost_of(std::span<const HeldOut> all, std::size_t size) {
    std::vector<double> costs;
    for (std::size_t p = 0; p < all[size].costs.size(); ++p)
        if (std::ranges::none_of(all, [&](const HeldOut& other) { return std::isnan(other.costs[p]); }))
            costs.push_back(all[size].costs[p]);
    return mean_of(costs);
}

/// By the one-standard-error rule.
std::size_t smallest_of(std::span<const HeldOut> all) {
    const double most_lost = std::log(1.0025);
    std::vector<MeanCost> costs;
    for (std::size_t size = 0; size < all.size(); ++size) costs.push_back(cost_of(all, size));
    const MeanCost best = *std::ranges::min_element(costs, {}, &MeanCost::mean);
    const double most = best.mean + std::min(best.standard_error, most_lost);
    std::size_t smallest = costs.size() - 1;
    while (costs[smallest].mean > most) --smallest;
    return smallest;
}

/// Keeps trees of one of two ways of parting, by what their smallest ones cost where every tree's choice has a time.
void keep_better_way(CrossValidation& result) {
    const std::size_t sizes = result.prunings.size();
    const std::span<const HeldOut> all = result.held_out;
    result.smallest = smallest_of(all.first(sizes));
    if (all.size() == sizes) return;
    const std::size_t other = smallest_of(all.last(sizes));
    result.part_relaxed = cost_of(all, result.smallest).mean <= cost_of(all, sizes + other).mean;
    if (!result.part_relaxed) result.smallest = other;
    const auto drop_other_way = [&](auto& values) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(result.part_relaxed ? sizes : 0);
        values.erase(first, first + static_cast<std::ptrdiff_t>(sizes));
    };
    drop_other_way(result.held_out), drop_other_way(result.leaves);
}

}  // namespace

CrossValidation cross_validate(const Matrix& matrix, const LearnOptions& options) {
    constexpr std::size_t kSizes = 14;
    constexpr double kStep = 1.5;
    const std::vector<Part> parts = parts_of(matrix, evaluation_folds(matrix, options));
    if (parts.empty()) return {};
    CrossValidation result;
    for (double pruning = 1; result.prunings.size() < kSizes; pruning *= kStep) result.prunings.push_back(pruning);
    const std::size_t ways = has_relaxing(matrix) ? 2 * kSizes : kSizes;
    std::vector<std::vector<std::size_t>> leaves(ways, std::vector<std::size_t>(parts.size()));
    const auto learned = [&](std::size_t part) {
        const auto& [fold, seen] = parts[part];
        const auto trees =
            std::make_shared<const std::vector<Tree>>(learn_sizes(seen, fold.training, options, result.prunings));
        std::vector<Chooser> choosers;
        for (std::size_t size = 0; size < ways; ++size) {
            leaves[size][part] = (*trees)[size].leaves.size();
            choosers.emplace_back([&seen = seen, trees, size](std::size_t p) {
                const Tree& tree = (*trees)[size];
                return tree.leaves[tree.leaf_of(seen.row(p))].ranking;
            });
        }
        return choosers;
    };
    result.held_out = hold_out(matrix, parts, ways, learned, options.seed);
    for (const auto& of_parts : leaves)
        result.leaves.push_back(std::accumulate(of_parts.begin(), of_parts.end(), 0.0) /
                                static_cast<double>(parts.size()));
    keep_better_way(result);
    const auto single = [&](std::size_t part) { return std::vector{best_of_all(parts[part])}; };
    result.single = hold_out(matrix, parts, 1, single, options.seed).front();
    const auto nearest = [&](std::size_t part) { return std::vector{best_of_nearest(parts[part])}; };
    result.nearest = hold_out(matrix, parts, 1, nearest, options.seed).front();
    return result;
}

bool costs_less(const HeldOut& one, const HeldOut& other) {
    std::vector<double> saved;
    for (std::size_t p = 0; p < std::min(one.costs.size(), other.costs.size()); ++p)
        if (const double log = other.costs[p] - one.costs[p]; !std::isnan(log)) saved.push_back(log);
    const MeanCost all = mean_of(saved);
    return all.mean > 2 * all.standard_error;  // of one problem that differs the mean is one
}

double log_regret(const Matrix& matrix, const Tree& tree, std::size_t problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(matrix.row(problem))];
    return matrix.log_slowdown(problem, chosen(matrix, problem, leaf.ranking));
}

std::vector<Fold> evaluation_folds(const Matrix& matrix, const LearnOptions& options) {
    return make_folds(matrix, matrix.all(), options.seed + 1);
}

Evaluation evaluate(const Matrix& matrix, const Tree& tree, const LearnOptions& options,
                    const CrossValidation& validation) {
    const auto by_tree = [&](std::size_t p) { return tree.leaves[tree.leaf_of(matrix.row(p))].ranking; };
    Evaluation evaluation;
    evaluation.training = summarise(measured_logs(matrix, by_tree), options.seed);
    evaluation.best_single_candidate = best_single(matrix, matrix.all());
    const std::vector single_and_baseline{evaluation.best_single_candidate, matrix.baseline};
    const auto singles = measured_logs(matrix, [&](std::size_t) { return single_and_baseline; });
    if (!singles.empty())
        evaluation.best_single =
            std::exp(std::accumulate(singles.begin(), singles.end(), 0.0) / static_cast<double>(singles.size()));
    if (validation.empty()) return evaluation;
    evaluation.held_out = validation.kept();
    evaluation.held_out_single = validation.single;
    evaluation.held_out_nearest = validation.nearest;
    return evaluation;
}

}  // namespace espalier::bench::learn
