// How long a sweep will take, from what earlier ones recorded.

#include "harness/bench/sweep/plan/forecast.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/record/case_records.hpp"
#include "harness/bench/sweep/record/resume.hpp"
#include "tests/bench/sweep/timed_outcome.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench {
namespace {

constexpr double kUnknown = 1234;

class Forecasts : public testing::Test {
protected:
    Forecasts() {
        frame_.device.key = "cpu-test-1t";
        frame_.device.name = "A CPU";
        frame_.device.threads = 1;
        frame_.driver = frame_.runtime = frame_.build = "some";
    }

    PlannedProblem problem(const std::string& family, const std::string& axis, const std::string& value) const {
        SweepOptions options;
        options.families = {family};
        options.axes = {{axis, {value}}};
        return make_plan(options, frame_.device, {.device = 1 << 30, .host = 1 << 30}).problems.at(0);
    }
    PlannedProblem dot(int elements) const { return problem("dot", "elements", std::to_string(elements)); }

    /// Records of one sweep's problem that took `whole` seconds, `counting` of them for counters.
    void record(const PlannedProblem& planned, const std::string& session, double whole,
                std::optional<double> counting = std::nullopt) {
        ProblemOutcome outcome = timed_outcome(planned);
        outcome.conditions = {.problem_seconds = whole};
        outcome.conditions.counting_seconds = counting;
        frame_.session = session;
        JournalWriter(journal_).append(records_of(frame_, planned, outcome));
    }

    Forecast forecast(CounterMode counters = CounterMode::off) const {
        return {folder_.path() / "none", journals_of(folder_.path(), frame_.device.key), counters};
    }

    RecordFrame frame_;
    TemporaryFolder folder_;
    std::filesystem::path journal_ = folder_.path() / "cpu-test-1t.jsonl";
};

TEST_F(Forecasts, AKnownProblemTakesAsLongAsItTookLast) {
    record(dot(1000), "2026-01-01", 5);
    record(dot(1000), "2026-01-02", 3);
    EXPECT_DOUBLE_EQ(forecast().seconds(dot(1000), kUnknown), 3);
}

TEST_F(Forecasts, AnUnknownProblemTakesAsLongAsItsFamilysOfTheMostSimilarSize) {
    record(dot(1000), "2026-01-01", 1);
    record(dot(1'000'000), "2026-01-01", 7);
    EXPECT_DOUBLE_EQ(forecast().seconds(dot(3000), kUnknown), 1);
    EXPECT_DOUBLE_EQ(forecast().seconds(dot(900'000), kUnknown), 7);
}

TEST_F(Forecasts, AnUnknownFamilyTakesAsLongPerCaseAsTheOthers) {
    const PlannedProblem known = dot(1000), unknown = problem("polyphase", "samples", "1000");
    record(known, "2026-01-01", 6);
    const double each = 6 / static_cast<double>(known.runnable());
    EXPECT_DOUBLE_EQ(forecast().seconds(unknown, kUnknown), each * static_cast<double>(unknown.runnable()));
}

TEST_F(Forecasts, CountersAreForeseenOnlyWhereTheyAreAskedFor) {
    record(dot(1000), "2026-01-01", 5, 2);
    EXPECT_DOUBLE_EQ(forecast(CounterMode::off).seconds(dot(1000), kUnknown), 3);
    EXPECT_DOUBLE_EQ(forecast(CounterMode::automatic).seconds(dot(1000), kUnknown), 5);
}

TEST_F(Forecasts, CountersOfAProblemThatWasOnlyTimedTakeAsLongAsOthersDid) {
    record(dot(1000), "2026-01-01", 5, 2);
    record(dot(1'000'000), "2026-01-01", 7);
    EXPECT_DOUBLE_EQ(forecast(CounterMode::automatic).seconds(dot(1'000'000), kUnknown), 9);
}

TEST_F(Forecasts, NothingRecordedLeavesTheEstimateToTheCaller) {
    EXPECT_DOUBLE_EQ(forecast().seconds(dot(1000), kUnknown), kUnknown);
}

}  // namespace
}  // namespace espalier::bench
