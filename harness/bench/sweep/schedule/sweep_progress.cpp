#include "harness/bench/sweep/schedule/sweep_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/clock.hpp"

namespace espalier::bench {

double seconds_to_go(const std::vector<QueueProgress>& queues, double elapsed, double limit) {
    double longest = 0;  // different devices have queues of their own, side by side
    for (const QueueProgress& queue : queues) {
        if (queue.remaining == 0) continue;
        if (queue.done == 0) return -1;
        longest = std::max(longest, elapsed / static_cast<double>(queue.done) * static_cast<double>(queue.remaining));
    }
    return std::min(longest, std::max(0.0, limit));
}

SweepProgress::SweepProgress(bool quiet, double max_seconds)
    : max_seconds_(max_seconds), start_(steady_seconds()), line_(quiet) {}

std::size_t SweepProgress::watch(const ProblemQueue& queue, std::size_t workers) {
    queues_.push_back(&queue);
    doing_.resize(doing_.size() + workers);
    return doing_.size() - workers;
}

void SweepProgress::update(std::size_t worker, const std::string& what) {
    set(worker, what);
    line_.show([this] { return text(); });
}

void SweepProgress::set(std::size_t worker, const std::string& what) {
    const std::lock_guard lock(mutex_);
    doing_.at(worker) = what;
}

std::string SweepProgress::text() const {
    std::vector<QueueProgress> queues;
    QueueProgress sum;
    for (const ProblemQueue* queue : queues_) {
        queues.push_back(queue->progress());
        sum.done += queues.back().done;
        sum.remaining += queues.back().remaining;
    }
    const double elapsed = steady_seconds() - start_;
    const double left = seconds_to_go(queues, elapsed, max_seconds_ - elapsed);
    std::string text = fmt::format("{}/{} problems, {} gone, {} left: ", sum.done, sum.done + sum.remaining,
                                   duration(elapsed), left < 0 ? "?" : duration(left));
    const std::lock_guard lock(mutex_);
    const char* separator = "";
    for (const std::string& what : doing_) {
        if (what.empty()) continue;
        text.append(separator).append(what);
        separator = " | ";
    }
    return text;
}

}  // namespace espalier::bench
