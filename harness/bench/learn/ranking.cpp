#include "harness/bench/learn/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "harness/bench/learn/regret.hpp"

namespace espalier::bench::learn {
namespace {

constexpr std::size_t kMostBeforeBaseline = 4;

using Rows = std::vector<std::size_t>;

class Ranker {
public:
    Ranker(const Matrix& matrix, std::span<const std::size_t> rows) : matrix_(matrix), rows_(rows.begin(), rows.end()) {
        for (const std::size_t r : rows_) {
            ideal_.push_back(matrix_.loss_of(r, 0));
            for (std::size_t c = 1; c < matrix_.candidates.size(); ++c)
                ideal_.back() = std::min(ideal_.back(), matrix_.loss_of(r, c));
        }
    }

    std::vector<std::size_t> ranking() const {
        std::vector<std::size_t> best = covering(best_of(rows_, {}));
        Loss best_loss = walked_loss(best);
        for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
            if (least_loss_behind(c) >= best_loss) continue;
            std::vector<std::size_t> ranking = covering(c);
            if (const Loss loss = walked_loss(ranking); loss < best_loss) best = std::move(ranking), best_loss = loss;
        }
        while (best.back() != matrix_.baseline) best.push_back(next_after(best));
        return best;
    }

    /// Geometric mean over the rows that `candidate` has a time of; of what runs instead if on none.
    double slowdown(std::size_t candidate) const {
        Rows timed;
        for (const std::size_t r : rows_)
            if (matrix_.has_time(r, candidate)) timed.push_back(r);
        return std::exp(score(timed.empty() ? rows_ : timed, candidate));
    }

    /// Slowdown of the best choice of another variant over the first, where the first is supported.
    double margin(std::size_t first) const {
        Rows supported;
        for (const std::size_t r : rows_)
            if (matrix_.state(r, first) != CellState::unsupported) supported.push_back(r);
        const std::size_t second = best_of(supported, {first});
        const bool other = matrix_.candidates[second].variant != matrix_.candidates[first].variant;
        return other && !supported.empty() ? std::exp(score(supported, second) - score(supported, first)) : 1.0;
    }

private:
    bool same_variant(std::size_t candidate, std::span<const std::size_t> others) const {
        return std::any_of(others.begin(), others.end(), [&](std::size_t other) {
            return matrix_.candidates[other].variant == matrix_.candidates[candidate].variant;
        });
    }

    Loss total_loss(const Rows& rows, std::size_t candidate) const {
        Loss total = 0;
        for (const std::size_t r : rows) total += matrix_.loss_of(r, candidate);
        return total;
    }

    /// The loss that the library would pay for running down the ranking.
    Loss walked_loss(const std::vector<std::size_t>& ranking) const {
        Loss total = 0;
        for (const std::size_t r : rows_) total += matrix_.loss_of(r, chosen(matrix_, r, ranking));
        return total;
    }

    /// A bound that no ranking that begins with `first` can beat.
    Loss least_loss_behind(std::size_t first) const {
        Loss total = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const bool declined = matrix_.state(rows_[i], first) == CellState::unsupported;
            total += declined ? ideal_[i] : matrix_.loss_of(rows_[i], first);
        }
        return total;
    }

    /// The choice with the least total loss of those that are not left out. The baseline unless another one is better.
    template <class Excluded>
    std::size_t best_but(const Rows& rows, const Excluded& excluded) const {
        std::size_t best = matrix_.baseline;
        Loss best_loss = excluded(best) ? kInfeasible : total_loss(rows, best);
        for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
            if (excluded(c)) continue;
            if (const Loss loss = total_loss(rows, c); loss < best_loss) best = c, best_loss = loss;
        }
        return best;
    }

    /// The choice with the least total loss of a variant that none of `without` is of. The baseline unless
    /// another one is better; it alone may repeat a variant.
    std::size_t best_of(const Rows& rows, const std::vector<std::size_t>& without) const {
        return best_but(rows, [&](std::size_t c) { return same_variant(c, without); });
    }

    /// The choice with the least total loss for rows that a ranking declines. It may be another configuration of a
    /// variant that is there: what a variant supports depends on its configuration.
    std::size_t best_behind(const Rows& rows, const std::vector<std::size_t>& ranking) const {
        return best_but(rows, [&](std::size_t c) { return std::ranges::find(ranking, c) != ranking.end(); });
    }

    Rows declined_by(const std::vector<std::size_t>& ranking) const {
        Rows declined;
        for (const std::size_t r : rows_)
            if (std::all_of(ranking.begin(), ranking.end(),
                            [&](std::size_t c) { return matrix_.state(r, c) == CellState::unsupported; }))
                declined.push_back(r);
        return declined;
    }

    /// Whether any of these rows could have had another choice than the baseline.
    bool have_a_choice(const Rows& rows) const {
        return std::ranges::any_of(rows, [&](std::size_t r) {
            for (std::size_t c = 0; c < matrix_.candidates.size(); ++c)
                if (c != matrix_.baseline && matrix_.state(r, c) != CellState::unsupported) return true;
            return false;
        });
    }

    /// `first`, then what is best for the rows that all before it decline, until every row is served. The baseline that
    /// ends a ranking is what runs where no tree knows anything else: one that is the best here stands before it, too.
    std::vector<std::size_t> covering(std::size_t first) const {
        std::vector<std::size_t> ranking{first};
        while (ranking.back() != matrix_.baseline) {
            const Rows declined = declined_by(ranking);
            if (declined.empty()) break;
            const bool any = ranking.size() < kMostBeforeBaseline;
            ranking.push_back(any ? best_behind(declined, ranking) : matrix_.baseline);
            if (any && ranking.back() == matrix_.baseline && have_a_choice(declined))
                ranking.push_back(matrix_.baseline);
        }
        return ranking;
    }

    /// For problems that were not measured: the next best choice that beats the baseline, else the baseline.
    std::size_t next_after(const std::vector<std::size_t>& ranking) const {
        std::size_t best = matrix_.baseline;
        if (ranking.size() >= kMostBeforeBaseline) return best;
        double least = score(rows_, best);
        for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
            if (same_variant(c, ranking)) continue;
            if (const double s = score(rows_, c); s < least) best = c, least = s;
        }
        return best;
    }

    /// Mean logarithm of the slowdown.
    double score(const Rows& rows, std::size_t candidate) const {
        double sum = 0;
        for (const std::size_t r : rows) sum += matrix_.log_slowdown(r, candidate);
        return sum / static_cast<double>(rows.size());
    }

    const Matrix& matrix_;
    Rows rows_;
    std::vector<Loss> ideal_;  ///< of each row: the least loss of any choice
};

}  // namespace

std::vector<std::size_t> rank(const Matrix& matrix, std::span<const std::size_t> rows) {
    return Ranker(matrix, rows).ranking();
}

void annotate(const Matrix& matrix, TreeLeaf& leaf, std::uint64_t seed) {
    const Ranker ranker(matrix, leaf.rows);
    leaf.slowdowns.clear();
    for (const std::size_t c : leaf.ranking) leaf.slowdowns.push_back(ranker.slowdown(c));
    leaf.margin = ranker.margin(leaf.ranking.front());
    std::vector<double> logs;
    for (const std::size_t r : leaf.rows) logs.push_back(matrix.log_slowdown(r, chosen(matrix, r, leaf.ranking)));
    const Regret regret = summarise(logs, seed);
    leaf.regret = regret.geomean;
    leaf.regret_interval = regret.geomean_interval;
}

double slowdown_over(const Matrix& matrix, std::span<const std::size_t> rows, std::size_t candidate) {
    return Ranker(matrix, rows).slowdown(candidate);
}

std::size_t chosen(const Matrix& matrix, std::size_t problem, std::span<const std::size_t> ranking) {
    for (const std::size_t c : ranking)
        if (matrix.state(problem, c) != CellState::unsupported) return c;
    return matrix.baseline;
}

std::size_t choices_used(const Matrix& matrix, const TreeLeaf& leaf) {
    std::size_t used = 1;
    for (const std::size_t r : leaf.rows) {
        const auto at = std::ranges::find(leaf.ranking, chosen(matrix, r, leaf.ranking));
        used = std::max(used, static_cast<std::size_t>(at - leaf.ranking.begin()) + 1);
    }
    return std::min(used, leaf.ranking.size());
}

}  // namespace espalier::bench::learn
