// A tile of floats, converted once, and 4 values of 8 or 16 rows per thread: a row of the tile is read as
// vectors of 16 bytes and goes into 5 rows of the result from registers. What remains per value are the 25
// multiply-adds, little more than one load, and no conversion: bound by arithmetic.
// shared_vectorised converts every byte again in each thread that reads it; shared_float reads a word from
// shared memory for every multiply-add.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_words.cuh"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kSegment = 128;   ///< values of a row that a warp computes
constexpr int kBlockRows = 64;  ///< rows that a block computes: with the rim the tile takes 38 KiB
constexpr int kPerThread = 4;
constexpr int kRim = 8;  ///< values to either side: two pixels of four channels
constexpr int kTileRows = kBlockRows + 2 * kRadius;
constexpr int kTileQuads = (kSegment + 2 * kRim) / 4;

/// The bytes as floats, without the slow conversion: as the last bits of 2^23, which is then taken off.
__device__ float4 floats_of(std::uint32_t word) {
    const auto value = [word](unsigned byte) {
        return __uint_as_float(__byte_perm(word, 0x4B000000U, 0x7540U + byte)) - 8388608.0F;
    };
    return make_float4(value(0), value(1), value(2), value(3));
}

template <int kChannels, int kRows, bool kWords>
__global__ void __launch_bounds__(32 * kBlockRows / kRows) correlate(Images images, Taps<float> taps) {
    constexpr int kWarps = kBlockRows / kRows;
    auto& tile = shared<float4[kTileRows][kTileQuads]>();
    constexpr int kEndRows = 32 * kWarps / kBorderPixels;  // whose ends a block computes
    const auto ends = static_cast<unsigned>((images.height + kEndRows - 1) / kEndRows);
    if (blockIdx.x < ends)
        return correlate_border<kChannels>(images, taps, blockIdx.x, threadIdx.y * 32 + threadIdx.x, 32 * kWarps);
    const Corner corner = block_corner(blockIdx.x - ends, images.width * kChannels, kSegment, kBlockRows);
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);

    for (int row = warp; row < kTileRows; row += kWarps) {
        const std::int32_t y = corner.y - kRadius + row;
        tile[row][lane + 2] = floats_of(load_any_row_word<kChannels, kWords>(images, y, corner.x + 4 * lane));
        if (lane >= 4) continue;
        const int rim = lane < 2 ? lane : kTileQuads - 4 + lane;
        tile[row][rim] = floats_of(load_any_row_word<kChannels, kWords>(images, y, corner.x - kRim + 4 * rim));
    }
    __syncthreads();

    // What the taps of 4 values reach, counted from the first vector that holds some of it.
    constexpr int kReach = kRadius * kChannels;
    constexpr int kSkipped = (kRim - kReach) / 4;
    constexpr int kFirst = (kRim - kReach) % 4;
    constexpr int kQuads = (kFirst + kPerThread + 2 * kReach + 3) / 4;
    float sums[kRows][kPerThread] = {};
#pragma unroll
    for (int i = 0; i < kRows + 2 * kRadius; ++i) {
        float values[4 * kQuads];
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
            const float4 quad = tile[warp * kRows + i][lane + kSkipped + q];
            values[4 * q] = quad.x, values[4 * q + 1] = quad.y, values[4 * q + 2] = quad.z, values[4 * q + 3] = quad.w;
        }
#pragma unroll
        for (int o = 0; o < kRows; ++o) {
            if (i < o || i - o >= kDiameter) continue;
#pragma unroll
            for (int j = 0; j < kDiameter; ++j)
#pragma unroll
                for (int v = 0; v < kPerThread; ++v)
                    sums[o][v] += taps.values[(i - o) * kDiameter + j] * values[kFirst + v + j * kChannels];
        }
    }

#pragma unroll
    for (int o = 0; o < kRows; ++o) {
        const std::int32_t y = corner.y + warp * kRows + o;
        if (y >= images.height) break;
        std::uint32_t word = 0;
#pragma unroll
        for (int v = 0; v < kPerThread; ++v) word |= std::uint32_t{saturate(sums[o][v])} << (8 * v);
        store_inner_word<kChannels, kWords>(images, y, corner.x + kPerThread * lane, word);
    }
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (Support support = supports_32_bit_rows(problem); !support) return support;
    if (Support support = supports_32_bit_coordinates(problem); !support) return support;
    return supports_float_sums(problem);
}

template <int kRows>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers) {
    const std::int64_t across = (problem.row_values() + kSegment - 1) / kSegment;
    const std::int64_t down = (problem.height + kBlockRows - 1) / kBlockRows;
    const dim3 grid(static_cast<unsigned>(border_blocks(problem, 32 * kBlockRows / kRows) + across * down));
    with_channels(problem.channels, [&](auto channels) {
        const auto kernel =
            rows_of_words(problem, buffers) ? correlate<channels(), kRows, true> : correlate<channels(), kRows, false>;
        launch(kernel, grid, dim3(32, kBlockRows / kRows), 0, context.stream, Images(problem, buffers),
               Taps<float>(*buffers.filter));
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.values() == 0) return;
    if (configuration["rows_per_thread"] == 8)
        correlate_in<8>(context, problem, buffers);
    else
        correlate_in<16>(context, problem, buffers);
}

}  // namespace

Variant<Problem> shared_float_rows() {
    return {.role = Role::modern,
            .summary = "tile of floats read as vectors, 4 values of 8 or 16 rows per thread",
            .limits = "narrow or fractional coefficients; width x channels <= 2,147,482,624",
            .tolerance = kFractionTolerance,
            .space = {{"rows_per_thread", {16, 8}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
