#pragma once

#include <array>
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

/// How often each value of a byte occurs. 64 bits: a count may pass 2^32.
using Histogram256 = std::array<std::uint64_t, 256>;

/// Counts how often each of the 256 values occurs among `size` `bytes` at any address; overwrites the 256
/// `counts`, which must not overlap the bytes.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> count_bytes(const Device& device, const std::uint8_t* bytes, std::int64_t size,
                                      std::uint64_t* counts, const Options& options = {});

/// Histograms of so many bytes.
class ESPALIER_API HistogramPlan : public Plan {
public:
    /// Does what `count_bytes` does.
    Result<void> run(std::span<const std::uint8_t> bytes, std::uint64_t* counts, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

/// Options: all but `stream` and `wait`. Errors: as of `count_bytes`.
ESPALIER_API Result<HistogramPlan> plan_count_bytes(const Device& device, std::int64_t size,
                                                    const Options& options = {}, const PlanOptions& planning = {});

/// Explains what `count_bytes` would run. Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_count_bytes(const Device& device, std::int64_t size,
                                                     const Options& options = {});

}  // namespace espalier::inline v1
