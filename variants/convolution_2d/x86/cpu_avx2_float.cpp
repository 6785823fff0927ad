// 8 values at once in single precision: for every tap an unaligned load of 8 bytes, widened and converted
// on the way, and a fused multiply-add. Source C 1.3. Half the values per instruction of the 16-bit
// version and a conversion more, in return for fractional coefficients.

#include "variants/convolution_2d/cpu_avx2_kernels.hpp"

namespace espalier::convolution_2d {

Variant<Problem> cpu_avx2_float() {
    return {.summary = "8 values at once in single precision, bytes converted as they are loaded",
            .source = "C 1.3",
            .limits = "AVX2 and FMA; narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {{"parallel", {1, 0}}},
            .supports = supports<supports_float_sums>,
            .run = run_kernel<FloatKernel<std::uint8_t>>};
}

}  // namespace espalier::convolution_2d
