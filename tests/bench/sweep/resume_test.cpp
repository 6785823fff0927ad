// What journals have of a sweep that goes on.

#include "harness/bench/sweep/record/resume.hpp"

#include <gtest/gtest.h>

#include "harness/bench/records/journal.hpp"
#include "tests/bench/sweep/timed_outcome.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {
namespace {

/// Five problems of smallest_k, of three cases that can run each; the second configuration of cpu_openmp is needed.
class Resuming : public testing::Test {
protected:
    Resuming() {
        frame_.device.key = "cpu-test-1t";
        frame_.driver = frame_.runtime = frame_.build = "some";
        SweepOptions options;
        options.families = {"smallest_k"};
        options.axes = {{"rows", {"5"}}, {"columns", {"7"}}, {"k", {"1", "2", "3", "4", "5"}}};
        options.first_cases = [](const Family&, const std::string&, const DeviceInfo&) {
            return FirstCases{.choices = {{"cpu_openmp", "rows=64"}}, .needed = 1};
        };
        plan_ = make_plan(options, frame_.device, {.device = 1 << 30, .host = 1 << 30});
    }

    /// A record of each case of a problem, timed but for those that are named as variant and configuration.
    void record(std::size_t problem, const std::vector<std::string>& unmeasured) {
        const PlannedProblem& planned = plan_.problems.at(problem);
        ProblemOutcome outcome = timed_outcome(planned);
        for (std::size_t i = 0; i < planned.cases.size(); ++i) {
            const PlannedCase& each = planned.cases[i];
            const std::string name =
                std::string(planned.family->variants()[each.variant].name) + " " + each.configuration.text();
            if (std::ranges::count(unmeasured, name) > 0)
                outcome.cases[i] = {.status = Status::not_measured, .reason = kTimeBudget};
        }
        JournalWriter(journal_).append(records_of(frame_, planned, outcome));
    }

    RecordFrame frame_;
    SweepPlan plan_;
    TemporaryFolder folder_;
    std::filesystem::path journal_ = folder_.path() / "cpu-test-1t.jsonl";
};

TEST_F(Resuming, WhatLacksANeededCaseOrHalfIsUrgent) {
    ASSERT_EQ(plan_.problems.size(), 5U);
    ASSERT_EQ(plan_.problems[0].runnable(), 3U);
    record(0, {});
    record(1, {"cpu_openmp rows=64"});
    record(2, {"cpu_openmp rows=16"});
    record(3, {"cpu_openmp rows=16", "cpu_scalar default"});
    using Problems = std::vector<std::size_t>;
    const Recorded recorded = what_is_recorded({journal_}, plan_, frame_);
    EXPECT_EQ(recorded.open, (Problems{1, 2, 3, 4}));
    EXPECT_EQ(recorded.urgent, (Problems{1, 3, 4}));
    EXPECT_EQ(recorded.complete_cases, plan_.problems[0].cases.size());
    EXPECT_TRUE(nothing_recorded(plan_).urgent.empty());
}

TEST_F(Resuming, WhatAnotherDriverTimedIsOpenButNotUrgent) {
    record(0, {});
    record(1, {"cpu_openmp rows=64"});
    frame_.driver = "another";
    record(2, {});
    using Problems = std::vector<std::size_t>;
    const Recorded recorded = what_is_recorded({journal_}, plan_, frame_);
    EXPECT_EQ(recorded.open, (Problems{0, 1, 3, 4}));
    EXPECT_EQ(recorded.urgent, (Problems{1, 3, 4}));
}

}  // namespace
}  // namespace espalier::bench
