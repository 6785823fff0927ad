#include "harness/learn/learn.hpp"

#include <utility>

#include "harness/learn/offer.hpp"
#include "harness/learn/ranking.hpp"

namespace espalier::bench::learn {

Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    const Offer offer = best_offer(matrix, rows, options);
    Tree tree = best_tree(matrix, rows, offer, options);
    tree.halfway = offer.halfway;
    tree.pairs = offer.pairs;
    annotate(matrix, tree, options.seed);
    return tree;
}

}  // namespace espalier::bench::learn
