#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/learn/matrix.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

struct LearnOptions;

/// What is put before the search for trees beside the measured problems and the family's own columns. Nothing of it is
/// free: whatever a search may choose from, it may choose by chance.
struct Offer {
    bool tests = true;               ///< anything to test at all: without it one choice serves every problem
    bool halfway = false;            ///< problems halfway between the measured ones
    std::vector<std::size_t> pairs;  ///< columns made of pairs
};

/// The tree of least loss on `rows` and on what is guessed of problems between them, every leaf being charged for. Its
/// leaves hold measured problems only; those that hold none have evidence that is guessed.
Tree best_tree(const Matrix& matrix, std::span<const std::size_t> rows, const Offer& offer,
               const LearnOptions& options);

/// Decides what to offer. A pair must pay: trees with it must cost problems of `rows` that were held out less by two
/// standard errors of the difference, problem by problem (with one error chance came in where there were many pairs to
/// choose from). Halfway problems stay unless trees with them cost more by as much: that times are smooth between sizes
/// is known beforehand, that they depend on one pair among twenty is not. Tests must pay as well: a tree with
/// more than a leaf for eight problems must win back a third of what one choice for all costs problems held out.
Offer best_offer(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options);

}  // namespace espalier::bench::learn
