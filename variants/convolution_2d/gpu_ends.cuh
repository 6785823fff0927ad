#pragma once

// The two pixels at either end of each row, whose taps leave the image sideways, as a share of every block's work: the
// pixels around them in shared memory, all loads at once and no division, so that what a block does first takes one
// trip to memory. (gpu_border.cuh leaves them to blocks of their own.)

#include "variants/convolution_2d/gpu_image.cuh"

namespace espalier::convolution_2d {

inline constexpr int kEndRows = 8;                                  ///< whose ends a block computes at once
inline constexpr int kEndPixels = 2 * kRadius;                      ///< in each row
inline constexpr int kEndTileRows = kEndRows + 2 * kRadius;         ///< what they are computed from
inline constexpr int kEndTilePixels = 2 * (kRadius + 2 * kRadius);  ///< x from -2 to 3, width - 4 to width + 1

/// border_index of a coordinate at most two beyond the image (or of a size of 1), without a division.
__device__ inline std::int32_t near_border_index(std::int32_t i, std::int32_t size, Border border) {
    if (i >= 0 && i < size) return i;
    if (border == Border::zero) return -1;
    if (border == Border::replicate) return i < 0 ? 0 : size - 1;
    if (size < 3) return size == 1 ? 0 : i & 1;
    return i < 0 ? -i : i - 2 * (i - (size - 1));
}

/// The same, without a branch, and whether it is outside of the image; of what is outside any inner one.
struct NearIndex {
    std::int32_t index;
    bool outside;
};
__device__ inline NearIndex nearest_index(std::int32_t i, std::int32_t size, Border border) {
    std::int32_t index = i;
    // The other end reflects as well where the size is 2.
    for (int time = 0; time < 2; ++time) {
        // Not 2 (size - 1) - index, which can take more than 32 bits.
        const std::int32_t reflected = index < 0 ? -index : index - 2 * max(0, index - (size - 1));
        index = border == Border::mirror ? reflected : index;
    }
    return {max(0, min(index, size - 1)), i < 0 || i >= size};
}

template <int kChannels>
struct EndTile {
    std::uint8_t values[kEndTileRows][kEndTilePixels][kChannels];
};

/// Loads the surroundings of the ends of rows y to y + kEndRows - 1. A barrier follows.
template <int kChannels, int kThreads>
__device__ void load_ends(EndTile<kChannels>& tile, const Images& images, std::int32_t y) {
    constexpr int kValues = static_cast<int>(sizeof(tile));
    constexpr int kSteps = (kValues + kThreads - 1) / kThreads;
    const int thread = static_cast<int>(threadIdx.x);
    std::uint8_t loaded[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        const int index = min(thread + step * kThreads, kValues - 1);
        const int channel = index % kChannels, pixel = index / kChannels % kEndTilePixels;
        const std::int32_t y_there = y - kRadius + index / kChannels / kEndTilePixels;
        const bool left = pixel < kEndTilePixels / 2;
        const std::int32_t x_there = left ? pixel - kRadius : images.width - 2 * kRadius + pixel - kEndTilePixels / 2;
        const NearIndex from_x = nearest_index(x_there, images.width, images.border);
        const NearIndex from_y = nearest_index(y_there, images.height, images.border);
        const std::uint8_t value = images.source[images.offset<kChannels>(from_y.index, from_x.index) + channel];
        loaded[step] = images.border == Border::zero && (from_x.outside || from_y.outside) ? std::uint8_t{0} : value;
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
        if (thread + step * kThreads < kValues) (&tile.values[0][0][0])[thread + step * kThreads] = loaded[step];
}

/// Computes them, a value a thread.
template <int kChannels, class Sum>
__device__ void correlate_ends(const EndTile<kChannels>& tile, const Images& images, const Taps<Sum>& taps,
                               std::int32_t y) {
    const int thread = static_cast<int>(threadIdx.x);
    const int channel = thread % kChannels, pixel = thread / kChannels % kEndPixels;
    const int row = thread / kChannels / kEndPixels;
    const bool left = pixel < kRadius;
    const std::int32_t x = left ? pixel : images.width - kEndPixels + pixel;
    // In a narrow image the left end comes first.
    if (row >= kEndRows || y + row >= images.height || x >= images.width || (!left && x < kRadius)) return;
    // The right half of the tile begins two pixels before the right end.
    const int column = left ? pixel : kEndTilePixels / 2 + pixel - kRadius;
    Sum sum = 0;
#pragma unroll
    for (int i = 0; i < kDiameter; ++i)
#pragma unroll
        for (int j = 0; j < kDiameter; ++j)
            sum += taps.values[i * kDiameter + j] * static_cast<Sum>(tile.values[row + i][column + j][channel]);
    images.result[images.offset<kChannels>(y + row, x) + channel] = saturate(sum);
}

}  // namespace espalier::convolution_2d
