#pragma once

#include "device/kernel.hpp"

/// How a tile's points are dealt to the lanes of a warp that multiplies it: a lane's sums belong to columns 8 n + 2 q
/// and the next, q being its place among four. Its points are neighbours in memory where the tile's rows lie like this.
namespace espalier::knn {
namespace {

inline constexpr int kLanePoints = 32;  ///< a lane's of a tile, one after another

/// Where the norm of the i-th point of a lane is: what the lanes read at once lies together.
__device__ constexpr int norm_place(int q, int i) { return i / 4 * 16 + q * 4 + i % 4; }

/// The row of a point of the tile, and the place of its norm.
__device__ constexpr int row_of_point(int in_tile) {
    const int q = in_tile / kLanePoints, i = in_tile % kLanePoints;
    return i / 2 * 8 + q * 2 + i % 2;
}
__device__ constexpr int norm_of_point(int in_tile) { return norm_place(in_tile / kLanePoints, in_tile % kLanePoints); }

}  // namespace
}  // namespace espalier::knn
