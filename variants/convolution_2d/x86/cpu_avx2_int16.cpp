// 16 values at once in 16-bit integers: for every tap an unaligned load of 16 bytes, widened to 16 bits on
// the way, a 16-bit multiply and an add; the sums are packed back with saturation. Source C 1.3.

#include "variants/convolution_2d/cpu_avx2_kernels.hpp"

namespace espalier::convolution_2d {

Variant<Problem> cpu_avx2_int16() {
    return {.summary = "16 values at once in 16-bit integers, bytes widened as they are loaded",
            .source = "C 1.3",
            .limits = "AVX2; narrow coefficients",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports<supports_16_bit_sums>,
            .run = run_kernel<Int16Kernel<std::uint8_t>>};
}

}  // namespace espalier::convolution_2d
