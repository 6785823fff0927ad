// Tests of what evaluates trees: folds, noise and regret.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "harness/bench/evidence/noise.hpp"
#include "harness/bench/learn/folds.hpp"
#include "harness/bench/learn/regret.hpp"
#include "tests/bench/learn/matrices.hpp"

namespace espalier::bench::learn {
namespace {

TEST(Folds, HoldOutNearDuplicatesTogether) {
    Rows rows = grid({kSizes, {1, 2}});
    rows.push_back({1024 * 1.02, 1});
    rows.push_back({1024 * 1.05, 1});  // a near-duplicate of a near-duplicate
    const auto matrix = matrix_of({{"n"}, {"m"}}, rows, 1, [](std::span<const double>, std::size_t) { return 0.0; });
    std::vector<int> held(rows.size());
    std::set<std::size_t> near_duplicates;
    const auto folds = make_folds(matrix, matrix.all(), 1);
    ASSERT_EQ(folds.size(), 10U);
    for (std::size_t f = 0; f < folds.size(); ++f) {
        EXPECT_EQ(folds[f].training.size() + folds[f].held_out.size(), rows.size());
        for (const std::size_t r : folds[f].held_out) {
            ++held[r];
            if (std::abs(rows[r][0] - 1050) < 50 && rows[r][1] == 1) near_duplicates.insert(f);
        }
    }
    EXPECT_TRUE(std::all_of(held.begin(), held.end(), [](int times) { return times == 1; }));
    EXPECT_EQ(near_duplicates.size(), 1U);
}

TEST(Folds, KeepTogetherWhatATreeCannotTellApart) {
    const Column unknown{.name = "distribution", .categories = 3, .derived = false, .interaction = {}, .known = false};
    const auto matrix = matrix_of({unknown, {"n"}}, grid({{0, 1, 2}, kSizes}), 1,
                                  [](std::span<const double>, std::size_t) { return 0.0; });
    for (const Fold& fold : make_folds(matrix, matrix.all(), 1)) {
        std::map<double, int> held;
        for (const std::size_t r : fold.held_out) ++held[matrix.value(r, 1)];
        for (const auto& [size, distributions] : held) EXPECT_EQ(distributions, 3) << size;
    }
}

// 1,000 and 1,001 are within 5%, but rows of the one are aligned and those of the other are not.
TEST(Folds, TellApartWhatADerivedColumnTellsApart) {
    const auto together = [](double one, double other) {
        const auto matrix = matrix_of({{"n"}, {"derived", 0, true}}, {{1000, one}, {1001, other}, {9000, 1}}, 1,
                                      [](std::span<const double>, std::size_t) { return 0.0; });
        return make_folds(matrix, matrix.all(), 1).size() == 2;
    };
    EXPECT_TRUE(together(1000, 1001));
    EXPECT_TRUE(together(8, 7));
    EXPECT_FALSE(together(8, 1));
}

TEST(Noise, CallsFewEqualTimesDifferent) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> common(0, 0.2), own(0, 0.05);
    int different = 0;
    constexpr int kTrials = 2000;
    for (int trial = 0; trial < kTrials; ++trial) {
        CaseRecord a, b;
        for (int i = 0; i < 20; ++i) {
            const double round = common(random);
            a.samples_ns.push_back(round * own(random));
            b.samples_ns.push_back(round * own(random));
        }
        const auto median = [](std::vector<double> v) {
            std::sort(v.begin(), v.end());
            return (v[9] + v[10]) / 2;
        };
        a.time_ns = median(a.samples_ns), b.time_ns = median(b.samples_ns);
        different += !indistinguishable(a, b, 0);
    }
    EXPECT_LE(different, kTrials * 5 / 100);
    EXPECT_GE(different, kTrials / 100) << "an interval that is never wrong is too wide";
}

TEST(Noise, SeesASmallDifferenceThatEveryRoundShows) {
    CaseRecord a, b;
    for (int i = 0; i < 10; ++i) a.samples_ns.push_back(100 + 20 * i), b.samples_ns.push_back(1.05 * (100 + 20 * i));
    a.time_ns = 190, b.time_ns = 1.05 * 190;
    a.time_lo_ns = b.time_lo_ns = 120, a.time_hi_ns = b.time_hi_ns = 260;
    EXPECT_FALSE(indistinguishable(a, b, 0.01));
    EXPECT_TRUE(indistinguishable(a, b, 0.06)) << "below the floor";
    b.provenance.session = "another";
    EXPECT_TRUE(indistinguishable(a, b, 0.01)) << "rounds of different sessions are not paired";
}

TEST(Noise, ScatterExcusesNoLargeDifference) {
    CaseRecord a, b;
    for (const double time : {10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0}) a.samples_ns.push_back(time);
    b.samples_ns = {9, 9, 9, 30, 30, 300, 3000, 3000};
    a.time_ns = 10, b.time_ns = 30;
    const MedianInterval ratio = paired_log_ratio(b.samples_ns, a.samples_ns);
    EXPECT_LE(ratio.lo, 0);
    EXPECT_GE(ratio.hi, 0);
    EXPECT_FALSE(indistinguishable(a, b, 0.01));
}

bool holds(const Interval& interval, double value) { return interval.lo <= value && value <= interval.hi; }

TEST(Regret, BootstrapIntervalCoversTheTruth) {
    std::mt19937_64 random(11);
    std::exponential_distribution<double> logs(20);  // mean 0.05
    int covered = 0;
    constexpr int kTrials = 300;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> sample(60);
        for (double& log : sample) log = logs(random);
        covered += holds(summarise(sample, static_cast<std::uint64_t>(trial)).geomean_interval, std::exp(0.05));
    }
    EXPECT_GE(covered, kTrials * 88 / 100);
    EXPECT_LE(covered, kTrials * 99 / 100);
}

TEST(Regret, FiguresAreThoseOfTheProblems) {
    std::vector<double> logs;
    for (int i = 1; i <= 10; ++i) logs.push_back(std::log(i));
    const Regret regret = summarise(logs, 1);
    EXPECT_EQ(regret.problems, 10);
    EXPECT_NEAR(regret.geomean, 4.5287, 1e-4);
    EXPECT_NEAR(regret.p90, 9, 1e-12);
    EXPECT_NEAR(regret.worst, 10, 1e-12);
    EXPECT_TRUE(holds(regret.geomean_interval, regret.geomean));
}

}  // namespace
}  // namespace espalier::bench::learn
