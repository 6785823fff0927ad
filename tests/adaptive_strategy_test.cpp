// A sweep that measures a share of its plan: what it asks for of a plan whose times are known in closed form.

#include "harness/adaptive/adaptive_strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "harness/adaptive/adaptive.hpp"
#include "tests/synthetic/family.hpp"

namespace espalier::bench {
namespace {

using Measured = std::set<std::pair<std::size_t, std::size_t>>;  // problem, case

/// All cases of a family on the synthetic device, peers among them, as `make_plan` lays them out.
void add(SweepPlan& plan, const Family& family, const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) {
        PlannedProblem planned{&family, problem, {}};
        for (std::size_t v = 0; v < family.variants().size(); ++v) {
            if (family.variants()[v].kind != DeviceKind::cpu) continue;
            for (const Configuration& configuration : family.variants()[v].configurations)
                planned.cases.push_back(
                    {v, configuration, family.supports(v, problem, configuration, synthetic::device()).reason});
        }
        plan.problems.push_back(std::move(planned));
    }
}
void add(SweepPlan& plan, const Family& family) {
    add(plan, family, family.default_problems(DeviceKind::cpu, Effort::full));
}

SweepPlan plan() {
    SweepPlan plan;
    add(plan, synthetic::family(), synthetic::problems());
    return plan;
}

bool is_peer(const SweepPlan& plan, std::size_t problem, std::size_t index) {
    const PlannedProblem& planned = plan.problems[problem];
    return planned.family->variants()[planned.cases[index].variant].role == Role::peer;
}

/// What may be asked for.
std::size_t runnable(const SweepPlan& plan) {
    std::size_t count = 0;
    for (std::size_t p = 0; p < plan.problems.size(); ++p)
        for (std::size_t i = 0; i < plan.problems[p].cases.size(); ++i)
            count += plan.problems[p].cases[i].unsupported.empty() && !is_peer(plan, p, i);
    return count;
}

/// A device on which everything takes what the synthetic family's closed form says, times a factor for each session.
class Device {
public:
    explicit Device(const SweepPlan& plan) : plan_(plan) {}

    std::function<Status(const CaseRecord&)> ends = [](const CaseRecord&) { return Status::ok; };

    std::vector<CaseRecord> measure(const Task& task, const std::string& session) const {
        std::vector<CaseRecord> records;
        const PlannedProblem& planned = plan_.problems[task.problem];
        for (const std::size_t i : task.cases) {
            const VariantInfo& variant = planned.family->variants()[planned.cases[i].variant];
            CaseRecord record{.family = std::string(planned.family->name()),
                              .variant = std::string(variant.name),
                              .role = std::string(to_string(variant.role)),
                              .problem = planned.problem,
                              .configuration = planned.cases[i].configuration.text()};
            record.provenance.session = session;
            record.status = ends(record);
            if (record.status == Status::ok)
                record.time_ns = static_cast<double>(session.size()) * time(planned, record);
            records.push_back(std::move(record));
        }
        return records;
    }

private:
    static double time(const PlannedProblem& planned, const CaseRecord& record) {
        const std::vector<double> features = planned.family->feature_values(planned.problem);
        if (planned.family == &synthetic::family())
            return synthetic::regions(record.variant, record.configuration, features);
        return static_cast<double>(record.variant.size()) * (1000 + features[0]);
    }

    const SweepPlan& plan_;
};

/// Hands out tasks until there are none, `workers` at once, the one begun first finished first.
std::vector<Task> run(AdaptiveStrategy& strategy, const Device& device, std::vector<CaseRecord>* journal = nullptr,
                      std::size_t most = 100'000) {
    std::vector<Task> tasks;
    while (tasks.size() < most) {
        const auto task = strategy.next({});
        if (!task) break;
        const auto records = device.measure(*task, "s" + std::string(task->problem, '0'));
        if (journal) journal->insert(journal->end(), records.begin(), records.end());
        strategy.finished(*task, records);
        tasks.push_back(*task);
    }
    return tasks;
}

std::size_t cases_of(const std::vector<Task>& tasks) {
    std::size_t count = 0;
    for (const Task& task : tasks) count += task.cases.size();
    return count;
}

TEST(AdaptiveStrategy, AsksForItsShareAndNamesTheRest) {
    const SweepPlan whole = plan();
    AdaptiveStrategy strategy(whole, {}, 0.2);
    const auto tasks = run(strategy, Device(whole));
    const double share = static_cast<double>(cases_of(tasks)) / static_cast<double>(runnable(whole));
    EXPECT_LE(share, 0.2 + 1e-2);
    EXPECT_GT(share, 0.15);
    EXPECT_EQ(strategy.remaining(), 0U);
    Measured covered;
    for (const Task& task : tasks)
        for (const std::size_t i : task.cases) {
            EXPECT_TRUE(whole.problems[task.problem].cases.at(i).unsupported.empty());
            EXPECT_FALSE(is_peer(whole, task.problem, i));
            covered.emplace(task.problem, i);
        }
    for (const SkippedCases& skipped : strategy.skipped_cases())
        for (const std::size_t i : skipped.cases) {
            EXPECT_TRUE(covered.emplace(skipped.problem, i).second) << "skipped, but measured";
            EXPECT_EQ(skipped.reason, kNotAskedFor);
        }
    EXPECT_EQ(covered.size(), whole.cases()) << "no case of the plan is missing";
}

TEST(AdaptiveStrategy, OpensAFamilyWhateverTheShare) {
    const SweepPlan whole = plan();
    AdaptiveStrategy strategy(whole, {}, 1e-6);
    std::set<std::size_t> problems;
    for (const Task& task : run(strategy, Device(whole))) problems.insert(task.problem);
    EXPECT_EQ(problems.size(), learn::AdaptiveSweep::kFirstProblems);
}

TEST(AdaptiveStrategy, GivesSeveralWorkersDifferentFamilies) {
    SweepPlan two = plan();
    add(two, *find_family("dot"));
    const Device device(two);
    AdaptiveStrategy strategy(two, {}, 0.3);
    const auto family = [&](const Task& task) { return two.problems[task.problem].family; };
    const auto first = strategy.next({.workers = 3}), second = strategy.next({.workers = 3, .in_flight = 1});
    ASSERT_TRUE(first && second);
    EXPECT_NE(family(*first), family(*second));
    EXPECT_FALSE(strategy.next({.workers = 3, .in_flight = 2})) << "what comes next depends on those in flight";
    EXPECT_GT(strategy.remaining(), 0U);
    strategy.finished(*second, device.measure(*second, "s"));
    const auto third = strategy.next({.workers = 3, .in_flight = 1});
    ASSERT_TRUE(third);
    EXPECT_EQ(family(*third), family(*second));
}

TEST(AdaptiveStrategy, LeavesEveryFamilyAPartWhenTheTimeRunsOut) {
    SweepPlan two = plan();
    add(two, *find_family("dot"));
    AdaptiveStrategy strategy(two, {}, 0.5);
    std::map<const Family*, double> measured, all;
    for (std::size_t p = 0; p < two.problems.size(); ++p)
        for (std::size_t i = 0; i < two.problems[p].cases.size(); ++i)
            all[two.problems[p].family] += two.problems[p].cases[i].unsupported.empty() && !is_peer(two, p, i);
    for (const Task& task : run(strategy, Device(two), nullptr, 20))
        measured[two.problems[task.problem].family] += static_cast<double>(task.cases.size());
    ASSERT_EQ(measured.size(), 2U);
    for (const auto& [family, cases] : all) EXPECT_NEAR(measured[family] / cases, 0.15, 0.15) << family->name();
}

TEST(AdaptiveStrategy, GoesOnWhereItStopped) {
    const SweepPlan whole = plan();
    const Device device(whole);
    AdaptiveStrategy uninterrupted(whole, {}, 0.2);
    const std::size_t all = cases_of(run(uninterrupted, device));

    std::vector<CaseRecord> journal;
    AdaptiveStrategy interrupted(whole, {}, 0.2);
    const auto first = run(interrupted, device, &journal, 5);
    AdaptiveStrategy resumed(whole, journal, 0.2);
    const auto rest = run(resumed, device);
    EXPECT_NEAR(static_cast<double>(cases_of(first) + cases_of(rest)), static_cast<double>(all), 6);
    EXPECT_LT(cases_of(rest), all);
    Measured covered;
    for (const auto& tasks : {first, rest})
        for (const Task& task : tasks)
            for (const std::size_t i : task.cases) covered.emplace(task.problem, i);
    for (const SkippedCases& skipped : resumed.skipped_cases())
        for (const std::size_t i : skipped.cases) EXPECT_TRUE(covered.emplace(skipped.problem, i).second);
    EXPECT_EQ(covered.size(), whole.cases());
}

TEST(AdaptiveStrategy, AsksForNothingThatAFullSweepRecorded) {
    const SweepPlan whole = plan();
    auto records = synthetic::records(synthetic::regions, synthetic::problems());
    AdaptiveStrategy strategy(whole, records, 0.5);
    EXPECT_FALSE(strategy.next({}));
    EXPECT_TRUE(strategy.skipped_cases().empty());
    // What the time did not suffice for is no outcome.
    for (CaseRecord& record : records) record.status = Status::not_measured;
    EXPECT_TRUE(AdaptiveStrategy(whole, records, 0.5).next({}));
}

TEST(AdaptiveStrategy, DividesTheTimeThatIsLeftAndEndsWithIt) {
    const SweepPlan whole = plan();
    AdaptiveStrategy strategy(whole, {}, 0.2);
    const double left = static_cast<double>(strategy.remaining());
    ASSERT_GT(left, 10);
    EXPECT_FALSE(strategy.next({.seconds_left = 0}));
    const auto task = strategy.next({.seconds_left = 1000});
    ASSERT_TRUE(task);
    EXPECT_NEAR(task->seconds, 1000 / left, 0.2 * 1000 / left);
    // It took all the time that there was, and that did not suffice.
    Device device(whole);
    device.ends = [](const CaseRecord&) { return Status::not_measured; };
    strategy.finished(*task, device.measure(*task, "s"));
    EXPECT_FALSE(strategy.next({.seconds_left = 0}));
    const auto hurried = strategy.next({.seconds_left = 1});
    ASSERT_TRUE(hurried);
    EXPECT_DOUBLE_EQ(hurried->seconds, 1) << "no less than makes sense, and no more than there is";
}

class EndsWith : public testing::TestWithParam<Status> {};

TEST_P(EndsWith, NothingAndStillComesToAnEnd) {
    const SweepPlan whole = plan();
    for (const char* variant : {"", "alpha", "base"}) {
        Device device(whole);
        device.ends = [&](const CaseRecord& record) {
            return record.variant == variant || !*variant ? GetParam() : Status::ok;
        };
        AdaptiveStrategy strategy(whole, {}, 0.9);
        EXPECT_LE(cases_of(run(strategy, device)), runnable(whole)) << variant;
        EXPECT_EQ(strategy.remaining(), 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(AdaptiveStrategy, EndsWith,
                         testing::Values(Status::crashed, Status::timeout, Status::wrong, Status::not_measured));

TEST(AdaptiveStrategy, HasNothingToDoWhereNothingRuns) {
    SweepPlan whole = plan();
    for (PlannedProblem& planned : whole.problems)
        for (PlannedCase& planned_case : planned.cases) planned_case.unsupported = "no memory";
    AdaptiveStrategy strategy(whole, {}, 0.1);
    EXPECT_FALSE(strategy.next({}));
    EXPECT_EQ(strategy.skipped_cases().size(), whole.problems.size());
    EXPECT_FALSE(AdaptiveStrategy(SweepPlan{}, {}, 0.1).next({}));
}

}  // namespace
}  // namespace espalier::bench
