// Aligned words instead of bytes: a warp loads and stores 128 bytes of a row at once, aligned to 128 bytes
// where rows are, and a thread computes 4 values of several rows. A row of the tile is unpacked once and
// serves up to 5 rows of the result, so there is more arithmetic per load. Source C 2.5.
// The pixels at the ends of rows are left to threads of their own, see gpu_border.cuh.
// Sums are in single precision where that is exact, else in integers. Rows that are no multiple of 4 bytes
// are loaded as pairs of words and stored byte by byte.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_words.cuh"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kWarps = 8;
constexpr int kSegment = 128;  ///< bytes of a row that a warp computes
constexpr int kPerThread = 4;
constexpr int kRim = 8;                                ///< bytes to either side: two pixels of four channels
constexpr int kEndRows = 32 * kWarps / kBorderPixels;  ///< whose ends a block computes
constexpr int kTileWords = (kSegment + 2 * kRim) / 4;

template <class Sum>
__device__ Sum byte_of(std::uint32_t word, int byte) {
    // A conversion runs at an eighth of the rate of these two: the byte becomes the last bits of 2^23.
    if constexpr (std::is_floating_point_v<Sum>)
        return __uint_as_float(__byte_perm(word, 0x4B000000U, 0x7540U + static_cast<unsigned>(byte))) - 8388608.0F;
    else
        return static_cast<Sum>(word >> (8 * byte) & 0xFFU);
}

template <int kChannels, class Sum, int kRows, bool kWords>
__global__ void __launch_bounds__(32 * kWarps, 6) correlate(Images images, Taps<Sum> taps) {
    constexpr int kTileRows = kWarps * kRows + 2 * kRadius;
    auto& tile = shared<std::uint32_t[kTileRows][kTileWords]>();
    const auto ends = static_cast<unsigned>((images.height + kEndRows - 1) / kEndRows);
    if (blockIdx.x < ends)
        return correlate_border<kChannels>(images, taps, blockIdx.x, threadIdx.y * 32 + threadIdx.x, 32 * kWarps);
    const Corner corner = block_corner(blockIdx.x - ends, images.width * kChannels, kSegment, kWarps * kRows);
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);

    for (int row = warp; row < kTileRows; row += kWarps) {
        const std::int32_t y = corner.y - kRadius + row;
        tile[row][lane + 2] = load_any_row_word<kChannels, kWords>(images, y, corner.x + 4 * lane);
        if (lane >= 4) continue;
        const int rim = lane < 2 ? lane : kTileWords - 4 + lane;
        tile[row][rim] = load_any_row_word<kChannels, kWords>(images, y, corner.x - kRim + 4 * rim);
    }
    __syncthreads();

    // Bytes that the taps of 4 values reach, counted from the first word that holds one.
    constexpr int kReach = kRadius * kChannels;
    constexpr int kSkippedWords = (kRim - kReach) / 4;
    constexpr int kFirstByte = (kRim - kReach) % 4;
    constexpr int kBytes = kPerThread + 2 * kReach;
    constexpr int kUsedWords = (kFirstByte + kBytes + 3) / 4;
    Sum sums[kRows][kPerThread] = {};
#pragma unroll
    for (int i = 0; i < kRows + 2 * kRadius; ++i) {
        Sum values[kBytes];
        std::uint32_t words[kUsedWords];
#pragma unroll
        for (int w = 0; w < kUsedWords; ++w) words[w] = tile[warp * kRows + i][lane + kSkippedWords + w];
#pragma unroll
        for (int b = 0; b < kBytes; ++b) values[b] = byte_of<Sum>(words[(kFirstByte + b) / 4], (kFirstByte + b) % 4);
#pragma unroll
        for (int o = 0; o < kRows; ++o) {
            if (i < o || i - o >= kDiameter) continue;
#pragma unroll
            for (int j = 0; j < kDiameter; ++j)
#pragma unroll
                for (int v = 0; v < kPerThread; ++v)
                    sums[o][v] += taps.values[(i - o) * kDiameter + j] * values[v + j * kChannels];
        }
    }

    const std::int32_t first = corner.x + kPerThread * lane;
#pragma unroll
    for (int o = 0; o < kRows; ++o) {
        const std::int32_t y = corner.y + warp * kRows + o;
        if (y >= images.height) break;
        std::uint32_t word = 0;
#pragma unroll
        for (int v = 0; v < kPerThread; ++v) word |= std::uint32_t{saturate(sums[o][v])} << (8 * v);
        store_inner_word<kChannels, kWords>(images, y, first, word);
    }
}

template <class Sum, int kRows>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers) {
    const std::int64_t across = (problem.row_values() + kSegment - 1) / kSegment;
    const std::int64_t down = (problem.height + kWarps * kRows - 1) / (kWarps * kRows);
    const dim3 grid(static_cast<unsigned>(border_blocks(problem, 32 * kWarps) + across * down));
    with_channels(problem.channels, [&](auto channels) {
        const auto kernel = rows_of_words(problem, buffers) ? correlate<channels(), Sum, kRows, true>
                                                            : correlate<channels(), Sum, kRows, false>;
        launch(kernel, grid, dim3(32, kWarps), 0, context.stream, Images(problem, buffers), Taps<Sum>(*buffers.filter));
    });
}

template <class Sum>
void correlate_rows(Context& context, const Problem& problem, const Buffers& buffers, int rows) {
    if (rows == 1) return correlate_in<Sum, 1>(context, problem, buffers);
    if (rows == 2) return correlate_in<Sum, 2>(context, problem, buffers);
    return correlate_in<Sum, 4>(context, problem, buffers);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (Support support = supports_32_bit_rows(problem); !support) return support;
    return supports_32_bit_coordinates(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.values() == 0) return;
    const int rows = configuration["rows_per_thread"];
    if (problem.coefficients == Coefficients::int16)
        correlate_rows<std::int32_t>(context, problem, buffers, rows);
    else
        correlate_rows<float>(context, problem, buffers, rows);
}

}  // namespace

Variant<Problem> shared_vectorised() {
    return {.summary = "aligned 128-byte accesses, 4 values of several rows per thread",
            .source = "C 2.5",
            .tolerance = kFractionTolerance,
            .space = {{"rows_per_thread", {4, 2, 1}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
