#pragma once

#include <vector>

#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Fills in the cells whose state is `guessed` from those that were measured, by the surrogate of `AdaptiveSweep`. In a
/// problem that has such cells the others' slowdowns are against the best one, too, be it measured or guessed.
/// Of the times (`log_times`) only those of `rows` are looked at.
void enter_guesses(Matrix& matrix, const std::vector<std::size_t>& rows);

}  // namespace espalier::bench::learn
