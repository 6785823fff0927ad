// 16 values at once in 16-bit integers: for every tap an unaligned load of 16 bytes, widened to 16 bits on
// the way, a 16-bit multiply and an add; the sums are packed back with saturation. Source C 1.3.
// The multiplier keeps the low 16 bits, so only `narrow` coefficients are right.

#include <immintrin.h>

#include "harness/core/variant.hpp"
#include "variants/convolution_2d/cpu_rows.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 16;
    static constexpr int kRows = 1;

    Kernel(const Problem& problem, const Filter5x5& filter) : channels_(problem.channels) {
        for (std::size_t i = 0; i < taps_.size(); ++i) taps_[i] = static_cast<std::int16_t>(filter[i]);
    }

    template <int kCount>
    __attribute__((target("avx2"))) void apply(const SourceRows<Source, kCount>& rows,
                                               const ResultRows<kCount>& results, std::int64_t count) const {
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            __m256i sum = _mm256_setzero_si256();
#pragma GCC unroll 5
            for (std::size_t i = 0; i < kDiameter; ++i)
#pragma GCC unroll 5
                for (std::size_t j = 0; j < kDiameter; ++j) {
                    const auto* from = rows[i] + v + static_cast<std::int64_t>(j) * channels_;
                    const __m256i values =
                        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
                    sum =
                        _mm256_add_epi16(sum, _mm256_mullo_epi16(values, _mm256_set1_epi16(taps_[i * kDiameter + j])));
                }
            _mm_storeu_si128(reinterpret_cast<__m128i*>(results[0] + v),
                             _mm_packus_epi16(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)));
        }
    }

private:
    std::array<std::int16_t, kDiameter * kDiameter> taps_;
    std::int64_t channels_;
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_16_bit_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    correlate_in_parallel(problem, buffers.image, buffers.result, Kernel(problem, *buffers.filter),
                          configuration["parallel"] ? context.device.threads : 1);
}

}  // namespace

Variant<Problem> cpu_avx2_int16() {
    return {.summary = "16 values at once in 16-bit integers, bytes widened as they are loaded",
            .source = "C 1.3",
            .limits = "AVX2; narrow coefficients",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
