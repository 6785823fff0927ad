#include "harness/select/learn.hpp"

#include <utility>

#include "harness/select/offer.hpp"
#include "harness/select/ranking.hpp"

namespace espalier::select {

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const Offer offer = best_offer(matrix, rows, options);
    Tree tree = best_tree(matrix, rows, offer, options);
    tree.halfway = offer.halfway;
    tree.pairs = offer.pairs;
    annotate(matrix, tree, options.seed);
    return tree;
}

}  // namespace espalier::select
