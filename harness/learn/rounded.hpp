#pragma once

#include <cmath>

namespace espalier::bench::learn {

/// A figure as files have it, with four decimals: more is noise, and the last bits of a logarithm differ between
/// machines.
inline double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace espalier::bench::learn
