#pragma once

// What the GPU variants share: the image and the coefficients as kernel parameters, and where a block works.

#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::convolution_2d {

/// The coefficients, as a kernel parameter. Parameters lie in the constant bank: one read serves a warp,
/// as with a `__constant__` array, but the launch owns them, so that two streams can use two filters.
template <class Sum>
struct Taps {
    Sum values[kDiameter * kDiameter];

    explicit Taps(const Filter5x5& filter) {
        for (std::size_t i = 0; i < filter.size(); ++i) values[i] = static_cast<Sum>(filter[i]);
    }
};

/// Both images. Coordinates are 32 bits wide, since GPUs emulate 64-bit arithmetic; offsets are not.
struct Images {
    const std::uint8_t* source;
    std::uint8_t* result;
    std::int32_t width, height;
    Border border;

    Images(const Problem& problem, const Buffers& buffers)
        : source(buffers.image),
          result(buffers.result),
          width(static_cast<std::int32_t>(problem.width)),
          height(static_cast<std::int32_t>(problem.height)),
          border(problem.border) {}

    /// Byte offset of a pixel.
    template <int kChannels>
    __device__ std::int64_t offset(std::int32_t y, std::int32_t x) const {
        return (static_cast<std::int64_t>(y) * width + x) * kChannels;
    }
};

/// Top left pixel of a block's rectangle. Blocks are numbered along one axis of the grid, because the
/// second one ends at 65,535: a division per block instead of a limit on the height.
struct Corner {
    std::int32_t x, y;
};
__device__ inline Corner block_corner(unsigned block, std::int32_t width, int block_width, int block_height) {
    const auto across = static_cast<unsigned>((width + block_width - 1) / block_width);
    return {static_cast<std::int32_t>(block % across) * block_width,
            static_cast<std::int32_t>(block / across) * block_height};
}
inline dim3 grid_for(const Problem& problem, int block_width, int block_height) {
    const std::int64_t across = (problem.width + block_width - 1) / block_width;
    const std::int64_t down = (problem.height + block_height - 1) / block_height;
    return dim3(static_cast<unsigned>(across * down));
}

}  // namespace espalier::convolution_2d
