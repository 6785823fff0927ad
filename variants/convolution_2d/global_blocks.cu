// The naive kernel of `global` in wider blocks, 32 x 16 and 32 x 32 threads, which the lab tries beside 16 x 16 (source
// C 2.1): a warp is then one row of pixels instead of two halves. A variant of its own, for `global` is the baseline,
// which has no settings; its interior loop is `global`'s.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_image.cuh"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kWidth = 32, kMostRows = 32;

/// A value whose taps may lie beyond the border; 64 bits, since this variant takes images of any shape.
template <int kChannels, class Sum>
__device__ Sum sum_near_border(const Problem& problem, const Buffers& buffers, const Taps<Sum>& taps, std::int64_t y,
                               std::int64_t x, int channel) {
    Sum sum = 0;
    for (int tap = 0; tap < kDiameter * kDiameter; ++tap) {
        const auto row = border_index(y + tap / kDiameter - kRadius, problem.height, problem.border);
        const auto column = border_index(x + tap % kDiameter - kRadius, problem.width, problem.border);
        if (row >= 0 && column >= 0)
            sum += taps.values[tap] *
                   static_cast<Sum>(buffers.image[(row * problem.width + column) * kChannels + channel]);
    }
    return sum;
}

template <int kChannels, class Sum>
__global__ void __launch_bounds__(kWidth* kMostRows)
    correlate_in_blocks(Problem problem, Buffers buffers, Taps<Sum> taps) {
    const std::int64_t across = (problem.width + kWidth - 1) / kWidth;
    const std::int64_t x = blockIdx.x % across * kWidth + threadIdx.x;
    const std::int64_t y = blockIdx.x / across * blockDim.y + threadIdx.y;
    if (x >= problem.width || y >= problem.height) return;
    const bool inside = x >= kRadius && y >= kRadius && x < problem.width - kRadius && y < problem.height - kRadius;
    std::uint8_t* const result = buffers.result + (y * problem.width + x) * kChannels;
    for (int c = 0; c < kChannels; ++c) {
        Sum sum = 0;
        if (inside) {
            const std::uint8_t* const source =
                buffers.image + ((y - kRadius) * problem.width + x - kRadius) * kChannels;
            for (int i = 0; i < kDiameter; ++i)
                for (int j = 0; j < kDiameter; ++j)
                    sum += taps.values[i * kDiameter + j] *
                           static_cast<Sum>(source[i * problem.width * kChannels + j * kChannels + c]);
        } else {
            sum = sum_near_border<kChannels>(problem, buffers, taps, y, x, c);
        }
        result[c] = saturate(sum);
    }
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

template <class Sum>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers, int rows) {
    with_channels(problem.channels, [&](auto channels) {
        launch(correlate_in_blocks<channels(), Sum>, grid_for(problem, kWidth, rows),
               dim3(kWidth, static_cast<unsigned>(rows)), 0, context.stream, problem, buffers,
               Taps<Sum>(*buffers.filter));
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.values() == 0) return;
    // 25 products of 16 and 8 bits need at most 29 bits, so 32-bit sums are exact.
    if (problem.coefficients == Coefficients::float32)
        correlate_in<float>(context, problem, buffers, configuration["rows"]);
    else
        correlate_in<std::int32_t>(context, problem, buffers, configuration["rows"]);
}

}  // namespace

Variant<Problem> global_blocks() {
    return {.summary = "global in blocks of 32 x 16 or 32 x 32 threads",
            .source = "C 2.1",
            .tolerance = kFractionTolerance,
            .space = {{"rows", {16, 32}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
