#pragma once

#include <cstddef>
#include <span>

#include "harness/select/matrix.hpp"

namespace espalier::select {

/// Some problems of a matrix in their order, followed by ones that nobody measured.
struct WithHalfway {
    Matrix matrix;
    std::size_t measured = 0;  ///< how many come first
};

/// Adds problems halfway between neighbours (in the logarithms of their sizes) of which another choice is the best,
/// with what a surrogate of every choice's times makes of them. A sweep leaves gaps of a factor of two to ten between
/// sizes, and where in such a gap a boundary belongs the measured problems do not say; the trend of the times does.
/// What is unsupported or has no time at one of the neighbours is so halfway.
WithHalfway with_halfway_problems(const Matrix& matrix, std::span<const std::size_t> rows);

/// The rows alone.
WithHalfway without_halfway_problems(const Matrix& matrix, std::span<const std::size_t> rows);

}  // namespace espalier::select
