#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "harness/bench/sweep/plan/strategy.hpp"

namespace espalier::bench {

/// Hands out the tasks that it was given, each once, in random order, for as long as there is time.
class TaskList final : public Strategy {
public:
    TaskList(std::vector<Task> tasks, std::uint64_t seed) : tasks_(std::move(tasks)) {
        std::mt19937_64 random(seed);
        std::shuffle(tasks_.begin(), tasks_.end(), random);
    }

    std::optional<Task> next(const SchedulerState& state) override {
        if (tasks_.empty() || state.seconds_left <= 0) return std::nullopt;
        Task task = std::move(tasks_.back());
        tasks_.pop_back();
        task.seconds = std::min(task.seconds, state.seconds_left);
        return task;
    }
    void finished(const Task&, std::span<const CaseRecord>) override {}
    [[nodiscard]] std::size_t remaining() const override { return tasks_.size(); }

private:
    std::vector<Task> tasks_;
};

}  // namespace espalier::bench
