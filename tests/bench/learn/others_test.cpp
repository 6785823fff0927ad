// What forests learn from other devices.

#include "harness/bench/learn/others.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "harness/bench/learn/forest.hpp"
#include "tests/bench/learn/matrices.hpp"

namespace espalier::bench::learn {
namespace {

/// The second of three choices is faster from a size on.
Matrix measured_at(const std::vector<double>& sizes, double from = 300) {
    return matrix_of({{"n"}}, grid({sizes}), 3, [from](std::span<const double> row, std::size_t c) {
        return c == 2 ? 1.0 : (row[0] < from) == (c == 0) ? 0.0 : 0.5;
    });
}

/// What forests expect of the first choice at a size.
double expected(const Matrix& matrix, double size) { return predict(matrix, matrix.all(), std::vector{size}).front(); }

TEST(Others, SayWhatLiesBetweenTheDevicesOwnProblems) {
    Matrix matrix = measured_at({16, 8192});
    EXPECT_GT(expected(matrix, 128), 0.05);
    EXPECT_LT(expected(matrix, 1024), 0.45);
    learn_beside(matrix, std::vector{measured_at(kSizes)});
    EXPECT_LT(expected(matrix, 128), 0.05);
    EXPECT_GT(expected(matrix, 1024), 0.45);
}

TEST(Others, AloneIsAsBeforeThem) {
    Matrix matrix = measured_at({16, 8192});
    const Matrix before = matrix;
    learn_beside(matrix, std::vector{measured_at(kSizes)});
    DrawnProblems drawn{.count = 3, .alike = 2, .values = {32, 64, 128}, .supported = {1, 1, 0, 1, 0, 1, 0, 1, 1}};
    matrix.drawn = std::make_shared<const DrawnProblems>(drawn);
    const Matrix own = alone(matrix);
    EXPECT_EQ(own.others, nullptr);
    EXPECT_EQ(predict(own, own.all(), kSizes), predict(before, before.all(), kSizes));
    EXPECT_EQ(own.drawn->count, 1U);
    EXPECT_EQ(own.drawn->alike, 0U);
    EXPECT_EQ(own.drawn->values, (std::vector<double>{128}));
    EXPECT_EQ(own.drawn->supported, (std::vector<char>{0, 1, 1}));
    EXPECT_EQ(matrix.drawn->count, 3U) << "the other matrix keeps its own";
}

TEST(Others, ForestsMayAskForTheDevice) {
    Matrix matrix = measured_at(kSizes);
    learn_beside(matrix, std::vector{measured_at(kSizes, 5000)});
    EXPECT_LT(expected(matrix, 256), 0.05);
    EXPECT_GT(expected(matrix, 512), 0.4) << "the device's own problems say so, the other's the opposite";
}

TEST(Others, TwinsOfWhatIsHeldOutAreHeldOut) {
    Matrix with = measured_at(kSizes), without = measured_at(kSizes);
    const std::vector<double> far{16, 8192};
    std::vector<double> far_and_near = far;
    far_and_near.insert(far_and_near.begin() + 1, 262);  // within 5% of 256
    learn_beside(with, std::vector{measured_at(far_and_near, 100)});
    learn_beside(without, std::vector{measured_at(far, 100)});
    std::vector<std::size_t> rows = with.all();
    EXPECT_NE(predict(with, rows, std::vector{260.0}), predict(without, rows, std::vector{260.0}));
    std::erase_if(rows, [&](std::size_t row) { return with.value(row, 0) == 256; });
    EXPECT_EQ(predict(with, rows, std::vector{260.0}), predict(without, rows, std::vector{260.0}));
}

TEST(Others, ChoicesAreTheSameOnesAndSlowdownsAgainstTheBestOfThem) {
    Matrix matrix = measured_at({64});
    Matrix other = measured_at({1024});
    other.candidates = {{7, 0}, {1, 0}, {0, 0}};  // one that is no choice here; the baseline is not there
    other.baseline = 2;
    other.slowdown = {0.0, 0.25, 0.75};
    learn_beside(matrix, std::vector{other});
    const auto& slowdown = matrix.others->slowdown;
    ASSERT_EQ(slowdown.size(), 3U);
    EXPECT_DOUBLE_EQ(slowdown[0], 0.5);
    EXPECT_DOUBLE_EQ(slowdown[1], 0);
    EXPECT_TRUE(std::isnan(slowdown[2]));
}

TEST(Others, ImputedTimesAreNone) {
    Matrix other = measured_at({1024});
    other.log_times = {std::log(8.0), std::log(4.0), std::numeric_limits<double>::quiet_NaN()};
    other.states = {CellState::measured, CellState::measured, CellState::imputed};
    Matrix matrix = measured_at({64});
    learn_beside(matrix, std::vector{other});
    EXPECT_DOUBLE_EQ(matrix.others->slowdown[0], std::log(2.0));
    EXPECT_TRUE(std::isnan(matrix.others->slowdown[2]));
    other.states.assign(3, CellState::imputed);
    learn_beside(matrix, std::vector{other});
    EXPECT_EQ(matrix.others->count(), 0U);
}

TEST(Others, WhatNoneOfTheDevicesOwnProblemsHasIsPassedOver) {
    const auto matrix_with = [](const std::vector<double>& orders, bool absent) {
        std::vector<Column> columns{{"order", 2}, {"n"}};
        columns[0].optional = true, columns[0].absent = absent;
        return matrix_of(columns, grid({orders, {64, 1024}}), 2, [](auto, std::size_t c) { return double(c); });
    };
    Matrix matrix = matrix_with({0}, true);
    learn_beside(matrix, std::vector{matrix_with({0, 1}, false)});
    EXPECT_EQ(matrix.others->count(), 2U);
    matrix = matrix_with({0, 1}, false);
    learn_beside(matrix, std::vector{matrix_with({0, 1}, false)});
    EXPECT_EQ(matrix.others->count(), 4U);
}

}  // namespace
}  // namespace espalier::bench::learn
