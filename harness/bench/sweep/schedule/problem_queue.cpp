#include "harness/bench/sweep/schedule/problem_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/base/clock.hpp"
#include "harness/base/stop.hpp"

namespace espalier::bench {
namespace {

// A signal wakes nobody who waits for the queue.
constexpr std::chrono::milliseconds kTick{100};
constexpr std::size_t kMostLosses = 2;

}  // namespace

ProblemQueue::ProblemQueue(std::unique_ptr<Strategy> strategy, std::size_t workers, double deadline)
    : strategy_(std::move(strategy)), workers_(workers), deadline_(deadline) {}

std::optional<Task> ProblemQueue::next(bool quiet) {
    std::unique_lock lock(mutex_);
    while (!closed_ && !stop_requested()) {
        if (auto task = take(quiet)) {
            ++in_flight_;
            return task;
        }
        if (in_flight_ == 0) {
            closed_ = exhausted_ = true;
            changed_.notify_all();
            break;
        }
        changed_.wait_for(lock, kTick);
    }
    return std::nullopt;
}

std::optional<Task> ProblemQueue::take(bool quiet) {
    if (!returned_.empty()) {
        Task task = std::move(returned_.front());
        returned_.pop_front();
        task.seconds = std::min(task.seconds, seconds_left());
        return task;
    }
    auto task = strategy_->next({seconds_left(), workers_, in_flight_, quiet});
    if (task) task->visit = visits_[task->problem]++;
    return task;
}

double ProblemQueue::seconds_left() const { return std::max(0.0, deadline_ - steady_seconds()); }

void ProblemQueue::finished(const Task& task, std::span<const CaseRecord> records) {
    const std::lock_guard lock(mutex_);
    strategy_->finished(task, records);
    --in_flight_;
    ++done_;
    changed_.notify_all();
}

bool ProblemQueue::lost(const Task& task) {
    const std::lock_guard lock(mutex_);
    if (workers_ > 0) --workers_;
    if (++losses_[task.problem] >= kMostLosses) return false;
    returned_.push_back(task);
    --in_flight_;
    changed_.notify_all();
    return true;
}

void ProblemQueue::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

bool ProblemQueue::exhausted() const {
    const std::lock_guard lock(mutex_);
    return exhausted_ || (in_flight_ == 0 && returned_.empty() && strategy_->remaining() == 0);
}

QueueProgress ProblemQueue::progress() const {
    const std::lock_guard lock(mutex_);
    return {done_, in_flight_ + returned_.size() + (exhausted_ ? 0 : strategy_->remaining())};
}

}  // namespace espalier::bench
