#pragma once

#include <cstdint>
#include <span>

#include "harness/learn/matrix.hpp"
#include "harness/learn/offer.hpp"
#include "harness/learn/sizes.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

struct LearnOptions {
    int most_leaves = 48;
    double least_gain = 0.001;  ///< what a leaf costs: it must lower the mean log-slowdown by as much (0.1%)
    /// Of more problems the price of a leaf is what it is of so many: the few that gain by it hardly move their mean.
    std::size_t price_grows_to = 64;
    std::size_t folds = 10;  ///< that choose what to offer
    std::uint64_t seed = 1;
    SizesOptions sizes;
};

/// Learns a tree on `rows`. The values of an optional category have trees of their own under a common root, as if they
/// were families of their own: few variants run more than one of them. Else it is, of the best trees of every size
/// (`trees_by_size`) the one with the least loss on them and on the problems guessed between them, what its leaves cost
/// included. Cross-validation chose smaller trees, and worse ones on other problems (docs/performance/selectors.md has
/// the comparison). It says what trees may be made of beside the measured problems and the family's columns, and
/// whether there is to be one (`best_offer`).
Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options = {});

}  // namespace espalier::bench::learn
