// The rounds of timing, with a clock of the test's own.

#include "harness/bench/sweep/worker/timing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "harness/base/statistics.hpp"
#include "harness/bench/sweep/worker/verify.hpp"

namespace espalier::bench {
namespace {

/// A machine whose speed drifts: everything takes up to 30% longer now than then.
class DriftingSampler final : public Sampler {
public:
    double sample(const std::function<void()>& run, int) override {
        run();
        ++samples_;
        return now * (1 + 0.3 * std::sin(samples_ / 40.0)) * std::exp(noise * normal_(random_));
    }
    int batch_for(double) const override { return 1; }

    double now = 0;  ///< set by the candidate that runs
    double noise = 0.002;

private:
    double samples_ = 0;
    std::mt19937 random_{1};
    std::normal_distribution<double> normal_;
};

class Quiet : public ConditionWatch {
public:
    void begin_round() override { ++rounds; }
    bool disturbed() override { return disturb && disturb(rounds); }
    Conditions read() override { return {}; }

    int rounds = 0;
    std::function<bool(int)> disturb;
};

class Timing : public testing::Test {
protected:
    void add(const std::string& name, double nanoseconds) {
        const auto index = static_cast<std::uint32_t>(candidates_.size());
        candidates_.push_back({name, index, [this, index, nanoseconds] {
                                   sampler_.now = nanoseconds;
                                   order_.push_back(index);
                                   if (fail_at_ && order_.size() == fail_at_) throw std::runtime_error("enough");
                               }});
    }
    TimingOutcome run(TimingGoal goal = {}) {
        return time_in_rounds(candidates_, sampler_, conditions_, goal, progress_);
    }
    [[nodiscard]] std::size_t samples(std::size_t i) const { return candidates_[i].samples_ns.size(); }

    std::vector<TimedCandidate> candidates_;
    DriftingSampler sampler_;
    Quiet conditions_;
    ProgressPage progress_;
    std::vector<std::uint32_t> order_;
    std::size_t fail_at_ = 0;
};

TEST(TooSlow, TheSmallerProblemHasToShowIt) {
    const ScaledDownTime crawling{.seconds = 0.4, .fastest_seconds = 1e-3, .work_ratio = 100};
    EXPECT_TRUE(takes_long(crawling));
    EXPECT_TRUE(too_slow(crawling, 0.01));
    EXPECT_FALSE(too_slow(crawling, 0.2)) << "200 times the fastest at full size";
    // What fills a device only with a large problem, or allocates much memory, is as good as others there.
    EXPECT_FALSE(too_slow({.seconds = 3e-5, .fastest_seconds = 1e-5, .work_ratio = 1e6}, 0.01));
    EXPECT_FALSE(too_slow({.seconds = 0.04, .fastest_seconds = 1e-5, .work_ratio = 1e6}, 0.01));
    // What declines the scaled-down problem may be fast.
    EXPECT_FALSE(too_slow({.seconds = INFINITY, .fastest_seconds = 1e-5, .work_ratio = 10}, 0.01));
    EXPECT_FALSE(takes_long({.seconds = 1e-3, .fastest_seconds = 1e-6, .work_ratio = 100}));
}

TEST_F(Timing, RatiosArePairedAgainstDrift) {
    add("a", 1000);
    add("b", 1010);
    run();
    const auto ratio = median_interval(ratios(candidates_[1].samples_ns, candidates_[0].samples_ns));
    EXPECT_NEAR(ratio.median, 1.01, 0.01);
    EXPECT_LE(ratio.relative_half_width(), 0.01);
    EXPECT_GT(median_interval(candidates_[0].samples_ns).relative_half_width(), 0.02) << "there was no drift to pair";
}

TEST_F(Timing, EveryRoundTakesOneSampleOfEachInRandomOrder) {
    for (int i = 0; i < 5; ++i) add(std::to_string(i), 1000);
    run({.noise = 1e-9});
    std::map<std::vector<std::uint32_t>, int> orders;
    for (std::size_t at = 0; at + 5 <= order_.size(); at += 5) {
        std::vector<std::uint32_t> round(order_.begin() + static_cast<std::ptrdiff_t>(at),
                                         order_.begin() + static_cast<std::ptrdiff_t>(at) + 5);
        ++orders[round];
        std::sort(round.begin(), round.end());
        ASSERT_EQ(round, (std::vector<std::uint32_t>{0, 1, 2, 3, 4})) << "round " << at / 5;
    }
    EXPECT_GT(orders.size(), 20U);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(samples(i), samples(0));
}

TEST_F(Timing, SamplesGoToTheirCandidates) {
    const std::array<double, 4> nanoseconds{1000, 9000, 2000, 40'000};  // two of them are eliminated soon
    for (const double each : nanoseconds) add(std::to_string(each), each);
    run({.noise = 1e-9});
    EXPECT_LT(samples(1), samples(0));
    for (std::size_t i = 0; i < 4; ++i)
        for (const double sample : candidates_[i].samples_ns)
            EXPECT_NEAR(sample, nanoseconds.at(i), 0.4 * nanoseconds.at(i));
}

TEST_F(Timing, TheSameSeedGivesTheSameOrder) {
    add("a", 1000);
    add("b", 1000);
    run({.seed = 4});
    const auto first = order_;
    order_.clear();
    for (TimedCandidate& candidate : candidates_) candidate.samples_ns.clear();
    run({.seed = 4});
    EXPECT_GE(first.size(), 2U * kLeastRounds);
    EXPECT_EQ(order_, first);
}

TEST_F(Timing, SlowOnesAreEliminatedAndCloseOnesGoOn) {
    add("best", 1000);
    add("close", 1005);
    add("eliminated", 5000);
    sampler_.noise = 0.02;
    run({.noise = 0.002});
    EXPECT_EQ(samples(2), kLeastRounds);
    EXPECT_GT(samples(1), 20U);
    EXPECT_GE(samples(0), samples(1));
}

TEST_F(Timing, WhatIsClearlySlowerNeedsLessPrecision) {
    add("best", 1000);
    add("half as fast", 2000);
    add("close", 1005);
    sampler_.noise = 0.02;
    run({.noise = 0.002});
    EXPECT_LT(samples(1), samples(2));
}

TEST_F(Timing, ItEndsWithTheBudgetButNotBeforeTheLeastRounds) {
    add("a", 1000);
    EXPECT_EQ(run({.noise = 1e-9, .seconds = 0}).rounds, kLeastRounds);
}

TEST_F(Timing, NothingBeginsAfterTheDeadline) {
    add("a", 1000);
    EXPECT_EQ(run({.deadline = 0}).rounds, 0U);
    EXPECT_EQ(samples(0), 0U);
}

TEST_F(Timing, ADisturbedRoundIsDiscardedWhole) {
    add("a", 1000);
    add("b", 1000);
    conditions_.disturb = [](int round) { return round % 7 == 3; };
    const TimingOutcome outcome = run({.noise = 1e-9});
    EXPECT_GT(outcome.repeated, 5U);
    EXPECT_EQ(samples(0), outcome.rounds);
    EXPECT_EQ(samples(1), outcome.rounds);
    EXPECT_EQ(order_.size(), 2 * (outcome.rounds + outcome.repeated));
}

TEST_F(Timing, ADisturbedBeginningEliminatesNone) {
    add("one thread", 1000);
    add("two threads, once it has both processors", 0);
    conditions_.disturb = [](int round) { return round <= 12; };
    candidates_[1].run = [this] { sampler_.now = conditions_.rounds <= 12 ? 1e5 : 700; };
    EXPECT_GT(run({.noise = 1e-9}).disturbed, 7U) << "more of them than are repeated";
    EXPECT_GT(samples(1), 50U);
    EXPECT_LT(median_interval(candidates_[1].samples_ns).median, 1000);
}

TEST_F(Timing, AMachineThatIsNeverQuietIsMeasuredAsItIs) {
    add("a", 1000);
    conditions_.disturb = [](int) { return true; };
    const TimingOutcome outcome = run({.noise = 1e-9});
    EXPECT_GE(outcome.rounds, 50U);
    EXPECT_GT(outcome.disturbed, outcome.repeated);
}

TEST_F(Timing, AFailureIsThrownAndThePageNamesItsCandidate) {
    add("a", 1000);
    add("b", 1000);
    fail_at_ = 9;
    EXPECT_THROW(run({.noise = 1e-9}), std::runtime_error);
    EXPECT_EQ(progress_.candidate.load(), order_.back());
    EXPECT_EQ(order_.size(), 9U) << "nobody runs after a failure";
}

/// A device from whose samples as much is taken off as measuring added to the longest of them.
class RelievedSampler final : public Sampler {
public:
    double sample(const std::function<void()>& run, int) override {
        run();
        return now - 800 - 10 * (samples_++ % 5);
    }
    int batch_for(double) const override { return 1; }
    double resolution_ns(int) const override { return 50; }

    double now = 0;

private:
    int samples_ = 0;
};

TEST_F(Timing, NoSampleIsShorterThanTheResolution) {
    RelievedSampler sampler;
    for (const double nanoseconds : {790.0, 880.0, 5000.0})
        candidates_.push_back({"some", static_cast<std::uint32_t>(candidates_.size()),
                               [&sampler, nanoseconds] { sampler.now = nanoseconds; }});
    time_in_rounds(candidates_, sampler, conditions_, {.noise = 1e-9}, progress_);
    EXPECT_EQ(candidates_[0].samples_ns, std::vector<double>(samples(0), 50)) << "all of them came out below zero";
    EXPECT_EQ(candidates_[0].resolution_ns, 50);
    for (const double sample : candidates_[1].samples_ns) EXPECT_GE(sample, 50);
    EXPECT_EQ(candidates_[1].resolution_ns, 50) << "some did";
    EXPECT_EQ(candidates_[2].resolution_ns, 0);
}

TEST_F(Timing, AClockThatDoesNotMoveGivesAPositiveTime) {
    sampler_.noise = 0;
    add("nothing", 0);
    add("less than nothing", -1.54);
    run({.noise = 1e-9, .seconds = 0});
    for (const TimedCandidate& candidate : candidates_)
        for (const double sample : candidate.samples_ns) EXPECT_GT(sample, 0) << candidate.name;
}

TEST(Samples, HaveFiveDigits) {
    RelievedSampler sampler;
    const auto digits_of = [&](double ns) {
        sampler = {};
        sampler.now = ns + 800;
        return take_sample(
                   sampler, [] {}, 1)
            .ns;
    };
    EXPECT_EQ(digits_of(56.78901), 56.79);
    EXPECT_EQ(digits_of(999.994), 999.99);
    EXPECT_EQ(digits_of(1000.04), 1000);
    EXPECT_EQ(digits_of(3661.874), 3661.9);
    EXPECT_EQ(digits_of(99'999.4), 99'999);
    EXPECT_EQ(digits_of(123'456.7), 123'460);
    EXPECT_EQ(digits_of(9'876'543'210.0), 9'876'500'000.0);
}

TEST_F(Timing, TheSameThingTwiceIsNotCalledDifferent) {
    int different = 0, missed = 0;
    constexpr double kNoise = 0.005;
    for (std::uint64_t trial = 0; trial < 100; ++trial) {
        candidates_.clear();
        order_.clear();
        add("a", 1000);
        add("b", 1000);
        sampler_.noise = 0.01;
        run({.noise = kNoise, .seed = trial});
        const auto ratio = median_interval(ratios(candidates_[1].samples_ns, candidates_[0].samples_ns));
        missed += ratio.lo > 1 || ratio.hi < 1;
        different += ratio.lo > 1 + kNoise || ratio.hi < 1 - kNoise;
    }
    EXPECT_LE(missed, 10) << "of a hundred 95% intervals";
    EXPECT_EQ(different, 0) << "by more than the noise asked for";
}

}  // namespace
}  // namespace espalier::bench
