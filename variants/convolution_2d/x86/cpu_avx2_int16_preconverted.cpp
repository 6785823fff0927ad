// cpu_avx2_int16 with the whole image converted to 16 bits first: no widening in the inner loop, in return
// for writing and reading an image of twice the size. Source C 1.3.

#include "variants/convolution_2d/cpu_avx2_kernels.hpp"

namespace espalier::convolution_2d {

Variant<Problem> cpu_avx2_int16_preconverted() {
    return {.summary = "cpu_avx2_int16 on an image that was converted to 16 bits first",
            .source = "C 1.3",
            .limits = "AVX2; narrow coefficients; 2 bytes of workspace per value",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports<supports_16_bit_sums>,
            .workspace = converted_bytes<std::int16_t>,
            .run = run_converted<Int16Kernel<std::int16_t>>};
}

}  // namespace espalier::convolution_2d
