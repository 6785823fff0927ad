#pragma once

#include <cstdint>
#include <deque>

#include "harness/bench/sweep/plan/strategy.hpp"

namespace espalier::bench {

/// Measures all cases of every problem, in random order. Each problem gets an equal share of the remaining time, so
/// that those that finish early leave more to the rest, but no less than makes sense, so that too little time measures
/// some problems well instead of none. Urgent ones come first, and share all of the time among themselves.
///
/// Time that is left at the end goes to the problems that their share did not suffice for: they are measured again,
/// whole, because only ratios within one measurement are paired, and with clearly more time than before, or it would be
/// spent for the same cases again. Then, while the machine is quiet, to those that others disturbed, each once.
class EqualShares final : public Strategy {
public:
    /// Measures those of `problems` problems that are in `open`, of which some are `urgent`. `seed` alone decides the
    /// order of all.
    EqualShares(std::size_t problems, const std::vector<std::size_t>& open, std::uint64_t seed,
                const std::vector<std::size_t>& urgent = {});

    std::optional<Task> next(const SchedulerState& state) override;
    void finished(const Task& task, std::span<const CaseRecord> records) override;
    [[nodiscard]] std::size_t remaining() const override;

private:
    struct Cut {
        std::size_t problem = 0;
        double seconds = 0;  ///< which were not enough
    };
    struct Disturbed {
        std::size_t problem = 0;
        double seconds = 0;  ///< that it took
    };
    std::optional<Task> again(const SchedulerState& state);
    std::optional<Task> undisturbed(const SchedulerState& state);

    std::deque<std::size_t> order_;  ///< of the problems that had no turn yet
    std::size_t urgent_ = 0;         ///< so many of its first ones
    std::deque<Cut> cut_;
    std::deque<Disturbed> disturbed_;
};

}  // namespace espalier::bench
