#include "harness/adaptive/adaptive_strategy.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "harness/adaptive/family_share.hpp"
#include "harness/sweep/case_records.hpp"

namespace espalier::bench {

AdaptiveStrategy::AdaptiveStrategy(const SweepPlan& plan, std::span<const CaseRecord> recorded, double share)
    : plan_(plan), family_of_(plan.problems.size()) {
    std::vector<std::vector<std::size_t>> by_family;  // in the plan's order
    for (std::size_t p = 0; p < plan.problems.size(); ++p) {
        covered_.emplace_back(plan.problems[p].cases.size());
        const auto same = std::ranges::find_if(
            by_family, [&](const auto& other) { return plan.problems[other[0]].family == plan.problems[p].family; });
        (same == by_family.end() ? by_family.emplace_back() : *same).push_back(p);
    }
    for (const auto& problems : by_family) {
        families_.push_back(std::make_unique<FamilyShare>(plan, problems, share));
        for (const std::size_t p : problems) family_of_[p] = families_.back().get();
    }
    resume_from(recorded);
}

AdaptiveStrategy::~AdaptiveStrategy() = default;

/// Session by session, because only times of one session compare.
void AdaptiveStrategy::resume_from(std::span<const CaseRecord> recorded) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> place;
    for (std::size_t p = 0; p < plan_.problems.size(); ++p)
        for (std::size_t i = 0; i < covered_[p].size(); ++i)
            place[planned_record({}, plan_.problems[p], plan_.problems[p].cases[i]).key()] = {p, i};
    // By session and problem: of each case the last one, as merging does.
    std::map<std::pair<std::string, std::size_t>, std::map<std::size_t, const CaseRecord*>> together;
    for (const CaseRecord& record : recorded) {
        const auto at = place.find(record.key());
        if (at == place.end() || record.status == Status::not_measured) continue;
        const auto [problem, index] = at->second;
        together[{record.provenance.session, problem}][index] = &record;
        covered_[problem][index] = true;
    }
    for (const auto& [where, outcomes] : together) {
        std::vector<std::size_t> cases;
        std::vector<CaseRecord> records;
        for (const auto& [index, record] : outcomes) cases.push_back(index), records.push_back(*record);
        family_of_[where.second]->recorded(where.second, cases, records);
    }
}

std::optional<Task> AdaptiveStrategy::next(const SchedulerState& state) {
    if (!(state.seconds_left > 0)) return std::nullopt;
    std::vector<FamilyShare*> free;
    for (const auto& family : families_)
        if (!family->in_flight()) free.push_back(family.get());
    std::ranges::stable_sort(free, {}, &FamilyShare::used);
    const double seconds = equal_share(state, remaining());  // those in flight are nearly through
    for (FamilyShare* family : free)
        if (auto task = family->next()) {
            task->seconds = seconds;
            return task;
        }
    return std::nullopt;
}

void AdaptiveStrategy::finished(const Task& task, std::span<const CaseRecord> records) {
    for (const std::size_t i : task.cases) covered_[task.problem][i] = true;
    family_of_[task.problem]->finished(task, records);
}

std::size_t AdaptiveStrategy::remaining() const {
    std::size_t tasks = 0;
    for (const auto& family : families_) tasks += family->remaining_tasks();
    return tasks;
}

std::vector<SkippedCases> AdaptiveStrategy::skipped_cases() const {
    std::vector<SkippedCases> all;
    for (std::size_t p = 0; p < covered_.size(); ++p) {
        SkippedCases skipped{.problem = p, .cases = {}, .reason = kNotAskedFor};
        for (std::size_t i = 0; i < covered_[p].size(); ++i)
            if (!covered_[p][i]) skipped.cases.push_back(i);
        if (!skipped.cases.empty()) all.push_back(std::move(skipped));
    }
    return all;
}

}  // namespace espalier::bench
