#pragma once

#include <cstdint>
#include <span>

#include "harness/bench/learn/tree.hpp"

namespace espalier::bench::learn {

/// Ranks the choices for problems like `rows`, first supported first: the ranking with the least total loss of those
/// that serve the rows which a choice declines with what is best for them; then, for problems that were not
/// measured, further variants that were faster than the baseline, up to four in all; then the baseline. Where the
/// baseline is what is best for such rows, and not all that is left, it stands there twice: the library passes over the
/// last while any tree knows something else.
std::vector<std::size_t> rank(const Matrix& matrix, std::span<const std::size_t> rows);

/// Fills in a leaf's slowdowns, margin and regret with its bootstrap interval, of its rows.
void annotate(const Matrix& matrix, TreeLeaf& leaf, std::uint64_t seed);

/// Geometric mean of a candidate's slowdown over those of `rows` that it has a time of; of what runs instead if on
/// none.
double slowdown_over(const Matrix& matrix, std::span<const std::size_t> rows, std::size_t candidate);

/// The candidate that the library would run for `problem` by this ranking: the first one supported there.
std::size_t chosen(const Matrix& matrix, std::size_t problem, std::span<const std::size_t> ranking);

/// How many of a leaf's first choices run for its own problems.
std::size_t choices_used(const Matrix& matrix, const TreeLeaf& leaf);

}  // namespace espalier::bench::learn
