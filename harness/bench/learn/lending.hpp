#pragma once

#include <functional>
#include <span>

#include "harness/bench/learn/matrix.hpp"

namespace espalier::bench::learn {

/// Problems that two devices must both have measured for one to lend to the other, and that a choice must have times of
/// there: fewer say too little.
inline constexpr std::size_t kLeastShared = 200, kLeastLent = 50;

/// Gives a matrix choices that its device never tried, as of a variant that came later, with the times that other
/// devices had on the same problems: each device's on the scale that makes the choices that both measured equally
/// fast in the median, the mean of all devices. They count as imputed, and what they leave open is imputed from them:
/// no figure is of them. `untried` says which choices of the others may be lent, `supported` of a problem and a choice
/// whether the matrix's device would run it. The choices that were lent are in `Matrix::lent` then.
void lend(Matrix& matrix, std::span<const Matrix> others, const std::function<bool(const Choice&)>& untried,
          const std::function<bool(const std::string&, const Choice&)>& supported);

}  // namespace espalier::bench::learn
