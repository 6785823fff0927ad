#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/convolution_2d.hpp"

/// The oracles: naive, in double precision, sharing no code with the variants.
namespace espalier::reference {

/// height x width x channels bytes in and out, row-major, interleaved. See `Filter5x5` and `Border`.
/// Ties round to even, then the result saturates to 0..255.
std::vector<std::uint8_t> convolution_2d(std::span<const std::uint8_t> image, std::int64_t width, std::int64_t height,
                                         std::int64_t channels, const Filter5x5& filter, Border border);

}  // namespace espalier::reference
