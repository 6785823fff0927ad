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

/// The inner product of two vectors `a` and `b` of `elements` numbers, written to the one at `result`, which must not
/// overlap them. No elements give 0. The result is off by at most 1e-4 times the sum of |a_i b_i|; sums
/// beyond the range of a float are infinite or NaN.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> dot_product(const Device& device, const float* a, const float* b, std::int64_t elements,
                                      float* result, const Options& options = {});

/// Dot products of vectors of one length.
class ESPALIER_API DotProductPlan : public Plan {
public:
    /// Does what `dot_product` does.
    Result<void> run(std::span<const float> a, std::span<const float> b, float* result, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// Options: all but `stream` and `wait`. Errors: as of `dot_product`.
ESPALIER_API Result<DotProductPlan> plan_dot_product(const Device& device, std::int64_t elements,
                                                     const Options& options = {}, const PlanOptions& planning = {});

/// Explains what `dot_product` would run. Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_dot_product(const Device& device, std::int64_t elements,
                                                     const Options& options = {});

}  // namespace espalier::inline v1
