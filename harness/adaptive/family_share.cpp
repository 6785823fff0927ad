#include "harness/adaptive/family_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/learn/in_family.hpp"

namespace espalier::bench {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The cases that a selector may choose.
std::vector<std::size_t> cases_to_choose_from(const PlannedProblem& planned) {
    std::vector<std::size_t> cases;
    for (std::size_t i = 0; i < planned.cases.size(); ++i)
        if (planned.family->variants()[planned.cases[i].variant].role != Role::peer) cases.push_back(i);
    return cases;
}

learn::Choice candidate(const PlannedProblem& planned, std::size_t planned_case) {
    const auto& [variant, configuration, reason] = planned.cases[planned_case];
    const auto& all = planned.family->variants()[variant].configurations;
    const auto at = std::ranges::find(all, configuration.text(), &Configuration::text);
    return {variant, static_cast<std::size_t>(at - all.begin())};
}

/// The grid of a sweep that has measured nothing yet.
learn::Matrix grid_of(const SweepPlan& plan, const std::vector<std::size_t>& problems,
                      const std::vector<std::size_t>& cases) {
    learn::Matrix grid;
    const PlannedProblem& first = plan.problems[problems.front()];
    grid.columns = learn::columns_of(*first.family);
    for (const std::size_t i : cases) {
        if (first.family->variants()[first.cases[i].variant].role == Role::baseline)
            grid.baseline = grid.candidates.size();
        grid.candidates.push_back(candidate(first, i));
    }
    for (const std::size_t p : problems) {
        const PlannedProblem& planned = plan.problems[p];
        grid.problems.push_back(planned.problem);
        const auto values = learn::values_of(grid.columns, planned.family->feature_values(planned.problem));
        grid.values.insert(grid.values.end(), values.begin(), values.end());
        for (const std::size_t i : cases)
            grid.states.push_back(planned.cases[i].unsupported.empty() ? learn::CellState::missing
                                                                       : learn::CellState::unsupported);
    }
    grid.slowdown.assign(grid.states.size(), 0);
    grid.loss.assign(grid.states.size(), learn::kInfeasible);
    return grid;
}

}  // namespace

FamilyShare::FamilyShare(const SweepPlan& plan, std::vector<std::size_t> problems, double share)
    : problems_(std::move(problems)),
      cases_(cases_to_choose_from(plan.problems[problems_.front()])),
      grid_(grid_of(plan, problems_, cases_)),
      sweep_(grid_),
      timed_(grid_.rows(), std::vector<bool>(grid_.candidates.size())) {
    const auto runnable = static_cast<double>(grid_.count(learn::CellState::missing));
    may_measure_ = static_cast<std::size_t>(std::ceil(share * runnable));
}

std::optional<Task> FamilyShare::next() {
    if (over_ || in_flight_) return std::nullopt;
    const learn::Batch batch = sweep_.next();
    const std::size_t after = sweep_.measurements() + batch.candidates.size();
    if (batch.candidates.empty() || (after > may_measure_ && !sweep_.opening())) {
        over_ = true;
        return std::nullopt;
    }
    in_flight_ = true;
    Task task{.problem = problems_[batch.problem], .cases = {}};
    for (const std::size_t c : batch.candidates) task.cases.push_back(cases_[c]);
    return task;
}

void FamilyShare::finished(const Task& task, std::span<const CaseRecord> records) {
    in_flight_ = false;
    ++tasks_;
    recorded(task.problem, task.cases, records);
}

void FamilyShare::recorded(std::size_t problem, const std::vector<std::size_t>& cases,
                           std::span<const CaseRecord> records) {
    learn::Batch batch{row_of(problem), {}};
    std::vector<double> logs;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto c = candidate_of(cases[i]);
        if (!c || grid_.state(batch.problem, *c) == learn::CellState::unsupported) continue;
        const bool ok = records[i].status == Status::ok;
        // Time that ran out says nothing of what was timed before.
        if (records[i].status == Status::not_measured && timed_[batch.problem][*c]) continue;
        timed_[batch.problem][*c] = ok;
        batch.candidates.push_back(*c);
        logs.push_back(ok ? std::log(records[i].time_ns) : kUnknown);
    }
    if (!batch.candidates.empty()) sweep_.record(batch, logs);
}

double FamilyShare::used() const {
    return static_cast<double>(sweep_.measurements()) / static_cast<double>(std::max<std::size_t>(may_measure_, 1));
}

std::size_t FamilyShare::remaining_tasks() const {
    if (over_) return 0;
    constexpr double kCasesPerTask = 4;  // about, before it is known
    const auto measured = static_cast<double>(sweep_.measurements());
    const double per_task = tasks_ > 0 ? std::max(1.0, measured / static_cast<double>(tasks_)) : kCasesPerTask;
    const double left = (static_cast<double>(may_measure_) - measured) / per_task;
    const auto tasks = static_cast<std::size_t>(std::max(sweep_.opening() ? 1.0 : 0.0, std::ceil(left)));
    return tasks - std::min<std::size_t>(tasks, in_flight_);
}

std::optional<std::size_t> FamilyShare::candidate_of(std::size_t planned_case) const {
    const auto at = std::ranges::find(cases_, planned_case);
    return at == cases_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - cases_.begin()));
}

std::size_t FamilyShare::row_of(std::size_t problem) const {
    return static_cast<std::size_t>(std::ranges::find(problems_, problem) - problems_.begin());
}

}  // namespace espalier::bench
