#pragma once

#include <array>
#include <cstdint>

namespace espalier {

/// How often each value of a byte occurs. 64 bits: a count may pass 2^32.
using Histogram256 = std::array<std::uint64_t, 256>;

}  // namespace espalier
