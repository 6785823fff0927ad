#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "espalier/coherent_sum.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"

/// Seismic emission tomography by coherent summation (source S): for each trial source j and time k,
///   s_j(k) = sum over receivers r of d_r(k + delay(j, r)),
/// the traces shifted by the travel times from the source so that its emission adds up in phase.
namespace espalier::coherent_sum {

enum class VariantId : std::uint16_t;

/// Where the delays come from. Walk: of each source on its own, neighbouring receivers a few samples apart
/// (`DelayPattern::scattered`). Cube: travel times from the nodes of a cube, neighbouring ones little apart
/// (`DelayPattern::grid`).
enum class Delays : std::uint8_t { walk, cube };

inline constexpr std::string_view kCoherenceNames[] = {"sums", "maximum"};
inline constexpr std::string_view kDelaysNames[] = {"walk", "cube"};
inline constexpr std::string_view kPrecisionNames[] = {"single", "half"};

/// All row-major, on the device of the run.
struct Buffers {
    const float* traces = nullptr;           ///< receivers x trace_samples, finite values
    const std::int32_t* delays = nullptr;    ///< sources x receivers, each in 0..span
    float* sums = nullptr;                   ///< sources x samples; only for Coherence::sums
    float* maximum = nullptr;                ///< sources; only for Coherence::maximum
    std::int32_t* maximum_sample = nullptr;  ///< sources, the sample of the maximum; ties go to the first
};

struct Problem {
    using Buffers = coherent_sum::Buffers;
    using Id = VariantId;

    std::int64_t receivers = 1920;
    std::int64_t samples = 15000;  ///< times k that are summed: the window
    std::int64_t sources = 1000;   ///< trial sources, usually the nodes of a cube
    std::int64_t span = 512;       ///< the longest delay, in samples
    Coherence output = Coherence::maximum;
    Delays delays = Delays::walk;
    SumPrecision precision = SumPrecision::single;

    /// A window is read together with the longest delay after it.
    [[nodiscard]] constexpr std::int64_t trace_samples() const { return samples + span; }
    [[nodiscard]] constexpr std::int64_t sums() const { return sources * samples; }
    [[nodiscard]] constexpr std::int64_t additions() const { return sources * samples * receivers; }
    [[nodiscard]] constexpr std::int64_t trace_bytes() const {
        return receivers * trace_samples() * static_cast<std::int64_t>(sizeof(float));
    }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::receivers>("receivers", "problem.receivers"),
            number<&Problem::samples>("samples", "problem.samples"),
            number<&Problem::sources>("sources", "problem.sources"),
            number<&Problem::span>("span", "problem.span"),
            category<&Problem::output>("output", "problem.output", "Coherence", kCoherenceNames),
            relaxing(optional(category<&Problem::delays>("delays", "problem.delays", "Delays", kDelaysNames))),
            relaxing(optional(
                category<&Problem::precision>("precision", "problem.precision", "SumPrecision", kPrecisionNames))),
            derived<&Problem::additions>("additions", "problem.additions()"),
            derived<&Problem::trace_bytes>("trace_bytes", "problem.trace_bytes()"),
        };
        return list;
    }

    /// What the sources' windows reach of the traces and the delays read once, the result written once; one addition
    /// per receiver, source and time.
    [[nodiscard]] Cost cost() const {
        const std::int64_t reached = std::min(trace_samples(), sums());  // of few sources less than a long trace
        const double in =
            4.0 * static_cast<double>(receivers * reached) + 4.0 * static_cast<double>(sources * receivers);
        const double out =
            output == Coherence::sums ? 4.0 * static_cast<double>(sums()) : 8.0 * static_cast<double>(sources);
        return {.bytes = in + out, .fp32_ops = static_cast<double>(additions())};
    }
};

}  // namespace espalier::coherent_sum
