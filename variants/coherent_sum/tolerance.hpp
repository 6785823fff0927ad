#pragma once

#include "kernels/core/variant.hpp"

namespace espalier::coherent_sum {

/// For single-precision sums over receivers in any order. The scale is the sum of absolute values: each
/// of n additions rounds by at most 2^-24 of it, and random signs keep the total near sqrt(n) of that;
/// 64 roundings cover 4,096 receivers.
inline constexpr Tolerance kSinglePrecision{
    .relative = 64.0 / 16777216.0,
    .reason = "sqrt(receivers) roundings of single precision, relative to the sum of absolute values"};

}  // namespace espalier::coherent_sum
