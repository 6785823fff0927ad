#pragma once

#include <array>
#include <cstdint>

namespace espalier {

/// What a filter reads outside the image.
enum class Border {
    zero,       ///< 0
    replicate,  ///< the nearest pixel: aaa|abcd|ddd
    mirror,     ///< reflected without repeating the edge: dcb|abcd|cba
};

/// 5x5 coefficients in row-major order, applied as a correlation (not flipped), origin in the middle.
/// Whole numbers of 16 bits are computed exactly; anything else in single precision.
using Filter5x5 = std::array<float, 25>;

}  // namespace espalier
