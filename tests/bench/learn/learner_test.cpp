// The learner on matrices whose best trees are known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "harness/bench/learn/evaluation.hpp"
#include "harness/bench/learn/folds.hpp"
#include "harness/bench/learn/learn.hpp"
#include "harness/bench/learn/ranking.hpp"
#include "tests/bench/learn/matrices.hpp"
#include "tests/support/trials.hpp"

namespace espalier::bench::learn {
namespace {

std::size_t first_choice(const Tree& tree, std::vector<double> row) {
    return tree.leaves[tree.leaf_of(row)].ranking.front();
}

/// With the held-out figures of trees of every size.
Evaluation evaluated(const Matrix& matrix, const Tree& tree) {
    return evaluate(matrix, tree, {}, cross_validate(matrix, {}));
}

TEST(Learner, FindsOneThreshold) {
    const auto matrix = matrix_of({{"n"}}, grid({kSizes}), 3, [](std::span<const double> row, std::size_t c) {
        if (c == 2) return 1.0;
        return (row[0] <= 300) == (c == 0) ? 0.0 : 0.5;
    });
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 2U);
    EXPECT_GE(tree.nodes[0].threshold, 256);
    EXPECT_LT(tree.nodes[0].threshold, 512);
    EXPECT_EQ(tree.leaves[0].ranking, (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(tree.leaves[1].ranking, (std::vector<std::size_t>{1, 0, 2}));
    EXPECT_DOUBLE_EQ(tree.leaves[0].regret, 1);
    EXPECT_NEAR(tree.leaves[0].margin, std::exp(0.5), 1e-12);
}

TEST(Learner, FindsAxisAlignedRegions) {
    const auto rows = grid({kSizes, kSizes});
    const auto best = [](std::span<const double> row) -> std::size_t {
        if (row[0] <= 100) return 0;
        return row[1] <= 1500 ? 1 : row[0] <= 3000 ? 2 : 3;
    };
    const auto matrix = matrix_of({{"n"}, {"m"}}, rows, 5, [&](std::span<const double> row, std::size_t c) {
        return c == best(row) ? 0.0 : 0.2 + 0.05 * static_cast<double>(c);
    });
    const Tree tree = learn(matrix, matrix.all());
    EXPECT_EQ(tree.leaves.size(), 4U);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), best(row));
    const Evaluation evaluation = evaluated(matrix, tree);
    EXPECT_DOUBLE_EQ(evaluation.training.worst, 1);
    EXPECT_EQ(evaluation.held_out.regret.problems, 100);
    EXPECT_LT(evaluation.held_out.regret.geomean, 1.02);
    EXPECT_GT(evaluation.best_single, 1.1);
}

// No single test tells anything: growth has to look one step ahead.
TEST(Learner, FindsAPatternThatNeedsTwoLevels) {
    const std::vector<double> axis{1, 2, 3, 4, 5, 6, 7, 8};
    const auto best = [](std::span<const double> row) -> std::size_t { return (row[0] <= 4) == (row[1] <= 4); };
    const auto rows = grid({axis, axis});
    const auto matrix = matrix_of({{"x"}, {"y"}}, rows, 3, [&](std::span<const double> row, std::size_t c) {
        return c == 2 ? 2.0 : c == best(row) ? 0.0 : 1.0;
    });
    const Tree tree = learn(matrix, matrix.all());
    EXPECT_EQ(tree.leaves.size(), 4U);
    EXPECT_EQ(tree.depth(), 2);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), best(row));
}

TEST(Learner, PartsTheProblemsByAnOptionalCategory) {
    // What is best changes at another size for every value, and each would be worth too little to ask for the other.
    const auto rows = grid({{0, 1}, kSizes});
    const auto best = [](std::span<const double> row) -> std::size_t { return (row[0] == 0) == (row[1] <= 300); };
    const Model model = [&](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : c == best(row) ? 0.0 : 0.3;
    };
    std::vector<Column> columns{{"layout", 2}, {"n"}};
    columns[0].optional = true;
    const auto matrix = matrix_of(columns, rows, 3, model);
    LearnOptions options;
    options.max_leaves = 2;  // of each value's tree
    const Tree tree = learn(matrix, matrix.all(), options);
    ASSERT_EQ(tree.leaves.size(), 4U);
    EXPECT_EQ(tree.nodes[0].column, 0U);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), best(row));
    columns[0].optional = false;
    EXPECT_LE(learn(matrix_of(columns, rows, 3, model), matrix.all(), options).leaves.size(), 2U);
}

TEST(Learner, ARelaxingCategoryPartsAsIsSaid) {
    const auto rows = grid({{0, 1}, kSizes});
    std::vector<Column> columns{{"order", 2}, {"n"}};
    columns[0].relaxing = true;
    // What is best goes by the size: a tree that asks for the order first has to learn it twice.
    const auto matrix = matrix_of(columns, rows, 3, [](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : c == static_cast<std::size_t>(row[1] <= 300) ? 0.0 : 0.3;
    });
    LearnOptions options;
    const Tree parted = learn(matrix, matrix.all(), options);
    EXPECT_EQ(parted.nodes[0].column, 0U);
    EXPECT_EQ(parted.leaves.size(), 4U);
    options.part_relaxed = false;
    EXPECT_EQ(learn(matrix, matrix.all(), options).leaves.size(), 2U);
    // Trees of both ways are learned together.
    const std::vector<double> prunings{1, 2};
    const std::vector<Tree> both = learn_sizes(matrix, matrix.all(), options, prunings);
    ASSERT_EQ(both.size(), 4U);
    EXPECT_EQ(both[0].leaves.size(), 4U);
    EXPECT_EQ(both[2].leaves.size(), 2U);
}

TEST(Learner, HeldOutProblemsSayWhetherARelaxingCategoryParts) {
    const auto rows = grid({{0, 1}, kSizes, kSizes});
    const auto cost = [&](double weight_of_order, bool optional, bool relaxing) {
        std::vector<Column> columns{{"order", 2}, {"n"}, {"m"}};
        columns[0].optional = optional, columns[0].relaxing = relaxing;
        const auto matrix = matrix_of(columns, rows, 3, [&](std::span<const double> row, std::size_t c) {
            const double way = std::sin(std::log(row[1]) + 2 * std::log(row[2]) + weight_of_order * row[0]);
            return c == 2 ? 0.4 : c == 0 ? 0.3 * way : -0.3 * way;
        });
        const CrossValidation all = cross_validate(matrix, {});
        EXPECT_EQ(all.held_out.size(), all.prunings.size());
        EXPECT_EQ(all.leaves.size(), all.prunings.size());
        return std::pair(all.kept().regret.geomean, all.part_relaxed);
    };
    std::set<bool> ways;
    for (const double weight : {0.0, 0.3, 3.0}) {
        const double parted = cost(weight, true, false).first, joint = cost(weight, false, false).first;
        const auto [kept, part_relaxed] = cost(weight, false, true);
        EXPECT_EQ(part_relaxed, parted <= joint);
        EXPECT_EQ(kept, std::min(parted, joint));
        ways.insert(part_relaxed);
    }
    EXPECT_EQ(ways.size(), 2U) << "one way is always better: this shows nothing";
}

TEST(Learner, CostsLessIsBeyondTwoStandardErrorsOfTheDifference) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const HeldOut one{.costs = {0.1, 0.2, 0.3, none, 0.5}};
    const auto beside = [&](const std::vector<double>& more) {
        HeldOut other = one;
        for (std::size_t p = 0; p < more.size(); ++p) other.costs[p] += more[p];
        return costs_less(one, other);
    };
    EXPECT_FALSE(costs_less(one, one));
    EXPECT_TRUE(beside({0.01, 0.01, 0.01, 0, 0.01})) << "however much problems differ among themselves";
    EXPECT_FALSE(beside({0.04, 0, 0, 9, 0})) << "one problem that differs";
    EXPECT_FALSE(beside({0.03, 0.01, 0, 9, 0})) << "0.01, and the standard error is 0.007";
    EXPECT_TRUE(beside({0.02, 0.01, 0, 9, 0.01})) << "0.01, and the standard error is 0.004";
    EXPECT_FALSE(beside({-0.01, -0.01, -0.01, 0, -0.01}));
}

TEST(Learner, WhatIsNotDrawnHasNoTreeOfItsOwn) {
    const auto rows = grid({{0, 1, 2}, kSizes});
    std::vector<Column> columns{{"layout", 3}, {"n"}};
    columns[0].optional = true;
    auto matrix = matrix_of(columns, rows, 2, [](std::span<const double> row, std::size_t c) {
        return c == static_cast<std::size_t>(row[0] != 0) ? 0.0 : 0.3;
    });
    auto drawn = std::make_shared<DrawnProblems>();
    for (const double layout : {0.0, 1.0})
        for (const double n : kSizes) {
            drawn->values.insert(drawn->values.end(), {layout, n});
            drawn->supported.insert(drawn->supported.end(), {1, 1});
            ++drawn->count;
        }
    matrix.drawn = drawn;
    const Tree tree = learn(matrix, matrix.all());
    EXPECT_EQ(tree.leaves.size(), 2U) << "values 1 and 2 share one, as 2 is not drawn";
    EXPECT_EQ(tree.nodes[0].categories, 1U << 0);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), row[0] != 0 ? 1U : 0U);
}

TEST(Learner, SplitsOnCategories) {
    const auto rows = grid({{0, 1, 2}, kSizes});
    const auto matrix = matrix_of({{"border", 3}, {"n"}}, rows, 3, [](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : (row[0] == 1) == (c == 0) ? 0.0 : 0.3;
    });
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 2U);
    EXPECT_EQ(tree.nodes[0].categories, 1U << 1);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), row[0] == 1 ? 0U : 1U);
}

TEST(Learner, AsksNothingThatNobodyKnowsAndTakesWhatIsBestOverall) {
    // Candidate 0 wins for one distribution of three, by less than it loses for the others.
    const auto rows = grid({{0, 1, 2}, kSizes});
    const Column unknown{.name = "distribution", .categories = 3, .derived = false, .interaction = {}, .known = false};
    const auto matrix = matrix_of({unknown, {"n"}}, rows, 3, [](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : (row[0] == 1) == (c == 0) ? 0.0 : 0.3;
    });
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 1U);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), 1U);
}

TEST(Learner, LeavesOutWhatAllServeAlike) {
    // Whoever chose the problems took every small one with the same category.
    std::vector<std::vector<double>> rows = grid({{0}, kSizes});
    for (auto& row : rows) row[0] = row[1] < 300 ? 0 : 1;
    const Column inert{.name = "vote", .categories = 2, .derived = false, .interaction = {}, .inert = true};
    const auto matrix = matrix_of({inert, {"n"}}, rows, 3, [](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : (row[1] < 300) == (c == 0) ? 0.0 : 0.3;
    });
    const Tree tree = learn(matrix, matrix.all());
    for (const double other : {0, 1})
        for (const auto& row : rows) EXPECT_EQ(first_choice(tree, {other, row[1]}), row[1] < 300 ? 0U : 1U);
    EXPECT_TRUE(near_duplicates(matrix.columns, std::vector<double>{0, 100}, std::vector<double>{1, 100}));
}

/// What the library runs for a row: the first of the leaf's ranking that `model` has a time for.
std::size_t run_choice(const Tree& tree, const std::vector<double>& row, const Model& model) {
    for (const std::size_t c : tree.leaves[tree.leaf_of(row)].ranking)
        if (!std::isnan(model(row, c))) return c;
    return static_cast<std::size_t>(-1);
}

TEST(Learner, MakesTheBestOfChoicesThatDecline) {
    // Candidate 0 is twice as fast but takes no more than 1000 rows of one column.
    const auto rows = grid({kSizes, {1, 2}});
    const Model model = [](std::span<const double> row, std::size_t c) {
        if (c == 0) return row[0] <= 1000 && row[1] == 1 ? -0.7 : NAN;
        return c == 1 ? 0.0 : 0.4;
    };
    const auto matrix = matrix_of({{"n"}, {"m"}}, rows, 3, model);
    const Tree tree = learn(matrix, matrix.all());
    for (const auto& row : rows) EXPECT_EQ(run_choice(tree, row, model), row[0] <= 1000 && row[1] == 1 ? 0U : 1U);
    EXPECT_DOUBLE_EQ(evaluated(matrix, tree).training.worst, 1);
}

// Which rows candidate 0 declines follows no feature: one leaf, and the ranking sorts it out.
TEST(Learner, RanksForTheRowsThatTheFirstChoiceDeclines) {
    const Model model = [](std::span<const double> row, std::size_t c) {
        const bool declined = static_cast<int>(row[0] * 7 + row[1] * 13) % 5 == 0;
        if (c == 0) return declined ? NAN : 0.0;
        if (c == 1) return declined ? 0.9 : 0.3;
        return c == 2 ? (declined ? 0.5 : 0.6) : 1.0;
    };
    const auto rows = grid({kSizes, kSizes});
    const auto matrix = matrix_of({{"n"}, {"m"}}, rows, 4, model);
    const auto ranking = rank(matrix, matrix.all());
    EXPECT_EQ(ranking, (std::vector<std::size_t>{0, 2, 1, 3}));
    const Tree tree = learn(matrix, matrix.all());
    EXPECT_DOUBLE_EQ(evaluated(matrix, tree).training.worst, 1);
}

TEST(Learner, NeverPutsFirstWhatHasNoTime) {
    auto matrix = matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 3,
                            [](std::span<const double>, std::size_t c) { return static_cast<double>(c); });
    for (std::size_t r = 0; r < matrix.rows(); ++r) {
        if (matrix.value(r, 0) < 2000) continue;
        matrix.states[3 * r] = CellState::missing;
        matrix.loss[3 * r] = kInfeasible;
    }
    const Tree tree = learn(matrix, matrix.all());
    EXPECT_EQ(tree.leaves.size(), 2U);
    for (std::size_t r = 0; r < matrix.rows(); ++r)
        EXPECT_EQ(tree.leaves[tree.leaf_of(matrix.row(r))].ranking.front(), matrix.value(r, 0) < 2000 ? 0U : 1U);
}

TEST(Learner, EveryLeafHasAChoiceEvenIfOnlyTheBaselineRunsEverywhere) {
    std::mt19937_64 random(5);
    const auto matrix =
        matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 6, [&](std::span<const double>, std::size_t c) {
            if (c == 5) return 1.0;
            return random() % 2 ? NAN : static_cast<double>(random() % 100) / 100;
        });
    const Tree tree = learn(matrix, matrix.all());
    for (const TreeLeaf& leaf : tree.leaves) {
        EXPECT_EQ(leaf.ranking.back(), matrix.baseline);
        EXPECT_LE(leaf.ranking.size(), 5U);
        const std::set<std::size_t> different(leaf.ranking.begin(), leaf.ranking.end());
        const auto baselines = static_cast<std::size_t>(std::ranges::count(leaf.ranking, matrix.baseline));
        EXPECT_EQ(different.size() + baselines - 1, leaf.ranking.size()) << "the baseline alone may stand there twice";
    }
}

// The library passes over the baseline that ends a ranking while any tree knows something else.
TEST(Learner, ABaselineThatIsTheBestOfWhatRunsStandsBeforeTheEnd) {
    const auto declined_when_odd = [](double otherwise) {
        return matrix_of({{"n"}}, grid({kSizes}), 3, [=](std::span<const double> row, std::size_t c) {
            if (c == 0) return static_cast<int>(std::log2(row[0])) % 2 ? NAN : 0.0;
            return c == 1 ? otherwise : 0.2;
        });
    };
    const Matrix best = declined_when_odd(0.4), not_best = declined_when_odd(0.1), alone = declined_when_odd(NAN);
    EXPECT_EQ(rank(best, best.all()), (std::vector<std::size_t>{0, 2, 2}));
    EXPECT_EQ(rank(not_best, not_best.all()), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(rank(alone, alone.all()), (std::vector<std::size_t>{0, 2})) << "others may know more";
}

// Differences of 30% that no feature explains: few leaves, and they do little harm.
TEST(Learner, SeldomSplitsOnChance) {
    std::size_t leaves = 0;
    constexpr int kTrials = trials(20);
    for (unsigned seed = 0; seed < static_cast<unsigned>(kTrials); ++seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> chance(0, 0.3);
        const auto matrix = matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 4,
                                      [&](std::span<const double>, std::size_t) { return chance(random); });
        const Tree tree = learn(matrix, matrix.all());
        leaves += tree.leaves.size();
        if (seed >= 5) continue;
        const Evaluation evaluation = evaluated(matrix, tree);
        EXPECT_LT(evaluation.held_out.regret.geomean, 1.15 * evaluation.best_single);
    }
    EXPECT_LE(leaves, 5U * kTrials);
}

// Two problems say nothing of others: they make no leaves of their own.
TEST(Learner, MakesNoLeafOfAFewProblems) {
    const auto matrix = matrix_of({{"n"}}, {{1024}, {1048576}}, 2, [](std::span<const double> row, std::size_t c) {
        return (row[0] <= 1024) == (c == 0) ? 0.0 : row[0] <= 1024 ? 1.4 : 0.7;
    });
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 1U);
    EXPECT_EQ(tree.leaves[0].ranking.front(), 0U) << "what costs less on both together";
    EXPECT_EQ(learn(matrix, matrix.all(), {.least_problems = 1}).leaves.size(), 2U);
}

/// Choices whose time depends on the size, steadily, so that each size of tree costs something.
Matrix staircase() {
    return matrix_of({{"n"}}, grid({kSizes, {1, 2, 3, 4, 5}}), 8, [](std::span<const double> row, std::size_t c) {
        return 0.3 * std::abs(std::log2(row[0]) / 2.5 - static_cast<double>(c));
    });
}

TEST(Learner, TheSmallestTreeWithinOneStandardErrorIsTaken) {
    const Matrix matrix = staircase();
    const CrossValidation curve = cross_validate(matrix, {});
    ASSERT_GE(curve.prunings.size(), 2U);
    const auto cost = [&](std::size_t i) { return std::log(curve.held_out[i].regret.geomean); };
    double best = cost(0);
    for (std::size_t i = 0; i < curve.prunings.size(); ++i) {
        best = std::min(best, cost(i));
        if (i > 0) {
            EXPECT_LE(curve.leaves[i], curve.leaves[i - 1]) << "more pruning";
        }
    }
    EXPECT_LE(cost(curve.smallest), best + std::log(1.0025));
    for (std::size_t i = curve.smallest + 1; i < curve.prunings.size(); ++i)
        EXPECT_GT(cost(i), best) << "a smaller tree that costs no more would have been taken";
    EXPECT_GT(cost(curve.prunings.size() - 1), cost(curve.smallest));
}

// One of twelve problems is unlike the others, so that forests win nothing back. What they predict for the many
// problems that are drawn beside it does not decide for all.
TEST(Learner, WhereForestsDoNotGeneralizeMeasuredProblemsDecide) {
    Rows rows;
    for (int i = 0; i < 12; ++i) rows.push_back({std::ldexp(1.0, i)});
    auto matrix = matrix_of({{"n"}}, rows, 3, [](std::span<const double> row, std::size_t c) {
        if (c == 2) return 1.0;
        return (row[0] >= 2048) == (c == 1) ? 0.0 : row[0] >= 2048 ? 0.6 : 0.2;
    });
    auto drawn = std::make_shared<DrawnProblems>();
    for (; drawn->count < 200; ++drawn->count) {
        drawn->values.push_back(2048 + static_cast<double>(drawn->count));
        drawn->supported.insert(drawn->supported.end(), {1, 1, 1});
    }
    matrix.drawn = drawn;
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 1U);
    EXPECT_EQ(tree.leaves[0].ranking.front(), 0U);
}

TEST(Learner, PrefersTheDerivedOfTestsThatPartAlike) {
    Rows rows;
    for (const double n : kSizes) rows.push_back({n, n * n});
    const auto matrix = matrix_of({{"n"}, {"work", 0, true}}, rows, 2, [](std::span<const double> row, std::size_t c) {
        return (row[0] <= 300) == (c == 0) ? 0.0 : 0.5;
    });
    EXPECT_EQ(learn(matrix, matrix.all()).nodes[0].column, 1U);
}

TEST(Learner, KeepsToTheMostLeaves) {
    const auto matrix =
        matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 7, [](std::span<const double> row, std::size_t c) {
            return static_cast<std::size_t>(std::log2(row[0] * row[1])) / 3 == c ? 0.0 : 1.0;
        });
    LearnOptions options;
    for (const int most : {1, 2, 4}) {
        options.max_leaves = most;
        EXPECT_LE(learn(matrix, matrix.all(), options).leaves.size(), static_cast<std::size_t>(most));
    }
}

}  // namespace
}  // namespace espalier::bench::learn
