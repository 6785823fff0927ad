// shared_float with unused words after each row of the tile, so that the two rows that a warp reads at once
// do not meet in the same banks. Source C 2.4 pads with 5 words.
// With 32 banks and three channels, thread a of the first row and b of the second meet if
// 3 (a - b) = stride (mod 32). The plain stride of 60 words lets 4 of 16 pairs meet, 65 lets 5, and 80, a
// padding of 20, none: that is the tunable.

#include "variants/convolution_2d/tiled.cuh"

namespace espalier::convolution_2d {
namespace {

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (configuration["padding"] == 5)
        correlate_tiles<float, float, 16, 16, 5>(context, problem, buffers);
    else
        correlate_tiles<float, float, 16, 16, 20>(context, problem, buffers);
}

}  // namespace

Variant<Problem> shared_float_padded() {
    return {.summary = "shared_float with padded rows",
            .source = "C 2.4",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {{"padding", {5, 20}}},
            .supports = supports_float_tile,
            .run = run};
}

}  // namespace espalier::convolution_2d
