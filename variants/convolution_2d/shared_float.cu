// 16x16 blocks, bytes converted once when they are stored to the tile: no conversions in the loop, in
// return for four times the shared memory and its bandwidth. Source C 2.4.
// A warp covers two rows of 16 pixels, whose words meet in the same banks for some of its threads.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/limits.hpp"
#include "variants/convolution_2d/tiled.cuh"

namespace espalier::convolution_2d {
namespace {

using namespace device;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (Support support = supports_32_bit_coordinates(problem); !support) return support;
    return supports_float_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.values() == 0) return;
    with_channels(problem.channels, [&](auto channels) {
        launch_tiled<Tiling<float, float, 16, 16, 0, channels()>>(context, problem, buffers);
    });
}

}  // namespace

Variant<Problem> shared_float() {
    return {.summary = "tile of floats in shared memory, converted once; rows of a warp meet in banks",
            .source = "C 2.4",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
