// Other load on the machine: how it is read, judged and waited for.

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <string>

#include "harness/bench/records/disturbance.hpp"
#include "harness/bench/sweep/plan/equal_shares.hpp"
#include "harness/bench/sweep/record/status_count.hpp"
#include "harness/bench/sweep/schedule/quiet_watch.hpp"
#include "harness/bench/sweep/worker/calibration_loop.hpp"
#include "harness/bench/sweep/worker/processor_load.hpp"

namespace espalier::bench {
namespace {

constexpr const char* kStat =
    "cpu  900 9 90 9000 90 9 9 90 0 0\n"
    "cpu0 100 1 10 1000 10 1 1 10 0 0\n"
    "cpu1 200 2 20 2000 20 2 2 20 0 0\n"
    "cpu12 600 6 60 6000 60 6 6 60 0 0\n"
    "intr 12345 0 0\n"
    "ctxt 999\n";

TEST(ProcessorTimes, CountsTheProcessorsThatMayBeUsed) {
    const LoadReading reading = parse_processor_times(kStat, {0, 12});
    EXPECT_EQ(reading.processors, 2);
    EXPECT_EQ(reading.busy, 113 + 678) << "waiting for a disk is idle, interrupts are not";
    EXPECT_EQ(reading.steal, 70);
    EXPECT_EQ(reading.all, 791 + 70 + 7000 + 70);
}

TEST(ProcessorTimes, TextThatIsNoneGivesNothing) {
    for (const char* text : {"", "cpu0", "cpu0 1 2 3\n", "cpux 1 2 3 4 5 6 7 8\n", "nothing\n\n\xff"}) {
        const LoadReading reading = parse_processor_times(text, {0});
        EXPECT_EQ(reading.processors, 0) << text;
        EXPECT_FALSE(load_between({}, reading)) << text;
    }
}

TEST(ProcessTimes, NamesMayHoldAnything) {
    const auto times = parse_process_times("12 (a ) b (c) S 7 12 12 0 -1 4194304 1 2 3 4 100 20 3 4 20 0 2 0 555");
    ASSERT_TRUE(times);
    EXPECT_EQ(times->parent, 7);
    EXPECT_EQ(times->ticks, 127) << "its own and those of children that have ended";
    for (const char* text : {"", "12 (a) S 7", "12 no name S 7 12 12 0 -1 4194304 1 2 3 4 100 20 3 4"})
        EXPECT_FALSE(parse_process_times(text)) << text;
}

LoadReading reading(double at, double busy, double own, double steal = 0, int processors = 2) {
    return {.at = at, .all = 100 * at * processors, .busy = busy, .steal = steal, .own = own, .processors = processors};
}

TEST(Load, OwnTimeIsNotForeign) {
    const auto load = load_between(reading(10, 1000, 900), reading(12, 1300, 1140, 20));
    ASSERT_TRUE(load);
    EXPECT_DOUBLE_EQ(load->seconds, 2);
    EXPECT_DOUBLE_EQ(load->foreign_share, 60. / 400);
    EXPECT_DOUBLE_EQ(load->steal_share, 20. / 400);
    EXPECT_DOUBLE_EQ(load_between(reading(10, 0, 0), reading(11, 100, 120))->foreign_share, 0) << "ticks are rounded";
}

TEST(Load, ThisMachineCountsItsOwnWork) {
    const LoadReading before = read_load(getpid());
    if (before.processors == 0) GTEST_SKIP() << "this system does not tell what its processors do";
    CalibrationLoop loop;
    LoadReading after = before;
    while (after.at - before.at < 0.5 || after.all == before.all) {
        loop.run();
        after = read_load(getpid());
    }
    EXPECT_GT(after.own, before.own);
    EXPECT_GE(after.busy, before.busy);
}

TEST(LoadHistory, AShortMomentIsJudgedByALongerOne) {
    LoadHistory history;
    EXPECT_FALSE(history.before(5));
    for (const double at : {1.0, 1.2, 1.4, 2.0}) history.add(reading(at, 0, 0));
    EXPECT_EQ(history.before(2.1)->at, 1.4);
    EXPECT_EQ(history.before(9)->at, 2.0);
    EXPECT_EQ(LoadHistory(history).before(1.1)->at, 1.4) << "the first that is left";
}

TEST(ClockShare, IsTheFastestOverTheMedian) {
    EXPECT_DOUBLE_EQ(clock_share({100, 5000, 100}, 100), 1) << "one that was put off says nothing";
    EXPECT_DOUBLE_EQ(clock_share({250, 240, 260}, 100), 0.4);
    EXPECT_DOUBLE_EQ(clock_share({50}, 100), 1);
    EXPECT_DOUBLE_EQ(clock_share({}, 100), 1);
    CalibrationLoop loop;
    EXPECT_FALSE(loop.known());
    loop.run();
    EXPECT_GT(loop.share(), 0);
    EXPECT_LE(loop.share(), 1);
}

struct Judged {
    const char* name;
    Conditions conditions;
    std::optional<DisturbanceCause> cause;
};

class Judgement : public testing::TestWithParam<Judged> {};

TEST_P(Judgement, NamesTheCause) {
    const auto disturbance = disturbance_of(GetParam().conditions);
    ASSERT_EQ(disturbance.has_value(), GetParam().cause.has_value());
    if (disturbance) {
        EXPECT_EQ(disturbance->cause, *GetParam().cause);
    }
}

constexpr auto kPrograms = DisturbanceCause::programs;
INSTANTIATE_TEST_SUITE_P(
    Conditions, Judgement,
    testing::Values(
        Judged{"nothing_known", {}, {}},
        Judged{"quiet", {.foreign_cpu_share = 0.02, .processors = 2, .clock_share = 0.97}, {}},
        Judged{"both_busy", {.foreign_cpu_share = 0.48, .processors = 2}, kPrograms},
        Judged{"one_of_two_busy", {.foreign_cpu_share = 0.4, .processors = 2}, kPrograms},
        Judged{"one_of_sixteen_busy", {.foreign_cpu_share = 0.06, .processors = 16}, kPrograms},
        Judged{"half_of_one_is_borne", {.foreign_cpu_share = 0.25, .processors = 2}, {}},
        Judged{"background_of_a_server", {.foreign_cpu_share = 0.009, .processors = 256}, {}},
        Judged{"one_processor", {.foreign_cpu_share = 0.6, .processors = 1}, kPrograms},
        Judged{"steal", {.foreign_cpu_share = 0.01, .steal_cpu_share = 0.3, .processors = 2}, DisturbanceCause::guests},
        Judged{"both_together", {.foreign_cpu_share = 0.15, .steal_cpu_share = 0.14, .processors = 2}, kPrograms},
        Judged{"slow_clock",
               {.foreign_cpu_share = 0, .processors = 2, .clock_share = 0.4},
               DisturbanceCause::slow_processor},
        Judged{"earlier_record", {.foreign_cpu_share = 0.48}, kPrograms},
        Judged{"earlier_quiet_record", {.foreign_cpu_share = 0.2, .steal_cpu_share = 0.01}, {}},
        Judged{
            "earlier_record_all_repeated", {.foreign_cpu_share = 0.5, .disturbed_rounds = 2, .repeated_rounds = 2}, {}},
        Judged{"earlier_record_some_kept",
               {.foreign_cpu_share = 0.5, .disturbed_rounds = 9, .repeated_rounds = 5},
               kPrograms},
        Judged{"rounds_alone_say_little", {.foreign_cpu_share = 0, .processors = 2, .disturbed_share = 1}, {}},
        Judged{"hot_gpu", {.sm_clock_mhz = 900, .disturbed_share = 0.7}, DisturbanceCause::slow_gpu},
        Judged{"cool_gpu", {.host_foreign_share = 0.9, .sm_clock_mhz = 1900, .disturbed_share = 0.3}, {}}),
    [](const auto& judged) { return std::string(judged.param.name); });

TEST(Disturbances, TypicalIsTheMostFrequentCauseAndItsMedian) {
    using enum DisturbanceCause;
    EXPECT_FALSE(typical({}));
    const auto most = typical({{guests, 0.9}, {programs, 0.5}, {programs, 0.3}, {guests, 0.8}, {programs, 0.48}});
    ASSERT_TRUE(most);
    EXPECT_EQ(describe(*most), "other programs used 48% of the processors");
}

/// A machine whose load is a list: what others take, in the half second until each reading.
class Script final : public LoadSource {
public:
    explicit Script(std::deque<double> foreign) : foreign_(std::move(foreign)) {}

    LoadReading read() override {
        last_.processors = 2;
        return last_;
    }
    void pause(double seconds) override {
        paused += seconds;
        pass(seconds);
    }
    void pass(double seconds) {
        const double foreign = foreign_.empty() ? 0 : foreign_.front();
        if (foreign_.size() > 1) foreign_.pop_front();
        last_.at += seconds;
        last_.all += 200 * seconds;
        last_.busy += (60 + 200 * foreign) * seconds;
        last_.own += 60 * seconds;
    }
    double paused = 0;

private:
    std::deque<double> foreign_;
    LoadReading last_;
};

struct Watched {
    explicit Watched(double budget, std::deque<double> foreign) {
        auto owned = std::make_unique<Script>(std::move(foreign));
        script = owned.get();
        watch = std::make_unique<QuietWatch>(budget, std::move(owned),
                                             [this](const std::string& text) { said.push_back(text); });
    }
    /// A problem takes a second, then the next one may begin.
    double problem(DeviceKind kind = DeviceKind::cpu) {
        script->pass(1);
        return watch->wait(kind);
    }
    Script* script = nullptr;
    std::unique_ptr<QuietWatch> watch;
    std::vector<std::string> said;
};

TEST(QuietWatch, OnAQuietMachineItNeitherWaitsNorSpeaks) {
    Watched watched(60, {0.05});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(watched.problem(), 0);
    EXPECT_TRUE(watched.watch->quiet());
    EXPECT_EQ(watched.script->paused, 0);
    EXPECT_TRUE(watched.said.empty());
}

TEST(QuietWatch, BusyItSaysWhyAndForHowLongAndWaits) {
    Watched watched(60, {0, 0.5, 0.48, 0.48, 0.48, 0.01});
    EXPECT_EQ(watched.problem(), 0);
    EXPECT_DOUBLE_EQ(watched.problem(), 2);
    EXPECT_TRUE(watched.watch->quiet());
    ASSERT_EQ(watched.said.size(), 2U);
    EXPECT_NE(watched.said[0].find("other programs use 48% of the 2 processors"), std::string::npos) << watched.said[0];
    EXPECT_NE(watched.said[0].find("up to 1 min 00 s (--wait-for-quiet)"), std::string::npos) << watched.said[0];
    EXPECT_NE(watched.said[1].find("quiet again after 2.0 s"), std::string::npos) << watched.said[1];
}

TEST(QuietWatch, WhatIsOverAtOnceIsNotSpokenOf) {
    Watched watched(60, {0.5, 0});
    EXPECT_DOUBLE_EQ(watched.problem(), 0.5);
    EXPECT_TRUE(watched.said.empty());
}

TEST(QuietWatch, ItsBudgetIsOfTheWholeSweepAndItsEndIsSaidOnce) {
    Watched watched(3, {0.9});
    EXPECT_DOUBLE_EQ(watched.problem(), 3);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(watched.problem(), 0);
    EXPECT_FALSE(watched.watch->quiet());
    EXPECT_DOUBLE_EQ(watched.script->paused, 3);
    ASSERT_EQ(watched.said.size(), 2U);
    EXPECT_NE(watched.said[1].find("still busy after waiting 3.0 s in all: going on"), std::string::npos);
}

TEST(QuietWatch, WithoutABudgetItNeverLooks) {
    Watched watched(0, {0.9});
    EXPECT_EQ(watched.problem(), 0);
    EXPECT_FALSE(watched.watch->quiet());
    EXPECT_EQ(watched.script->paused, 0);
}

TEST(QuietWatch, AGpuWaitsOnlyWithoutAnIdleProcessor) {
    Watched one_busy(60, {0.5});
    EXPECT_EQ(one_busy.problem(DeviceKind::cuda), 0);
    Watched all_busy(60, {0.7, 0.7, 0.5});
    EXPECT_DOUBLE_EQ(all_busy.problem(DeviceKind::cuda), 1);
}

TEST(QuietWatch, AtFirstItLooksForAMoment) {
    Watched watched(60, {0.1});
    EXPECT_DOUBLE_EQ(watched.watch->wait(DeviceKind::cpu), 0.25);
    EXPECT_EQ(watched.watch->wait(DeviceKind::cpu), 0) << "just now";
}

TEST(QuietWatch, WaitingTakesAQuarterOfTheTimeAtMost) {
    EXPECT_EQ(waiting_budget(60, std::nullopt), 60);
    EXPECT_EQ(waiting_budget(60, 60), 15);
    EXPECT_EQ(waiting_budget(60, 3600), 60);
    EXPECT_EQ(waiting_budget(0, 60), 0);
}

CaseRecord timed(double foreign, double seconds = 1, const std::string& problem = "p") {
    CaseRecord record{.family = "f", .variant = "v", .problem = problem, .status = Status::ok};
    record.conditions = {.foreign_cpu_share = foreign, .processors = 2, .problem_seconds = seconds};
    return record;
}

TEST(DisturbedProblems, AreMeasuredOnceMoreWhenItIsQuiet) {
    EqualShares shares(3, {0, 1, 2}, 1);
    std::vector<Task> tasks;
    for (int i = 0; i < 3; ++i) {
        tasks.push_back(*shares.next({}));
        shares.finished(tasks.back(), std::vector{timed(i == 1 ? 0.5 : 0.0)});
    }
    EXPECT_FALSE(shares.next({.quiet = false})) << "it would be disturbed again";
    EXPECT_FALSE(shares.next({.seconds_left = 1.5, .quiet = true})) << "there is no time for it";
    auto again = shares.next({.quiet = true});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->problem, tasks[1].problem);
    again->visit = 1;
    shares.finished(*again, std::vector{timed(0.5)});
    EXPECT_FALSE(shares.next({.quiet = true})) << "once";
}

TEST(DisturbedProblems, AreCountedAsTheyWereMeasuredLast) {
    StatusCount statuses;
    statuses.add(std::vector{timed(0.4, 1, "a"), timed(0.6, 1, "b"), timed(0, 1, "c")});
    EXPECT_EQ(statuses.disturbed_problems(), 2U);
    statuses.add(std::vector{timed(0, 1, "a")});
    EXPECT_EQ(statuses.disturbed_problems(), 1U);
    ASSERT_TRUE(statuses.disturbance());
    EXPECT_EQ(statuses.disturbance()->share, 0.6);
}

TEST(DisturbedProblems, OneDisturbedCaseIsEnough) {
    DisturbedProblems problems;
    for (const auto& [problem, foreign] : {std::pair("a", 0.0), {"a", 0.6}, {"a", 0.0}, {"b", 0.0}, {"c", 0.4}})
        problems.add(timed(foreign, 1, problem));
    CaseRecord failed = timed(0.9, 1, "d");
    failed.status = Status::crashed;
    problems.add(failed);
    EXPECT_EQ(problems.problems(), 3U) << "those with a time";
    EXPECT_EQ(problems.count(), 2U);
    EXPECT_TRUE(problems.contains("f|a") && problems.contains("f|c") && !problems.contains("f|b"));
    EXPECT_FALSE(problems.all());
    EXPECT_EQ(problems.warning(),
              "2 of 3 problems were disturbed: other programs used 60% of the processors; measured values are marked ~ "
              "and win nothing");
}

TEST(DisturbedProblems, TheWarningSaysWhereNothingIsLeft) {
    DisturbedProblems problems;
    EXPECT_EQ(problems.warning(), "");
    problems.add(timed(0, 1, "quiet"));
    EXPECT_EQ(problems.warning(), "");
    DisturbedProblems all;
    all.add(timed(0.48));
    EXPECT_TRUE(all.all());
    EXPECT_TRUE(all.warning().starts_with("1 of 1 problem was disturbed: other programs used 48% of the processors;"));
    EXPECT_TRUE(all.warning().ends_with("sweep again on a quiet machine")) << all.warning();
}

TEST(Disturbance, IsOfCasesWithATimeAndHasAName) {
    const std::pair<Conditions, std::string> cases[] = {{{.foreign_cpu_share = 0.5, .processors = 2}, "programs"},
                                                        {{.steal_cpu_share = 0.5, .processors = 2}, "guests"},
                                                        {{.clock_share = 0.3}, "slow_processor"},
                                                        {{.sm_clock_mhz = 900, .disturbed_share = 0.9}, "slow_gpu"},
                                                        {{.foreign_cpu_share = 0.1, .processors = 2}, ""},
                                                        {{}, ""}};
    for (const auto& [conditions, name] : cases) {
        CaseRecord record = timed(0);
        record.conditions = conditions;
        EXPECT_EQ(disturbance_name(record), name);
        record.status = Status::wrong;
        EXPECT_EQ(disturbance_name(record), "") << "it has no time";
    }
}

}  // namespace
}  // namespace espalier::bench
