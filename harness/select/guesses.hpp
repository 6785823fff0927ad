#pragma once

#include <vector>

#include "harness/select/matrix.hpp"

namespace espalier::select {

/// Fills in the cells whose state is `guessed` from those that were measured, by the surrogate of `AdaptiveSweep`. In a
/// problem that has such cells the others' slowdowns are against the best one, too, be it measured or guessed.
/// `log_times`: problems x candidates, the logarithms of measured times in any common unit, NaN where there is none.
void enter_guesses(Matrix& matrix, const std::vector<double>& log_times);

}  // namespace espalier::select
