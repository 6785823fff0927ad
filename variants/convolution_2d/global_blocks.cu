// The naive kernel of `global` in wider blocks, 32 x 16 and 32 x 32 threads, which the lab tries beside 16 x 16 (source
// C 2.1): a warp is then one row of pixels instead of two halves. A variant of its own, for `global` is the baseline,
// which has no settings; the loops are `global`'s.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_image.cuh"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kWidth = 32, kMostRows = 32;

/// Every tap through the border, in 64 bits: this variant takes images of any shape.
template <int kChannels, class Sum>
__device__ void near_border(const Problem& problem, const Buffers& buffers, const Taps<Sum>& taps, std::int64_t y,
                            std::int64_t x) {
    std::int64_t columns[kDiameter];
    for (int j = 0; j < kDiameter; ++j) columns[j] = border_index(x + j - kRadius, problem.width, problem.border);
    Sum sums[kChannels] = {};
    for (int i = 0; i < kDiameter; ++i) {
        const auto row = border_index(y + i - kRadius, problem.height, problem.border);
        for (int j = 0; j < kDiameter; ++j)
            for (int c = 0; c < kChannels; ++c)
                if (row >= 0 && columns[j] >= 0)
                    sums[c] += taps.values[i * kDiameter + j] *
                               static_cast<Sum>(buffers.image[(row * problem.width + columns[j]) * kChannels + c]);
    }
    for (int c = 0; c < kChannels; ++c) buffers.result[(y * problem.width + x) * kChannels + c] = saturate(sums[c]);
}

template <int kChannels, class Sum>
__global__ void __launch_bounds__(kWidth* kMostRows)
    correlate_in_blocks(Problem problem, Buffers buffers, Taps<Sum> taps) {
    const std::int64_t across = (problem.width + kWidth - 1) / kWidth;
    const std::int64_t x = blockIdx.x % across * kWidth + threadIdx.x;
    const std::int64_t y = blockIdx.x / across * blockDim.y + threadIdx.y;
    if (x >= problem.width || y >= problem.height) return;
    if (x < kRadius || y < kRadius || x >= problem.width - kRadius || y >= problem.height - kRadius)
        return near_border<kChannels>(problem, buffers, taps, y, x);

    const std::uint8_t* const source = buffers.image + ((y - kRadius) * problem.width + x - kRadius) * kChannels;
    std::uint8_t* const result = buffers.result + (y * problem.width + x) * kChannels;
    for (int c = 0; c < kChannels; ++c) {
        Sum sum = 0;
        for (int i = 0; i < kDiameter; ++i)
            for (int j = 0; j < kDiameter; ++j)
                sum += taps.values[i * kDiameter + j] *
                       static_cast<Sum>(source[i * problem.width * kChannels + j * kChannels + c]);
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
