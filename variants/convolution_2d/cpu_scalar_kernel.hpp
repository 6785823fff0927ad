#pragma once

#include <array>
#include <cstdint>

#include "variants/convolution_2d/cpu_rows.hpp"

namespace espalier::convolution_2d {

/// The plain loops over one row: for every value the 25 products, summed in `Sum`. No intrinsics: what
/// the compiler makes of them is part of what is measured.
template <class Sum>
class ScalarKernel {
public:
    using Source = std::uint8_t;
    static constexpr int kStep = 1;
    static constexpr int kRows = 1;

    ScalarKernel(const Problem& problem, const Filter5x5& filter) : channels_(problem.channels) {
        for (std::size_t i = 0; i < taps_.size(); ++i) taps_[i] = static_cast<Sum>(filter[i]);
    }

    template <int kCount>
    void apply(const SourceRows<Source, kCount>& rows, const ResultRows<kCount>& results, std::int64_t count) const {
        const auto taps = taps_;  // bytes may alias anything: a copy on the stack stays in registers
        const std::int64_t channels = channels_;
        std::uint8_t* const result = results[0];
        for (std::int64_t v = 0; v < count; ++v) {
            Sum sum = 0;
            for (int i = 0; i < kDiameter; ++i)
                for (int j = 0; j < kDiameter; ++j)
                    sum += taps[static_cast<std::size_t>(i * kDiameter + j)] *
                           static_cast<Sum>(rows[static_cast<std::size_t>(i)][v + j * channels]);
            result[v] = saturate(sum);
        }
    }

private:
    std::array<Sum, kDiameter * kDiameter> taps_;
    std::int64_t channels_;
};

/// Calls `work` with the scalar kernel whose sums are exact for the coefficients: 25 products of 16 and
/// 8 bits need at most 29 bits.
template <class Work>
void with_scalar_kernel(const Problem& problem, const Filter5x5& filter, Work&& work) {
    if (problem.values() == 0) return;
    if (problem.coefficients == Coefficients::float32)
        work(ScalarKernel<float>(problem, filter));
    else
        work(ScalarKernel<std::int32_t>(problem, filter));
}

}  // namespace espalier::convolution_2d
