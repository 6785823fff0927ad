// The learner on matrices whose best trees are known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "harness/learn/evaluation.hpp"
#include "harness/learn/folds.hpp"
#include "harness/learn/halfway.hpp"
#include "harness/learn/learn.hpp"
#include "harness/learn/noise.hpp"
#include "harness/learn/offer.hpp"
#include "harness/learn/optimal.hpp"
#include "harness/learn/prune.hpp"
#include "harness/learn/ranking.hpp"
#include "harness/learn/sizes.hpp"
#include "harness/learn/splits.hpp"
#include "harness/learn/surrogate.hpp"
#include "harness/learn/threshold.hpp"
#include "tests/trials.hpp"

namespace espalier::bench::learn {
namespace {

using Rows = std::vector<std::vector<double>>;
/// log slowdown of a candidate on a row before the best is subtracted; NaN where unsupported.
using Model = std::function<double(std::span<const double> row, std::size_t candidate)>;

/// Every candidate is a variant of its own; the last one is the baseline.
Matrix matrix_of(std::vector<Column> columns, const Rows& rows, std::size_t candidates, const Model& model) {
    Matrix matrix;
    matrix.columns = std::move(columns);
    for (std::size_t c = 0; c < candidates; ++c) matrix.candidates.push_back({c, 0});
    matrix.baseline = candidates - 1;
    for (const auto& row : rows) {
        std::string key;
        for (const double value : row) key += std::to_string(value) + ";";
        matrix.problems.push_back(key);
        matrix.values.insert(matrix.values.end(), row.begin(), row.end());
        std::vector<double> logs;
        for (std::size_t c = 0; c < candidates; ++c) logs.push_back(model(row, c));
        double best = INFINITY;
        for (const double log : logs)
            if (!std::isnan(log)) best = std::min(best, log);
        for (const double log : logs) {
            const bool measured = !std::isnan(log);
            matrix.states.push_back(measured ? CellState::measured : CellState::unsupported);
            matrix.slowdown.push_back((measured ? log : logs.back()) - best);
            matrix.loss.push_back(measured_loss(matrix.slowdown.back(), false));
        }
    }
    return matrix;
}

Rows grid(const std::vector<std::vector<double>>& axes) {
    Rows rows{{}};
    for (const auto& axis : axes) {
        Rows longer;
        for (const auto& prefix : rows)
            for (const double value : axis) {
                longer.push_back(prefix);
                longer.back().push_back(value);
            }
        rows = std::move(longer);
    }
    return rows;
}

const std::vector<double> kSizes{16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

std::size_t first_choice(const Tree& tree, std::vector<double> row) {
    return tree.leaves[tree.leaf_of(row)].ranking.front();
}

TEST(Learner, FindsOneThreshold) {
    const auto matrix = matrix_of({{"n"}}, grid({kSizes}), 3, [](std::span<const double> row, std::size_t c) {
        if (c == 2) return 1.0;
        return (row[0] <= 300) == (c == 0) ? 0.0 : 0.5;
    });
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 2U);
    EXPECT_GE(tree.nodes[0].test.value, 256);
    EXPECT_LT(tree.nodes[0].test.value, 512);
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
    const Evaluation evaluation = evaluate(matrix, tree);
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
    const GrownTree grown = grow(matrix, matrix.all());
    EXPECT_EQ(total_loss(grown), 0);
    EXPECT_EQ(leaves(grown), 4);
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
    options.most_leaves = 2;  // of each value's tree
    const Tree tree = learn(matrix, matrix.all(), options);
    ASSERT_EQ(tree.leaves.size(), 4U);
    EXPECT_EQ(tree.nodes[0].test.column, 0U);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), best(row));
    columns[0].optional = false;
    EXPECT_LE(learn(matrix_of(columns, rows, 3, model), matrix.all(), options).leaves.size(), 2U);
}

TEST(Learner, SplitsOnCategories) {
    const auto rows = grid({{0, 1, 2}, kSizes});
    const auto matrix = matrix_of({{"border", 3}, {"n"}}, rows, 3, [](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : (row[0] == 1) == (c == 0) ? 0.0 : 0.3;
    });
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 2U);
    EXPECT_TRUE(tree.nodes[0].test.category);
    EXPECT_EQ(tree.nodes[0].test.value, 1);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), row[0] == 1 ? 0U : 1U);
}

TEST(Learner, AsksNothingThatNobodyKnowsAndTakesWhatIsBestOverall) {
    // Candidate 0 wins for one distribution of three, by less than it loses for the others.
    const auto rows = grid({{0, 1, 2}, kSizes});
    const Column unknown{.name = "distribution", .categories = 3, .derived = false, .pair = {}, .known = false};
    const auto matrix = matrix_of({unknown, {"n"}}, rows, 3, [](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : (row[0] == 1) == (c == 0) ? 0.0 : 0.3;
    });
    const Tree tree = learn(matrix, matrix.all());
    ASSERT_EQ(tree.leaves.size(), 1U);
    for (const auto& row : rows) EXPECT_EQ(first_choice(tree, row), 1U);
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
    EXPECT_DOUBLE_EQ(evaluate(matrix, tree).training.worst, 1);
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
    EXPECT_DOUBLE_EQ(evaluate(matrix, tree).training.worst, 1);
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
        EXPECT_EQ(std::set<std::size_t>(leaf.ranking.begin(), leaf.ranking.end()).size(), leaf.ranking.size());
    }
}

// Differences of 30% that no feature explains: of 16 leaves few are used, and they do little harm.
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
        const Evaluation evaluation = evaluate(matrix, tree);
        EXPECT_LT(evaluation.held_out.regret.geomean, 1.15 * evaluation.best_single);
    }
    EXPECT_LE(leaves, 5U * kTrials);
}

TEST(Learner, PrefersTheDerivedOfTestsThatPartAlike) {
    Rows rows;
    for (const double n : kSizes) rows.push_back({n, n * n});
    const auto matrix = matrix_of({{"n"}, {"work", 0, true}}, rows, 2, [](std::span<const double> row, std::size_t c) {
        return (row[0] <= 300) == (c == 0) ? 0.0 : 0.5;
    });
    EXPECT_EQ(learn(matrix, matrix.all()).nodes[0].test.column, 1U);
}

TEST(Learner, KeepsToTheMostLeaves) {
    const auto matrix =
        matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 7, [](std::span<const double> row, std::size_t c) {
            return static_cast<std::size_t>(std::log2(row[0] * row[1])) / 3 == c ? 0.0 : 1.0;
        });
    LearnOptions options;
    for (const int most : {1, 2, 4}) {
        options.most_leaves = most;
        EXPECT_LE(learn(matrix, matrix.all(), options).leaves.size(), static_cast<std::size_t>(most));
    }
}

/// The least loss + price x leaves over all subtrees with the same root.
double cheapest(const GrownTree& tree, int index, double price) {
    const GrownNode& node = tree[static_cast<std::size_t>(index)];
    const double leaf = static_cast<double>(node.leaf_loss) + price;
    return node.inner() ? std::min(leaf, cheapest(tree, node.yes, price) + cheapest(tree, node.no, price)) : leaf;
}

TEST(Pruning, IsOptimalAtEveryPriceAndThePathNamesAllChanges) {
    std::mt19937_64 random(3);
    const auto matrix = matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 4, [&](std::span<const double>, std::size_t) {
        return static_cast<double>(random() % 1000) / 1000;
    });
    const GrownTree full = grow(matrix, matrix.all());
    ASSERT_GT(leaves(full), 10);
    const auto path = pruning_path(full);
    EXPECT_EQ(leaves(prune(full, path.back())), 1);
    for (std::size_t i = 0; i < path.size(); ++i) {
        const double price = i + 1 < path.size() ? (path[i] + path[i + 1]) / 2 : 2 * path[i];
        const GrownTree pruned = prune(full, price);
        const double cost = static_cast<double>(total_loss(pruned)) + price * leaves(pruned);
        EXPECT_NEAR(cost, cheapest(full, 0, price), 1e-6 * cost);
        if (i > 0) {
            EXPECT_LT(leaves(pruned), leaves(prune(full, (path[i - 1] + path[i]) / 2)));
        }
    }
}

/// The least loss of any tree, by trying all of them.
Loss least_loss(const Splitter& splitter, const Matrix& matrix, const std::vector<std::size_t>& rows, int depth,
                int leaves) {
    Loss least = splitter.leaf_loss(rows);
    if (depth == 0 || leaves < 2) return least;
    for (const Split& split : splitter.all(rows)) {
        std::vector<std::size_t> yes, no;
        for (const std::size_t r : rows) (split.holds(matrix.row(r)) ? yes : no).push_back(r);
        for (int y = 1; y < leaves; ++y)
            least = std::min(least, least_loss(splitter, matrix, yes, depth - 1, y) +
                                        least_loss(splitter, matrix, no, depth - 1, leaves - y));
    }
    return least;
}

TEST(Optimal, HasTheLeastLossOfAllTrees) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        std::mt19937_64 random(seed);
        const auto matrix = matrix_of(
            {{"n"}, {"m"}, {"kind", 3}}, grid({{1, 2, 4}, {8, 16, 32}, {0, 1, 2}}), 4,
            [&](std::span<const double>, std::size_t) { return static_cast<double>(random() % 1000) / 1000; });
        const Splitter splitter(matrix, matrix.all(), {});
        for (const int depth : {1, 2, 3}) {
            const auto trees = optimal_trees(matrix, matrix.all(), {{}, depth, 6});
            ASSERT_TRUE(trees);
            ASSERT_EQ(trees->size(), static_cast<std::size_t>(std::min(1 << depth, 6)));
            for (std::size_t leaves = 1; leaves <= trees->size(); ++leaves) {
                const GrownTree& tree = (*trees)[leaves - 1];
                EXPECT_LE(espalier::bench::learn::leaves(tree), static_cast<int>(leaves));
                EXPECT_LE(finish(matrix, tree).depth(), depth);
                EXPECT_EQ(total_loss(tree),
                          least_loss(splitter, matrix, matrix.all(), depth, static_cast<int>(leaves)));
            }
        }
    }
}

// Parting by m first costs less with two leaves and nothing with four; by n first nothing with three.
TEST(Optimal, LooksOnWhereALargerTreeIsPerfect) {
    const auto matrix =
        matrix_of({{"n"}, {"m"}}, grid({{1, 2, 4, 8}, {8, 16}}), 3, [](std::span<const double> row, std::size_t c) {
            const std::size_t best = row[0] <= 1 ? 0 : row[1] <= 8 ? 1 : 2;
            return c == best ? 0.0 : 1.0;
        });
    const auto trees = optimal_trees(matrix, matrix.all(), {{}, 2, 4});
    ASSERT_TRUE(trees);
    EXPECT_EQ(total_loss((*trees)[1]), 2 * measured_loss(1, false));
    EXPECT_EQ(total_loss((*trees)[2]), 0);
}

/// Smooth times: every choice has a favourite size in both directions.
Matrix smooth(unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<double> favourite;
    for (int i = 0; i < 12; ++i) favourite.push_back(static_cast<double>(random() % 1000) / 100 + 4);
    return matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 6, [&](std::span<const double> row, std::size_t c) {
        return 0.2 *
               (std::abs(std::log2(row[0]) - favourite[2 * c]) + std::abs(std::log2(row[1]) - favourite[2 * c + 1]));
    });
}

TEST(Sizes, AreNeverWorseThanGreedyAndShrinkWithLeaves) {
    for (unsigned seed = 0; seed < 8; ++seed) {
        const Matrix matrix = smooth(seed);
        const GrownTree greedy = grow(matrix, matrix.all());
        for (const std::size_t work : {std::size_t{400'000'000}, std::size_t{20'000}, std::size_t{1}}) {
            const auto sizes = trees_by_size(matrix, matrix.all(), {.most_work = work});
            ASSERT_EQ(sizes.size(), 16U);
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                EXPECT_LE(leaves(sizes[i]), static_cast<int>(i + 1));
                if (i > 0) {
                    EXPECT_LE(total_loss(sizes[i]), total_loss(sizes[i - 1]));
                }
            }
            if (work > 1'000'000)
                for (const double price : pruning_path(greedy)) {
                    const GrownTree pruned = prune(greedy, price);
                    if (leaves(pruned) > 8 || finish(matrix, pruned).depth() > 3) continue;
                    EXPECT_LE(total_loss(sizes[static_cast<std::size_t>(leaves(pruned)) - 1]), total_loss(pruned));
                }
        }
    }
}

TEST(Optimal, GivesUpInTime) {
    EXPECT_FALSE(optimal_trees(smooth(1), smooth(1).all(), {.deepest = 3, .most_work = 10'000}));
}

TEST(Folds, HoldOutEveryRowOnceAndTwinsTogether) {
    Rows rows = grid({kSizes, {1, 2}});
    rows.push_back({1024 * 1.02, 1});
    rows.push_back({1024 * 1.05, 1});  // a twin of a twin
    const auto matrix = matrix_of({{"n"}, {"m"}}, rows, 1, [](std::span<const double>, std::size_t) { return 0.0; });
    std::vector<int> held(rows.size());
    std::set<std::size_t> twins;
    const auto folds = deal_folds(matrix, matrix.all(), 5, 1);
    ASSERT_EQ(folds.size(), 5U);
    for (std::size_t f = 0; f < folds.size(); ++f) {
        EXPECT_EQ(folds[f].training.size() + folds[f].held_out.size(), rows.size());
        for (const std::size_t r : folds[f].held_out) {
            ++held[r];
            if (std::abs(rows[r][0] - 1050) < 50 && rows[r][1] == 1) twins.insert(f);
        }
    }
    EXPECT_TRUE(std::all_of(held.begin(), held.end(), [](int times) { return times == 1; }));
    EXPECT_EQ(twins.size(), 1U);
}

TEST(Folds, KeepTogetherWhatATreeCannotTellApart) {
    const Column unknown{.name = "distribution", .categories = 3, .derived = false, .pair = {}, .known = false};
    const auto matrix = matrix_of({unknown, {"n"}}, grid({{0, 1, 2}, kSizes}), 1,
                                  [](std::span<const double>, std::size_t) { return 0.0; });
    for (const Fold& fold : deal_folds(matrix, matrix.all(), 5, 1)) {
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
        return deal_folds(matrix, matrix.all(), 3, 1).size() == 2;
    };
    EXPECT_TRUE(together(1000, 1001));
    EXPECT_TRUE(together(8, 7));
    EXPECT_FALSE(together(8, 1));
}

TEST(Threshold, IsReadableAndBetween) {
    EXPECT_EQ(readable_threshold(256, 512), 400);
    EXPECT_EQ(readable_threshold(640, 1920), 1000);
    EXPECT_EQ(readable_threshold(1, 3), 2);
    EXPECT_EQ(readable_threshold(3, 4), 3);
    EXPECT_EQ(readable_threshold(0, 1), 0);
    EXPECT_EQ(readable_threshold(16, 17), 16);
    EXPECT_EQ(readable_threshold(0.5, 1.5), 0.9);
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
        const double scale = std::pow(10, static_cast<double>(random() % 13));
        double a = std::floor(static_cast<double>(random() % 1000) * scale / 100);
        double b = a + 1 + std::floor(static_cast<double>(random() % 1000) * scale / 100);
        if (i % 3 == 0) a /= 8, b /= 8;
        if (i % 7 == 0) std::swap(a, b), a = -a, b = -b;
        const double t = readable_threshold(a, b);
        ASSERT_TRUE(a <= t && t < b) << a << " " << t << " " << b;
    }
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
    EXPECT_TRUE(paired_log_ratio(b.samples_ns, a.samples_ns).contains(0));
    EXPECT_FALSE(indistinguishable(a, b, 0.01));
}

TEST(Regret, BootstrapIntervalCoversTheTruth) {
    std::mt19937_64 random(11);
    std::exponential_distribution<double> logs(20);  // mean 0.05
    int covered = 0;
    constexpr int kTrials = 300;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> sample(60);
        for (double& log : sample) log = logs(random);
        covered += summarise(sample, static_cast<std::uint64_t>(trial)).geomean_interval.contains(std::exp(0.05));
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
    EXPECT_TRUE(regret.geomean_interval.contains(regret.geomean));
}

/// Two sizes, and a derived column; the second choice is behind by a power law of the sizes.
Matrix with_derived(double (*derived)(double n, double m)) {
    Rows rows = grid({kSizes, kSizes});
    for (auto& row : rows) row.push_back(derived(row[0], row[1]));
    return matrix_of({{"n"}, {"m"}, {"derived", 0, true}}, rows, 2, [](std::span<const double> row, std::size_t c) {
        return c == 0 ? 0.0 : 0.1 + 0.05 * std::log2(row[0] / 16);
    });
}

std::vector<std::size_t> all_but(const Matrix& matrix, std::size_t problem) {
    auto rows = matrix.all();
    std::erase(rows, problem);
    return rows;
}

TEST(Steps, AreCombinationsOfSizesThatNobodyMeasured) {
    constexpr std::size_t kMissing = 57;  // 512 x 2048
    const Matrix matrix = with_derived([](double n, double m) { return n * m; });
    const WithHalfway with = with_halfway_problems(matrix, all_but(matrix, kMissing));
    ASSERT_EQ(with.matrix.rows(), with.measured + 1);
    const std::size_t guessed = with.measured;
    for (std::size_t c = 0; c < matrix.columns.size(); ++c)
        EXPECT_EQ(with.matrix.value(guessed, c), matrix.value(kMissing, c)) << c;
    EXPECT_NEAR(with.matrix.log_slowdown(guessed, 1), matrix.log_slowdown(kMissing, 1), 0.02);
    EXPECT_EQ(with.matrix.loss_of(guessed, 1), measured_loss(with.matrix.log_slowdown(guessed, 1), false) / 2);
}

TEST(Steps, AreNotTakenWhereADerivedColumnDoesNotFollowFromTheSizes) {
    const Matrix matrix = with_derived([](double n, double m) { return std::fmod(n * 7 + m * 3, 64); });
    const WithHalfway with = with_halfway_problems(matrix, all_but(matrix, 57));
    EXPECT_EQ(with.matrix.rows(), with.measured);
}

// Every size of one kind was measured, of the other kind all but one.
TEST(Steps, AreOtherCategoriesAsWell) {
    constexpr std::size_t kMissing = 5;
    const auto model = [](std::span<const double> row, std::size_t c) {
        return c == 0 ? 0.0 : 0.1 + 0.05 * std::log2(row[1] / 16) + 0.2 * row[0];
    };
    const Matrix matrix = matrix_of({{"kind", 2}, {"n"}}, grid({{0, 1}, kSizes}), 2, model);
    const WithHalfway with = with_halfway_problems(matrix, all_but(matrix, kMissing));
    bool found = false;
    for (std::size_t r = with.measured; r < with.matrix.rows(); ++r) {
        if (!std::ranges::equal(with.matrix.row(r), matrix.row(kMissing))) continue;
        found = true;
        EXPECT_NEAR(with.matrix.log_slowdown(r, 1), matrix.log_slowdown(kMissing, 1), 0.03);
    }
    EXPECT_TRUE(found);
}

// The second choice is best where n x m exceeds everything that was measured, next to 8192 x 64.
TEST(Learner, LeavesMayRestOnGuessesAlone) {
    const auto model = [](std::span<const double> row, std::size_t c) {
        return c == 0 ? 0.0 : 19.5 - std::log2(row[0]) - std::log2(row[1]);
    };
    const Matrix matrix = matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 2, model);
    std::vector<std::size_t> rows;
    for (const std::size_t p : matrix.all())
        if (std::min(matrix.value(p, 0), matrix.value(p, 1)) <= 64) rows.push_back(p);
    const Tree tree = best_tree(matrix, rows, {.tests = true, .halfway = true, .pairs = {}}, {});
    const TreeLeaf& corner = tree.leaves[tree.leaf_of(std::vector<double>{8192, 128})];
    EXPECT_EQ(corner.ranking.front(), 1U);
    EXPECT_TRUE(corner.rows.empty());
    EXPECT_EQ(corner.slowdowns.size(), corner.ranking.size());
    EXPECT_EQ(tree.leaves[tree.leaf_of(std::vector<double>{8192, 64})].ranking.front(), 0U);
}

// The second choice is better by `gain` for the largest of `problems` sizes, and much worse for the others.
std::size_t leaves_for_one(std::size_t problems, double gain) {
    std::vector<double> sizes;
    for (std::size_t n = 1; n <= problems; ++n) sizes.push_back(static_cast<double>(n));
    const Matrix matrix = matrix_of({{"n"}}, grid({sizes}), 2, [&](std::span<const double> row, std::size_t c) {
        return c == 0 ? 0.0 : row[0] == sizes.back() ? -gain : 1.0;
    });
    return best_tree(matrix, matrix.all(), {.tests = true, .halfway = false, .pairs = {}}, {}).leaves.size();
}

TEST(Learner, ALeafCostsNoMoreOfManyProblemsThanOfSixtyFour) {
    EXPECT_EQ(leaves_for_one(40, 0.03), 1U);
    EXPECT_EQ(leaves_for_one(40, 0.05), 2U);
    EXPECT_EQ(leaves_for_one(200, 0.05), 1U);
    EXPECT_EQ(leaves_for_one(200, 0.08), 2U);
}

// A fold along one axis was seen at the least size of the other only.
TEST(Surrogate, CarriesWhatAnAxisDoesToOtherCombinations) {
    const auto log = [](double n, double m) { return 0.3 * std::abs(std::log2(n) - 8) + 0.1 * std::log2(m); };
    const Matrix matrix = matrix_of({{"n"}, {"m"}}, grid({kSizes, kSizes}), 1, [](auto, auto) { return 0.0; });
    const Positions positions(matrix);
    std::vector<Sample> samples;
    for (const std::size_t p : matrix.all())
        if (matrix.value(p, 0) == kSizes.front() || matrix.value(p, 1) == kSizes.front())
            samples.push_back({positions.of(p), log(matrix.value(p, 0), matrix.value(p, 1))});
    const Surrogate surrogate(std::move(samples));
    const auto at = [&](std::size_t n, std::size_t m) { return surrogate.at(positions.of(n * kSizes.size() + m)); };
    for (std::size_t m = 0; m < kSizes.size(); ++m)
        EXPECT_GT((at(0, m) + at(8, m)) / 2 - at(4, m), 0.6) << "of 1.2; 256 of 16 and 4096, at " << kSizes[m];
}

TEST(Positions, HaveAnAxisForADerivedColumnThatDoesNotFollow) {
    EXPECT_EQ(Positions(with_derived([](double n, double m) { return n * m; })).axes(), 2U);
    EXPECT_EQ(Positions(with_derived([](double n, double m) { return std::fmod(n * 7 + m * 3, 64); })).axes(), 3U);
}

}  // namespace
}  // namespace espalier::bench::learn
