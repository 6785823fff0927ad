#include "harness/select/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/select/regret.hpp"

namespace espalier::select {
namespace {

constexpr std::size_t kMostBeforeBaseline = 4;

class Ranker {
public:
    Ranker(const Matrix& matrix, std::span<const std::size_t> rows) : matrix_(matrix), rows_(rows) {}

    std::vector<std::size_t> ranking() const {
        const std::size_t first = best_feasible([](const Candidate&) { return true; }).value_or(matrix_.baseline);
        std::vector<std::size_t> ranking{first};
        if (first == matrix_.baseline) return ranking;
        for (const std::size_t c : fallbacks(first))
            if (ranking.size() < kMostBeforeBaseline) ranking.push_back(c);
        ranking.push_back(matrix_.baseline);
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

    double margin(std::size_t first) const {
        const auto& all = matrix_.candidates;
        const auto second = best_feasible([&](const Candidate& c) { return c.variant != all[first].variant; });
        return second ? std::exp(score(*second) - score(first)) : 1.0;
    }

private:
    template <class Predicate>
    std::optional<std::size_t> best_feasible(Predicate&& allowed) const {
        std::optional<std::size_t> best;
        Loss best_loss = kInfeasible;
        for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
            if (!allowed(matrix_.candidates[c])) continue;
            Loss total = 0;
            for (const std::size_t r : rows_) total += matrix_.loss_of(r, c);
            if (total < best_loss) best = c, best_loss = total;
        }
        return best;
    }

    double score(std::size_t candidate) const {
        double sum = 0;
        for (const std::size_t r : rows_) sum += matrix_.log_slowdown(r, candidate);
        return sum / static_cast<double>(rows_.size());
    }

    /// The best choice of every other variant, if it beats the baseline; best first.
    std::vector<std::size_t> fallbacks(std::size_t first) const {
        std::map<std::size_t, std::pair<double, std::size_t>> best;  // by variant
        const double baseline = score(matrix_.baseline);
        for (std::size_t c = 0; c < matrix_.candidates.size(); ++c) {
            const std::size_t variant = matrix_.candidates[c].variant;
            if (variant == matrix_.candidates[first].variant || c == matrix_.baseline) continue;
            const std::pair scored{score(c), c};
            if (scored.first >= baseline) continue;
            const auto at = best.emplace(variant, scored).first;
            at->second = std::min(at->second, scored);
        }
        std::vector<std::pair<double, std::size_t>> sorted;
        for (const auto& [variant, scored] : best) sorted.push_back(scored);
        std::sort(sorted.begin(), sorted.end());
        std::vector<std::size_t> result;
        for (const auto& scored : sorted) result.push_back(scored.second);
        return result;
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
        for (const std::size_t r : leaf.rows) logs.push_back(matrix.log_slowdown(r, first));
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
