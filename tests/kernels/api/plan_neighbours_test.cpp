// Plans of k-NN models.

#include <cmath>
#include <vector>

#include "tests/kernels/api/plan_support.hpp"

namespace espalier {
namespace {

/// A model of two clusters, and queries near them.
struct Neighbourhood {
    static constexpr std::int64_t kPoints = 60, kQueries = 33, kDims = 3;
    std::vector<float> points = numbers(kPoints * kDims, 5), queries = numbers(kQueries * kDims, 6);
    std::vector<std::int32_t> classes;
    std::vector<float> targets = numbers(kPoints, 7);
    NeighbourRule rule{.k = 4};

    Neighbourhood() {
        for (int i = 0; i < kPoints; ++i) classes.push_back(i % 3);
    }
};

TEST(Plan, PredictsAndListsNeighbours) {
    const Neighbourhood n;
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const auto model =
            value_of(KnnClassifier::fit(where.device, {n.points.data(), n.kPoints, n.kDims}, n.classes, n.rule));
        const Items on_host{n.queries.data(), n.kQueries, n.kDims};
        const auto expected = value_of(model.predict(on_host));
        const auto neighbours = value_of(model.kneighbors(on_host));
        Array<float> queries(n.queries, where.memory), distances(n.kQueries * 4, where.memory);
        Array<std::int32_t> classes(n.kQueries, where.memory), indices(n.kQueries * 4, where.memory);
        const KnnPlan plan = value_of(model.plan_predict(
            n.kQueries, Layout::item_major, {.distances = true, .indices = true}, {.memory = where.memory}));
        Workspace workspace(plan);
        const Items items{queries.data(), n.kQueries, n.kDims};
        expect_ok(plan.run(items, classes.data(), {distances.data(), indices.data()}, nullptr, workspace.span()));
        wait(where.device);
        EXPECT_EQ(classes.values(), expected);
        const auto listed = indices.values();
        for (std::size_t q = 0; q < n.kQueries; ++q)
            for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(listed[q * 4 + j], neighbours.indices[q * 4 + j]);

        expect_invalid(plan.run(items, static_cast<float*>(nullptr), {}, nullptr, workspace.span()),
                       "the plan is for a classification");
        expect_invalid(plan.run({items.values, n.kQueries, n.kDims, Layout::attribute_major}, classes.data(), {},
                                nullptr, workspace.span()),
                       "queries.layout");
        expect_invalid(plan.run({items.values, n.kQueries - 1, n.kDims}, classes.data(), {}, nullptr, workspace.span()),
                       "queries.count is 32, but the plan is for 33");
    }
}

TEST(Plan, PredictsFromItemMajorDeviceMemory) {
    const Neighbourhood n;
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const Options options{.memory = where.memory};
        Array<float> points(n.points, where.memory), queries(n.queries, where.memory), targets(n.targets, where.memory);
        const auto model = value_of(
            KnnRegressor::fit(where.device, {points.data(), n.kPoints, n.kDims}, targets.span(), n.rule, options));
        Array<float> predicted(n.kQueries, where.memory);
        expect_ok(model.predict({queries.data(), n.kQueries, n.kDims}, predicted.data(), options));
        const auto on_cpu =
            value_of(KnnRegressor::fit(Device::cpu(), {n.points.data(), n.kPoints, n.kDims}, n.targets, n.rule));
        const auto expected = value_of(on_cpu.predict({n.queries.data(), n.kQueries, n.kDims}));
        const std::vector<float> values = predicted.values();
        for (std::size_t q = 0; q < n.kQueries; ++q) EXPECT_NEAR(values[q], expected[q], 1e-4);
    }
}

TEST(Plan, OfAModelThatAllowsMissingCells) {
    const Neighbourhood n;
    std::vector<float> queries = n.queries;
    queries[1] = NAN;
    for (const Device& device : usable_devices()) {
        const auto model =
            value_of(KnnClassifier::fit(device, {n.points.data(), n.kPoints, n.kDims}, n.classes, n.rule));
        const Items items{queries.data(), n.kQueries, n.kDims};
        EXPECT_EQ(value_of(model.predict(items))[0], kNoClass);
        EXPECT_NE(value_of(model.allowing_missing().predict(items))[0], kNoClass);
    }
}

}  // namespace
}  // namespace espalier
