// Forests, and trees that are distilled from them.

#include "harness/bench/learn/forest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/bench/learn/distil.hpp"
#include "harness/bench/learn/in_family.hpp"
#include "harness/bench/learn/learn.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "tests/bench/learn/matrices.hpp"
#include "tests/bench/synthetic/family.hpp"

namespace espalier::bench::learn {
namespace {

double step(double x, double y) { return x <= 7 ? 0.25 : y <= 3 ? 1 : 3; }

/// A grid of two columns, of which a forest learns `step`.
std::pair<Table, std::vector<Observation>> steps() {
    Table table{2, {}};
    std::vector<Observation> samples;
    for (int x = 0; x < 16; ++x)
        for (int y = 0; y < 8; ++y) {
            samples.push_back({table.rows(), step(x, y)});
            table.values.insert(table.values.end(), {static_cast<double>(x), static_cast<double>(y)});
        }
    return {table, samples};
}

TEST(Forest, RecoversAStepFunction) {
    const auto [table, samples] = steps();
    const Forest forest(table, samples);
    const auto there = forest.at(table);
    for (const Observation& s : samples) EXPECT_NEAR(there[s.row], s.value, 1e-6);
    const auto between = forest.at({2, {3.4, 5.5, 12.7, 1.2, 14.5, 6.5, 100, 100, -5, 0}});
    EXPECT_NEAR(between[0], 0.25, 1e-6);
    EXPECT_NEAR(between[1], 1, 1e-6);
    EXPECT_NEAR(between[2], 3, 1e-6);
    EXPECT_NEAR(between[3], 3, 1e-6) << "beyond the samples it stays what it was";
    EXPECT_NEAR(between[4], 0.25, 1e-6);
}

TEST(Forest, IsTheSameWhateverTheOrderOfSums) {
    const auto [table, samples] = steps();
    EXPECT_EQ(Forest(table, samples).at(table), Forest(table, samples).at(table));
    const Table between{2, {7.3, 2.5, 7.6, 3.4, 7.9, 3.6}};
    EXPECT_EQ(Forest(table, samples).at(between), Forest(table, samples).at(between));
    EXPECT_NE(Forest(table, samples).at(between), Forest(table, samples, 2).at(between));
    const std::vector reversed(samples.rbegin(), samples.rend());
    const auto one = Forest(table, samples).at(between), other = Forest(table, reversed).at(between);
    EXPECT_EQ(one, other);
}

TEST(Forest, AgreesWhereItWasToldAndNotBetween) {
    const auto [table, samples] = steps();
    const Forest forest(table, samples);
    for (const double spread : forest.spread(table, forest.at(table))) EXPECT_EQ(spread, 0);
    const Table between{2, {7.5, 2, 15, 2}};  // at the step, and far from it
    const auto spread = forest.spread(between, forest.at(between));
    EXPECT_GT(spread[0], 0.1);
    EXPECT_EQ(spread[1], 0);
}

/// Two sizes; which of two choices is best changes at n * m = 2^17, which lies between measured sizes.
Matrix by_product() {
    const std::vector<double> sizes{16, 64, 256, 1024, 4096};
    std::vector<Column> columns{{"n"}, {"m"}};
    Matrix matrix = matrix_of(columns, grid({sizes, sizes}), 2, [](std::span<const double> row, std::size_t c) {
        return c == 1 ? 0.0 : 0.2 * (std::log2(row[0] * row[1]) - 17);
    });
    auto drawn = std::make_shared<DrawnProblems>();
    for (const double n : kSizes)
        for (const double m : kSizes) {
            if (n > 4096 || m > 4096) continue;
            drawn->values.insert(drawn->values.end(), {n, m});
            drawn->supported.insert(drawn->supported.end(), {1, 1});
            ++drawn->count;
        }
    matrix.drawn = drawn;
    return matrix;
}

TEST(Distil, RecoversRegionsBetweenMeasuredSizes) {
    const Matrix matrix = by_product();
    const Tree tree = learn(matrix, matrix.all(), {.least_problems = 1});
    double regret = 0;
    for (std::size_t d = 0; d < matrix.drawn->count; ++d) {
        const std::span row(matrix.drawn->values.data() + 2 * d, 2);
        const double log = 0.2 * (std::log2(row[0] * row[1]) - 17);
        const bool first = tree.leaves[tree.leaf_of(row)].ranking.front() == 0;
        regret += first ? std::max(0.0, log) : std::max(0.0, -log);
    }
    EXPECT_LT(regret / static_cast<double>(matrix.drawn->count), 0.03);
}

/// Every fourth measured problem.
std::vector<std::size_t> few_of(const Matrix& matrix) {
    std::vector<std::size_t> few;
    for (const std::size_t p : matrix.all())
        if (p % 4 == 0) few.push_back(p);
    return few;
}

TEST(Distil, EveryLeafRestsOnEnoughMeasuredProblems) {
    const Matrix matrix = by_product();
    const Tree tree = learn(matrix, matrix.all());
    EXPECT_GT(tree.leaves.size(), 1U);
    for (std::size_t l = 0; l < tree.leaves.size(); ++l) {
        EXPECT_GE(tree.leaves[l].rows.size(), LearnOptions{}.least_problems);
        for (const std::size_t row : tree.leaves[l].rows) EXPECT_EQ(tree.leaf_of(matrix.row(row)), l);
    }
    EXPECT_GT(learn(matrix, matrix.all(), {.least_problems = 1}).leaves.size(), tree.leaves.size());
    EXPECT_EQ(learn(matrix, few_of(matrix)).leaves.size(), 1U) << "seven problems make no two leaves of five";
}

TEST(Distil, MorePruningMakesSmallerTrees) {
    const Matrix matrix = by_product();
    const std::vector<double> prunings{1, 10, 1000, 1e9};
    const LearnOptions options{.least_problems = 1};
    const std::vector<Tree> trees = learn_sizes(matrix, matrix.all(), options, prunings);
    ASSERT_EQ(trees.size(), prunings.size());
    for (std::size_t i = 0; i + 1 < trees.size(); ++i) EXPECT_GE(trees[i].leaves.size(), trees[i + 1].leaves.size());
    EXPECT_EQ(trees.back().leaves.size(), 1U);
    const Tree alone = learn(matrix, matrix.all(), {.pruning = prunings[1], .least_problems = 1});
    EXPECT_EQ(alone.leaves.size(), trees[1].leaves.size());
    EXPECT_EQ(alone.nodes.front().threshold, trees[1].nodes.front().threshold);
}

TEST(Forest, FollowsWhatGoesByAProduct) {
    const Matrix matrix = by_product();
    const auto regret = [&](std::size_t combinations) {
        const auto logs = predict(matrix, few_of(matrix), matrix.values, {.combinations = combinations});
        double sum = 0;
        for (const std::size_t p : matrix.all()) sum += matrix.log_slowdown(p, logs[2 * p] < logs[2 * p + 1] ? 0 : 1);
        return sum;
    };
    EXPECT_LT(regret(LearnOptions{}.combinations), regret(0));
}

TEST(Distil, TakesWhatIsDrawnForLessThanWhatIsMeasured) {
    const Matrix matrix = by_product();
    std::vector<std::size_t> all(matrix.drawn->count);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const auto predicted = predict(matrix, matrix.all(), matrix.drawn->values);
    const Lesson lesson = lesson_of(matrix, matrix.all(), all, predicted);
    ASSERT_EQ(lesson.matrix.rows(), matrix.rows() + all.size());
    EXPECT_EQ(lesson.matrix.loss_of(0, 1), 8 * matrix.loss_of(0, 1));
    for (std::size_t p = 0; p < lesson.matrix.rows(); ++p)
        EXPECT_EQ(lesson.matrix.state(p, 0), p < lesson.measured ? CellState::measured : CellState::imputed);
}

TEST(Distil, FewMeasuredProblemsWeighMore) {
    const Matrix matrix = by_product();
    const auto weight = [&](std::size_t drawn_for_each, std::size_t most = 8) {
        return weight_of(matrix, {.drawn = drawn_for_each * matrix.rows(), .measured_weight = most});
    };
    EXPECT_EQ(weight(100), 8U);
    EXPECT_EQ(weight(5), 5U);
    EXPECT_EQ(weight(1), 2U) << "measured ones are never worth less";
    EXPECT_EQ(weight(0), 2U) << "nothing is drawn";
    EXPECT_EQ(weight(5, 1), 1U) << "as was asked for";
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

TEST(Thresholds, ArePreferredNumbers) {
    const auto numbers = preferred_numbers();
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    for (const double number : {0.0, 1.0, 12.0, 33.0, 64.0, 1000.0, 1024.0, 4700.0, 1e6})
        EXPECT_TRUE(std::ranges::binary_search(numbers, number)) << number;
}

}  // namespace
}  // namespace espalier::bench::learn
