#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/sweep/plan/options.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// One case of a plan. A reason means that it cannot run and is recorded as `unsupported`.
struct PlannedCase {
    static constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

    std::size_t variant = 0;
    Configuration configuration;
    std::string unsupported;
    std::size_t place = kNoPlace;  ///< among those that are measured before all others
    bool needed = false;           ///< the problem is worth little without it
};

/// All cases of one problem: measured together, in interleaved rounds, and recorded together.
struct PlannedProblem {
    const Family* family = nullptr;
    std::string problem;
    std::vector<PlannedCase> cases;
    bool every_counter = false;  ///< however long a run is; else of long ones those of few passes

    [[nodiscard]] std::size_t runnable() const;
    /// The cases that can run, as they are measured in case time runs out: those that have a place, then the baseline,
    /// without which nothing can be learnt from the problem, then every variant's default; random within.
    [[nodiscard]] std::vector<std::size_t> in_order(std::uint64_t seed) const;
    /// Some of the cases, by their indices.
    [[nodiscard]] PlannedProblem only(const std::vector<std::size_t>& chosen) const;
};

/// Free bytes where the variants run and on the host.
struct FreeMemory {
    std::size_t device = 0, host = 0;
};

struct SweepPlan {
    std::vector<PlannedProblem> problems;  ///< this shard's, in the order of the families and their problems
    std::string id;                        ///< SHA-256 of the case keys of all shards
    [[nodiscard]] std::size_t cases() const;
};

/// Every problem x variant x configuration that the options ask for and that is of the device's kind;
/// what is infeasible there, memory included, carries its reason. Shards split by problem. Throws
/// `BadProblem` for unknown families, variants, axes and values.
SweepPlan make_plan(const SweepOptions& options, const DeviceInfo& device, const FreeMemory& free);

}  // namespace espalier::bench
