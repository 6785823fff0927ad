// Dot products of four bytes: the image taken apart into planes, so that a word holds neighbouring pixels of a channel,
// and 7 instructions for the 25 taps of a value, the fewest that hold them.
//
// Of a row's five taps the first four are a window of four neighbouring bytes, which a funnel shift cuts from two words
// and five rows of the result use. The last taps of the five rows lie above one another: four rows' words, transposed,
// hold four of them each, and wherever five rows begin they lie in two such words, which meet coefficients that are
// shifted to match.
//
// Coefficients beyond a byte take the instruction for two 16-bit coefficients: 13 for 25 taps, since a pair of rows
// holds two of the last taps and three pairs hold five.

#include "device/byte_dots.hpp"
#include "device/mma.hpp"
#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_planes.cuh"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kTogether = 4;  ///< bytes of a word

/// Four coefficients as the instructions take them: as bytes, or two words of 16 bits each.
template <int kParts>
struct FourTaps {
    std::uint32_t words[kParts];
};

template <int kParts>
FourTaps<kParts> four_taps(const std::int32_t (&taps)[kTogether]) {
    constexpr int kBits = 8 * kParts, kPerWord = kTogether / kParts;
    FourTaps<kParts> packed{};
    for (int t = 0; t < kTogether; ++t)
        packed.words[t / kPerWord] |= (static_cast<std::uint32_t>(taps[t]) & ((1U << kBits) - 1))
                                      << (kBits * (t % kPerWord));
    return packed;
}

/// The coefficients, as a kernel parameter.
template <int kParts>
struct PackedTaps {
    FourTaps<kParts> rows[kDiameter];  ///< the first four of each row
    /// The last of each row, for a row of the result that is `p` after the first of four: those that meet the four
    /// rows, and those that meet the next four.
    FourTaps<kParts> these[kTogether], next[kTogether];

    explicit PackedTaps(const Filter5x5& filter) {
        const auto tap = [&](int row, int column) {
            return row >= 0 && row < kDiameter
                       ? static_cast<std::int32_t>(filter[static_cast<std::size_t>(row * kDiameter + column)])
                       : 0;
        };
        for (int i = 0; i < kDiameter; ++i) rows[i] = four_taps<kParts>({tap(i, 0), tap(i, 1), tap(i, 2), tap(i, 3)});
        for (int p = 0; p < kTogether; ++p) {
            these[p] = four_taps<kParts>({tap(-p, 4), tap(1 - p, 4), tap(2 - p, 4), tap(3 - p, 4)});
            next[p] = four_taps<kParts>({tap(4 - p, 4), tap(5 - p, 4), tap(6 - p, 4), tap(7 - p, 4)});
        }
    }
};

/// The products are those of the word's bytes from `from` up to before `to`: the other coefficients are 0.
__device__ std::int32_t dot(std::uint32_t bytes, const FourTaps<1>& taps, std::int32_t sum, int, int) {
    return dot_u8_s8(bytes, taps.words[0], sum);
}
__device__ std::int32_t dot(std::uint32_t bytes, const FourTaps<2>& taps, std::int32_t sum, int from, int to) {
    if (from < 2) sum = dot_low_u8_s16(bytes, taps.words[0], sum);
    if (to > 2) sum = dot_high_u8_s16(bytes, taps.words[1], sum);
    return sum;
}

/// kRows words of four values each, see correlate_planes.
template <int kParts, int kRows>
__device__ void correlate_rows(std::uint32_t (&quads)[kRows], const std::uint32_t* row, int stride,
                               const PackedTaps<kParts>& taps) {
    std::int32_t sums[kRows][kTogether] = {};
    std::uint32_t last[kTogether];
#pragma unroll
    for (int i = 0; i < kRows + 2 * kRadius; ++i) {
        const std::uint32_t word = row[i * stride];
        last[i % kTogether] = row[i * stride + 1];
#pragma unroll
        for (int v = 0; v < kTogether; ++v) {
            const std::uint32_t window =
                v == 0 ? word : __funnelshift_r(word, last[i % kTogether], 8 * static_cast<unsigned>(v));
#pragma unroll
            for (int o = 0; o < kRows; ++o)
                if (o <= i && i - o < kDiameter) sums[o][v] = dot(window, taps.rows[i - o], sums[o][v], 0, kTogether);
        }
        if (i % kTogether != kTogether - 1) continue;
        std::uint32_t columns[kTogether];
        transpose_bytes(columns, last);
#pragma unroll
        for (int o = 0; o < kRows; ++o) {
            const int p = o % kTogether;
#pragma unroll
            for (int v = 0; v < kTogether; ++v) {
                if (o / kTogether == i / kTogether)
                    sums[o][v] = dot(columns[v], taps.these[p], sums[o][v], p, kTogether);
                if (o / kTogether + 1 == i / kTogether)
                    sums[o][v] = dot(columns[v], taps.next[p], sums[o][v], 0, p + 1);
            }
        }
    }
#pragma unroll
    for (int o = 0; o < kRows; ++o) quads[o] = pack_saturated(sums[o][0], sums[o][1], sums[o][2], sums[o][3]);
}

/// Warps that a multiprocessor holds at least: what leaves the sums of so many rows in registers.
constexpr int warps_per_sm(int rows) { return rows == 16 ? 12 : 20; }

template <class P, int kParts>
__global__ void __launch_bounds__(32 * P::kWarps, warps_per_sm(P::kRows) / P::kWarps)
    correlate(Images images, const __grid_constant__ PackedTaps<kParts> taps) {
    correlate_planes<P>(images, [&](std::uint32_t(&quads)[P::kRows], const std::uint32_t* row, int stride) {
        correlate_rows<kParts, P::kRows>(quads, row, stride, taps);
    });
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (Support support = supports_32_bit_rows(problem); !support) return support;
    if (Support support = supports_32_bit_coordinates(problem); !support) return support;
    return supports_32_bit_sums(problem);
}

template <int kRows, int kParts>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers, int warps) {
    with_planes<kRows>(problem, warps, [&]<class P>() {
        launch(correlate<P, kParts>, grid_for(problem, kSegmentPixels, P::kBlockRows), dim3(32, P::kWarps), sizeof(P),
               context.stream, Images(problem, buffers), PackedTaps<kParts>(*buffers.filter));
    });
}

template <int kParts>
void correlate_parts(Context& context, const Problem& problem, const Buffers& buffers, int rows, int warps) {
    if (rows == 16) return correlate_in<16, kParts>(context, problem, buffers, warps);
    if (rows == 8) return correlate_in<8, kParts>(context, problem, buffers, warps);
    return correlate_in<4, kParts>(context, problem, buffers, warps);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.values() == 0) return;
    bool bytes = true;
    for (const float tap : *buffers.filter) bytes = bytes && tap >= -128 && tap <= 127;
    const int rows = configuration["rows_per_thread"], warps = configuration["warps"];
    if (bytes)
        correlate_parts<1>(context, problem, buffers, rows, warps);
    else
        correlate_parts<2>(context, problem, buffers, rows, warps);
}

}  // namespace

Variant<Problem> planar_dp4a() {
    return {.role = Role::modern,
            .summary = "planes of bytes, dot products of four at once, 4 values of several rows per thread",
            .limits = "whole coefficients; width x channels <= 2,147,482,624",
            .tolerance = kExact,
            .space = {{"rows_per_thread", {8, 16, 4}}, {"warps", {4, 8}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
