// 8 values at once in single precision: for every tap an unaligned load of 8 bytes, widened and converted
// on the way, and a fused multiply-add. Source C 1.3. Half the values per instruction of the 16-bit
// version and a conversion more, in return for any coefficients.

#include <immintrin.h>

#include "harness/core/variant.hpp"
#include "variants/convolution_2d/cpu_avx2_pack.hpp"
#include "variants/convolution_2d/cpu_rows.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 8;
    static constexpr int kRows = 1;

    Kernel(const Problem& problem, const Filter5x5& filter) : taps_(filter), channels_(problem.channels) {}

    template <int kCount>
    __attribute__((target("avx2,fma"))) void apply(const SourceRows<Source, kCount>& rows,
                                                   const ResultRows<kCount>& results, std::int64_t count) const {
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            __m256 sum = _mm256_setzero_ps();
#pragma GCC unroll 5
            for (std::size_t i = 0; i < kDiameter; ++i)
#pragma GCC unroll 5
                for (std::size_t j = 0; j < kDiameter; ++j) {
                    const auto* from = rows[i] + v + static_cast<std::int64_t>(j) * channels_;
                    const __m256i values =
                        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
                    sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(values), _mm256_set1_ps(taps_[i * kDiameter + j]), sum);
                }
            store_saturated(results[0] + v, sum);
        }
    }

private:
    Filter5x5 taps_;
    std::int64_t channels_;
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_float_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    correlate_in_parallel(problem, buffers.image, buffers.result, Kernel(problem, *buffers.filter),
                          configuration["parallel"] ? context.device.threads : 1);
}

}  // namespace

Variant<Problem> cpu_avx2_float() {
    return {.summary = "8 values at once in single precision, bytes converted as they are loaded",
            .source = "C 1.3",
            .limits = "AVX2 and FMA; narrow or fractional coefficients",
            .tolerance = kFractionTolerance,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
