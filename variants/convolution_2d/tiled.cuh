#pragma once

// Common to the shared-memory variants of source C 2.2 to 2.4: a block computes a rectangle of pixels, one
// per thread, from a tile that holds the rectangle and a rim of two pixels in shared memory. They differ
// in what the tile stores, what the sums are, the block's shape and the padding of the tile's rows.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_image.cuh"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {

/// `Stored`: what the tile holds. `Sum`: what is summed in. `kPadding`: unused elements after each tile row.
template <class Stored_, class Sum_, int kWidth_, int kHeight_, int kPadding_, int kChannels_>
struct Tiling {
    using Stored = Stored_;
    using Sum = Sum_;
    static constexpr int kWidth = kWidth_, kHeight = kHeight_, kChannels = kChannels_;
    static constexpr int kThreads = kWidth * kHeight;
    static constexpr int kRows = kHeight + 2 * kRadius;
    static constexpr int kRowValues = (kWidth + 2 * kRadius) * kChannels;
    static constexpr int kStride = kRowValues + kPadding_;
    using Tile = Stored[kRows][kStride];
};

/// Fills the tile around `corner`, as many whole rows at a time as the block has threads for: with 16x16
/// blocks and three channels 240 threads load 4 rows of 60 bytes, in 5 steps. The rest of the threads
/// idle, in return for every thread keeping its column.
template <class T>
__device__ void load_tile(typename T::Tile& tile, const Images& images, const Corner& corner) {
    constexpr int kRowsAtOnce = T::kThreads / T::kRowValues;
    static_assert(kRowsAtOnce > 0);
    const int thread = static_cast<int>(threadIdx.y) * T::kWidth + static_cast<int>(threadIdx.x);
    const int first_row = thread / T::kRowValues;
    if (first_row >= kRowsAtOnce) return;
    const int value = thread % T::kRowValues;
    const std::int32_t x = border_index(corner.x - kRadius + value / T::kChannels, images.width, images.border);
    for (int row = first_row; row < T::kRows; row += kRowsAtOnce) {
        const std::int32_t y = border_index(corner.y - kRadius + row, images.height, images.border);
        const bool zero = x < 0 || y < 0;
        const std::uint8_t byte =
            zero ? std::uint8_t{0} : images.source[images.offset<T::kChannels>(y, x) + value % T::kChannels];
        tile[row][value] = static_cast<typename T::Stored>(byte);
    }
}

template <class T>
__global__ void correlate_tile(Images images, Taps<typename T::Sum> taps) {
    using Sum = typename T::Sum;
    auto& tile = device::shared<typename T::Tile>();
    const Corner corner = block_corner(blockIdx.x, images.width, T::kWidth, T::kHeight);
    load_tile<T>(tile, images, corner);
    __syncthreads();

    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
    if (corner.x + tx >= images.width || corner.y + ty >= images.height) return;
    std::uint8_t* const result = images.result + images.offset<T::kChannels>(corner.y + ty, corner.x + tx);
    for (int c = 0; c < T::kChannels; ++c) {
        Sum sum = 0;
        for (int i = 0; i < kDiameter; ++i)
            for (int j = 0; j < kDiameter; ++j)
                sum += taps.values[i * kDiameter + j] * static_cast<Sum>(tile[ty + i][(tx + j) * T::kChannels + c]);
        result[c] = saturate(sum);
    }
}

inline Support supports_float_tile(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (Support support = supports_32_bit_coordinates(problem); !support) return support;
    return supports_float_sums(problem);
}

template <class Stored, class Sum, int kWidth, int kHeight, int kPadding>
void correlate_tiles(Context& context, const Problem& problem, const Buffers& buffers) {
    if (problem.values() == 0) return;
    with_channels(problem.channels, [&](auto channels) {
        using T = Tiling<Stored, Sum, kWidth, kHeight, kPadding, channels()>;
        device::launch(correlate_tile<T>, grid_for(problem, kWidth, kHeight), dim3(kWidth, kHeight), 0, context.stream,
                       Images(problem, buffers), Taps<Sum>(*buffers.filter));
    });
}

/// Runs a variant without settings; its tile has no padding.
template <class Stored, class Sum, int kWidth, int kHeight>
void run_tiled(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    correlate_tiles<Stored, Sum, kWidth, kHeight, 0>(context, problem, buffers);
}

}  // namespace espalier::convolution_2d
