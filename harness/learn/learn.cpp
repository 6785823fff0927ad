#include "harness/learn/learn.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "harness/learn/offer.hpp"
#include "harness/learn/ranking.hpp"

namespace espalier::bench::learn {
namespace {

Tree learn_of_one_kind(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const Offer offer = best_offer(matrix, rows, options);
    Tree tree = best_tree(matrix, rows, offer, options);
    tree.halfway = offer.halfway;
    tree.pairs = offer.pairs;
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
    whole.halfway |= part.halfway;
    for (const std::size_t pair : part.pairs)
        if (std::ranges::find(whole.pairs, pair) == whole.pairs.end()) whole.pairs.push_back(pair);
    return first_node;
}

Tree learn_every_kind(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const auto column = parting_column(matrix, rows);
    if (!column) return learn_of_one_kind(matrix, rows, options);
    const double value = *values_in(matrix, rows, *column).begin();
    std::vector<std::size_t> same, others;
    for (const std::size_t row : rows) (matrix.value(row, *column) == value ? same : others).push_back(row);
    Tree tree;
    tree.nodes.push_back({.test = {*column, true, value}});
    const int yes = append(tree, learn_every_kind(matrix, same, options));
    const int no = append(tree, learn_every_kind(matrix, others, options));
    tree.nodes[0].yes = yes, tree.nodes[0].no = no;
    std::ranges::sort(tree.pairs);
    return tree;
}

}  // namespace

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    Tree tree = learn_every_kind(matrix, rows, options);
    annotate(matrix, tree, options.seed);
    return tree;
}

}  // namespace espalier::bench::learn
