// cpu_avx2_float with the whole image converted to single precision first: each byte is converted once
// instead of 25 times, in return for writing and reading an image of four times the size. Source C 1.3.

#include "variants/convolution_2d/cpu_avx2_kernels.hpp"

namespace espalier::convolution_2d {

Variant<Problem> cpu_avx2_float_preconverted() {
    return {.summary = "cpu_avx2_float on an image that was converted to single precision first",
            .source = "C 1.3",
            .limits = "AVX2 and FMA; narrow or fractional coefficients; 4 bytes of workspace per value",
            .tolerance = kFractionTolerance,
            .space = {{"parallel", {1, 0}}},
            .supports = supports<supports_float_sums>,
            .workspace = converted_bytes<float>,
            .run = run_converted<FloatKernel<float>>};
}

}  // namespace espalier::convolution_2d
