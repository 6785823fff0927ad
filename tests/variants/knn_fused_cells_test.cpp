// Problems that the fused pipelines take apart into cells of near queries (fused_tables.hpp).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/variants/fused_tables.hpp"

namespace espalier::knn {
namespace {

/// 20 clusters, of which most are far from each other.
float clustered(std::int64_t item, std::int64_t attribute, std::mt19937& random) {
    const auto cluster = static_cast<std::uint32_t>(item % 20);
    const std::uint32_t hash = (cluster * 7919U + static_cast<std::uint32_t>(attribute) * 104729U + 1) * 2654435761U;
    return static_cast<float>(hash >> 22) + uniform(item, attribute, random);
}

constexpr Problem kClustered{.queries = 600, .points = 4700, .dims = 24, .k = 7};

TEST_P(Fused, ClustersAreCells) {
    for (const auto metric : {Metric::euclidean, Metric::manhattan, Metric::chebyshev}) {
        Problem problem = kClustered;
        problem.metric = metric;
        if (!variant().supports(problem, {}, device_)) continue;
        expect_direct(problem, clustered, "clusters");
        EXPECT_TRUE(by_cells_);
        expect_direct(problem, uniform, "uniform");
        EXPECT_FALSE(by_cells_);
    }
}

/// Cells are next to each other: near and far queries, points at the border of a list, and equal distances, of which
/// the least index counts.
TEST_P(Fused, CellsOfATimeStamp) {
    for (const unsigned steps : {300U, 1'000'000U}) {
        const auto value = [&](std::int64_t, std::int64_t attribute, std::mt19937& random) {
            return static_cast<float>(attribute == 0 ? random() % steps * (3'000'000 / steps) : random() % 3);
        };
        expect_direct({.queries = 700, .points = 8000, .dims = 12, .k = 9}, value, std::to_string(steps) + " steps");
        EXPECT_TRUE(by_cells_) << steps;
    }
}

/// They are compared with all points, and make no cell longer.
TEST_P(Fused, StraysAmongClusters) {
    for (const int share : {10, 50}) {
        const auto value = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
            const float near = clustered(item, attribute, random);
            return item % share == 3 ? near + 1e4F * uniform(item, attribute, random) : near;
        };
        expect_direct(kClustered, value, "one in " + std::to_string(share));
        EXPECT_TRUE(by_cells_);
    }
}

TEST_P(Fused, NanAndInfinitiesAmongClusters) {
    const auto value = [](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
        const float near = clustered(item, attribute, random);
        return random() % 900 == 0 ? std::vector{kNan, kInfinity, 3e38F}[random() % 3] : near;
    };
    expect_direct(kClustered, value, "not finite");
}

/// Clusters of fewer points than neighbours: some of these are in other clusters.
TEST_P(Fused, ClustersSmallerThanK) {
    const auto value = [](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
        return clustered(item, attribute, random) + 1e4F * static_cast<float>(item % 1000 / 20);
    };
    expect_direct(kClustered, value, "many clusters");
    Problem problem = kClustered;
    problem.k = 70;
    expect_direct(problem, value, "70 neighbours");
}

/// What cells predict is put where it belongs, whichever kind, and for queries from the host.
TEST_P(Fused, PredictionsOfCells) {
    const Tables data = tables(kClustered, clustered);
    std::vector<std::int32_t> point_classes, wanted_classes;
    std::vector<float> point_targets, wanted_targets;
    for (std::int32_t p = 0; p < 4700; ++p) point_classes.push_back(p % 20);
    for (std::int32_t p = 0; p < 4700; ++p) point_targets.push_back(static_cast<float>(p % 20) / 4);
    for (std::int32_t q = 0; q < 600; ++q) wanted_classes.push_back(q % 20);
    for (std::int32_t q = 0; q < 600; ++q) wanted_targets.push_back(static_cast<float>(q % 20) / 4);
    Problem problem = kClustered;
    problem.classes = 20;
    std::vector<std::byte> workspace(variant().workspace(problem, {}, device_));
    Context context{device_, nullptr, workspace};
    std::vector<std::int32_t> classes(600), on_host(600);
    problem.queries_in = QueriesIn::host;
    variant().run(
        context, problem,
        {.point_values = data.points.data(),
         .point_classes = point_classes.data(),
         .classes = classes.data(),
         .on_host = {.query_values = data.queries.data(), .predictions = reinterpret_cast<std::byte*>(on_host.data())}},
        {});
    EXPECT_EQ(classes, wanted_classes);
    EXPECT_EQ(on_host, wanted_classes);
    problem.queries_in = QueriesIn::device;
    problem.task = Task::regression;
    std::vector<float> targets(600);
    variant().run(context, problem,
                  {.query_values = data.queries.data(),
                   .point_values = data.points.data(),
                   .point_targets = point_targets.data(),
                   .targets = targets.data()},
                  {});
    EXPECT_EQ(targets, wanted_targets);
}

INSTANTIATE_TEST_SUITE_P(Knn, Fused, testing::ValuesIn(fused()),
                         [](const auto& fused) { return std::string(fused.param->variant.name); });

}  // namespace
}  // namespace espalier::knn
