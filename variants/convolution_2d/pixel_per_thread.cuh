#pragma once

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_image.cuh"

/// One thread per pixel, every tap read from global memory, coefficients in constant memory: the naive kernel (source C
/// 2.1). Neighbouring threads re-read each other's pixels, so it lives on the caches and is bound by memory. Any size
/// and border.
namespace espalier::convolution_2d {
namespace {

using namespace device;

/// Every tap through the border, in 64 bits, as images may have any shape.
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

/// `Block` has the `kWidth` of a block and, in the kernel, height(). A block has `kMostThreads` at most; with 0 the
/// compiler is told of no limit.
template <class Block, int kChannels, class Sum>
__global__ void __launch_bounds__(Block::kMostThreads) correlate(Problem problem, Buffers buffers, Taps<Sum> taps) {
    const std::int64_t across = (problem.width + Block::kWidth - 1) / Block::kWidth;
    const std::int64_t x = blockIdx.x % across * Block::kWidth + threadIdx.x;
    const std::int64_t y = blockIdx.x / across * Block::height() + threadIdx.y;
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

template <class Block, class Sum>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers, int height) {
    with_channels(problem.channels, [&](auto channels) {
        launch(correlate<Block, channels(), Sum>, grid_for(problem, Block::kWidth, height),
               dim3(Block::kWidth, static_cast<unsigned>(height)), 0, context.stream, problem, buffers,
               Taps<Sum>(*buffers.filter));
    });
}

template <class Block>
void correlate_in_blocks(Context& context, const Problem& problem, const Buffers& buffers, int height) {
    if (problem.values() == 0) return;
    // 25 products of 16 and 8 bits need at most 29 bits, so 32-bit sums are exact.
    if (problem.coefficients == Coefficients::float32)
        correlate_in<Block, float>(context, problem, buffers, height);
    else
        correlate_in<Block, std::int32_t>(context, problem, buffers, height);
}

}  // namespace
}  // namespace espalier::convolution_2d
