// 32x8 blocks, tile of floats: a warp reads 32 pixels of one row, so with three channels its words lie 3
// apart and fall into 32 different banks. The tile is (32+4)x(8+4) pixels. Source C 2.4.

#include "variants/convolution_2d/tiled.cuh"

namespace espalier::convolution_2d {

Variant<Problem> shared_float_32x8() {
    return {.summary = "32x8 blocks: a warp reads one row of a tile of floats, without bank conflicts",
            .source = "C 2.4",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .supports = supports_float_tile,
            .run = run_tiled<float, float, 32, 8>};
}

}  // namespace espalier::convolution_2d
