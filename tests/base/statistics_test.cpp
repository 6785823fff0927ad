#include "harness/base/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace espalier::bench {
namespace {

TEST(MedianInterval, OfNothingIsZero) { EXPECT_EQ(median_interval({}).median, 0); }

TEST(MedianInterval, OfFewSamplesIsTheirRange) {
    const std::vector<double> samples{5, 1, 3};
    const auto interval = median_interval(samples);
    EXPECT_EQ(interval.median, 3);
    EXPECT_EQ(interval.lo, 1);
    EXPECT_EQ(interval.hi, 5);
}

// Ranks from the usual table of the sign test's intervals at 95%.
TEST(MedianInterval, UsesTheTabulatedRanks) {
    for (const auto& [n, rank] :
         {std::pair{6, 1}, {8, 1}, {9, 2}, {10, 2}, {15, 4}, {20, 6}, {25, 8}, {50, 18}, {100, 40}}) {
        std::vector<double> samples;
        for (int i = 1; i <= n; ++i) samples.push_back(i);
        std::shuffle(samples.begin(), samples.end(), std::mt19937(static_cast<unsigned>(n)));
        const auto interval = median_interval(samples);
        EXPECT_EQ(interval.lo, rank) << n << " samples";
        EXPECT_EQ(interval.hi, n + 1 - rank) << n << " samples";
        EXPECT_EQ(interval.median, (n + 1) / 2.0) << n << " samples";
    }
}

TEST(MedianInterval, HoldsTheTrueMedianOftenEnough) {
    std::mt19937 random(3);
    std::exponential_distribution<double> skewed(1);
    const double truth = std::log(2.0);
    int held = 0;
    constexpr int kTrials = 2000;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> samples(17);
        for (double& sample : samples) sample = skewed(random);
        const auto interval = median_interval(samples);
        held += interval.lo <= truth && truth <= interval.hi;
    }
    // 95.1% expected for 17 samples, standard deviation 0.5%.
    EXPECT_GE(held, kTrials * 0.935);
    EXPECT_LE(held, kTrials * 0.975);
}

TEST(Ratios, PairAsFarAsBothGo) {
    const std::vector<double> a{2, 9, 8}, b{1, 3};
    EXPECT_EQ(ratios(a, b), (std::vector<double>{2, 3}));
}

TEST(SignificantDigits, GiveTheNearestValue) {
    EXPECT_EQ(to_significant_digits(146'042.67, 4), 146'000);
    EXPECT_EQ(to_significant_digits(146'052.67, 4), 146'100);
    EXPECT_EQ(to_significant_digits(999'960, 4), 1'000'000);
    EXPECT_EQ(to_significant_digits(0.00123456, 4), 0.001235);
    EXPECT_EQ(to_significant_digits(-7, 4), -7);
    EXPECT_EQ(to_significant_digits(0, 4), 0);
    EXPECT_EQ(to_significant_digits(1e18, 1), 1e18);
}

}  // namespace
}  // namespace espalier::bench
