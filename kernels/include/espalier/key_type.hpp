#pragma once

#include <cstdint>

namespace espalier::inline v1 {

/// Of what type the numbers are that a selection compares and returns.
enum class KeyType : std::uint8_t {
    float32,   ///< `float`
    float16,   ///< IEEE 754's binary16, CUDA's `__half`
    bfloat16,  ///< the upper half of a `float`, CUDA's `__nv_bfloat16`
    int32,     ///< `std::int32_t`
};

}  // namespace espalier::inline v1
