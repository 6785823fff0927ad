// What choices that a device never tried are said to cost by others.

#include "harness/bench/learn/lending.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/bench/learn/evaluation.hpp"
#include "tests/bench/learn/matrices.hpp"

namespace espalier::bench::learn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Rows sizes(int count) {
    Rows rows;
    for (int n = 1; n <= count; ++n) rows.push_back({static_cast<double>(n)});
    return rows;
}

/// The first of two choices is the slower one by `n` thousandths.
Matrix device(int problems) {
    return matrix_of({{"n"}}, sizes(problems), 2,
                     [](std::span<const double> row, std::size_t c) { return c == 0 ? row[0] / 1000 : 0.0; });
}

/// Another device with a choice between these, of another variant, that takes half the time of the last one where it
/// runs: up to 150.
Matrix lender(int problems, double from = 0) {
    Matrix matrix = matrix_of({{"n"}}, sizes(problems), 3, [&](std::span<const double> row, std::size_t c) {
        if (c == 1) return row[0] <= 150 ? -std::log(2.0) - from : kNone;
        return c == 0 ? row[0] / 1000 : 0.0;
    });
    matrix.candidates = {{0, 0}, {1, 3}, {2, 0}};
    return matrix;
}

Matrix lent_to(Matrix matrix, const std::vector<Matrix>& others, std::size_t untried = 1) {
    matrix.candidates.back() = {2, 0};
    lend(
        matrix, others, [=](const Choice& choice) { return choice.variant == untried; },
        [](const std::string& problem, const Choice&) { return std::stod(problem) != 7; });
    return matrix;
}

TEST(Lending, TimesAreOnTheDevicesScaleAndCountAsImputed) {
    Matrix other = lender(220);
    for (double log : other.slowdown) other.log_times.push_back(std::isnan(log) ? log : log + std::log(500.0));
    const Matrix matrix = lent_to(device(220), {other});
    ASSERT_EQ(matrix.candidates, (std::vector<Choice>{{0, 0}, {1, 3}, {2, 0}}));
    EXPECT_EQ(matrix.lent, (std::vector<Choice>{{1, 3}}));
    EXPECT_EQ(matrix.baseline, 2U);
    EXPECT_EQ(matrix.state(99, 1), CellState::imputed);
    EXPECT_NEAR(matrix.log_slowdown(99, 1), 0, 1e-9);
    EXPECT_NEAR(matrix.log_slowdown(99, 0), std::log(2.0) + 0.1, 1e-9);
    EXPECT_NEAR(matrix.log_slowdown(99, 2), std::log(2.0), 1e-9);
    EXPECT_TRUE(matrix.measured(99, 0));
    // Where the lender has none, its times elsewhere say it.
    EXPECT_EQ(matrix.state(199, 1), CellState::imputed);
    EXPECT_LT(matrix.log_slowdown(199, 1), 0.1);
    // Where this device would not run it, the baseline does.
    EXPECT_EQ(matrix.state(6, 1), CellState::unsupported);
    EXPECT_EQ(matrix.log_slowdown(6, 1), matrix.log_slowdown(6, 2));
}

TEST(Lending, IsTheMeanOfSeveralDevices) {
    const Matrix matrix = lent_to(device(220), {lender(220), lender(220, 0.4)});
    EXPECT_NEAR(matrix.log_slowdown(99, 2), std::log(2.0) + 0.2, 1e-9);
}

TEST(Lending, FewProblemsInCommonSayNothing) {
    const auto is_as_before = [](const Matrix& matrix) {
        return matrix.candidates.size() == 2 && matrix.lent.empty() && matrix.log_times.empty();
    };
    EXPECT_TRUE(is_as_before(lent_to(device(220), {lender(199)})));
    EXPECT_FALSE(is_as_before(lent_to(device(220), {lender(200)})));
    EXPECT_TRUE(is_as_before(lent_to(device(220), {lender(220)}, 9))) << "this device tried all that there are";
    Matrix rarely = lender(220);
    for (std::size_t p = 49; p < rarely.rows(); ++p) rarely.states[p * 3 + 1] = CellState::unsupported;
    EXPECT_TRUE(is_as_before(lent_to(device(220), {rarely})));
}

TEST(Lending, FiguresAreOfWhatWasMeasuredAndSizesOfAllThatIsKnown) {
    Matrix other = lender(220);
    const Matrix matrix = lent_to(device(220), {other});
    const CrossValidation validation = cross_validate(matrix, {});
    const HeldOut& held_out = validation.kept();
    ASSERT_EQ(held_out.choices[99], 1U);
    EXPECT_TRUE(std::isnan(held_out.logs[99]));
    EXPECT_NEAR(held_out.costs[99], 0, 1e-9);
    EXPECT_GT(held_out.unmeasured, 100);
    const CrossValidation alone = cross_validate(device(220), {});
    EXPECT_EQ(alone.kept().costs, alone.kept().logs);
}

}  // namespace
}  // namespace espalier::bench::learn
