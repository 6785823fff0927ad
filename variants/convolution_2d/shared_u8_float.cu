// 16x16 blocks, the tile as bytes in shared memory, sums in single precision: a byte is converted each of
// the 25 times that it is read, at the few lanes a multiprocessor has for conversions. Source C 2.3.

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
        launch_tiled<Tiling<std::uint8_t, float, 16, 16, 0, channels()>>(context, problem, buffers);
    });
}

}  // namespace

Variant<Problem> shared_u8_float() {
    return {.summary = "tile of bytes in shared memory, converted at every read, sums in single precision",
            .source = "C 2.3",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
