// Choosing what to measure next, replayed on a grid whose times are known.

#include "harness/adaptive/adaptive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/evidence/evidence.hpp"
#include "harness/learn/evaluation.hpp"
#include "tests/synthetic/family.hpp"

namespace espalier::bench::learn {
namespace {

Matrix grid() {
    return read_evidence(synthetic::family(), synthetic::device(),
                         synthetic::records(synthetic::regions, synthetic::problems()))
        .matrix;
}

std::vector<double> measure(const Matrix& grid, const Batch& batch, double common = 0) {
    std::vector<double> logs;
    for (const std::size_t c : batch.candidates)
        logs.push_back(grid.measured(batch.problem, c) ? common + grid.log_slowdown(batch.problem, c) : NAN);
    return logs;
}

double regret(const Matrix& grid, const Matrix& known) {
    const Tree tree = learn(known, known.all());
    double sum = 0;
    for (const std::size_t p : grid.all()) sum += log_regret(grid, tree, p);
    return sum / static_cast<double>(grid.rows());
}

TEST(Adaptive, AsksForNothingTwiceButTheFastestToCompareWith) {
    const Matrix all = grid();
    AdaptiveSweep sweep(all);
    std::set<std::pair<std::size_t, std::size_t>> asked;
    std::size_t measurements = 0;
    double common = 0;
    for (Batch batch = sweep.next(); !batch.candidates.empty(); batch = sweep.next()) {
        std::size_t again = 0;
        for (const std::size_t c : batch.candidates) {
            EXPECT_NE(all.state(batch.problem, c), CellState::unsupported);
            again += !asked.emplace(batch.problem, c).second;
        }
        ASSERT_LE(again, 1U);
        ASSERT_LT(again, batch.candidates.size());
        measurements += batch.candidates.size();
        sweep.record(batch, measure(all, batch, common += 1));  // no two batches of one scale
    }
    EXPECT_EQ(sweep.measurements(), measurements);
    // What was measured is known as it is, whatever the scale of its batch.
    const Matrix known = sweep.known();
    ASSERT_EQ(known.rows(), all.rows());
    for (const auto& [p, c] : asked) {
        EXPECT_NEAR(known.log_slowdown(p, c) - known.log_slowdown(p, asked.lower_bound({p, 0})->second),
                    all.log_slowdown(p, c) - all.log_slowdown(p, asked.lower_bound({p, 0})->second), 1e-9);
    }
}

TEST(Adaptive, NeedsNoTimesToBegin) {
    const Matrix measured = grid();
    Matrix all = measured;
    for (CellState& state : all.states)
        if (state == CellState::measured) state = CellState::missing;
    all.slowdown.assign(all.slowdown.size(), 0);
    all.loss.assign(all.loss.size(), kInfeasible);
    AdaptiveSweep blind(all), seeing(measured);
    for (int i = 0; i < 30; ++i) {
        const Batch batch = blind.next(), same = seeing.next();
        ASSERT_EQ(batch.problem, same.problem);
        ASSERT_EQ(batch.candidates, same.candidates);
        ASSERT_FALSE(batch.candidates.empty());
        blind.record(batch, measure(measured, batch));
        seeing.record(batch, measure(measured, batch));
    }
}

TEST(Adaptive, BeginsWithEveryVariantFarApart) {
    const Matrix all = grid();
    AdaptiveSweep sweep(all);
    std::set<std::size_t> problems;
    for (std::size_t i = 0; i < AdaptiveSweep::kFirstProblems; ++i) {
        const Batch batch = sweep.next();
        problems.insert(batch.problem);
        std::set<std::size_t> variants;
        for (const std::size_t c : batch.candidates) {
            EXPECT_TRUE(variants.insert(all.candidates[c].variant).second) << "two configurations of a variant";
            EXPECT_NE(all.state(batch.problem, c), CellState::unsupported);
        }
        EXPECT_GE(variants.size(), 3U);
        sweep.record(batch, measure(all, batch));
    }
    EXPECT_EQ(problems.size(), AdaptiveSweep::kFirstProblems);
    EXPECT_EQ(sweep.problems(), problems.size());
}

/// A dense grid of sizes and variants whose times are powers of them, each the best one somewhere.
Matrix power_laws() {
    Matrix matrix;
    matrix.columns = {{"n"}, {"m"}};
    constexpr std::size_t kVariants = 6;
    for (std::size_t v = 0; v < kVariants; ++v) matrix.candidates.push_back({v, 0});
    for (double n = 1; n < 1e4; n *= 2)
        for (double m = 1; m < 1e4; m *= 2) {
            matrix.problems.push_back(std::to_string(n) + "x" + std::to_string(m));
            matrix.values.insert(matrix.values.end(), {n, m});
            std::vector<double> logs;
            for (std::size_t v = 0; v < kVariants; ++v) {
                const double angle = static_cast<double>(v);
                logs.push_back(0.2 * (std::cos(angle) * (std::log2(n) - 7) + std::sin(angle) * (std::log2(m) - 6)));
            }
            const double best = *std::ranges::min_element(logs);
            for (const double log : logs) {
                matrix.states.push_back(CellState::measured);
                matrix.slowdown.push_back(log - best);
                matrix.loss.push_back(measured_loss(log - best, false));
            }
        }
    return matrix;
}

TEST(Adaptive, LearnsADenseGridFromATenth) {
    const Matrix all = power_laws();
    AdaptiveSweep sweep(all);
    while (sweep.measurements() < all.rows() * all.candidates.size() / 10) {
        const Batch batch = sweep.next();
        sweep.record(batch, measure(all, batch));
    }
    EXPECT_EQ(sweep.known().rows(), all.rows());
    // Forests take slopes for steps: what lies between measured sizes costs something.
    EXPECT_LT(regret(all, sweep.known()), regret(all, all) + 0.05);
}

TEST(Adaptive, GoesOnWithoutTimesThatItDoesNotGet) {
    const Matrix all = grid();
    AdaptiveSweep sweep(all);
    std::size_t batches = 0;
    for (Batch batch = sweep.next(); !batch.candidates.empty() && ++batches < 1000; batch = sweep.next()) {
        std::vector<double> logs = measure(all, batch);
        for (std::size_t i = 0; i < logs.size(); ++i)
            if (batch.candidates[i] == 0) logs[i] = NAN;
        sweep.record(batch, logs);
    }
    EXPECT_LT(batches, 1000U);
    const Matrix known = sweep.known();
    for (const std::size_t p : known.all()) {
        EXPECT_EQ(known.state(p, 0), CellState::missing);
        EXPECT_EQ(known.loss_of(p, 0), kInfeasible) << "it may not come first";
    }
}

// How soon is a matter of the data: adaptive_replay tells for the committed ones.
TEST(Adaptive, KnowsInTheEndWhatTheWholeGridKnows) {
    const Matrix all = grid();
    AdaptiveSweep sweep(all);
    for (Batch batch = sweep.next(); !batch.candidates.empty(); batch = sweep.next())
        sweep.record(batch, measure(all, batch));
    EXPECT_LT(regret(all, sweep.known()), regret(all, all) + 0.01);
}

}  // namespace
}  // namespace espalier::bench::learn
