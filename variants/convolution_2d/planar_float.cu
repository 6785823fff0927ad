// Planes of bytes in shared memory, made floats in registers: two words hold the eight pixels that four values of a row
// need, and each of them, converted once a lane, goes into five rows of the result. shared_float_rows reads a row as
// floats, which costs as much of shared memory's time as the multiply-adds cost of theirs; two words of bytes are a
// tenth of it, and the conversions that they ask for are two instructions a pixel beside up to twenty multiply-adds.

#include "device/mma.hpp"
#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_planes.cuh"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kPerThread = 4;

/// A byte as a float, without the slow conversion: as the last bits of 2^23, which is then taken off.
__device__ float float_of(std::uint32_t word, unsigned byte) {
    return __uint_as_float(__byte_perm(word, 0x4B000000U, 0x7540U + byte)) - 8388608.0F;
}

/// kRows words of four values each, see correlate_planes.
template <int kRows>
__device__ void correlate_rows(std::uint32_t (&quads)[kRows], const std::uint32_t* row, int stride,
                               const Taps<float>& taps) {
    float sums[kRows][kPerThread] = {};
#pragma unroll
    for (int i = 0; i < kRows + 2 * kRadius; ++i) {
        float values[2 * kPerThread];
#pragma unroll
        for (unsigned b = 0; b < 2 * kPerThread; ++b)
            values[b] = float_of(row[i * stride + static_cast<int>(b / 4)], b % 4);
#pragma unroll
        for (int o = 0; o < kRows; ++o) {
            if (i < o || i - o >= kDiameter) continue;
#pragma unroll
            for (int j = 0; j < kDiameter; ++j)
#pragma unroll
                for (int v = 0; v < kPerThread; ++v) sums[o][v] += taps.values[(i - o) * kDiameter + j] * values[v + j];
        }
    }
    // Conversions are slow, but one a value is a third of what the multiply-adds take, elsewhere. Not-a-number becomes
    // 0.
#pragma unroll
    for (int o = 0; o < kRows; ++o)
        quads[o] = pack_saturated(__float2int_rn(sums[o][0]), __float2int_rn(sums[o][1]), __float2int_rn(sums[o][2]),
                                  __float2int_rn(sums[o][3]));
}

/// Warps that a multiprocessor holds at least: what leaves the sums of so many rows in registers.
constexpr int warps_per_sm(int rows) { return rows == 16 ? 12 : 16; }

template <class P>
__global__ void __launch_bounds__(32 * P::kWarps, warps_per_sm(P::kRows) / P::kWarps)
    correlate(Images images, const __grid_constant__ Taps<float> taps) {
    correlate_planes<P>(images, [&](std::uint32_t(&quads)[P::kRows], const std::uint32_t* row, int stride) {
        correlate_rows<P::kRows>(quads, row, stride, taps);
    });
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (Support support = supports_32_bit_rows(problem); !support) return support;
    if (Support support = supports_32_bit_coordinates(problem); !support) return support;
    return supports_float_sums(problem);
}

template <int kRows>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers, int warps) {
    with_planes<kRows>(problem, warps, [&]<class P>() {
        launch(correlate<P>, grid_for(problem, kSegmentPixels, P::kBlockRows), dim3(32, P::kWarps), sizeof(P),
               context.stream, Images(problem, buffers), Taps<float>(*buffers.filter));
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.values() == 0) return;
    const int rows = configuration["rows_per_thread"], warps = configuration["warps"];
    if (rows == 16) return correlate_in<16>(context, problem, buffers, warps);
    if (rows == 8) return correlate_in<8>(context, problem, buffers, warps);
    correlate_in<4>(context, problem, buffers, warps);
}

}  // namespace

Variant<Problem> planar_float() {
    return {.role = Role::modern,
            .summary = "planes of bytes, converted in registers, 4 values of several rows per thread",
            .limits = "narrow or fractional coefficients; width x channels <= 2,147,482,624",
            .tolerance = kFractionTolerance,
            .space = {{"rows_per_thread", {8, 16, 4}}, {"warps", {4, 8}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
