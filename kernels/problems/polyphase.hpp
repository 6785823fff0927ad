#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/variant.hpp"

/// Traces between their samples: `phases` copies of each, the p-th interpolated linearly p / phases of a sample
/// onwards. With delays that point into these copies (see travel_time.hpp) coherent summation takes delays in fractions
/// of a sample and still adds one number per receiver, source and time. Interpolating within the sum instead would take
/// two loads and a multiplication there, once per source; here they happen once.
namespace espalier::polyphase {

enum class VariantId : std::uint16_t;

struct Buffers {
    const float* traces = nullptr;  ///< receivers x samples, finite values
    float* copies = nullptr;        ///< receivers x phases x pitch
};

/// copies[r][p][k] = (1 - p / phases) traces[r][k] + p / phases traces[r][k + 1]; a trace's last sample is taken to
/// repeat itself. After each copy there are `padding` zeros.
struct Problem {
    using Buffers = polyphase::Buffers;
    using Id = VariantId;

    std::int64_t receivers = 1920;
    std::int64_t samples = 12000;  ///< of a trace
    std::int64_t padding = 0;      ///< zeros that follow each copy
    std::int64_t phases = 8;

    [[nodiscard]] constexpr std::int64_t pitch() const { return samples + padding; }  ///< from one copy to the next

    [[nodiscard]] constexpr std::int64_t values() const { return receivers * phases * pitch(); }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::receivers>("receivers", "problem.receivers"),
            number<&Problem::samples>("samples", "problem.samples"),
            number<&Problem::padding>("padding", "problem.padding"),
            number<&Problem::phases>("phases", "problem.phases"),
        };
        return list;
    }

    /// Traces read once, copies written once; two multiplications and an addition per value written.
    [[nodiscard]] Cost cost() const {
        const double in = static_cast<double>(receivers * samples), out = static_cast<double>(values());
        return {.bytes = 4 * (in + out), .fp32_ops = 3 * out};
    }
};

constexpr float interpolated(float now, float next, std::int64_t phase, std::int64_t phases) {
    const float share = static_cast<float>(phase) / static_cast<float>(phases);
    return (1 - share) * now + share * next;
}

/// The scale is the sum of both samples' magnitudes.
inline constexpr Tolerance kInterpolated{.relative = 4.0 / 16777216.0,
                                         .reason = "a share and two products, each rounded to single precision"};

}  // namespace espalier::polyphase
