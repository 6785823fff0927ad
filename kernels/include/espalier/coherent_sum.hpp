#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/options.hpp"
#include "espalier/plan.hpp"

namespace espalier::inline v1 {

/// The part of a window's sums that coherent summation keeps.
enum class Coherence {
    sums,     ///< every sum: sources x samples
    maximum,  ///< per source only the largest sum and when it occurs: the coherence cube
};

/// How exact coherent sums must be.
enum class SumPrecision : std::uint8_t {
    single,  ///< added in single precision
    half,    ///< a sum may besides be off by (receivers + 3) / 8000 of the largest magnitude among all samples
};

/// How delays differ from one source to the next. Sums are right with either; devices read one window of a trace for
/// several sources whose delays are close, so that the wrong one costs time.
enum class DelayPattern : std::uint8_t {
    grid,       ///< little: travel times from the nodes of a grid, numbered along its axes
    scattered,  ///< in any way
};

/// Sizes of a coherent summation, s_j(k) = sum over receivers r of traces[r][k + delays[j][r]].
struct CoherentSumShape {
    std::int64_t receivers = 0;                     ///< traces
    std::int64_t samples = 0;                       ///< times k that are summed: the window
    std::int64_t sources = 0;                       ///< trial sources j, usually the nodes of a grid
    std::int64_t span = 0;                          ///< the longest delay, in samples
    SumPrecision precision = SumPrecision::single;  ///< how exact the sums must be
    DelayPattern delays = DelayPattern::grid;       ///< what to expect of them
};

/// All sums of a window. `traces`: receivers x (samples + span) finite values, row-major. `delays`: sources x
/// receivers sample counts, each in 0..span (checked in host memory; in device memory the caller answers for
/// it). `sums`: sources x samples.
/// With `SumPrecision::half` a device may add numbers of 16 bits, which is faster where many sources share delays. One
/// trace that is much larger than the others then costs all of them precision: bring them to one scale first.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> sum_coherently(const Device& device, const CoherentSumShape& shape, const float* traces,
                                         const std::int32_t* delays, float* sums, const Options& options = {});

/// Sums as `sum_coherently`, keeping per source only the largest sum and its sample, the earliest where sums are equal:
/// `maximum` and `sample` have `shape.sources` elements. A window without samples has no maximum: 0 at sample -1.
ESPALIER_API Result<void> maximum_coherence(const Device& device, const CoherentSumShape& shape, const float* traces,
                                            const std::int32_t* delays, float* maximum, std::int32_t* sample,
                                            const Options& options = {});

/// Summations of one shape that keep either all sums or the maxima.
class ESPALIER_API CoherentSumPlan : public Plan {
public:
    /// Does what `sum_coherently` does, in a plan for `Coherence::sums`. Delays in host memory are checked at each run.
    Result<void> run(std::span<const float> traces, std::span<const std::int32_t> delays, std::span<float> sums,
                     Stream stream = nullptr, std::span<std::byte> workspace = {}) const;

    /// Does what `maximum_coherence` does, in a plan for `Coherence::maximum`.
    Result<void> run(std::span<const float> traces, std::span<const std::int32_t> delays, std::span<float> maximum,
                     std::span<std::int32_t> sample, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// A plan that keeps what `output` says. Options: all but `stream` and `wait`. Errors: as of `sum_coherently`.
ESPALIER_API Result<CoherentSumPlan> plan_coherent_sum(const Device& device, const CoherentSumShape& shape,
                                                       Coherence output, const Options& options = {},
                                                       const PlanOptions& planning = {});

/// Explains what either, as `output` says, would run. Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_coherent_sum(const Device& device, const CoherentSumShape& shape,
                                                      Coherence output, const Options& options = {});

}  // namespace espalier::inline v1
