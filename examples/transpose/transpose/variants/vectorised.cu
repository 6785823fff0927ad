// Four numbers at a time from tiles of 64 x 64: a quarter of the loads and stores. Needs rows and columns that are
// multiples of 4; where an array begins between 16 bytes is seen when it runs.

#include "device/kernel.hpp"
#include "transpose/problem.hpp"

namespace espalier::transpose {
namespace {

using namespace device;

constexpr int kTile = 64, kQuads = kTile / 4, kRows = 16;

/// `wide`: both arrays begin at multiples of 16 bytes.
__global__ void kernel(const float* in, float* out, std::int64_t rows, std::int64_t columns, std::int64_t across,
                       bool wide) {
    auto& tile = shared<float[kTile][kTile + 1], struct Tile>();
    const std::int64_t left = blockIdx.x % across * kTile, top = blockIdx.x / across * kTile;
    const int x = static_cast<int>(threadIdx.x) * 4, y = static_cast<int>(threadIdx.y);
    for (int r = y; r < kTile && left + x < columns && top + r < rows; r += kRows) {
        const float* const from = in + (top + r) * columns + left + x;
        const float4 four = wide ? *reinterpret_cast<const float4*>(from) : float4{from[0], from[1], from[2], from[3]};
        tile[r][x] = four.x, tile[r][x + 1] = four.y, tile[r][x + 2] = four.z, tile[r][x + 3] = four.w;
    }
    __syncthreads();
    for (int c = y; c < kTile && top + x < rows && left + c < columns; c += kRows) {
        float* const to = out + (left + c) * rows + top + x;
        const float4 four{tile[x][c], tile[x + 1][c], tile[x + 2][c], tile[x + 3][c]};
        if (wide)
            *reinterpret_cast<float4*>(to) = four;
        else
            to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    }
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.rows % 4 != 0 || problem.columns % 4 != 0) return Support::no("rows and columns are multiples of 4");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const std::int64_t across = (problem.columns + kTile - 1) / kTile, down = (problem.rows + kTile - 1) / kTile;
    if (across * down == 0) return;
    const auto addresses = reinterpret_cast<std::uintptr_t>(buffers.in) | reinterpret_cast<std::uintptr_t>(buffers.out);
    launch(kernel, static_cast<unsigned>(across * down), dim3(kQuads, kRows), 0, context.stream, buffers.in,
           buffers.out, problem.rows, problem.columns, across, addresses % sizeof(float4) == 0);
}

}  // namespace

Variant<Problem> vectorised() {
    return {.role = Role::documented,
            .summary = "four numbers at a time",
            .source = "",
            .limits = "rows and columns that are multiples of 4",
            .tolerance = kExact,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::transpose
