#pragma once

#include <span>

#include "harness/bench/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Gives a matrix what was measured of its candidates on other devices, in the order of `others`. Slowdowns are against
/// the best of these candidates there; imputed times are none.
void learn_beside(Matrix& matrix, std::span<const Matrix> others);

/// The matrix as if no other device had measured anything; what was lent stays.
Matrix alone(Matrix matrix);

}  // namespace espalier::bench::learn
