#pragma once

// The two pixels at either end of each row, whose taps leave the image sideways, for kernels that compute
// the others without looking. A thread each: they are few, and all loads of one are independent, while in
// the warps that compute whole segments of rows they would hold up everything else.

#include "variants/convolution_2d/gpu_image.cuh"

namespace espalier::convolution_2d {

inline constexpr int kBorderPixels = 2 * kRadius;  ///< in each row

/// Blocks of `threads` (a multiple of 4) that compute them all.
inline std::int64_t border_blocks(const Problem& problem, int threads) {
    const std::int64_t rows = threads / kBorderPixels;
    return (problem.height + rows - 1) / rows;
}

/// What one thread of the `block`-th of these does.
template <int kChannels, class Sum>
__device__ void correlate_border(const Images& images, const Taps<Sum>& taps, unsigned block, unsigned thread,
                                 unsigned threads) {
    const std::int64_t row = static_cast<std::int64_t>(block) * (threads / kBorderPixels) + thread / kBorderPixels;
    const auto pixel = static_cast<std::int32_t>(thread % kBorderPixels);
    const std::int32_t pixels = min(images.width, kBorderPixels);
    if (row >= images.height || pixel >= pixels) return;
    const auto y = static_cast<std::int32_t>(row);
    const std::int32_t x = pixel < kRadius ? pixel : images.width - pixels + pixel;

    std::int32_t columns[kDiameter];
#pragma unroll
    for (int j = 0; j < kDiameter; ++j) columns[j] = border_index(x + j - kRadius, images.width, images.border);
    Sum sums[kChannels] = {};
#pragma unroll
    for (int i = 0; i < kDiameter; ++i) {
        const std::int32_t tap_row = border_index(y + i - kRadius, images.height, images.border);
#pragma unroll
        for (int j = 0; j < kDiameter; ++j)
#pragma unroll
            for (int c = 0; c < kChannels; ++c)
                if (tap_row >= 0 && columns[j] >= 0)
                    sums[c] += taps.values[i * kDiameter + j] *
                               static_cast<Sum>(images.source[images.offset<kChannels>(tap_row, columns[j]) + c]);
    }
#pragma unroll
    for (int c = 0; c < kChannels; ++c) images.result[images.offset<kChannels>(y, x) + c] = saturate(sums[c]);
}

}  // namespace espalier::convolution_2d
