// Programs that name espalier::v0 get the layouts of version 0.

#include "espalier/v0.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/api/api_helpers.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

namespace v0 = espalier::v0;
using espalier::expect_ok;
using espalier::value_of;

constexpr float kQueries[] = {0, 0, 3, 4}, kPoints[] = {0, 0, 3, 4, 6, 8};
const v0::Items kAsked{kQueries, 2, 2}, kGiven{kPoints, 3, 2};
const std::vector<float> kTransposed{0, 5, 5, 0, 10, 5}, kRowMajor{0, 5, 10, 5, 0, 5};

TEST(V0, DistancesAreTransposed) {
    const v0::Device cpu = v0::Device::cpu();
    std::vector<float> result(6);
    expect_ok(v0::pairwise_distances(cpu, kAsked, kGiven, {}, result.data()));
    EXPECT_EQ(result, kTransposed);
    expect_ok(v0::pairwise_distances(cpu, kAsked, kGiven, {}, result.data(), {}, v0::MatrixLayout::row_major));
    EXPECT_EQ(result, kRowMajor);
    expect_ok(espalier::pairwise_distances(cpu, kAsked, kGiven, {}, result.data()));
    EXPECT_EQ(result, kRowMajor) << "today's default";
    const v0::DistancesPlan plan = value_of(v0::plan_pairwise_distances(cpu, kAsked, kGiven, {}));
    std::vector<std::byte> memory(plan.workspace_bytes() + 64);
    void* at = memory.data();
    std::size_t space = memory.size();
    std::align(64, plan.workspace_bytes(), at, space);
    expect_ok(plan.run(kAsked, kGiven, result.data(), nullptr, {static_cast<std::byte*>(at), plan.workspace_bytes()}));
    EXPECT_EQ(result, kTransposed);
    EXPECT_TRUE(v0::explain_pairwise_distances(cpu, kAsked, kGiven, {}));
}

TEST(V0, SelectionsAreTransposed) {
    std::vector<float> values(4);
    std::vector<std::int32_t> indices(4);
    const v0::SelectionShape shape{.rows = 2, .columns = 3, .k = 2};
    expect_ok(v0::select_smallest_k(v0::Device::cpu(), shape, kTransposed.data(), values.data(), indices.data()));
    EXPECT_EQ(values, (std::vector<float>{0, 0, 5, 5}));
    EXPECT_EQ(indices, (std::vector<std::int32_t>{0, 1, 1, 0}));
    expect_ok(v0::select_smallest_k_of(v0::Device::cpu(), shape, kTransposed.data(), values.data(), indices.data()));
    EXPECT_EQ(indices, (std::vector<std::int32_t>{0, 1, 1, 0}));
    EXPECT_TRUE(v0::plan_select_smallest_k(v0::Device::cpu(), shape));
    EXPECT_TRUE(v0::explain_select_smallest_k(v0::Device::cpu(), shape));
    expect_ok(espalier::select_smallest_k(v0::Device::cpu(), {.rows = 2, .columns = 3, .k = 2}, kRowMajor.data(),
                                          values.data(), indices.data()));
    EXPECT_EQ(indices, (std::vector<std::int32_t>{0, 1, 1, 0}));
    EXPECT_EQ(values, (std::vector<float>{0, 5, 0, 5})) << "today's default";
}

TEST(V0, ListsOfNeighboursAreTransposed) {
    const std::vector<std::int32_t> classes{0, 1, 2};
    const auto model = value_of(v0::KnnClassifier::fit(v0::Device::cpu(), kGiven, classes, {.k = 3}));
    std::vector<float> distances(6);
    std::vector<std::int32_t> indices(6), predicted(2);
    const std::vector<float> transposed{0, 0, 5, 5, 10, 5};
    expect_ok(model.kneighbors(kAsked, distances.data(), indices.data()));
    EXPECT_EQ(distances, transposed);
    distances.assign(6, -1);
    expect_ok(model.predict(kAsked, predicted.data(), {distances.data(), indices.data()}));
    EXPECT_EQ(distances, transposed);
    EXPECT_EQ(value_of(model.kneighbors(kAsked)).distances, (std::vector<float>{0, 5, 10, 0, 5, 5}));
    EXPECT_EQ(value_of(model.predict(kAsked)), predicted);

    const v0::KnnPlan plan = value_of(model.plan_predict(2, v0::Layout::item_major, {.distances = true}));
    std::vector<std::byte> memory(plan.workspace_bytes() + 64);
    void* at = memory.data();
    std::size_t space = memory.size();
    std::align(64, plan.workspace_bytes(), at, space);
    distances.assign(6, -1);
    expect_ok(plan.run(kAsked, predicted.data(), {distances.data(), nullptr}, nullptr,
                       {static_cast<std::byte*>(at), plan.workspace_bytes()}));
    EXPECT_EQ(distances, transposed);

    const std::vector<float> targets{1, 2, 3};
    const auto regressor = value_of(v0::KnnRegressor::fit(v0::Device::cpu(), kGiven, targets, {.k = 3}));
    distances.assign(6, -1);
    expect_ok(regressor.allowing_missing().kneighbors(kAsked, distances.data(), indices.data()));
    EXPECT_EQ(distances, transposed);
}

TEST(V0, ExactListsAreTransposed) {
    const double points[] = {0, 3, 6}, queries[] = {0, 4};
    const std::vector<double> targets{1, 2, 3};
    const std::vector<std::int32_t> classes{0, 1, 2};
    std::vector<double> distances(4), predicted(2);
    std::vector<std::int32_t> indices(4), labels(2);
    const auto model = value_of(v0::ExactKnnRegressor::fit(v0::Device::cpu(), {points, 3, 1}, targets, {.k = 2}));
    expect_ok(model.predict({queries, 2, 1}, predicted.data(), {distances.data(), indices.data()}));
    EXPECT_EQ(distances, (std::vector<double>{0, 1, 3, 2}));
    const auto other = value_of(v0::ExactKnnClassifier::fit(v0::Device::cpu(), {points, 3, 1}, classes, {.k = 2}));
    expect_ok(other.predict({queries, 2, 1}, labels.data(), {distances.data(), indices.data()}));
    EXPECT_EQ(indices, (std::vector<std::int32_t>{0, 1, 1, 2}));
}

}  // namespace
