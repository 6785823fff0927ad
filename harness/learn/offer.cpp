#include "harness/learn/offer.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "harness/learn/folds.hpp"
#include "harness/learn/halfway.hpp"
#include "harness/learn/learn.hpp"
#include "harness/learn/ranking.hpp"

namespace espalier::bench::learn {
namespace {

/// Loss of what the tree chooses; without a time it counts as the slowest choice.
double loss_of(const Matrix& matrix, const Tree& tree, std::size_t problem) {
    const TreeLeaf& leaf = tree.leaves[tree.leaf_of(matrix.row(problem))];
    const std::size_t c = chosen(matrix, problem, leaf.ranking);
    const Loss loss = matrix.loss_of(problem, c);
    const double slowest = matrix.log_slowdown(problem, c) * static_cast<double>(kLossUnit);
    return loss >= kInfeasible ? slowest : static_cast<double>(loss);
}

/// Of one leaf, in the sum of losses.
double price(std::size_t problems, const LearnOptions& options) {
    return options.least_gain * kLossUnit * static_cast<double>(std::min(problems, options.price_grows_to));
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Standard errors of a difference that is not taken for chance.
constexpr double kErrors = 2;

/// What held-out problems lose by an offer, in the order of the folds.
struct Trial {
    Offer offer;
    std::vector<double> losses;

    [[nodiscard]] double loss() const { return mean(losses); }
};

/// How many standard errors of the difference `now` is better than `before`.
double errors_better(const Trial& before, const Trial& now) {
    const auto n = static_cast<double>(now.losses.size());
    const double gain = before.loss() - now.loss();
    double squares = 0;
    for (std::size_t i = 0; i < now.losses.size(); ++i) {
        const double off = before.losses[i] - now.losses[i] - gain;
        squares += off * off;
    }
    const double error = std::sqrt(squares / (n - 1) / n);
    return error > 0 ? gain / error : 0;
}

class Planner {
public:
    Planner(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options)
        : matrix_(matrix),
          rows_(rows),
          options_(options),
          folds_(deal_folds(matrix, rows, options.folds, options.seed)) {}

    Offer best() const {
        const Offer nothing{.tests = false, .halfway = false, .pairs = {}};
        if (folds_.empty()) return nothing;
        const Trial best = best_of_tests();
        return is_small(best.offer) || pays(best, cross_validate(nothing)) ? best.offer : nothing;
    }

private:
    /// Whether the tree has so few leaves that it cannot know the problems by heart.
    bool is_small(const Offer& offer) const {
        return 8 * best_tree(matrix_, rows_, offer, options_).leaves.size() <= rows_.size();
    }

    /// Whether trees win back a third of what one choice for all costs held-out problems. A choice that is slower than
    /// twice the best counts as twice as slow, or a few problems would decide for all.
    static bool pays(const Trial& tests, const Trial& single) {
        const auto cost = [](const Trial& trial) {
            std::vector<double> losses = trial.losses;
            for (double& loss : losses) loss = std::min(loss, std::numbers::ln2 * kLossUnit);
            return mean(losses);
        };
        return 3 * cost(tests) <= 2 * cost(single);
    }

    Trial best_of_tests() const {
        Trial best = cross_validate({});
        while (auto better = with_best_pair(best)) best = std::move(*better);
        Offer offer = best.offer;
        offer.halfway = true;
        Trial halfway = cross_validate(offer);
        return errors_better(best, halfway) < -kErrors ? best : halfway;
    }

    Trial cross_validate(const Offer& offer) const {
        std::vector<std::future<Tree>> trees;
        for (const Fold& fold : folds_)
            trees.push_back(
                std::async(std::launch::async, [&] { return best_tree(matrix_, fold.training, offer, options_); }));
        Trial trial{offer, {}};
        for (std::size_t f = 0; f < folds_.size(); ++f) {
            const Tree tree = trees[f].get();
            const std::vector<double> losses = losses_on(tree, folds_[f].held_out);
            trial.losses.insert(trial.losses.end(), losses.begin(), losses.end());
        }
        return trial;
    }

    std::vector<double> losses_on(const Tree& tree, std::span<const std::size_t> problems) const {
        std::vector<double> losses;
        for (const std::size_t p : problems) losses.push_back(loss_of(matrix_, tree, p));
        return losses;
    }

    /// The pair beside those offered whose trees gain most, if it pays.
    std::optional<Trial> with_best_pair(const Trial& before) const {
        std::optional<Trial> best;
        const double fitted = fitted_loss(before.offer);
        for (std::size_t c = 0; c < matrix_.columns.size(); ++c) {
            Offer offer = before.offer;
            if (!matrix_.columns[c].is_pair() || says_nothing_new(offer, c)) continue;
            offer.pairs.push_back(c);
            // What does not help where it was fitted does not help elsewhere.
            if (fitted - fitted_loss(offer) <= options_.least_gain * kLossUnit) continue;
            Trial trial = cross_validate(offer);
            if (errors_better(before, trial) > kErrors && (!best || trial.loss() < best->loss()))
                best = std::move(trial);
        }
        return best;
    }

    /// Mean loss of the best tree on what it was fitted to.
    double fitted_loss(const Offer& offer) const {
        const Tree tree = best_tree(matrix_, rows_, offer, options_);
        return mean(losses_on(tree, rows_)) + price(rows_.size(), options_) * static_cast<double>(tree.leaves.size()) /
                                                  static_cast<double>(rows_.size());
    }

    /// Whether a column that may be tested already puts the rows in the same order, or the reverse.
    bool says_nothing_new(const Offer& offer, std::size_t column) const {
        for (std::size_t other = 0; other < matrix_.columns.size(); ++other) {
            const Column& c = matrix_.columns[other];
            const bool testable = c.always_testable() || std::ranges::find(offer.pairs, other) != offer.pairs.end();
            if (testable && c.categories == 0 && (same_order(other, column, 1) || same_order(other, column, -1)))
                return true;
        }
        return false;
    }

    bool same_order(std::size_t a, std::size_t b, double sign) const {
        std::vector<std::pair<double, double>> values;
        for (const std::size_t r : rows_) values.emplace_back(matrix_.value(r, a), sign * matrix_.value(r, b));
        std::ranges::sort(values);
        for (std::size_t i = 1; i < values.size(); ++i)
            if ((values[i].first == values[i - 1].first) != (values[i].second == values[i - 1].second) ||
                values[i].second < values[i - 1].second)
                return false;
        return true;
    }

    const Matrix& matrix_;
    std::span<const std::size_t> rows_;
    const LearnOptions& options_;
    std::vector<Fold> folds_;
};

}  // namespace

Tree best_tree(const Matrix& matrix, std::span<const std::size_t> rows, const Offer& offer,
               const LearnOptions& options) {
    const WithHalfway given =
        offer.halfway ? with_halfway_problems(matrix, rows) : without_halfway_problems(matrix, rows);
    SizesOptions sizes = options.sizes;
    sizes.most_leaves = options.most_leaves;
    sizes.least_gain = static_cast<Loss>(price(rows.size(), options));
    sizes.split.pairs = offer.pairs;
    if (!offer.tests) sizes.deepest = 0;
    const std::vector<GrownTree> trees = trees_by_size(given.matrix, given.matrix.all(), sizes);
    const auto cost = [&](const GrownTree& tree) { return total_loss(tree) + sizes.least_gain * leaves(tree); };
    Tree tree = finish(given.matrix, *std::ranges::min_element(trees, {}, cost));
    const auto is_guess = [&](std::size_t row) { return row >= given.measured; };
    for (TreeLeaf& leaf : tree.leaves) {
        if (std::ranges::all_of(leaf.rows, is_guess)) annotate(given.matrix, leaf, options.seed);
        std::erase_if(leaf.rows, is_guess);
        for (std::size_t& row : leaf.rows) row = rows[row];
    }
    return tree;
}

Offer best_offer(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    return Planner(matrix, rows, options).best();
}

}  // namespace espalier::bench::learn
