// Counters that are collected after the times: which cases lack them, and what becomes of their records. What collects
// them is tested where a GPU is (counters_gpu_test).

#include <gtest/gtest.h>

#include <set>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/sweep/plan/task_list.hpp"
#include "harness/bench/sweep/record/case_records.hpp"
#include "harness/bench/sweep/record/uncounted.hpp"
#include "harness/bench/sweep/worker/case_counters.hpp"
#include "tests/bench/sweep/timed_outcome.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {
namespace {

using Counters = NamedValues;

/// A plan of two problems of a real family and records of all that runs.
class Counting : public testing::Test {
protected:
    Counting() {
        SweepOptions options;
        options.families = {"dot"};
        options.axes = {{"elements", {"1000", "2000"}}};
        frame_.device.key = "cpu-test-1t";
        frame_.device.name = "A CPU";
        frame_.device.threads = 1;
        frame_.session = "2026-01-01T00:00:00Z-1";
        frame_.driver = frame_.runtime = frame_.build = "some";
        plan_ = make_plan(options, frame_.device, {.device = 1 << 30, .host = 1 << 30});
        for (const PlannedProblem& planned : plan_.problems) {
            for (CaseRecord& record : records_of(frame_, planned, timed_outcome(planned)))
                recorded_.records.push_back(std::move(record));
        }
    }

    std::vector<std::size_t> runnable(std::size_t problem) const {
        std::vector<std::size_t> cases;
        for (std::size_t c = 0; c < plan_.problems[problem].cases.size(); ++c)
            if (plan_.problems[problem].cases[c].unsupported.empty()) cases.push_back(c);
        return cases;
    }

    CaseRecord& record_of(std::size_t problem, std::size_t index) {
        const PlannedProblem& planned = plan_.problems[problem];
        const std::string key = planned_record(frame_, planned, planned.cases[index]).key();
        return *std::ranges::find_if(recorded_.records, [&](const CaseRecord& record) { return record.key() == key; });
    }

    RecordFrame frame_;
    SweepPlan plan_;
    Recorded recorded_;
};

TEST_F(Counting, AsksForWhatIsTimedAndHasNoCounters) {
    ASSERT_EQ(plan_.problems.size(), 2U);
    ASSERT_GE(runnable(0).size(), 2U);
    auto tasks = without_counters(plan_, recorded_);
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[0].cases, runnable(0)) << "what is unsupported cannot be counted";

    const std::size_t counted = runnable(0).front(), failed = runnable(0).back();
    record_of(0, counted).counters = {{"x", 1}};
    record_of(0, failed).status = Status::wrong;
    for (const std::size_t c : runnable(1)) record_of(1, c).counters = {{"x", 1}};
    tasks = without_counters(plan_, recorded_);
    std::vector<std::size_t> left = runnable(0);
    std::erase(left, counted), std::erase(left, failed);
    if (left.empty()) {
        EXPECT_TRUE(tasks.empty());
    } else {
        ASSERT_EQ(tasks.size(), 1U);
        EXPECT_EQ(tasks[0].problem, 0U);
        EXPECT_EQ(tasks[0].cases, left);
    }
    EXPECT_TRUE(without_counters(plan_, nothing_recorded(plan_)).empty())
        << "without a time there is nothing to add to";
}

TEST_F(Counting, TasksAreHandedOutOnceInRandomOrder) {
    std::vector<Task> tasks(20);
    for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].problem = i;
    TaskList list(tasks, 1);
    EXPECT_EQ(list.remaining(), 20U);
    std::vector<std::size_t> order;
    while (const auto task = list.next({})) order.push_back(task->problem);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 20U);
    EXPECT_FALSE(std::ranges::is_sorted(order, std::greater<>()) || std::ranges::is_sorted(order));
    EXPECT_EQ(list.remaining(), 0U);
}

TEST_F(Counting, NoTaskIsBegunAfterTheTimeIsUp) {
    TaskList list(std::vector<Task>(2), 1);
    const auto task = list.next({.seconds_left = 5});
    ASSERT_TRUE(task);
    EXPECT_EQ(task->seconds, 5) << "it ends with the time";
    EXPECT_FALSE(list.next({.seconds_left = 0}));
    EXPECT_EQ(list.remaining(), 1U);
}

TEST_F(Counting, AddsCountersToTheRecordAndLeavesTheRestAlone) {
    const std::size_t first = runnable(0).front(), second = runnable(0).back();
    PlannedProblem planned = plan_.problems[0];
    planned.cases = {planned.cases[first], planned.cases[second]};
    ProblemOutcome outcome;
    outcome.cases.resize(2);
    outcome.cases[0].counters = {{"b", 2}, {"a", 1}};
    outcome.cases[1].status = Status::crashed;
    outcome.cases[1].reason = "it fell off the bus";
    RecordFrame later = frame_;
    later.session = "2026-02-02T00:00:00Z-1";
    const auto records = with_counters(latest_by_case(recorded_.records), later, planned, outcome);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].counters, (Counters{{"a", 1}, {"b", 2}}));
    EXPECT_EQ(records[0].counters_reason, "collected in session " + later.session);
    EXPECT_EQ(records[1].status, Status::ok) << "it was right when it was timed";
    EXPECT_EQ(records[1].counters_reason, "it fell off the bus");
    for (std::size_t i = 0; i < 2; ++i) {
        const CaseRecord& before = record_of(0, i == 0 ? first : second);
        EXPECT_EQ(records[i].samples_ns, before.samples_ns);
        EXPECT_EQ(records[i].provenance.session, frame_.session);
        EXPECT_EQ(records[i].time_ns, before.time_ns);
    }
    EXPECT_TRUE(with_counters({}, later, planned, outcome).empty());
}

TEST_F(Counting, SaysWhatCountedIfItWasNotWhatTimed) {
    PlannedProblem planned = plan_.problems[0];
    planned.cases = {planned.cases[runnable(0).front()]};
    ProblemOutcome outcome;
    outcome.cases.resize(1);
    outcome.cases[0].counters = {{"a", 1}};
    outcome.cases[0].counters_reason = "b: no such metric";
    RecordFrame later = frame_;
    later.session = "2026-02-02T00:00:00Z-1";
    later.driver = "another";
    later.build = "a newer one";
    const auto records = with_counters(latest_by_case(recorded_.records), later, planned, outcome);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].counters_reason,
              "collected in session 2026-02-02T00:00:00Z-1, with driver another and some, by a newer one; "
              "b: no such metric");
    EXPECT_EQ(records[0].provenance.driver, frame_.driver);
    EXPECT_EQ(records[0].provenance.build, frame_.build);
}

TEST_F(Counting, LeavesOutWhatTimeDidNotSufficeFor) {
    PlannedProblem planned = plan_.problems[0];
    planned.cases = {planned.cases[runnable(0).front()], planned.cases[runnable(0).back()]};
    ProblemOutcome outcome;
    outcome.cases.resize(2);
    outcome.cases[0].counters_reason = kTimeBudget;  // the other one was not even reached
    EXPECT_TRUE(with_counters(latest_by_case(recorded_.records), frame_, planned, outcome).empty());
}

/// A results folder and a journal of the fixture's records.
class CountingOnFile : public Counting {
protected:
    CountingOnFile() {
        results_ = folder_ / frame_.device.key;
        frame_.device.bytes_per_second = 5e9;
        save_results(results_, {.device = frame_.device, .cases = recorded_.records, .missing = {}});
    }

    std::size_t tasks_of(const Recorded& recorded) const { return without_counters(plan_, recorded).size(); }

    TemporaryFolder folder_;
    std::filesystem::path results_;
};

TEST_F(CountingOnFile, ResultsNeedNoJournal) {
    RecordFrame today = frame_;
    today.build = today.driver = "newer";
    today.device.bytes_per_second = 0;
    const Recorded found = what_can_be_counted(results_, {}, plan_, today);
    EXPECT_EQ(found.records.size(), runnable(0).size() + runnable(1).size());
    EXPECT_TRUE(found.open.empty()) << "nothing is timed again";
    EXPECT_EQ(today.device.bytes_per_second, 5e9) << "the ceilings on file stay those of the device";
    EXPECT_EQ(tasks_of(found), 2U);
    EXPECT_TRUE(what_can_be_counted(folder_ / "nothing", {}, plan_, today).records.empty());
}

TEST_F(CountingOnFile, AJournalGoesOnWhereItStopped) {
    CaseRecord counted = record_of(0, runnable(0).front());
    counted.counters = {{"x", 1}};
    const std::filesystem::path journal = folder_ / "journal.jsonl";
    JournalWriter(journal).append(std::vector{counted});
    const Recorded found = what_can_be_counted(results_, {journal}, plan_, frame_);
    for (const Task& task : without_counters(plan_, found))
        if (task.problem == 0) {
            EXPECT_FALSE(std::ranges::count(task.cases, runnable(0).front()));
        }
}

TEST_F(CountingOnFile, OtherSourcesAndCachesAreNotCounted) {
    for (CaseRecord& record : recorded_.records) record.provenance.source_id = std::string(64, '0');
    save_results(results_, {.device = frame_.device, .cases = recorded_.records, .missing = {}});
    EXPECT_EQ(tasks_of(what_can_be_counted(results_, {}, plan_, frame_)), 0U);
    RecordFrame cold = frame_;
    cold.caches = Caches::cold;
    EXPECT_TRUE(what_can_be_counted(results_, {}, plan_, cold).records.empty());
}

TEST_F(Counting, ForecastIsOfPassesAndTimesOnFile) {
    const auto tasks = without_counters(plan_, recorded_);
    const double short_runs = counting_seconds(plan_, recorded_, tasks, 14);
    EXPECT_GT(short_runs, counting_seconds(plan_, recorded_, tasks, 1));
    EXPECT_EQ(counting_seconds(plan_, recorded_, {}, 14), 0);
    for (CaseRecord& record : recorded_.records) record.time_ns = 1e9;
    const double cases = static_cast<double>(runnable(0).size() + runnable(1).size());
    const double long_runs = counting_seconds(plan_, recorded_, tasks, 14);
    EXPECT_GT(long_runs, 3 * cases) << "a run to see how long it takes, one to describe it, one to count it";
    EXPECT_LT(long_runs, 3.5 * cases) << "one pass is all that long runs get";
    for (PlannedProblem& planned : plan_.problems) planned.every_counter = true;
    EXPECT_GT(counting_seconds(plan_, recorded_, tasks, 14), 16 * cases);
    EXPECT_NE(describe_uncounted("gpu", recorded_, tasks, 14, 90).find("in 14 passes takes about"), std::string::npos);
}

TEST_F(Counting, GoesToTheRecordThatMergingKeeps) {
    const std::size_t index = runnable(0).front();
    CaseRecord again = record_of(0, index);  // what time had not sufficed for is measured a second time
    again.provenance.session += "-001";
    again.time_ns *= 2;
    record_of(0, index).counters = {{"x", 1}};
    recorded_.records.insert(recorded_.records.begin(), again);  // journals are read in any order
    const auto tasks = without_counters(plan_, recorded_);
    ASSERT_FALSE(tasks.empty());
    EXPECT_TRUE(std::ranges::count(tasks[0].cases, index)) << "the record that counts has none";

    PlannedProblem planned = plan_.problems[0];
    planned.cases = {planned.cases[index]};
    ProblemOutcome outcome;
    outcome.cases.resize(1);
    outcome.cases[0].counters = {{"x", 2}};
    const auto records = with_counters(latest_by_case(recorded_.records), frame_, planned, outcome);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].provenance.session, again.provenance.session);
    EXPECT_EQ(records[0].time_ns, again.time_ns);
}

TEST_F(Counting, MergingPrefersTheRecordWithCountersWhateverJournalItIsIn) {
    const TemporaryFolder folder;
    CaseRecord plain = record_of(0, runnable(0).front()), counted = plain;
    counted.counters = {{"x", 1}};
    for (const bool counted_first : {true, false}) {
        const std::filesystem::path place = folder / (counted_first ? "first" : "second");
        std::filesystem::create_directories(place);
        for (const bool first : {true, false}) {
            JournalWriter journal(place / (first ? "a.jsonl" : "b.jsonl"));
            journal.append(frame_.device);
            journal.append(std::vector{first == counted_first ? counted : plain});
        }
        merge_journals({place}, place / "results", {});
        const auto cases = load_results(place / "results" / frame_.device.key).cases;
        ASSERT_EQ(cases.size(), 1U);
        EXPECT_EQ(cases[0].counters, counted.counters) << counted_first;
    }
}

TEST(CountedTogether, CasesShareThePassesUntilTheirRunsTakeLongerThanThose) {
    const auto cases = [](std::initializer_list<double> seconds) {
        std::vector<CaseToCount> all;
        for (const double each : seconds) all.push_back({.candidate = 0, .run_seconds = each, .run = {}});
        return all;
    };
    EXPECT_EQ(cases_to_count_together(cases({}), 10), 0U);
    EXPECT_EQ(cases_to_count_together(cases({1e-5, 1e-5, 1e-5}), 10), 3U);
    EXPECT_EQ(cases_to_count_together(cases({1e-5, 0.15, 0.15, 1e-5}), 10), 2U);
    EXPECT_EQ(cases_to_count_together(cases({0.15, 0.15, 1e-5}), 1), 3U);
    EXPECT_EQ(cases_to_count_together(cases({30, 1e-5}), 10), 1U);
    EXPECT_LE(cases_to_count_together(std::vector<CaseToCount>(1000), 10), 100U);
}

}  // namespace
}  // namespace espalier::bench
