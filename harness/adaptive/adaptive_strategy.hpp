#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harness/sweep/plan.hpp"
#include "harness/sweep/strategy.hpp"

namespace espalier::bench {

class FamilyShare;

/// Measures a share of the cases, those that decide the trees: an `AdaptiveSweep` for every family. The next task is of
/// the family that has used the least of its share and waits for no other task, so that time that runs out leaves all
/// families a part, and several workers measure different families. Peers are not asked for.
///
/// A family's opening problems (`AdaptiveSweep::opening`) are measured whatever the share: without them there would be
/// nothing to predict from.
class AdaptiveStrategy final : public Strategy {
public:
    /// `recorded`: outcomes of the plan's cases, in any order; they count as if they had been asked for. All problems
    /// of a family have the same cases (`make_plan`). `plan` must outlive the strategy.
    AdaptiveStrategy(const SweepPlan& plan, std::span<const CaseRecord> recorded, double share);
    ~AdaptiveStrategy() override;

    std::optional<Task> next(const SchedulerState& state) override;
    void finished(const Task& task, std::span<const CaseRecord> records) override;
    [[nodiscard]] std::size_t remaining() const override;
    [[nodiscard]] std::vector<SkippedCases> skipped_cases() const override;

private:
    void resume_from(std::span<const CaseRecord> recorded);

    const SweepPlan& plan_;
    std::vector<std::unique_ptr<FamilyShare>> families_;
    std::vector<FamilyShare*> family_of_;     ///< by problem of the plan
    std::vector<std::vector<bool>> covered_;  ///< by problem and case: recorded
};

}  // namespace espalier::bench
