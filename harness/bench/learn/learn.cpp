#include "harness/bench/learn/learn.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "harness/bench/learn/folds.hpp"
#include "harness/bench/learn/forest.hpp"
#include "harness/bench/learn/ranking.hpp"

namespace espalier::bench::learn {
namespace {

using Rows = std::vector<std::size_t>;

void append_measured(const Matrix& from, std::size_t row, Loss weight, Matrix& to) {
    to.problems.push_back(from.problems[row]);
    const auto values = from.row(row);
    to.values.insert(to.values.end(), values.begin(), values.end());
    for (std::size_t c = 0; c < from.candidates.size(); ++c) {
        to.states.push_back(from.state(row, c));
        to.slowdown.push_back(from.log_slowdown(row, c));
        to.loss.push_back(weight * from.loss_of(row, c));
    }
}

/// `logs`: predicted slowdowns of one problem, NaN where nothing is known.
void append_predicted(std::span<const double> values, std::span<const double> logs, std::span<const char> supported,
                      Matrix& to) {
    const auto known = [&](std::size_t c) { return supported[c] && !std::isnan(logs[c]); };
    if (!supported[to.baseline] || std::ranges::none_of(to.all_candidates(), known)) return;
    to.problems.emplace_back();
    to.values.insert(to.values.end(), values.begin(), values.end());
    for (std::size_t c = 0; c < logs.size(); ++c)
        to.states.push_back(!supported[c] ? CellState::unsupported
                            : known(c)    ? CellState::imputed
                                          : CellState::missing);
    to.slowdown.resize(to.states.size()), to.loss.resize(to.states.size());
    enter_costs(to, to.rows() - 1, logs, [](std::size_t, double log) { return is_within_noise(log); });
}

/// Bounds the cost of a choice: beyond twice the best it counts as twice, or a few problems would decide for all.
double bounded(double log) { return std::min(log, std::numbers::ln2); }

/// The choice that `logs` make the best of those that support a problem.
std::size_t best_by(const Matrix& matrix, std::size_t problem, std::span<const double> logs) {
    std::size_t best = matrix.baseline;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < logs.size(); ++c)
        if (matrix.state(problem, c) != CellState::unsupported && logs[c] < least) best = c, least = logs[c];
    return best;
}

std::set<double> values_in(const Matrix& matrix, std::span<const std::size_t> rows, std::size_t column) {
    std::set<double> values;
    for (const std::size_t row : rows) values.insert(matrix.value(row, column));
    return values;
}

/// A category that callers know and that parts trees, and a value of it that some problems have and others do not.
struct Parting {
    std::size_t column = 0;
    double value = 0;
};

/// Appends a tree's nodes and leaves; returns where its root is then.
std::size_t append(Tree& whole, Tree part) {
    const std::size_t first_node = whole.nodes.size(), first_leaf = whole.leaves.size();
    for (TreeNode node : part.nodes) {
        node.no = static_cast<std::uint16_t>(node.no + (node.is_leaf() ? first_leaf : first_node));
        whole.nodes.push_back(node);
    }
    std::ranges::move(part.leaves, std::back_inserter(whole.leaves));
    return first_node;
}

/// Learns trees of every pruning, each of them one of every kind of problems.
class Learner {
public:
    Learner(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options,
            std::span<const double> prunings)
        : matrix_(matrix), rows_(rows.begin(), rows.end()), options_(options), prunings_(prunings) {
        if (matrix.drawn) predicted_ = predict(matrix, rows, matrix.drawn->values, options);
    }

    std::vector<Tree> learn(bool part_relaxed) {
        part_relaxed_ = part_relaxed;
        Rows drawn(matrix_.drawn ? matrix_.drawn->count : 0);
        std::iota(drawn.begin(), drawn.end(), std::size_t{0});
        return learn_every_kind(rows_, drawn);
    }

private:
    std::vector<Tree> learn_every_kind(const Rows& rows, const Rows& drawn) {
        const auto parting = part(rows, drawn);
        if (!parting) return learn_one_kind(rows, drawn);
        const auto [column, value] = *parting;
        Rows same, others, drawn_same, drawn_others;
        for (const std::size_t row : rows) (matrix_.value(row, column) == value ? same : others).push_back(row);
        for (const std::size_t row : drawn)
            (drawn_value(row, column) == value ? drawn_same : drawn_others).push_back(row);
        std::vector<Tree> of_value = learn_every_kind(same, drawn_same);
        std::vector<Tree> of_others = learn_every_kind(others, drawn_others);
        std::vector<Tree> trees(prunings_.size());
        for (std::size_t i = 0; i < trees.size(); ++i) {
            trees[i].nodes.push_back(
                TreeNode::one_of(static_cast<std::uint16_t>(column), std::uint64_t{1} << static_cast<int>(value), 0));
            append(trees[i], std::move(of_value[i]));
            trees[i].nodes.front().no = static_cast<std::uint16_t>(append(trees[i], std::move(of_others[i])));
        }
        return trees;
    }

    [[nodiscard]] double drawn_value(std::size_t row, std::size_t column) const {
        return matrix_.drawn->values[row * matrix_.columns.size() + column];
    }

    /// A value that the domain leaves out parts nothing: its few problems are learned with the others.
    [[nodiscard]] std::optional<Parting> part(const Rows& rows, const Rows& drawn) const {
        for (std::size_t c = 0; c < matrix_.columns.size(); ++c) {
            const Column& column = matrix_.columns[c];
            const bool parts = column.optional || (column.relaxing && part_relaxed_);
            if (!parts || !column.known || column.categories == 0) continue;
            std::set<double> values = values_in(matrix_, rows, c);
            const auto is_drawn = [&](double value) {
                return std::ranges::any_of(drawn, [&](std::size_t row) { return drawn_value(row, c) == value; });
            };
            if (!drawn.empty()) std::erase_if(values, [&](double value) { return !is_drawn(value); });
            if (values.size() > 1) return Parting{c, *values.begin()};
        }
        return std::nullopt;
    }

    std::vector<Tree> learn_one_kind(const Rows& rows, const Rows& drawn) {
        const Lesson lesson = lesson_of(matrix_, rows, drawn, predicted_, options_);
        std::vector<Tree> trees = distil(lesson, options_, prunings_);
        for (Tree& tree : trees) {
            constexpr std::size_t kProblemsPerLeaf = 8;  // a tree of fewer leaves cannot overfit
            const bool may_overfit = kProblemsPerLeaf * tree.leaves.size() > rows.size();
            // The rest of fewer problems than folds says nothing of the one held out; their own times are all there
            // is.
            if (may_overfit && rows.size() >= kFolds && !generalizes())
                tree = one_leaf(rows);
            else
                finish(tree, lesson, rows);
        }
        return trees;
    }

    /// Of the measured problems alone: where they do not say what is best for others, predicted ones are of no use.
    [[nodiscard]] Tree one_leaf(const Rows& rows) const {
        const Lesson lesson = lesson_of(matrix_, rows, {}, {}, options_);
        Tree tree{{TreeNode::leaf(0)}, {{.rows = lesson.matrix.all(), .ranking = {}}}};
        finish(tree, lesson, rows);
        return tree;
    }

    /// Ranks what the leaves run; of their problems those that were measured here stay, as rows of the matrix. A leaf
    /// without any gets its figures from predicted times.
    void finish(Tree& tree, const Lesson& lesson, const Rows& rows) const {
        for (TreeLeaf& leaf : tree.leaves) {
            leaf.ranking = rank(lesson.matrix, leaf.rows);
            if (std::ranges::none_of(leaf.rows, [&](std::size_t row) { return row < lesson.measured; }))
                annotate(lesson.matrix, leaf, options_.seed);
            leaf.alike = static_cast<std::size_t>(std::ranges::count_if(
                leaf.rows, [&](std::size_t row) { return row >= lesson.measured && lesson.evident[row] != 0; }));
            std::erase_if(leaf.rows, [&](std::size_t row) { return row >= lesson.measured; });
            for (std::size_t& row : leaf.rows) row = rows[row];
        }
    }

    /// Whether what is known of problems says what is best for them: whether what forests predict wins back a third of
    /// what one choice for all costs held-out problems.
    bool generalizes() {
        if (generalizes_) return *generalizes_;
        double by_forest = 0, by_one = 0;
        for (const Fold& fold : make_folds(matrix_, rows_, options_.seed)) {
            const auto logs = predict(matrix_, fold.training, matrix_.values_of(fold.held_out), options_);
            const auto one = rank(matrix_, fold.training);
            const std::size_t width = matrix_.candidates.size();
            for (std::size_t i = 0; i < fold.held_out.size(); ++i) {
                const std::size_t p = fold.held_out[i];
                const std::size_t best = best_by(matrix_, p, std::span(logs).subspan(i * width, width));
                by_forest += bounded(matrix_.log_slowdown(p, best));
                by_one += bounded(matrix_.log_slowdown(p, chosen(matrix_, p, one)));
            }
        }
        generalizes_ = 3 * by_forest < 2 * by_one;
        return *generalizes_;
    }

    const Matrix& matrix_;
    Rows rows_;
    const LearnOptions& options_;
    std::span<const double> prunings_;
    std::vector<double> predicted_;    ///< drawn problems x candidates, by forests of all rows of any kind
    std::optional<bool> generalizes_;  ///< of all rows, once it was asked
    bool part_relaxed_ = true;
};

}  // namespace

std::size_t weight_of(const Matrix& matrix, const LearnOptions& options) {
    const std::size_t for_each = options.drawn / std::max<std::size_t>(matrix.rows(), 1);
    return std::min(std::max<std::size_t>(for_each, 2), options.measured_weight);
}

Lesson lesson_of(const Matrix& matrix, std::span<const std::size_t> rows, std::span<const std::size_t> drawn,
                 std::span<const double> predicted, const LearnOptions& options) {
    Lesson lesson{.matrix = {}, .measured = rows.size()};
    lesson.matrix.columns = matrix.columns, lesson.matrix.candidates = matrix.candidates;
    lesson.matrix.baseline = matrix.baseline;
    const std::size_t weight = weight_of(matrix, options);
    for (const std::size_t row : rows)
        append_measured(matrix, row, static_cast<Loss>(weight) * matrix.weight(row), lesson.matrix);
    lesson.evident.assign(rows.size(), 1);
    const std::size_t columns = matrix.columns.size(), width = matrix.candidates.size();
    for (const std::size_t row : drawn) {
        append_predicted(std::span(matrix.drawn->values).subspan(row * columns, columns),
                         predicted.subspan(row * width, width),
                         std::span(matrix.drawn->supported).subspan(row * width, width), lesson.matrix);
        lesson.evident.resize(lesson.matrix.rows(), row < matrix.drawn->alike);
    }
    lesson.weight = rows.size() * weight + lesson.matrix.rows() - rows.size();
    return lesson;
}

std::vector<Tree> learn_sizes(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options,
                              std::span<const double> prunings) {
    Learner learner(matrix, rows, options, prunings);
    std::vector<Tree> trees = learner.learn(true);
    if (has_relaxing(matrix)) std::ranges::move(learner.learn(false), std::back_inserter(trees));
    return trees;
}

bool has_relaxing(const Matrix& matrix) {
    return std::ranges::any_of(matrix.columns,
                               [](const Column& column) { return column.relaxing && column.testable(); });
}

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    Tree tree = std::move(Learner(matrix, rows, options, {&options.pruning, 1}).learn(options.part_relaxed).front());
    for (TreeLeaf& leaf : tree.leaves)
        if (!leaf.rows.empty()) annotate(matrix, leaf, options.seed);
    return tree;
}

}  // namespace espalier::bench::learn
