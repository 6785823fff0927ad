#pragma once

// 16-bit numbers by their bits, on the CPU: the twin of kernels/device/cuda/device/half.hpp.

#include <cstdint>
#include <limits>

#include "kernels/core/half.hpp"

namespace espalier::device {

inline float float_of_half(std::uint16_t bits) { return float_of_binary16(bits); }

/// Of a number that a half holds.
inline std::uint16_t half_of_exact(float value) { return binary16_of_exact(value); }

/// A GPU's minimum of a number and a signaling NaN is the number, that of C's library NaN: none comes out of here.
inline float float_of_bfloat(std::uint16_t bits) {
    const float value = float_of_bfloat16(bits);
    return value != value ? std::numeric_limits<float>::quiet_NaN() : value;
}

}  // namespace espalier::device
