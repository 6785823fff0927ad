#include "harness/learn/learn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "harness/learn/folds.hpp"
#include "harness/learn/forest.hpp"
#include "harness/learn/ranking.hpp"

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
    constexpr double kSame = 0.01;  // predicted differences below it are none
    const auto known = [&](std::size_t c) { return supported[c] && !std::isnan(logs[c]); };
    if (!supported[to.baseline] || std::ranges::none_of(to.all_candidates(), known)) return;
    to.problems.emplace_back();
    to.values.insert(to.values.end(), values.begin(), values.end());
    for (std::size_t c = 0; c < logs.size(); ++c)
        to.states.push_back(!supported[c] ? CellState::unsupported
                            : known(c)    ? CellState::imputed
                                          : CellState::missing);
    to.slowdown.resize(to.states.size()), to.loss.resize(to.states.size());
    enter_costs(to, to.rows() - 1, logs, [](std::size_t, double log) { return log <= kSame; });
}

/// What a choice costs. One slower than twice the best counts as twice as slow, or a few problems would decide for all.
double bounded(double log) { return std::min(log, std::numbers::ln2); }

/// The choice that `logs` make the best of those that support a problem.
std::size_t best_by(const Matrix& matrix, std::size_t problem, std::span<const double> logs) {
    std::size_t best = matrix.baseline;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < logs.size(); ++c)
        if (matrix.state(problem, c) != CellState::unsupported && logs[c] < least) best = c, least = logs[c];
    return best;
}

/// Whether what is known of problems says what is best for them: whether what forests predict wins back a third of what
/// one choice for all costs held-out problems.
bool says_something(const Matrix& matrix, const Rows& rows, const LearnOptions& options) {
    double by_forest = 0, by_one = 0;
    for (const Fold& fold : make_folds(matrix, rows, options.seed)) {
        const Table held_out = features(matrix.columns, matrix.values_of(fold.held_out));
        const auto logs = predict(matrix, fold.training, held_out);
        const auto one = rank(matrix, fold.training);
        const std::size_t width = matrix.candidates.size();
        for (std::size_t i = 0; i < fold.held_out.size(); ++i) {
            const std::size_t p = fold.held_out[i];
            const std::size_t best = best_by(matrix, p, std::span(logs).subspan(i * width, width));
            by_forest += bounded(matrix.log_slowdown(p, best));
            by_one += bounded(matrix.log_slowdown(p, chosen(matrix, p, one)));
        }
    }
    return 3 * by_forest < 2 * by_one;
}

Tree learn_of_one_kind(const Matrix& matrix, const Rows& rows, const Rows& drawn, const LearnOptions& options) {
    const Lesson lesson = lesson_of(matrix, rows, drawn);
    Tree tree = distil(lesson, options.most_leaves);
    constexpr std::size_t kProblemsPerLeaf = 8;  // a tree of fewer leaves cannot know the problems by heart
    const bool may_be_by_heart = kProblemsPerLeaf * tree.leaves.size() > rows.size();
    // What is left of fewer problems than folds says nothing of the one held out; their own times are all there is.
    if (may_be_by_heart && rows.size() >= kFolds && !says_something(matrix, rows, options)) tree = distil(lesson, 1);
    for (TreeLeaf& leaf : tree.leaves) {
        leaf.ranking = rank(lesson.matrix, leaf.rows);
        std::erase_if(leaf.rows, [&](std::size_t row) { return row >= lesson.measured; });
        for (std::size_t& row : leaf.rows) row = rows[row];
    }
    return tree;
}

std::set<double> values_in(const Matrix& matrix, std::span<const std::size_t> rows, std::size_t column) {
    std::set<double> values;
    for (const std::size_t row : rows) values.insert(matrix.value(row, column));
    return values;
}

/// An optional category that the problems differ in and callers know.
std::optional<std::size_t> parting_column(const Matrix& matrix, std::span<const std::size_t> rows) {
    for (std::size_t c = 0; c < matrix.columns.size(); ++c)
        if (matrix.columns[c].optional && matrix.columns[c].known && matrix.columns[c].categories > 0 &&
            values_in(matrix, rows, c).size() > 1)
            return c;
    return std::nullopt;
}

/// Appends a tree's nodes and leaves; returns where its root is then.
int append(Tree& whole, Tree part) {
    const int first_node = static_cast<int>(whole.nodes.size()), first_leaf = static_cast<int>(whole.leaves.size());
    for (Node node : part.nodes) {
        if (node.leaf >= 0)
            node.leaf += first_leaf;
        else
            node.yes += first_node, node.no += first_node;
        whole.nodes.push_back(node);
    }
    std::ranges::move(part.leaves, std::back_inserter(whole.leaves));
    return first_node;
}

Tree learn_every_kind(const Matrix& matrix, const Rows& rows, const Rows& drawn, const LearnOptions& options) {
    const auto column = parting_column(matrix, rows);
    if (!column) return learn_of_one_kind(matrix, rows, drawn, options);
    const double value = *values_in(matrix, rows, *column).begin();
    Rows same, others, drawn_same, drawn_others;
    for (const std::size_t row : rows) (matrix.value(row, *column) == value ? same : others).push_back(row);
    for (const std::size_t row : drawn)
        (matrix.drawn->values[row * matrix.columns.size() + *column] == value ? drawn_same : drawn_others)
            .push_back(row);
    Tree tree;
    tree.nodes.push_back({.test = {*column, true, value}});
    const int yes = append(tree, learn_every_kind(matrix, same, drawn_same, options));
    const int no = append(tree, learn_every_kind(matrix, others, drawn_others, options));
    tree.nodes[0].yes = yes, tree.nodes[0].no = no;
    return tree;
}

}  // namespace

Lesson lesson_of(const Matrix& matrix, std::span<const std::size_t> rows, std::span<const std::size_t> drawn) {
    constexpr std::size_t kMeasured = 8;  // drawn problems that a measured one counts for
    Lesson lesson{.matrix = {}, .measured = rows.size()};
    lesson.matrix.columns = matrix.columns, lesson.matrix.candidates = matrix.candidates;
    lesson.matrix.baseline = matrix.baseline;
    for (const std::size_t row : rows) append_measured(matrix, row, kMeasured, lesson.matrix);
    lesson.weight = rows.size() * kMeasured;
    if (drawn.empty()) return lesson;
    const std::size_t columns = matrix.columns.size(), width = matrix.candidates.size();
    const std::span<const double> all = matrix.drawn->values;
    std::vector<double> values;
    for (const std::size_t row : drawn) {
        const auto of_row = all.subspan(row * columns, columns);
        values.insert(values.end(), of_row.begin(), of_row.end());
    }
    const auto logs = predict(matrix, rows, features(matrix.columns, values));
    for (std::size_t i = 0; i < drawn.size(); ++i)
        append_predicted(std::span(values).subspan(i * columns, columns), std::span(logs).subspan(i * width, width),
                         std::span(matrix.drawn->supported).subspan(drawn[i] * width, width), lesson.matrix);
    lesson.weight += lesson.matrix.rows() - rows.size();
    return lesson;
}

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    Rows drawn(matrix.drawn ? matrix.drawn->count : 0);
    std::iota(drawn.begin(), drawn.end(), std::size_t{0});
    Tree tree = learn_every_kind(matrix, Rows(rows.begin(), rows.end()), drawn, options);
    for (TreeLeaf& leaf : tree.leaves) annotate(matrix, leaf, options.seed);
    return tree;
}

}  // namespace espalier::bench::learn
