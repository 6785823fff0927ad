// The plain loops: for every value the 25 products, summed in the type that the coefficients need.
// Source C 1.1. The border is resolved per tap, so that any size and border works: this is the
// baseline of the CPU.

#include <algorithm>
#include <cmath>

#include "harness/core/variant.hpp"
#include "variants/convolution_2d/problem.hpp"

namespace espalier::convolution_2d {
namespace {

template <class Sum>
std::uint8_t saturate(Sum sum) {
    if constexpr (std::is_floating_point_v<Sum>) sum = std::nearbyint(sum);
    return static_cast<std::uint8_t>(std::clamp<Sum>(sum, 0, 255));
}

template <class Sum>
void correlate(const Problem& problem, const Buffers& buffers) {
    const auto row_values = problem.row_values();
    for (std::int64_t y = 0; y < problem.height; ++y)
        for (std::int64_t x = 0; x < problem.width; ++x)
            for (std::int64_t c = 0; c < problem.channels; ++c) {
                Sum sum = 0;
                for (int dy = 0; dy < kDiameter; ++dy) {
                    const auto row = border_index(y + dy - kRadius, problem.height, problem.border);
                    for (int dx = 0; dx < kDiameter; ++dx) {
                        const auto column = border_index(x + dx - kRadius, problem.width, problem.border);
                        if (row < 0 || column < 0) continue;
                        sum += static_cast<Sum>((*buffers.filter)[static_cast<std::size_t>(dy * kDiameter + dx)]) *
                               static_cast<Sum>(buffers.image[row * row_values + column * problem.channels + c]);
                    }
                }
                buffers.result[y * row_values + x * problem.channels + c] = saturate(sum);
            }
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    // 25 products of 16 and 8 bits need at most 29 bits, so 32-bit sums are exact.
    if (problem.coefficients == Coefficients::float32)
        correlate<float>(problem, buffers);
    else
        correlate<std::int32_t>(problem, buffers);
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "the plain loops",
            .source = "C 1.1",
            .tolerance = {.absolute = 1, .reason = "float coefficients: a sum near .5 may round the other way"},
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
