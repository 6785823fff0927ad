// 16x16 blocks, bytes converted once when they are stored to the tile: no conversions in the loop, in
// return for four times the shared memory and its bandwidth. Source C 2.4.
// A warp covers two rows of 16 pixels, whose words meet in the same banks for some of its threads.

#include "variants/convolution_2d/tiled.cuh"

namespace espalier::convolution_2d {

Variant<Problem> shared_float() {
    return {.summary = "tile of floats in shared memory, converted once; rows of a warp meet in banks",
            .source = "C 2.4",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .supports = supports_float_tile,
            .run = run_tiled<float, float, 16, 16>};
}

}  // namespace espalier::convolution_2d
