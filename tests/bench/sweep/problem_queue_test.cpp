// What a sweep measures next: the strategy that shares time equally, and the queue that hands its tasks to workers.

#include "harness/bench/sweep/schedule/problem_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "harness/base/clock.hpp"
#include "harness/base/progress.hpp"
#include "harness/bench/sweep/plan/equal_shares.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/record/status_count.hpp"
#include "harness/bench/sweep/schedule/sweep_progress.hpp"

namespace espalier::bench {
namespace {

std::vector<std::size_t> first(std::size_t count) {
    std::vector<std::size_t> problems(count);
    for (std::size_t i = 0; i < count; ++i) problems[i] = i;
    return problems;
}

CaseRecord ended(Status status, const std::string& variant = "one") {
    CaseRecord record;
    record.variant = variant;
    record.status = status;
    return record;
}

std::vector<std::size_t> order_of(EqualShares shares) {
    std::vector<std::size_t> order;
    while (const auto task = shares.next({})) order.push_back(task->problem);
    return order;
}

/// The problems of a sweep of smallest_k over some axes.
std::vector<std::string> planned(const std::vector<std::pair<std::string, std::vector<std::string>>>& axes) {
    SweepOptions options;
    options.families = {"smallest_k"};
    options.axes = axes;
    std::vector<std::string> problems;
    for (const auto& problem : make_plan(options, {}, {.device = 1 << 30, .host = 1 << 30}).problems)
        problems.push_back(problem.problem);
    return problems;
}

TEST(Planning, AllRequiredAxesGivenMakeTheirProductAlone) {
    using Keys = std::vector<std::string>;
    EXPECT_EQ(planned({{"rows", {"5"}}, {"columns", {"7"}}, {"k", {"1", "2"}}}),
              (Keys{"rows=5;columns=7;k=1", "rows=5;columns=7;k=2"}));
    EXPECT_EQ(planned({{"rows", {"5"}}, {"columns", {"7"}}, {"k", {"1"}}, {"layout", {"transposed", "row_major"}}}),
              (Keys{"rows=5;columns=7;k=1", "rows=5;columns=7;k=1;layout=row_major"}));
    EXPECT_GT(planned({{"layout", {"row_major"}}}).size(), 10U) << "the default problems in that layout";
}

/// smallest_k with a problem of five rows, planned for a CPU.
PlannedProblem planned_with(const FirstCases& first) {
    SweepOptions options;
    options.families = {"smallest_k"};
    options.axes = {{"rows", {"5"}}, {"columns", {"7"}}, {"k", {"2"}}};
    options.first_cases = [&](const Family&, const std::string&, const DeviceInfo&) { return first; };
    return make_plan(options, {}, {.device = 1 << 30, .host = 1 << 30}).problems.at(0);
}

TEST(Planning, WhatIsWantedFirstIsMeasuredFirstAndTheBaselineElse) {
    const auto defaults = planned_with({});
    const auto baseline = defaults.in_order(1).front();
    EXPECT_EQ(defaults.family->variants()[defaults.cases[baseline].variant].role, Role::baseline);
    EXPECT_TRUE(std::ranges::none_of(defaults.cases, &PlannedCase::needed));

    // One that cannot run on this device, which has no vectors, and one that nobody knows.
    const auto planned = planned_with({.choices = {{"cpu_openmp", "rows=64"},
                                                   {"cpu_avx2", "rows=16"},
                                                   {"nobody", "default"},
                                                   {"cpu_openmp", "rows=16"}},
                                       .needed = 2});
    const auto order = planned.in_order(1);
    std::vector<std::string> words;
    for (const std::size_t i : order)
        words.push_back(std::string(planned.family->variants()[planned.cases[i].variant].name) + " " +
                        planned.cases[i].configuration.text() + (planned.cases[i].needed ? " needed" : ""));
    EXPECT_EQ(words,
              (std::vector<std::string>{"cpu_openmp rows=64 needed", "cpu_openmp rows=16", "cpu_scalar default"}));
    for (const PlannedCase& each : planned.cases) EXPECT_TRUE(each.unsupported.empty() || !each.needed);
}

TEST(EqualShares, UrgentProblemsComeFirstAndShareAllOfTheTime) {
    EqualShares shares(10, first(10), 1, {2, 7, 5});
    std::set<std::size_t> urgent;
    for (const double seconds : {20., 30., 60.}) {
        const auto task = shares.next({.seconds_left = 60});
        ASSERT_TRUE(task);
        EXPECT_DOUBLE_EQ(task->seconds, seconds);
        urgent.insert(task->problem);
    }
    EXPECT_EQ(urgent, (std::set<std::size_t>{2, 5, 7}));
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 70})->seconds, 10) << "seven are left";
    EXPECT_EQ(order_of({10, {1, 2}, 1, {9}}), order_of({10, {1, 2}, 1})) << "one that is complete is not";
}

TEST(EqualShares, TakesEveryOpenProblemOnceInTheOrderOfTheSeed) {
    const auto order = order_of({20, first(20), 1});
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 20U);
    EXPECT_EQ(order.size(), 20U);
    EXPECT_NE(order, first(20));
    EXPECT_EQ(order, order_of({20, first(20), 1}));
    EXPECT_NE(order, order_of({20, first(20), 2}));
    // What is complete is left out, and changes nothing in the order of the rest.
    std::vector<std::size_t> rest = order;
    std::erase_if(rest, [](std::size_t problem) { return problem % 2 == 0; });
    EXPECT_EQ(rest, order_of({20, {1, 3, 5, 7, 9, 11, 13, 15, 17, 19}, 1}));
}

TEST(EqualShares, DividesTheTimeThatIsLeftAmongProblemsAndWorkers) {
    EqualShares shares(10, first(10), 1);
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 100})->seconds, 10);
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 99})->seconds, 11);
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 96, .workers = 2})->seconds, 24) << "eight are left, four for each";
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 70, .workers = 3})->seconds, 70. / 3) << "seven are left";
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 50, .workers = 100})->seconds, 50) << "no more than there is";
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 3})->seconds, 2) << "no less than makes sense";
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 1})->seconds, 1);
    EXPECT_DOUBLE_EQ(shares.next({.seconds_left = 0})->seconds, 0);
    EXPECT_EQ(shares.next({})->seconds, kUnlimitedSeconds);
}

/// Hands tasks out and takes them back as threads would.
class CountedShares {
public:
    explicit CountedShares(std::size_t problems) : shares_(problems, first(problems), 1) {}
    std::optional<Task> next(double seconds_left, std::size_t workers = 1) {
        auto task = shares_.next({seconds_left, workers, in_flight_});
        in_flight_ += task.has_value();
        return task;
    }
    void finish(const Task& task, Status status) {
        --in_flight_;
        shares_.finished(task, std::vector{ended(Status::ok), ended(status)});
    }
    EqualShares& shares() { return shares_; }

private:
    EqualShares shares_;
    std::size_t in_flight_ = 0;
};

TEST(EqualShares, SpendsWhatIsLeftAtTheEndOnWhatWasCut) {
    CountedShares shares(3);
    const Task cut = *shares.next(30);
    shares.finish(cut, Status::not_measured);
    shares.finish(*shares.next(20), Status::crashed);
    shares.finish(*shares.next(19), Status::wrong);
    const auto again = shares.next(25);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->problem, cut.problem);
    EXPECT_TRUE(again->cases.empty()) << "the whole problem, or its ratios would not be paired";
    EXPECT_DOUBLE_EQ(again->seconds, 20) << "all but what verifying after the timing takes";
    shares.finish(*again, Status::not_measured);
    EXPECT_FALSE(shares.next(29)) << "not worth a third turn";
    const auto third = shares.next(60);
    ASSERT_TRUE(third);
    EXPECT_GE(third->seconds, 30);
    shares.finish(*third, Status::ok);
    EXPECT_FALSE(shares.next(1000)) << "what is complete is not measured again";
    EXPECT_EQ(shares.shares().remaining(), 0U);
}

TEST(EqualShares, SharesTheRestAmongAllThatWereCut) {
    CountedShares shares(4);
    std::vector<Task> tasks;
    for (int i = 0; i < 4; ++i) tasks.push_back(*shares.next(8));
    for (int i = 0; i < 3; ++i) shares.finish(tasks[static_cast<std::size_t>(i)], Status::not_measured);
    // One is still being measured and may be cut, too.
    EXPECT_DOUBLE_EQ(shares.next(100)->seconds, 20);
    shares.finish(tasks[3], Status::ok);
    EXPECT_DOUBLE_EQ(shares.next(90, 3)->seconds, 72) << "each of three workers still has all the time";
    // Clearly more than the 4 seconds that were not enough, although its share of what is left would be less.
    EXPECT_DOUBLE_EQ(shares.next(15)->seconds, 6);
    EXPECT_FALSE(shares.next(1000));
}

TEST(EqualShares, WithoutALimitNothingIsMeasuredAgain) {
    CountedShares shares(1);
    shares.finish(*shares.next(kUnlimitedSeconds), Status::not_measured);
    EXPECT_FALSE(shares.next(kUnlimitedSeconds));
}

ProblemQueue equal_queue(std::size_t problems, std::size_t workers, double deadline = kUnlimitedSeconds) {
    return {std::make_unique<EqualShares>(problems, first(problems), 1), workers, deadline};
}

TEST(ProblemQueue, GivesEveryTaskToOneWorker) {
    ProblemQueue queue = equal_queue(2000, 4);
    std::vector<std::vector<std::size_t>> taken(4);
    {
        std::vector<std::jthread> workers;
        for (auto& own : taken)
            workers.emplace_back([&queue, &own] {
                while (const auto task = queue.next()) {
                    own.push_back(task->problem);
                    queue.finished(*task, {});
                }
            });
    }
    std::vector<std::size_t> all;
    for (const auto& own : taken) all.insert(all.end(), own.begin(), own.end());
    std::ranges::sort(all);
    EXPECT_EQ(all, first(2000));
    EXPECT_TRUE(queue.exhausted());
    EXPECT_EQ(queue.progress().done, 2000U);
    EXPECT_EQ(queue.progress().remaining, 0U);
}

/// Has its second task only when the first has finished; asks for some cases of a problem.
class OneAfterTheOther final : public Strategy {
public:
    std::optional<Task> next(const SchedulerState& state) override {
        seen.push_back(state);
        ++asked;
        if (turns_ == 0) return std::nullopt;
        --turns_;
        return Task{.problem = 7, .cases = {2, 0}, .seconds = 1};
    }
    void finished(const Task& task, std::span<const CaseRecord> records) override {
        EXPECT_EQ(task.problem, 7U);
        EXPECT_EQ(records.size(), task.cases.size());
        if (++finished_ == 1) turns_ = 1;
    }
    std::size_t remaining() const override { return static_cast<std::size_t>(2 - finished_); }

    std::vector<SchedulerState> seen;
    std::atomic<int> asked = 0;

private:
    int turns_ = 1, finished_ = 0;
};

TEST(ProblemQueue, AWorkerWaitsForWhatAnothersRecordsMayBring) {
    auto strategy = std::make_unique<OneAfterTheOther>();
    const auto& seen = strategy->seen;
    const std::atomic<int>& asked = strategy->asked;
    ProblemQueue queue(std::move(strategy), 2, steady_seconds() + 100);
    const auto task = queue.next();
    ASSERT_TRUE(task);
    EXPECT_EQ(task->visit, 0U);
    std::optional<Task> later;
    {
        const std::jthread other([&] { later = queue.next(); });
        while (asked < 2) std::this_thread::yield();
        EXPECT_FALSE(later);
        queue.finished(*task, std::vector{ended(Status::ok), ended(Status::ok)});
    }
    ASSERT_TRUE(later);
    EXPECT_EQ(later->cases, (std::vector<std::size_t>{2, 0}));
    EXPECT_EQ(later->visit, 1U) << "its ratios must not be paired with the first ones";
    EXPECT_EQ(seen.front().in_flight, 0U);
    EXPECT_EQ(seen.front().workers, 2U);
    EXPECT_LE(seen.front().seconds_left, 100);
    EXPECT_GT(seen.front().seconds_left, 90);
    EXPECT_EQ(seen.at(1).in_flight, 1U);
    EXPECT_FALSE(queue.exhausted());
    queue.finished(*later, std::vector{ended(Status::ok), ended(Status::ok)});
    EXPECT_FALSE(queue.next());
    EXPECT_TRUE(queue.exhausted());
}

TEST(ProblemQueue, WhatALostDeviceLeftGoesToAnotherButNotToAThird) {
    ProblemQueue queue = equal_queue(1, 3);
    const auto task = queue.next();
    ASSERT_TRUE(task);
    EXPECT_TRUE(queue.lost(*task));
    EXPECT_FALSE(queue.exhausted());
    EXPECT_EQ(queue.progress().remaining, 1U);
    const auto second = queue.next();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->problem, task->problem);
    EXPECT_EQ(second->visit, 0U) << "nothing was recorded of the first";
    EXPECT_FALSE(queue.lost(*second)) << "in quarantine";
    queue.finished(*second, {});
    EXPECT_FALSE(queue.next());
    EXPECT_TRUE(queue.exhausted());
}

TEST(ProblemQueue, ATaskThatComesBackGetsNoMoreThanTheTimeThatIsLeft) {
    ProblemQueue queue = equal_queue(1, 2, steady_seconds() + 0.2);
    const auto task = queue.next();
    ASSERT_TRUE(task && queue.lost(*task));
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    const auto again = queue.next();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->seconds, 0) << "enough to record that there was none";
}

TEST(ProblemQueue, ClosingItWakesThoseWhoWait) {
    ProblemQueue queue = equal_queue(1, 2);
    ASSERT_TRUE(queue.next());
    std::optional<Task> waited{Task{}};
    {
        const std::jthread other([&] { waited = queue.next(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        queue.close();
    }
    EXPECT_FALSE(waited);
    EXPECT_FALSE(queue.exhausted()) << "one was never finished";
}

TEST(SweepProgress, ForeseesTheSlowestQueueWithinTheLimit) {
    EXPECT_DOUBLE_EQ(seconds_to_go({{10, 30}}, 20, kUnlimitedSeconds), 60);
    EXPECT_DOUBLE_EQ(seconds_to_go({{10, 30}, {40, 10}}, 20, kUnlimitedSeconds), 60);
    EXPECT_DOUBLE_EQ(seconds_to_go({{10, 30}}, 20, 25), 25);
    EXPECT_DOUBLE_EQ(seconds_to_go({{10, 30}}, 20, -1), 0);
    EXPECT_DOUBLE_EQ(seconds_to_go({{10, 0}}, 20, 25), 0);
    EXPECT_LT(seconds_to_go({{0, 30}, {1, 1}}, 20, 25), 0) << "nothing tells how long the first takes";
}

TEST(StatusCount, CountsACaseOnceAsMergeTakesIt) {
    StatusCount statuses;
    statuses.add(std::vector{ended(Status::ok), ended(Status::not_measured, "two"), ended(Status::ok, "three")});
    statuses.add(std::vector{ended(Status::not_measured), ended(Status::ok, "two"), ended(Status::crashed, "three")});
    EXPECT_EQ(statuses.counts(), (std::map<Status, std::size_t>{{Status::ok, 2}, {Status::crashed, 1}}));
}

TEST(TimeLeft, IsWhatTheShareSays) {
    EXPECT_EQ(with_time_left("window 3 of 12", 0.25, 6), "window 3 of 12, 6 s gone, 18 s left");
    EXPECT_EQ(with_time_left("9 rows", 1, 6), "9 rows, 6 s gone, 0 s left");
    EXPECT_EQ(with_time_left("9 rows", 0, 6), "9 rows, 6 s gone");
}

}  // namespace
}  // namespace espalier::bench
