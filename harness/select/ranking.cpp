#include "harness/select/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "harness/select/regret.hpp"

namespace espalier::select {
namespace {

constexpr std::size_t kMostBeforeBaseline = 4;

class Ranker {
public:
    Ranker(const Matrix& matrix, std::span<const std::size_t> rows) : matrix_(matrix), rows_(rows) {}

    std::vector<std::size_t> ranking() const {
        std::vector<std::size_t> ranking{best_of(rows_, {})};
        while (ranking.back() != matrix_.baseline)
            ranking.push_back(ranking.size() < kMostBeforeBaseline ? fallback(ranking) : matrix_.baseline);
        return ranking;
    }

    /// Geometric mean over the rows that `candidate` was measured on; that of the slowest if on none.
    double slowdown(std::size_t candidate) const {
        double sum = 0;
        std::size_t count = 0;
        for (const std::size_t r : rows_)
            if (matrix_.measured(r, candidate)) sum += matrix_.log_slowdown(r, candidate), ++count;
        return std::exp(count ? sum / static_cast<double>(count) : score(candidate));
    }

    /// Slowdown of the best choice of another variant over the first.
    double margin(std::size_t first) const {
        const std::size_t second = best_of(rows_, {first});
        const bool other = matrix_.candidates[second].variant != matrix_.candidates[first].variant;
        return other ? std::exp(score(second) - score(first)) : 1.0;
    }

private:
    bool same_variant(std::size_t candidate, std::span<const std::size_t> others) const {
        return std::any_of(others.begin(), others.end(), [&](std::size_t other) {
            return matrix_.candidates[other].variant == matrix_.candidates[candidate].variant;
        });
    }

    Loss total_loss(std::span<const std::size_t> rows, std::size_t candidate) const {
        Loss total = 0;
        for (const std::size_t r : rows) total += matrix_.loss_of(r, candidate);
        return total;
    }

    /// The choice with the least total loss of a variant that none of `without` is of. The baseline unless
    /// another one is better; it alone may repeat a variant.
    std::size_t best_of(std::span<const std::size_t> rows, const std::vector<std::size_t>& without) const {
        std::size_t best = matrix_.baseline;
        Loss best_loss = same_variant(best, without) ? kInfeasible : total_loss(rows, best);
        for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
            if (same_variant(c, without)) continue;
            if (const Loss loss = total_loss(rows, c); loss < best_loss) best = c, best_loss = loss;
        }
        return best;
    }

    /// Mean logarithm of the slowdown.
    double score(std::size_t candidate) const {
        double sum = 0;
        for (const std::size_t r : rows_) sum += matrix_.log_slowdown(r, candidate);
        return sum / static_cast<double>(rows_.size());
    }

    /// What comes next: the best choice where all so far are unsupported. If that is nowhere among the rows,
    /// the next best choice that beats the baseline, for problems that were not measured.
    std::size_t fallback(const std::vector<std::size_t>& ranking) const {
        std::vector<std::size_t> declined;
        for (const std::size_t r : rows_)
            if (std::all_of(ranking.begin(), ranking.end(),
                            [&](std::size_t c) { return matrix_.state(r, c) == CellState::unsupported; }))
                declined.push_back(r);
        if (!declined.empty()) return best_of(declined, ranking);
        std::size_t best = matrix_.baseline;
        double least = score(best);
        for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
            if (same_variant(c, ranking)) continue;
            if (const double s = score(c); s < least) best = c, least = s;
        }
        return best;
    }

    const Matrix& matrix_;
    std::span<const std::size_t> rows_;
};

int copy(const Matrix& matrix, const GrownTree& grown, int node, Tree& tree) {
    const GrownNode& from = grown[static_cast<std::size_t>(node)];
    const auto index = tree.nodes.size();
    tree.nodes.push_back({.test = from.test});
    if (from.inner()) {
        const int yes = copy(matrix, grown, from.yes, tree);
        const int no = copy(matrix, grown, from.no, tree);
        tree.nodes[index].yes = yes, tree.nodes[index].no = no;
    } else {
        tree.nodes[index].leaf = static_cast<int>(tree.leaves.size());
        tree.leaves.push_back({.rows = from.rows, .ranking = rank(matrix, from.rows)});
    }
    return static_cast<int>(index);
}

}  // namespace

std::vector<std::size_t> rank(const Matrix& matrix, std::span<const std::size_t> rows) {
    return Ranker(matrix, rows).ranking();
}

Tree finish(const Matrix& matrix, const GrownTree& grown) {
    Tree tree;
    copy(matrix, grown, 0, tree);
    return tree;
}

void annotate(const Matrix& matrix, Tree& tree, std::uint64_t seed) {
    for (TreeLeaf& leaf : tree.leaves) {
        const Ranker ranker(matrix, leaf.rows);
        const std::size_t first = leaf.ranking.front();
        leaf.slowdowns.clear();
        for (const std::size_t c : leaf.ranking) leaf.slowdowns.push_back(ranker.slowdown(c));
        leaf.margin = ranker.margin(first);
        std::vector<double> logs;
        for (const std::size_t r : leaf.rows) logs.push_back(matrix.log_slowdown(r, chosen(matrix, r, leaf.ranking)));
        const Regret regret = summarise(logs, seed);
        leaf.regret = regret.geomean;
        leaf.regret_interval = regret.geomean_interval;
    }
}

std::size_t chosen(const Matrix& matrix, std::size_t problem, std::span<const std::size_t> ranking) {
    for (const std::size_t c : ranking)
        if (matrix.state(problem, c) != CellState::unsupported) return c;
    return matrix.baseline;
}

}  // namespace espalier::select
