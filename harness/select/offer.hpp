#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/select/matrix.hpp"
#include "harness/select/tree.hpp"

namespace espalier::select {

struct LearnOptions;

/// What is put before the search for trees beside the measured problems and the family's own columns. Nothing of it is
/// free: whatever a search may choose from, it may choose by chance.
struct Offer {
    bool halfway = false;            ///< problems halfway between the measured ones
    std::vector<std::size_t> pairs;  ///< columns made of pairs
};

/// The best trees with at most 1, 2, ... leaves. Their leaves hold measured problems only.
std::vector<Tree> trees_of_all_sizes(const Matrix& matrix, std::span<const std::size_t> rows, const Offer& offer,
                                     const LearnOptions& options);

/// An offer and the size of tree for it.
struct Plan {
    Offer offer;
    std::size_t size = 0;  ///< number of leaves at most, less one
};

/// Decides by cross-validation on `rows` what to offer. A pair must pay: trees with it must cost problems that were
/// held out less by two standard errors of the difference, problem by problem (with one error chance came in where
/// there were many pairs to choose from). Halfway problems stay unless trees with them cost more by as much: that times
/// are smooth between sizes is known beforehand, that they depend on one pair among twenty is not. The size is what
/// costs least.
Plan plan(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options);

}  // namespace espalier::select
