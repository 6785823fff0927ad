// 16x16 blocks, the tile as bytes in shared memory, sums in single precision: a byte is converted each of
// the 25 times that it is read, at the few lanes a multiprocessor has for conversions. Source C 2.3.

#include "variants/convolution_2d/tiled.cuh"

namespace espalier::convolution_2d {

Variant<Problem> shared_u8_float() {
    return {.summary = "tile of bytes in shared memory, converted at every read, sums in single precision",
            .source = "C 2.3",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .supports = supports_float_tile,
            .run = run_tiled<std::uint8_t, float, 16, 16>};
}

}  // namespace espalier::convolution_2d
