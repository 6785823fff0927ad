// One thread per pixel, 16x16 blocks, every tap read from global memory, coefficients in constant
// memory: the naive kernel (source C 2.1). Neighbouring threads re-read each other's pixels, so it
// lives on the caches and is bound by memory. Any size and border: the baseline of GPUs.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_image.cuh"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kBlock = 16;

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
__global__ void correlate(Problem problem, Buffers buffers, Taps<Sum> taps) {
    const std::int64_t across = (problem.width + kBlock - 1) / kBlock;
    const std::int64_t x = blockIdx.x % across * kBlock + threadIdx.x;
    const std::int64_t y = blockIdx.x / across * kBlock + threadIdx.y;
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
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers) {
    with_channels(problem.channels, [&](auto channels) {
        launch(correlate<channels(), Sum>, grid_for(problem, kBlock, kBlock), dim3(kBlock, kBlock), 0, context.stream,
               problem, buffers, Taps<Sum>(*buffers.filter));
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.values() == 0) return;
    // 25 products of 16 and 8 bits need at most 29 bits, so 32-bit sums are exact.
    if (problem.coefficients == Coefficients::float32)
        correlate_in<float>(context, problem, buffers);
    else
        correlate_in<std::int32_t>(context, problem, buffers);
}

}  // namespace

Variant<Problem> global() {
    return {.role = Role::baseline,
            .summary = "one thread per pixel, taps from global memory, coefficients in constant memory",
            .source = "C 2.1",
            .tolerance = kFractionTolerance,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
