// cpu_avx512_float for 128-bit vectors: four rows of the result at once, each vector of the source multiplied by up to
// four coefficients, rows converted to single precision once per piece.

#include <arm_neon.h>

#include <algorithm>

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_rows.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

constexpr int kGroups = 4;  ///< vectors of 4 sums: with four rows, half of the registers

class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 4 * kGroups;
    static constexpr int kRows = 4;

    Kernel(const Problem& problem, const Filter5x5& filter) : taps_(filter), channels_(problem.channels) {}

    template <int kCount>
    void apply(const SourceRows<Source, kCount>& rows, const ResultRows<kCount>& results, std::int64_t count) const {
        float values[kCount + 2 * kRadius][kPiece + 16];
        for (std::int64_t begin = 0; begin < count; begin += kPiece) {
            if (begin + kStep > count) begin = count - kStep;  // the last ones again rather than fewer at once
            const std::int64_t piece = std::min(kPiece, count - begin);
            for (std::size_t i = 0; i < rows.size(); ++i) convert(rows[i] + begin, values[i], piece + 4 * channels_);
            for (std::int64_t v = 0; v < piece; v += kStep) {
                if (v + kStep > piece) v = piece - kStep;
                float32x4_t sums[kCount][kGroups];
#pragma GCC unroll 4
                for (int o = 0; o < kCount; ++o)
#pragma GCC unroll 4
                    for (int g = 0; g < kGroups; ++g) sums[o][g] = vdupq_n_f32(0);
#pragma GCC unroll 8
                for (int i = 0; i < kCount + 2 * kRadius; ++i)
#pragma GCC unroll 5
                    for (int j = 0; j < kDiameter; ++j) add<kCount>(sums, values[i] + v + j * channels_, i, j);
#pragma GCC unroll 4
                for (int o = 0; o < kCount; ++o) store(results[static_cast<std::size_t>(o)] + begin + v, sums[o]);
            }
        }
    }

private:
    /// Values of a row that are converted at once: eight rows of them are 16 KiB.
    static constexpr std::int64_t kPiece = 512;

    /// Row i of the source at tap j, to every row of the result within reach.
    template <int kCount>
    [[gnu::always_inline]] void add(float32x4_t (&sums)[kCount][kGroups], const float* from, int i, int j) const {
        float32x4_t values[kGroups];
#pragma GCC unroll 4
        for (int g = 0; g < kGroups; ++g) values[g] = vld1q_f32(from + 4 * g);
#pragma GCC unroll 4
        for (int o = 0; o < kCount; ++o) {
            if (i < o || i - o >= kDiameter) continue;
            const float tap = taps_[static_cast<std::size_t>((i - o) * kDiameter + j)];
#pragma GCC unroll 4
            for (int g = 0; g < kGroups; ++g) sums[o][g] = vfmaq_n_f32(sums[o][g], values[g], tap);
        }
    }

    static void convert(const std::uint8_t* from, float* to, std::int64_t count) {
        for (std::int64_t v = 0; v < count; ++v) to[v] = from[v];
    }

    /// Saturated, not-a-number to 0, then rounded to even.
    static uint16x4_t whole(float32x4_t sum) {
        const float32x4_t not_negative = vmaxnmq_f32(sum, vdupq_n_f32(0));
        return vmovn_u32(vcvtnq_u32_f32(vminq_f32(not_negative, vdupq_n_f32(255.0F))));
    }
    static void store(std::uint8_t* to, const float32x4_t (&sums)[kGroups]) {
        const uint16x8_t low = vcombine_u16(whole(sums[0]), whole(sums[1]));
        const uint16x8_t high = vcombine_u16(whole(sums[2]), whole(sums[3]));
        vst1q_u8(to, vmovn_high_u16(vmovn_u16(low), high));
    }

    Filter5x5 taps_;
    std::int64_t channels_;
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.neon) return Support::no("needs a processor with NEON");
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    return supports_float_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    correlate_in_parallel(problem, buffers.image, buffers.result, Kernel(problem, *buffers.filter),
                          configuration["parallel"] ? context.device.threads : 1);
}

}  // namespace

Variant<Problem> cpu_neon_float() {
    return {.role = Role::modern,
            .summary = "4 fused multiply-adds at once for four rows of the result, rows converted once",
            .limits = "narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
