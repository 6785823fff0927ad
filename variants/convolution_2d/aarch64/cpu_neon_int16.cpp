// 16 values of four rows of the result at once in 16-bit integers. What a tap reads is loaded and widened once and
// serves up to four rows. Products wrap and so do sums, which is right because every whole sum fits.

#include <arm_neon.h>

#include <array>
#include <utility>

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_rows.hpp"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

class Kernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 16;
    static constexpr int kRows = 4;

    Kernel(const Problem& problem, const Filter5x5& filter) : channels_(problem.channels) {
        for (std::size_t i = 0; i < filter.size(); ++i) taps_[i] = static_cast<std::int16_t>(filter[i]);
    }

    template <int kCount>
    void apply(const SourceRows<Source, kCount>& rows, const ResultRows<kCount>& results, std::int64_t count) const {
        const Taps taps{vld1q_s16(&taps_[0]), vld1q_s16(&taps_[8]), vld1q_s16(&taps_[16]), vld1q_s16(&taps_[24])};
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            Sums<kCount> sums;
            for (auto& sum : sums) sum = {vdupq_n_s16(0), vdupq_n_s16(0)};
            add_rows<kCount>(sums, rows, v, taps, std::make_integer_sequence<int, kCount + 2 * kRadius>());
            for (std::size_t o = 0; o < kCount; ++o)
                vst1q_u8(results[o] + v, vqmovun_high_s16(vqmovun_s16(sums[o][0]), sums[o][1]));
        }
    }

private:
    // Rows, taps and lanes are template parameters: a multiply-add takes its coefficient from a lane that is a
    // constant.
    using Taps = std::array<int16x8_t, 4>;
    template <int kCount>
    using Sums = std::array<std::array<int16x8_t, 2>, kCount>;

    template <int kCount, int... kRow>
    [[gnu::always_inline]] void add_rows(Sums<kCount>& sums, const SourceRows<Source, kCount>& rows, std::int64_t v,
                                         const Taps& taps, std::integer_sequence<int, kRow...>) const {
        (add_row<kCount, kRow>(sums, rows[kRow] + v, taps, std::make_integer_sequence<int, kDiameter>()), ...);
    }

    template <int kCount, int kRow, int... kTap>
    [[gnu::always_inline]] void add_row(Sums<kCount>& sums, const std::uint8_t* from, const Taps& taps,
                                        std::integer_sequence<int, kTap...>) const {
        (add<kCount, kRow, kTap>(sums, vld1q_u8(from + kTap * channels_), taps,
                                 std::make_integer_sequence<int, kCount>()),
         ...);
    }

    /// A row of the source at one tap, to every row of the result within reach.
    template <int kCount, int kRow, int kTap, int... kResult>
    [[gnu::always_inline]] static void add(Sums<kCount>& sums, uint8x16_t bytes, const Taps& taps,
                                           std::integer_sequence<int, kResult...>) {
        const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes)));
        const int16x8_t high = vreinterpretq_s16_u16(vmovl_high_u8(bytes));
        (add_product<kRow - kResult, kTap>(sums[kResult], low, high, taps), ...);
    }

    template <int kFilterRow, int kTap>
    [[gnu::always_inline]] static void add_product(std::array<int16x8_t, 2>& sums, int16x8_t low, int16x8_t high,
                                                   const Taps& taps) {
        if constexpr (kFilterRow >= 0 && kFilterRow < kDiameter) {
            constexpr int kIndex = kFilterRow * kDiameter + kTap;
            sums[0] = vmlaq_laneq_s16(sums[0], low, taps[kIndex / 8], kIndex % 8);
            sums[1] = vmlaq_laneq_s16(sums[1], high, taps[kIndex / 8], kIndex % 8);
        }
    }

    std::array<std::int16_t, 32> taps_{};  ///< the 25 and what fills four vectors
    std::int64_t channels_;
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.neon) return Support::no("needs a processor with NEON");
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    return supports_16_bit_sums(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    correlate_in_parallel(problem, buffers.image, buffers.result, Kernel(problem, *buffers.filter),
                          configuration["parallel"] ? context.device.threads : 1);
}

}  // namespace

Variant<Problem> cpu_neon_int16() {
    return {.role = Role::modern,
            .summary = "16 values of four rows at once in 16-bit integers, bytes widened once for all rows",
            .limits = "narrow coefficients",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
