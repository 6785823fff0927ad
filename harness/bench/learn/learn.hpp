#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/bench/learn/distil.hpp"
#include "harness/bench/learn/learn_options.hpp"
#include "harness/bench/learn/tree.hpp"

namespace espalier::bench::learn {

/// Learns a tree on `rows` and on the matrix's drawn problems, whose times forests of the `rows` predict. The values of
/// an optional category have trees of their own under a common root, because few variants run more than one of them,
/// but for those that none is drawn of, and so have those of a relaxing one with `LearnOptions::part_relaxed`; the
/// forests are of all rows. A tree with more than a leaf for eight problems is one only if forests choose better for
/// held-out problems of all kinds than one choice for all does; fewer problems than folds are believed as they are.
Tree learn(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options = {});

/// The trees of each of `prunings`, which take the place of `LearnOptions::pruning`, at little more than the cost of
/// one; behind them, if the matrix has a relaxing category, those that it does not part. Their leaves are not
/// annotated.
std::vector<Tree> learn_sizes(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options,
                              std::span<const double> prunings);

/// Whether tests may ask for a relaxing category.
bool has_relaxing(const Matrix& matrix);

/// Predicted problems that a measured one counts for: as many as there are for each, at least two and at most
/// `LearnOptions::measured_weight`. The fewer were measured, the less forests know of others.
std::size_t weight_of(const Matrix& matrix, const LearnOptions& options);

/// The problems of `rows` with their losses, several times as heavy and by the matrix's weights, then those of `drawn`
/// with predicted ones. `predicted`: drawn problems x candidates.
Lesson lesson_of(const Matrix& matrix, std::span<const std::size_t> rows, std::span<const std::size_t> drawn,
                 std::span<const double> predicted, const LearnOptions& options = {});

}  // namespace espalier::bench::learn
