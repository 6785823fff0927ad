#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/adaptive/adaptive.hpp"
#include "harness/sweep/plan.hpp"
#include "harness/sweep/strategy.hpp"

namespace espalier::bench {

/// What a strategy knows of one family: its adaptive sweep in terms of the plan's problems and cases.
class FamilyShare {
public:
    /// `problems`: the indices of the family's in the plan.
    FamilyShare(const SweepPlan& plan, std::vector<std::size_t> problems, double share);
    FamilyShare(const FamilyShare&) = delete;
    FamilyShare& operator=(const FamilyShare&) = delete;

    /// The next task, of which there is only one at a time; none if the share is used up or everything is known.
    std::optional<Task> next();
    [[nodiscard]] bool in_flight() const { return in_flight_; }
    void finished(const Task& task, std::span<const CaseRecord> records);

    /// Outcomes that were there before: those of `cases`, measured together.
    void recorded(std::size_t problem, const std::vector<std::size_t>& cases, std::span<const CaseRecord> records);

    /// Measurements over those that it may make.
    [[nodiscard]] double used() const;
    /// Tasks still to come, that in flight not counted.
    [[nodiscard]] std::size_t remaining_tasks() const;

private:
    [[nodiscard]] std::optional<std::size_t> candidate_of(std::size_t planned_case) const;
    [[nodiscard]] std::size_t row_of(std::size_t problem) const;

    std::vector<std::size_t> problems_;  ///< of the plan, by row of the grid
    std::vector<std::size_t> cases_;     ///< of every problem, by candidate of the grid
    learn::Matrix grid_;
    learn::AdaptiveSweep sweep_;            ///< of the grid
    std::vector<std::vector<bool>> timed_;  ///< by row and candidate
    std::size_t may_measure_ = 0, tasks_ = 0;
    bool in_flight_ = false, over_ = false;
};

}  // namespace espalier::bench
