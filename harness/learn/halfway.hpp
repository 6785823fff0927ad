#pragma once

#include <cstddef>
#include <span>

#include "harness/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Some problems of a matrix in their order, followed by ones that nobody measured.
struct WithHalfway {
    Matrix matrix;
    std::size_t measured = 0;  ///< how many come first
};

/// Adds problems that nobody measured, with what a surrogate of every choice's times makes of them:
///  - halfway between neighbours (in the logarithms of their sizes) of which another choice is the best. A sweep leaves
///    gaps of a factor of two to ten between sizes, and where in such a gap a boundary belongs the measured problems do
///    not say; the trend of the times does.
///  - a step away from measured ones: alike but for one size, which is the next larger or smaller one measured
///  anywhere.
///    A sweep does not measure every combination of sizes, and a tree has to choose for all. Only where all derived
///    columns follow from the sizes.
/// What is unsupported or has no time at one of the neighbours is so there. A guess counts less than a measurement.
WithHalfway with_halfway_problems(const Matrix& matrix, std::span<const std::size_t> rows);

/// The rows alone.
WithHalfway without_halfway_problems(const Matrix& matrix, std::span<const std::size_t> rows);

}  // namespace espalier::bench::learn
