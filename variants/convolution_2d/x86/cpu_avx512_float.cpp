// 16 fused multiply-adds per instruction for four rows of the result at once. The eight rows that these need
// are converted to single precision once per piece of a row, into the first-level cache, instead of once per
// tap and row; each vector loaded from there is multiplied by up to four coefficients.

#include <immintrin.h>

#include <algorithm>

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_rows.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

constexpr int kGroups = 4;  ///< vectors of 16 sums: with four rows, half of the registers

/// Keeps a loaded vector in its register. The compiler would rather repeat the load in each of its uses, and
/// unaligned loads are what this kernel is short of.
__attribute__((target("avx512f"), always_inline)) inline void keep(__m512& vector) { asm("" : "+v"(vector)); }

class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 16 * kGroups;
    static constexpr int kRows = 4;

    Kernel(const Problem& problem, const Filter5x5& filter) : taps_(filter), channels_(problem.channels) {}

    template <int kCount>
    __attribute__((target("avx512f"))) void apply(const SourceRows<Source, kCount>& rows,
                                                  const ResultRows<kCount>& results, std::int64_t count) const {
        alignas(64) float values[kCount + 2 * kRadius][kPiece + 16];
        for (std::int64_t begin = 0; begin < count; begin += kPiece) {
            if (begin + kStep > count) begin = count - kStep;  // the last ones again rather than fewer at once
            const std::int64_t piece = std::min(kPiece, count - begin);
            for (std::size_t i = 0; i < rows.size(); ++i) convert(rows[i] + begin, values[i], piece + 4 * channels_);
            for (std::int64_t v = 0; v < piece; v += kStep) {
                if (v + kStep > piece) v = piece - kStep;
                __m512 sums[kCount][kGroups];
#pragma GCC unroll 4
                for (int o = 0; o < kCount; ++o)
#pragma GCC unroll 4
                    for (int g = 0; g < kGroups; ++g) sums[o][g] = _mm512_setzero_ps();
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
    __attribute__((target("avx512f"), always_inline)) void add(__m512 (&sums)[kCount][kGroups], const float* from,
                                                               int i, int j) const {
        __m512 values[kGroups];
#pragma GCC unroll 4
        for (int g = 0; g < kGroups; ++g) {
            values[g] = _mm512_loadu_ps(from + 16 * g);
            keep(values[g]);
        }
#pragma GCC unroll 4
        for (int o = 0; o < kCount; ++o) {
            if (i < o || i - o >= kDiameter) continue;
            const __m512 tap = _mm512_set1_ps(taps_[static_cast<std::size_t>((i - o) * kDiameter + j)]);
#pragma GCC unroll 4
            for (int g = 0; g < kGroups; ++g) sums[o][g] = _mm512_fmadd_ps(values[g], tap, sums[o][g]);
        }
    }

    __attribute__((target("avx512f"))) static void convert(const std::uint8_t* from, float* to, std::int64_t count) {
        for (std::int64_t v = 0; v < count; v += 16) {
            if (v + 16 > count) v = count - 16;
            const __m512i wide =
                _mm512_maskz_cvtepu8_epi32(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + v)));
            _mm512_storeu_ps(to + v, _mm512_maskz_cvtepi32_ps(0xFFFF, wide));
        }
    }

    /// Saturated first (converting what is too large for an int gives the smallest one), then rounded to even.
    __attribute__((target("avx512f"))) static void store(std::uint8_t* to, const __m512 (&sums)[kGroups]) {
#pragma GCC unroll 4
        for (int g = 0; g < kGroups; ++g) {
            const __m512 not_negative = _mm512_maskz_max_ps(0xFFFF, sums[g], _mm512_setzero_ps());
            const __m512 saturated = _mm512_maskz_min_ps(0xFFFF, not_negative, _mm512_set1_ps(255.0F));
            const __m512i whole = _mm512_maskz_cvtps_epi32(0xFFFF, saturated);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * g), _mm512_maskz_cvtepi32_epi8(0xFFFF, whole));
        }
    }

    Filter5x5 taps_;
    std::int64_t channels_;
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.avx512) return Support::no("needs a processor with AVX-512");
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_float_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    correlate_in_parallel(problem, buffers.image, buffers.result, Kernel(problem, *buffers.filter),
                          configuration["parallel"] ? context.device.threads : 1);
}

}  // namespace

Variant<Problem> cpu_avx512_float() {
    return {.role = Role::modern,
            .summary = "16 fused multiply-adds at once for four rows of the result, rows converted once",
            .limits = "AVX-512; narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
