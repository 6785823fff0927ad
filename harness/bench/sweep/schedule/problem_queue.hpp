#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "harness/bench/sweep/plan/strategy.hpp"

namespace espalier::bench {

/// Numbers of a queue's tasks.
struct QueueProgress {
    std::size_t done = 0, remaining = 0;
};

/// Hands the tasks of a strategy to the workers of equal devices, each to whichever is free next. All functions may be
/// called by any thread at any time.
class ProblemQueue {
public:
    /// Nothing is worth beginning after `deadline`, in steady seconds.
    ProblemQueue(std::unique_ptr<Strategy> strategy, std::size_t workers, double deadline = kUnlimitedSeconds);

    /// The next task, whose end has to be told. Waits while others measure what may bring more. Nothing once the queue
    /// is exhausted or closed or the sweep was asked to stop. `quiet`: others leave the machine alone.
    std::optional<Task> next(bool quiet = false);

    /// The task was measured.
    void finished(const Task& task, std::span<const CaseRecord> records);

    /// The calling worker lost its device over a task and takes no more. True: another one gets the task. False: this
    /// is the second device that was lost over this problem, which must not take them all; the task is still the
    /// caller's, to say `finished`.
    [[nodiscard]] bool lost(const Task& task);

    /// No more tasks for anybody.
    void close();

    /// Whether everything has been measured.
    [[nodiscard]] bool exhausted() const;
    [[nodiscard]] QueueProgress progress() const;

private:
    std::optional<Task> take(bool quiet);
    double seconds_left() const;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<Strategy> strategy_;
    std::size_t workers_, in_flight_ = 0, done_ = 0;
    double deadline_;
    bool closed_ = false, exhausted_ = false;
    std::deque<Task> returned_;                  ///< by workers that lost their device
    std::map<std::size_t, std::size_t> visits_;  ///< by problem
    std::map<std::size_t, std::size_t> losses_;  ///< by problem
};

}  // namespace espalier::bench
