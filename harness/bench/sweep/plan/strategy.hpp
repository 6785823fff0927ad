#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "harness/bench/records/case_record.hpp"

namespace espalier::bench {

inline constexpr double kUnlimitedSeconds = std::numeric_limits<double>::infinity();
/// Less makes no sense for one task.
inline constexpr double kLeastTaskSeconds = 2;

/// One measurement to make: cases of one problem, together.
struct Task {
    std::size_t problem = 0;             ///< index among the plan's problems
    std::vector<std::size_t> cases;      ///< of the problem's planned ones; none means all of them
    double seconds = kUnlimitedSeconds;  ///< it may take so long, all in all
    std::size_t visit = 0;               ///< how often the problem was handed out before; the queue counts
};

/// What a strategy chooses by, beside the plan and the records that came back.
struct SchedulerState {
    double seconds_left = kUnlimitedSeconds;  ///< of `--max-time`
    std::size_t workers = 1;                  ///< that measure side by side
    std::size_t in_flight = 0;                ///< tasks that are being measured now
    bool quiet = false;                       ///< others leave the machine alone: disturbed problems may be repeated
};

/// Seconds for the next of so many tasks: each worker still has all of the remaining time, for as many as it will get.
/// At least `kLeastTaskSeconds`.
double equal_share(const SchedulerState& state, std::size_t tasks);

/// Decides what is measured next. One call at a time (problem_queue.hpp sees to it), from several threads. A strategy
/// is made for one plan, and may come back to a problem: later records take the place of earlier ones of the same case,
/// but ratios are paired only within one task.
class Strategy {
public:
    virtual ~Strategy() = default;

    /// The next task; nullopt: no task is ready. Retry when one finishes; if none is in flight, the sweep is done.
    virtual std::optional<Task> next(const SchedulerState& state) = 0;

    /// What came of a task: a record of each of its cases.
    virtual void finished(const Task& task, std::span<const CaseRecord> records) = 0;

    /// Tasks still to come, as far as is known, for the forecast of the remaining time.
    [[nodiscard]] virtual std::size_t remaining() const = 0;
};

}  // namespace espalier::bench
