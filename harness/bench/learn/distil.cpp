#include "harness/bench/learn/distil.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace espalier::bench::learn {
namespace {

using Rows = std::vector<std::size_t>;

struct Split {
    Loss gain = 0;
    std::size_t column = 0;  ///< among those that are tested
    int bin = 0;             ///< yes: bins up to this one, or this category
};

/// Losses of some problems by candidate. What is unsupported costs what the best choice that supports all of them does.
struct Losses {
    std::vector<Loss> cells;  ///< problems x candidates
    std::vector<Loss> total;  ///< by candidate
    Loss best = 0;
};

class Grower {
public:
    Grower(const Lesson& lesson, const LearnOptions& options)
        : lesson_(lesson), matrix_(lesson.matrix), options_(options) {
        for (const bool derived : {true, false})
            for (std::size_t c = 0; c < matrix_.columns.size(); ++c) {
                const Column& column = matrix_.columns[c];
                const bool first = column.derived && !column.is_interaction();
                if (column.testable() && first == derived) columns_.push_back(c);
            }
        const auto numbers = preferred_numbers();
        for (const std::size_t c : columns_)
            for (std::size_t r = 0; r < matrix_.rows(); ++r) {
                const double x = matrix_.value(r, c);
                bins_.push_back(
                    static_cast<int>(is_category(c) ? x : std::ranges::lower_bound(numbers, x) - numbers.begin()));
            }
        const auto measured = static_cast<double>(std::max<std::size_t>(lesson.measured, 1));
        const double mean = std::max(options_.leaf_penalty, options_.least_win / measured);
        penalty_ = static_cast<Loss>(mean * kLossUnit * static_cast<double>(lesson.weight));
    }

    std::vector<Tree> grow(std::span<const double> prunings) {
        add(matrix_.all(), options_.max_leaves > 1 ? 0 : options_.max_depth);
        while (nodes_.size() < 4 * options_.max_leaves) {
            const auto at = std::ranges::max_element(nodes_, {}, [](const Grown& node) { return node.split.gain; });
            if (at->split.gain <= 0) break;
            part(static_cast<std::size_t>(at - nodes_.begin()));
        }
        std::vector<Tree> trees;
        for (const double pruning : prunings) {
            double penalty = pruning * static_cast<double>(penalty_);
            trees.push_back(prune(penalty));
            while (trees.back().leaves.size() > options_.max_leaves) trees.back() = prune(penalty *= 1.1);
        }
        return trees;
    }

private:
    struct Grown {
        Rows rows;
        int depth = 0;
        Loss loss = 0;    ///< of the best choice for all rows
        Split split{};    ///< the best one of a leaf; no gain: none
        TreeNode test{};  ///< of an inner node, but for where it leads
        std::size_t yes = 0, no = 0;
    };

    [[nodiscard]] bool is_category(std::size_t column) const { return matrix_.columns[column].categories > 0; }
    [[nodiscard]] int bin(std::size_t column, std::size_t row) const { return bins_[column * matrix_.rows() + row]; }
    [[nodiscard]] bool holds(const Split& split, std::size_t row) const {
        const int b = bin(split.column, row);
        return is_category(columns_[split.column]) ? b == split.bin : b <= split.bin;
    }

    void add(Rows rows, int depth) {
        Split split;
        if (depth < options_.max_depth) split = best_split(rows);
        if (depth + 1 < options_.max_depth && split.gain < penalty_) split = best_of_two(rows, split);
        const Loss loss = losses(rows).best;
        nodes_.push_back({.rows = std::move(rows), .depth = depth, .loss = loss, .split = split});
    }

    void part(std::size_t index) {
        Grown& node = nodes_[index];
        const Split split = std::exchange(node.split, {});
        const std::size_t column = columns_[split.column];
        auto [yes, no] = sides(node.rows, split);
        const auto place = static_cast<std::uint16_t>(column);
        node.test = is_category(column)
                        ? TreeNode::one_of(place, std::uint64_t{1} << split.bin, 0)
                        : TreeNode::at_most(place, preferred_numbers()[static_cast<std::size_t>(split.bin)], 0);
        node.yes = nodes_.size(), node.no = nodes_.size() + 1;
        const int depth = node.depth + 1;
        add(std::move(yes), depth);
        add(std::move(no), depth);
    }

    [[nodiscard]] std::pair<Rows, Rows> sides(const Rows& rows, const Split& split) const {
        std::pair<Rows, Rows> parts;
        for (const std::size_t r : rows) (holds(split, r) ? parts.first : parts.second).push_back(r);
        return parts;
    }

    [[nodiscard]] Losses losses(const Rows& rows) const {
        const std::size_t width = matrix_.candidates.size();
        std::vector<Loss> total(width);
        std::vector<char> everywhere(width, 1);
        for (const std::size_t r : rows)
            for (std::size_t c = 0; c < width; ++c) {
                total[c] += matrix_.loss_of(r, c);
                if (matrix_.state(r, c) == CellState::unsupported) everywhere[c] = 0;
            }
        std::size_t other = matrix_.baseline;
        for (std::size_t c = 0; c < width; ++c)
            if (everywhere[c] && total[c] < total[other]) other = c;
        Losses result{.cells = {}, .total = std::vector<Loss>(width)};
        result.cells.reserve(rows.size() * width);
        for (const std::size_t r : rows)
            for (std::size_t c = 0; c < width; ++c) {
                const bool declined = matrix_.state(r, c) == CellState::unsupported;
                result.cells.push_back(matrix_.loss_of(r, declined ? other : c));
                result.total[c] += result.cells.back();
            }
        result.best = std::ranges::min(result.total);
        return result;
    }

    /// Calls `visit(split)` for every split that leaves enough problems that were measured on both sides.
    template <class Visit>
    void visit_splits(const Rows& rows, const Visit& visit) const {
        const Losses all = losses(rows);
        const std::size_t width = matrix_.candidates.size();
        const auto measured = static_cast<std::size_t>(
            std::ranges::count_if(rows, [&](std::size_t row) { return lesson_.evident[row] != 0; }));
        if (all.best == 0 || measured < 2 * options_.least_problems) return;
        std::vector<Loss> sums, yes(width);
        std::vector<std::size_t> counts, of_measured;
        for (std::size_t column = 0; column < columns_.size(); ++column) {
            int low = bin(column, rows.front()), high = low;
            for (const std::size_t r : rows) low = std::min(low, bin(column, r)), high = std::max(high, bin(column, r));
            if (low == high) continue;
            const auto bins = static_cast<std::size_t>(high - low + 1);
            sums.assign(bins * width, 0), counts.assign(bins, 0), of_measured.assign(bins, 0);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto b = static_cast<std::size_t>(bin(column, rows[i]) - low);
                for (std::size_t c = 0; c < width; ++c) sums[b * width + c] += all.cells[i * width + c];
                ++counts[b], of_measured[b] += lesson_.evident[rows[i]] != 0;
            }
            const bool category = is_category(columns_[column]);
            std::fill(yes.begin(), yes.end(), 0);
            std::size_t yes_measured = 0;
            for (std::size_t b = 0; b < (category ? bins : bins - 1); ++b) {
                if (counts[b] == 0) continue;
                if (category) std::fill(yes.begin(), yes.end(), 0), yes_measured = 0;
                for (std::size_t c = 0; c < width; ++c) yes[c] += sums[b * width + c];
                yes_measured += of_measured[b];
                if (std::min(yes_measured, measured - yes_measured) < options_.least_problems) continue;
                Loss best_yes = yes[0], best_no = all.total[0] - yes[0];
                for (std::size_t c = 1; c < width; ++c)
                    best_yes = std::min(best_yes, yes[c]), best_no = std::min(best_no, all.total[c] - yes[c]);
                visit(Split{all.best - best_yes - best_no, column, low + static_cast<int>(b)});
            }
        }
    }

    [[nodiscard]] Split best_split(const Rows& rows) const {
        Split best;
        visit_splits(rows, [&](const Split& split) {
            if (split.gain > best.gain) best = split;
        });
        return best;
    }

    /// The split below which one more split of either side gains most, if two together pay.
    [[nodiscard]] Split best_of_two(const Rows& rows, Split best) const {
        constexpr std::size_t kTried = 24;
        std::vector<Split> all;
        visit_splits(rows, [&](const Split& split) { all.push_back(split); });
        const std::size_t step = std::max<std::size_t>(1, all.size() / kTried);
        Loss most = 2 * penalty_;
        for (std::size_t i = 0; i < all.size(); i += step) {
            const auto [yes, no] = sides(rows, all[i]);
            const Loss gain = all[i].gain + best_split(yes).gain + best_split(no).gain;
            if (gain > most) most = gain, best = all[i], best.gain = gain;
        }
        return best;
    }

    /// The subtree with the same root that costs least, its leaves' penalty included; the smaller one of equals.
    [[nodiscard]] Tree prune(double penalty) const {
        Tree pruned;
        copy_pruned(0, penalty, pruned);
        return pruned;
    }

    double copy_pruned(std::size_t index, double penalty, Tree& out) const {
        const Grown& from = nodes_[index];
        const std::size_t at = out.nodes.size(), leaf = out.leaves.size();
        out.nodes.emplace_back();
        const double as_leaf = static_cast<double>(from.loss) + penalty;
        if (from.yes != 0) {
            double as_tree = copy_pruned(from.yes, penalty, out);
            const auto no = static_cast<std::uint16_t>(out.nodes.size());
            as_tree += copy_pruned(from.no, penalty, out);
            if (as_tree < as_leaf) {
                out.nodes[at] = from.test;
                out.nodes[at].no = no;
                return as_tree;
            }
            out.nodes.resize(at + 1), out.leaves.resize(leaf);
        }
        out.nodes[at] = TreeNode::leaf(static_cast<std::uint16_t>(leaf));
        out.leaves.emplace_back().rows = from.rows;
        return as_leaf;
    }

    const Lesson& lesson_;
    const Matrix& matrix_;
    LearnOptions options_;
    Loss penalty_ = 0;
    std::vector<std::size_t> columns_;  ///< that are tested
    std::vector<int> bins_;             ///< columns x problems
    std::vector<Grown> nodes_;
};

std::vector<double> make_preferred_numbers() {
    constexpr std::array kE12{1.0, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2};
    std::set<double> numbers{0};
    for (int exponent = -6; exponent <= 16; ++exponent)
        for (const double number : kE12) {
            const double tenths = std::round(10 * number);  // whole, so that powers of ten are exact
            numbers.insert(exponent >= 1 ? tenths * std::pow(10.0, exponent - 1)
                                         : tenths / std::pow(10.0, 1 - exponent));
        }
    for (int i = 1; i <= 16; ++i) numbers.insert(i);
    for (int i = 4; i <= 52; ++i) numbers.insert(std::ldexp(1.0, i));
    return {numbers.begin(), numbers.end()};
}

}  // namespace

std::span<const double> preferred_numbers() {
    static const std::vector<double> numbers = make_preferred_numbers();
    return numbers;
}

std::vector<Tree> distil(const Lesson& lesson, const LearnOptions& options, std::span<const double> prunings) {
    return Grower(lesson, options).grow(prunings);
}

}  // namespace espalier::bench::learn
