#include "harness/select/learn.hpp"

#include <utility>

#include "harness/select/ranking.hpp"

namespace espalier::select {

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const Plan best = plan(matrix, rows, options);
    Tree tree = std::move(trees_of_all_sizes(matrix, rows, best.offer, options)[best.size]);
    tree.halfway = best.offer.halfway;
    tree.pairs = best.offer.pairs;
    annotate(matrix, tree, options.seed);
    return tree;
}

}  // namespace espalier::select
