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

/// Sizes of an interpolation: each of `receivers` traces of `samples` becomes `phases` copies, each followed by
/// `padding` zeros.
struct InterpolationShape {
    std::int64_t receivers = 0;  ///< traces
    std::int64_t samples = 0;    ///< of each
    std::int64_t padding = 0;    ///< zeros behind each copy
    std::int64_t phases = 1;     ///< copies of each trace

    /// From one copy to the next.
    [[nodiscard]] constexpr std::int64_t pitch() const { return samples + padding; }
};

/// Traces between their samples, for delays in fractions of a sample: the p-th copy of a trace is interpolated linearly
/// p / phases of a sample onwards, copies[r][p][k] = (1 - p / phases) traces[r][k] + p / phases traces[r][k + 1]; a
/// trace's last sample repeats itself. `traces`: receivers x samples finite values; `copies`: receivers x phases x
/// pitch. Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> interpolate_traces(const Device& device, const InterpolationShape& shape, const float* traces,
                                             float* copies, const Options& options = {});

/// Interpolations of one shape.
class ESPALIER_API InterpolationPlan : public Plan {
public:
    /// Does what `interpolate_traces` does.
    Result<void> run(std::span<const float> traces, std::span<float> copies, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// Options: all but `stream` and `wait`. Errors: as of `interpolate_traces`.
ESPALIER_API Result<InterpolationPlan> plan_interpolate_traces(const Device& device, const InterpolationShape& shape,
                                                               const Options& options = {},
                                                               const PlanOptions& planning = {});

/// Explains what `interpolate_traces` would run. Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_interpolate_traces(const Device& device, const InterpolationShape& shape,
                                                            const Options& options = {});

}  // namespace espalier::inline v1
