#pragma once

#include "device/kernel.hpp"
#include "transpose/problem.hpp"

/// Tiles of 32 x 32 pass through shared memory, so that reads and writes both lie side by side. Their rows are
/// `padding` elements longer than the tile.
namespace espalier::transpose {
namespace {

using namespace device;

constexpr int kTile = 32, kRows = 8;

/// Blocks are numbered along the rows of tiles: a grid's second dimension ends at 65,535.
template <int padding>
__global__ void kernel(const float* in, float* out, std::int64_t rows, std::int64_t columns, std::int64_t across) {
    auto& tile = shared<float[kTile][kTile + padding], struct Tile>();
    const std::int64_t left = blockIdx.x % across * kTile, top = blockIdx.x / across * kTile;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    for (int r = y; r < kTile; r += kRows)
        if (top + r < rows && left + x < columns) tile[r][x] = in[(top + r) * columns + left + x];
    __syncthreads();
    for (int c = y; c < kTile; c += kRows)
        if (left + c < columns && top + x < rows) out[(left + c) * rows + top + x] = tile[x][c];
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

template <int padding>
void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const std::int64_t across = (problem.columns + kTile - 1) / kTile, down = (problem.rows + kTile - 1) / kTile;
    if (across * down == 0) return;
    launch(kernel<padding>, static_cast<unsigned>(across * down), dim3(kTile, kRows), 0, context.stream, buffers.in,
           buffers.out, problem.rows, problem.columns, across);
}

}  // namespace
}  // namespace espalier::transpose
