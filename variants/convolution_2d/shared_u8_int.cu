// 16x16 blocks, the 20x20-pixel tile as bytes in shared memory, integer sums: every pixel comes from global
// memory once per block instead of 25 times, and the load moves to the integer units. Source C 2.2.
// A warp's bytes share words, and threads that read one word share the access: no bank conflicts.

#include "variants/convolution_2d/tiled.cuh"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (Support support = supports_32_bit_coordinates(problem); !support) return support;
    return supports_32_bit_sums(problem);
}

}  // namespace

Variant<Problem> shared_u8_int() {
    return {.summary = "20x20-pixel tile of bytes in shared memory, integer sums",
            .source = "C 2.2",
            .limits = "whole coefficients",
            .tolerance = kExact,
            .supports = supports,
            .run = run_tiled<std::uint8_t, std::int32_t, 16, 16>};
}

}  // namespace espalier::convolution_2d
