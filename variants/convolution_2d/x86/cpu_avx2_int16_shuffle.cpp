// 16-bit integers again, with few loads: 48 values of a row are loaded and widened once, and what the five
// taps of a row need is made of them by shuffles within registers instead of four more unaligned loads.
// Unrolled: two vectors of four rows of the result at once, so that each of the eight rows read serves up
// to four of them. Source C 1.3.

#include <immintrin.h>

#include "variants/convolution_2d/cpu_avx2_kernels.hpp"

namespace espalier::convolution_2d {
namespace {

/// 16 values starting at value kShift (0..16) of the 32 in `low` and `high`. AVX2 shifts bytes within
/// halves only, so the halves in the middle are brought together first.
template <int kShift>
__attribute__((target("avx2"), always_inline)) inline __m256i shifted(__m256i low, __m256i middle, __m256i high) {
    if constexpr (kShift == 0)
        return low;
    else if constexpr (kShift < 8)
        return _mm256_alignr_epi8(middle, low, 2 * kShift);
    else if constexpr (kShift == 8)
        return middle;
    else if constexpr (kShift < 16)
        return _mm256_alignr_epi8(high, middle, 2 * (kShift - 8));
    else
        return high;
}

template <int kChannels>
class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 32;
    static constexpr int kRows = 4;

    explicit Kernel(const Filter5x5& filter) {
        for (std::size_t i = 0; i < filter.size(); ++i) taps_[i].fill(static_cast<std::int16_t>(filter[i]));
    }

    template <int kCount>
    __attribute__((target("avx2"))) void apply(const SourceRows<Source, kCount>& rows,
                                               const ResultRows<kCount>& results, std::int64_t count) const {
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            __m256i sums[kCount][2];
#pragma GCC unroll 4
            for (int o = 0; o < kCount; ++o) sums[o][0] = sums[o][1] = _mm256_setzero_si256();
#pragma GCC unroll 8
            for (int i = 0; i < kCount + 2 * kRadius; ++i)
                add_row<kCount>(sums, rows[static_cast<std::size_t>(i)] + v, i);
#pragma GCC unroll 4
            for (int o = 0; o < kCount; ++o) {
                store_saturated(results[static_cast<std::size_t>(o)] + v, sums[o][0]);
                store_saturated(results[static_cast<std::size_t>(o)] + v + 16, sums[o][1]);
            }
        }
    }

private:
    /// Adds row i of the source to every row of the result that it is within reach of.
    template <int kCount>
    __attribute__((target("avx2"), always_inline)) void add_row(__m256i (&sums)[kCount][2], const std::uint8_t* from,
                                                                int i) const {
        const __m256i first = load_int16(from), second = load_int16(from + 16);
        // Of the last 16 only the taps' reach exists: loaded so that it ends there, and shifted into place.
        const __m128i end = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 + 4 * kChannels));
        const __m256i third = _mm256_cvtepu8_epi16(_mm_srli_si128(end, 16 - 4 * kChannels));
        const __m256i first_second = _mm256_permute2x128_si256(first, second, 0x21);
        const __m256i second_third = _mm256_permute2x128_si256(second, third, 0x21);
        add_tap<kCount, 0>(sums, first, first_second, second, second_third, third, i);
        add_tap<kCount, 1>(sums, first, first_second, second, second_third, third, i);
        add_tap<kCount, 2>(sums, first, first_second, second, second_third, third, i);
        add_tap<kCount, 3>(sums, first, first_second, second, second_third, third, i);
        add_tap<kCount, 4>(sums, first, first_second, second, second_third, third, i);
    }

    template <int kCount, int kTap>
    __attribute__((target("avx2"), always_inline)) void add_tap(__m256i (&sums)[kCount][2], __m256i first,
                                                                __m256i first_second, __m256i second,
                                                                __m256i second_third, __m256i third, int i) const {
        const __m256i left = shifted<kTap * kChannels>(first, first_second, second);
        const __m256i right = shifted<kTap * kChannels>(second, second_third, third);
#pragma GCC unroll 4
        for (int o = 0; o < kCount; ++o) {
            if (i < o || i - o >= kDiameter) continue;
            const auto& lanes = taps_[static_cast<std::size_t>((i - o) * kDiameter + kTap)];
            const __m256i tap = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes.data()));
            sums[o][0] = _mm256_add_epi16(sums[o][0], _mm256_mullo_epi16(left, tap));
            sums[o][1] = _mm256_add_epi16(sums[o][1], _mm256_mullo_epi16(right, tap));
        }
    }

    /// Each coefficient in all lanes: an operand in memory costs nothing beside a multiply.
    alignas(32) std::array<std::array<std::int16_t, 16>, kDiameter * kDiameter> taps_;
};

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    with_channels(problem.channels, [&](auto channels) {
        correlate_in_parallel(problem, buffers.image, buffers.result, Kernel<channels()>(*buffers.filter), threads);
    });
}

}  // namespace

Variant<Problem> cpu_avx2_int16_shuffle() {
    return {.summary = "16-bit integers; taps by shuffles of registers; two vectors of four rows at once",
            .source = "C 1.3",
            .limits = "AVX2; narrow coefficients",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports<supports_16_bit_sums>,
            .run = run};
}

}  // namespace espalier::convolution_2d
