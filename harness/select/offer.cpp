#include "harness/select/offer.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>
#include <optional>
#include <utility>

#include "harness/select/folds.hpp"
#include "harness/select/halfway.hpp"
#include "harness/select/learn.hpp"
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

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Standard errors of a difference that is not taken for chance.
constexpr double kErrors = 2;

/// What the problems lose by every size of tree, the price of its leaves included: [size][problem].
using Losses = std::vector<std::vector<double>>;

Losses losses_on(const Matrix& matrix, const std::vector<Tree>& trees, std::span<const std::size_t> problems,
                 const LearnOptions& options) {
    Losses losses;
    for (const Tree& tree : trees) {
        const double price = options.least_gain * kLossUnit * static_cast<double>(tree.leaves.size());
        auto& lost = losses.emplace_back();
        for (const std::size_t p : problems) lost.push_back(loss_of(matrix, tree, p) + price);
    }
    return losses;
}

std::size_t best_size(const Losses& losses) {
    const auto by_mean = [](const auto& a, const auto& b) { return mean(a) < mean(b); };
    return static_cast<std::size_t>(std::min_element(losses.begin(), losses.end(), by_mean) - losses.begin());
}

/// An offer, and what it costs problems that were held out; the size is the one that costs least.
struct Trial {
    Plan plan;
    std::vector<double> losses;  ///< by problem, in the order of the folds

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

    Plan plan() const {
        if (folds_.empty()) return {};
        Trial best = cross_validate({});
        while (auto better = with_best_pair(best)) best = std::move(*better);
        Offer offer = best.plan.offer;
        offer.halfway = true;
        Trial halfway = cross_validate(std::move(offer));
        return errors_better(best, halfway) < -kErrors ? best.plan : halfway.plan;
    }

private:
    Trial cross_validate(Offer offer) const {
        std::vector<std::future<Losses>> parts;
        for (const Fold& fold : folds_)
            parts.push_back(std::async(std::launch::async, [&] {
                return losses_on(matrix_, trees_of_all_sizes(matrix_, fold.training, offer, options_), fold.held_out,
                                 options_);
            }));
        Losses all(static_cast<std::size_t>(options_.most_leaves));
        for (auto& part : parts) {
            const Losses losses = part.get();
            for (std::size_t size = 0; size < all.size(); ++size)
                all[size].insert(all[size].end(), losses[size].begin(), losses[size].end());
        }
        const std::size_t size = best_size(all);
        return {{std::move(offer), size}, std::move(all[size])};
    }

    /// The pair beside those offered whose trees gain most, if it pays.
    std::optional<Trial> with_best_pair(const Trial& before) const {
        std::optional<Trial> best;
        const double fitted = fitted_loss(before.plan.offer);
        for (std::size_t c = 0; c < matrix_.columns.size(); ++c) {
            Offer offer = before.plan.offer;
            if (!matrix_.columns[c].is_pair() || says_nothing_new(offer, c)) continue;
            offer.pairs.push_back(c);
            // What does not help where it was fitted does not help elsewhere.
            if (fitted - fitted_loss(offer) <= options_.least_gain * kLossUnit) continue;
            Trial trial = cross_validate(std::move(offer));
            if (errors_better(before, trial) > kErrors && (!best || trial.loss() < best->loss()))
                best = std::move(trial);
        }
        return best;
    }

    /// Mean loss of the best tree on what it was fitted to.
    double fitted_loss(const Offer& offer) const {
        const Losses losses = losses_on(matrix_, trees_of_all_sizes(matrix_, rows_, offer, options_), rows_, options_);
        return mean(losses[best_size(losses)]);
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

std::vector<Tree> trees_of_all_sizes(const Matrix& matrix, std::span<const std::size_t> rows, const Offer& offer,
                                     const LearnOptions& options) {
    const WithHalfway given =
        offer.halfway ? with_halfway_problems(matrix, rows) : without_halfway_problems(matrix, rows);
    SizesOptions sizes = options.sizes;
    sizes.most_leaves = options.most_leaves;
    sizes.least_gain = static_cast<Loss>(options.least_gain * kLossUnit * static_cast<double>(rows.size()));
    sizes.split.pairs = offer.pairs;
    sizes.split.measured = given.measured;
    std::vector<Tree> trees;
    for (const GrownTree& grown : trees_by_size(given.matrix, given.matrix.all(), sizes)) {
        Tree& tree = trees.emplace_back(finish(given.matrix, grown));
        for (TreeLeaf& leaf : tree.leaves) {
            std::erase_if(leaf.rows, [&](std::size_t row) { return row >= given.measured; });
            for (std::size_t& row : leaf.rows) row = rows[row];
        }
    }
    return trees;
}

Plan plan(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    return Planner(matrix, rows, options).plan();
}

}  // namespace espalier::select
