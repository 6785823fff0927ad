// What the learner is given beside the measured problems and the family's own columns: only what pays.

#include "harness/learn/offer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/learn/halfway.hpp"
#include "harness/learn/learn.hpp"
#include "harness/learn/pairs.hpp"
#include "harness/learn/surrogate.hpp"
#include "tests/synthetic/family.hpp"

namespace espalier::bench::learn {
namespace {

/// Two sizes, their ratio and their product; two candidates, `first` behind by `slowdown` (negative: ahead).
template <class F>
Matrix matrix_of(const std::vector<double>& sizes, F slowdown) {
    Matrix matrix;
    matrix.columns = {
        {"n"}, {"m"}, {"n / m", 0, true, {PairKind::ratio, 0, 1}}, {"n * m", 0, true, {PairKind::product, 0, 1}}};
    matrix.candidates = {{0, 0}, {1, 0}};
    matrix.baseline = 1;
    for (const double n : sizes)
        for (const double m : sizes) {
            matrix.problems.push_back(std::to_string(n) + "x" + std::to_string(m));
            for (const double value : values_of(matrix.columns, {n, m})) matrix.values.push_back(value);
            const double log = slowdown(n, m);
            for (const double own : {std::max(0.0, log), std::max(0.0, -log)}) {
                matrix.states.push_back(CellState::measured);
                matrix.slowdown.push_back(own);
                matrix.loss.push_back(measured_loss(own, false));
            }
        }
    return matrix;
}

const std::vector<double> kSizes{16, 64, 256, 1024, 4096, 16384, 65536};

std::vector<std::string> pairs_of(const Matrix& matrix) {
    std::vector<std::string> names;
    for (const std::size_t c : learn(matrix, matrix.all()).pairs) names.push_back(matrix.columns[c].name);
    return names;
}

TEST(Offer, IsAPairThatPays) {
    const auto by_ratio = matrix_of(kSizes, [](double n, double m) { return n / m > 8 ? 0.3 : -0.3; });
    EXPECT_EQ(pairs_of(by_ratio), std::vector<std::string>{"n / m"});
    const auto by_product = matrix_of(kSizes, [](double n, double m) { return n * m > 1e6 ? 0.3 : -0.3; });
    EXPECT_EQ(pairs_of(by_product), std::vector<std::string>{"n * m"});
    const Tree tree = learn(by_product, by_product.all());
    EXPECT_EQ(tree.leaves.size(), 2U);
}

TEST(Offer, IsNoPairThatAColumnStandsFor) {
    const auto by_size = matrix_of(kSizes, [](double n, double) { return n > 1000 ? 0.3 : -0.3; });
    EXPECT_TRUE(pairs_of(by_size).empty());
    // With one `m` only, ratio and product put the problems in the order of `n`.
    auto one = by_size;
    for (std::size_t p = 0; p < one.rows(); ++p) {
        const auto values = values_of(one.columns, {one.value(p, 0) * one.value(p, 1), 4});
        std::ranges::copy(values, one.values.begin() + static_cast<std::ptrdiff_t>(p * one.columns.size()));
    }
    EXPECT_TRUE(pairs_of(one).empty());
}

TEST(Offer, IsHardlyEverChance) {
    constexpr int kTrials = 40;
    int offered = 0;
    for (unsigned trial = 0; trial < kTrials; ++trial) {
        std::mt19937_64 random(trial);
        std::normal_distribution<double> noise(0, 0.2);
        offered += !pairs_of(matrix_of(kSizes, [&](double, double) { return noise(random); })).empty();
    }
    EXPECT_LE(offered, kTrials / 10);
}

TEST(Pairs, AreNamedAndComputedForEveryProblem) {
    const auto columns = columns_of(synthetic::family());
    ASSERT_EQ(columns.size(), 7U);
    EXPECT_EQ(columns[5].name, "rows / columns");
    EXPECT_EQ(columns[6].name, "rows * columns");
    const auto values = values_of(columns, synthetic::family().feature_values("rows=30;columns=0"));
    EXPECT_EQ(values[5], 30) << "a ratio to nothing is a number";
    EXPECT_EQ(values[6], 0);
}

TEST(Surrogate, FollowsPowerLawsBetweenAndBeyond) {
    const auto matrix = matrix_of(kSizes, [](double, double) { return 0.1; });
    const Positions positions(matrix);
    std::vector<Sample> samples;
    const auto log = [&](std::size_t p) { return 1.5 * std::log(matrix.value(p, 0)) - std::log(matrix.value(p, 1)); };
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        if (matrix.value(p, 0) != 1024 && matrix.value(p, 1) < 60'000) samples.push_back({positions.of(p), log(p)});
    const Surrogate surrogate(std::move(samples));
    for (std::size_t p = 0; p < matrix.rows(); ++p) EXPECT_NEAR(surrogate.at(positions.of(p)), log(p), 0.35) << p;
}

// Candidate 0 loses evenly with the logarithm of n: the boundary is where the trends meet, not in mid-gap.
TEST(Halfway, ProblemsPutTheBoundaryWhereTheTrendsMeet) {
    const auto slowdown = [](double n, double) { return 0.2 * (std::log2(n) - 9.7); };
    const auto matrix = matrix_of(kSizes, slowdown);
    const WithHalfway with = with_halfway_problems(matrix, matrix.all());
    EXPECT_EQ(with.measured, matrix.rows());
    ASSERT_GT(with.matrix.rows(), matrix.rows());
    for (std::size_t p = with.measured; p < with.matrix.rows(); ++p) {
        EXPECT_EQ(with.matrix.value(p, 0), 512) << "only between problems of which another choice is the best";
        EXPECT_LT(with.matrix.log_slowdown(p, 0), with.matrix.log_slowdown(p, 1));
    }
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 2U);
    EXPECT_TRUE(tree.halfway);
    EXPECT_GT(tree.nodes[0].test.value, 512);
    std::size_t rows = 0;
    for (const TreeLeaf& leaf : tree.leaves) rows += leaf.rows.size();
    EXPECT_EQ(rows, matrix.rows()) << "leaves hold what was measured";
}

TEST(Halfway, ProblemsLieBetweenProblemsOfOneKind) {
    Matrix matrix = matrix_of(kSizes, [](double n, double m) { return n > m ? 0.3 : -0.3; });
    matrix.columns[1].categories = static_cast<int>(kSizes.size());
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        matrix.values[p * matrix.columns.size() + 1] = static_cast<double>(p % kSizes.size());
    const WithHalfway with = with_halfway_problems(matrix, matrix.all());
    ASSERT_GT(with.matrix.rows(), with.measured);
    for (std::size_t p = with.measured; p < with.matrix.rows(); ++p)
        EXPECT_EQ(with.matrix.value(p, 1), std::floor(with.matrix.value(p, 1)));
}

}  // namespace
}  // namespace espalier::bench::learn
