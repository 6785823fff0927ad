#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "harness/base/progress.hpp"
#include "harness/bench/sweep/schedule/problem_queue.hpp"

namespace espalier::bench {

/// Seconds that the queues still take at the pace of the `elapsed` ones, at most `limit`; negative if nothing tells.
double seconds_to_go(const std::vector<QueueProgress>& queues, double elapsed, double limit);

/// The one progress line of all workers of a sweep. Any thread may call any function but `watch`.
class SweepProgress {
public:
    /// `max_seconds`: infinite if there is no limit.
    SweepProgress(bool quiet, double max_seconds);

    /// Counts a queue's tasks, and makes room for so many workers; returns the number of the first. Before any of them
    /// starts.
    std::size_t watch(const ProblemQueue& queue, std::size_t workers);

    /// A worker is busy with `what`, or no longer.
    void update(std::size_t worker, const std::string& what);
    void idle(std::size_t worker) { set(worker, {}); }

    /// A line that stays.
    void say(const std::string& text) { line_.say(text); }
    void log_error(const std::string& text) { line_.log_error(text); }
    /// What is done before any worker starts.
    void show(const std::string& text) { line_.show(text); }

private:
    void set(std::size_t worker, const std::string& what);
    [[nodiscard]] std::string text() const;

    double max_seconds_, start_;
    std::vector<const ProblemQueue*> queues_;
    mutable std::mutex mutex_;
    std::vector<std::string> doing_;  ///< by worker
    ProgressLine line_;
};

}  // namespace espalier::bench
