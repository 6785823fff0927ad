// 32x8 blocks, tile of floats: a warp reads 32 pixels of one row, so with three channels its words lie 3
// apart and fall into 32 different banks. The tile is (32+4)x(8+4) pixels. Source C 2.4.

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
        launch_tiled<Tiling<float, float, 32, 8, 0, channels()>>(context, problem, buffers);
    });
}

}  // namespace

Variant<Problem> shared_float_32x8() {
    return {.summary = "32x8 blocks: a warp reads one row of a tile of floats, without bank conflicts",
            .source = "C 2.4",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
