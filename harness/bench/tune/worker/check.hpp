#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "harness/bench/tune/describe/description.hpp"

namespace espalier::bench::tune {

/// Compares an output with what is expected, as its argument says: by default whole numbers have to be the same, and
/// real ones may differ by a share of the larger of the expected value and the root mean square of all of them: 1e-4 in
/// single and 1e-10 in double precision. Returns how the first of the values that are wrong is wrong; empty if all are
/// right. Both have the same number of bytes, a multiple of the element's.
std::string difference(const Argument& argument, std::span<const std::byte> found, std::span<const std::byte> expected);

}  // namespace espalier::bench::tune
