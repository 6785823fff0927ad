#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/bench/learn/distil.hpp"
#include "harness/bench/learn/learn_options.hpp"
#include "harness/bench/learn/tree.hpp"
#include "kernels/dispatch/choice_forest.hpp"

namespace espalier::bench::learn {

/// The hyperparameters of the forest that plans ask. docs/performance/selectors.md has what others cost
/// (`tests/bench/train/forest_study.cpp`).
struct ForestOptions {
    std::size_t trees = 16;
    std::size_t least = 6;   ///< problems in a leaf, measured or predicted
    std::size_t tried = 32;  ///< columns that a split is drawn from
    double octaves = 1;      ///< a larger slowdown counts as 2 to that power
    std::size_t weight = 4;  ///< predicted problems that a measured one counts for
    std::uint64_t seed = 1;
};

/// Everything that is known of a family on a device: `rows` of the matrix, and its drawn problems, whose times forests
/// of the rows predict.
Lesson whole_lesson(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options);

/// The candidates of the variants that a tree ranks: those that a library has which is built with the tree.
std::vector<std::size_t> choices_beside(const Matrix& matrix, const Tree& tree);

/// Extremely randomised trees that all choices share: of some columns one threshold each is drawn, and the one that
/// lowers the squares of all choices' slowdowns most parts the problems. A leaf has the mean slowdowns of the choices
/// that support its problems; of one that supports none the node above says it. Tests ask for what callers know alone,
/// so that a leaf averages over the rest. Numbers are whole steps, so that every machine grows the same forest.
ChoiceForest distil_forest(const Lesson& lesson, std::span<const std::size_t> choices, std::size_t combinations,
                           const ForestOptions& options = {});

}  // namespace espalier::bench::learn
