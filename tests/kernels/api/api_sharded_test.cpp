// Points in shards: the answers are those of one model, however they are cut and wherever the shards are.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/api/api_helpers.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kQueries = 23, kPoints = 500, kDims = 4;
constexpr std::size_t kPointBytes = kDims * sizeof(float);

struct Sets {
    std::vector<float> points = whole_numbers(kPoints * kDims, 1, 7), queries = whole_numbers(kQueries * kDims, 2, 7);
    std::vector<std::int32_t> classes = std::vector<std::int32_t>(kPoints);
    std::vector<float> targets = whole_numbers(kPoints, 3, 7);

    Sets() {
        for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i * 7 % 5);
    }
    [[nodiscard]] Items point_items() const { return {points.data(), kPoints, kDims}; }
    [[nodiscard]] Items query_items() const { return {queries.data(), kQueries, kDims}; }
};

/// One device, several, and several kinds.
std::vector<std::vector<Device>> sets_of_devices() {
    std::vector<std::vector<Device>> sets;
    for (const Device& device : usable_devices()) {
        sets.push_back({device});
        sets.push_back({device, device, device});
    }
    if (usable_devices().size() > 1) sets.push_back(usable_devices());
    std::vector<Device> gpus;
    while (const auto gpu = Device::cuda(static_cast<int>(gpus.size()))) gpus.push_back(gpu.value());
    if (gpus.size() > 1) sets.push_back(gpus);
    return sets;
}

/// Memory for a shard of so many points.
ShardOptions shards_of(std::size_t points) { return {.bytes_per_device = 16 * points * kPointBytes}; }

void expect_same(const Neighbours& found, const Neighbours& expected) {
    ASSERT_EQ(found.queries, expected.queries);
    ASSERT_EQ(found.k, expected.k);
    EXPECT_EQ(found.indices, expected.indices);
    ASSERT_EQ(found.distances.size(), expected.distances.size());
    for (std::size_t i = 0; i < expected.distances.size(); ++i) {
        if (std::isnan(expected.distances[i]))
            EXPECT_TRUE(std::isnan(found.distances[i])) << "entry " << i;
        else
            EXPECT_NEAR(found.distances[i], expected.distances[i], 1e-5 * (1 + expected.distances[i])) << "entry " << i;
    }
}

Neighbours of_one_model(const Items& points, const Items& queries, const NeighbourRule& rule) {
    return value_of(value_of(NearestNeighbours::fit(Device::cpu(), points, rule)).kneighbors(queries));
}

TEST(ShardedKnn, ListsWhatOneModelLists) {
    const Sets sets;
    for (const std::int64_t k : {1, 5, 64, 700}) {
        const Neighbours expected = of_one_model(sets.point_items(), sets.query_items(), {.k = k});
        for (const std::vector<Device>& devices : sets_of_devices())
            for (const std::size_t points_of_shard : {1000, 60, 7}) {
                SCOPED_TRACE(std::to_string(k) + " neighbours, " + std::to_string(devices.size()) + " devices from " +
                             devices[0].key() + " on, shards of " + std::to_string(points_of_shard));
                const auto model = value_of(
                    ShardedNearestNeighbours::fit(devices, sets.point_items(), {.k = k}, shards_of(points_of_shard)));
                expect_same(value_of(model.kneighbors(sets.query_items())), expected);
            }
    }
}

TEST(ShardedKnn, CutsEvenlyAndKeepsWhatTheDeviceHolds) {
    const Sets sets;
    for (const std::vector<Device>& devices : sets_of_devices()) {
        const auto count = std::ssize(devices);
        const auto few = value_of(ShardedNearestNeighbours::fit(devices, sets.point_items(), {}, shards_of(1000)));
        EXPECT_EQ(few.shard_count(), count);
        const auto many = value_of(ShardedNearestNeighbours::fit(devices, sets.point_items(), {}, shards_of(7)));
        EXPECT_GE(many.shard_count(), kPoints / 7);
        EXPECT_LE(many.shard_count(), kPoints / 7 + count + 1);
        const auto gpus = std::ranges::count_if(devices, [](const Device& device) { return device.is_cuda(); });
        EXPECT_EQ(few.resident_count(), gpus);
        EXPECT_LE(many.resident_count(), 13 * gpus);
        EXPECT_GE(many.resident_count(), 12 * gpus);
    }
}

/// Points and queries as parts of larger tables.
struct Part {
    std::vector<float> table;
    Items items;

    Part(const Items& from, Layout layout, std::int64_t gap) {
        const bool by_item = layout == Layout::item_major;
        const std::int64_t stride = (by_item ? from.dims : from.count) + gap, rows = by_item ? from.count : from.dims;
        table.assign(static_cast<std::size_t>(rows * stride), -1);
        for (std::int64_t i = 0; i < from.count; ++i)
            for (std::int64_t a = 0; a < from.dims; ++a)
                table[static_cast<std::size_t>(by_item ? i * stride + a : a * stride + i)] =
                    from.values[i * from.dims + a];
        items = {table.data(), from.count, from.dims, layout, stride};
    }
};

TEST(ShardedKnn, TakesAnyLayoutAndPartsOfTables) {
    const Sets sets;
    const Neighbours expected = of_one_model(sets.point_items(), sets.query_items(), {.k = 6});
    for (const std::vector<Device>& devices : sets_of_devices())
        for (const Layout layout : {Layout::item_major, Layout::attribute_major})
            for (const std::int64_t gap : {0, 3}) {
                const Part points(sets.point_items(), layout, gap), queries(sets.query_items(), layout, gap);
                const auto model =
                    value_of(ShardedNearestNeighbours::fit(devices, points.items, {.k = 6}, shards_of(20)));
                expect_same(value_of(model.kneighbors(queries.items)), expected);
            }
}

TEST(ShardedKnn, WritesListsInAnyLayout) {
    const Sets sets;
    constexpr std::int64_t kK = 6;
    const Neighbours expected = of_one_model(sets.point_items(), sets.query_items(), {.k = kK});
    const auto model = value_of(
        ShardedNearestNeighbours::fit(std::vector{Device::cpu()}, sets.point_items(), {.k = kK}, shards_of(20)));
    std::vector<std::int32_t> rows(kQueries * (kK + 2), 77), columns(kK * (kQueries + 1), 77);
    expect_ok(model.kneighbors(sets.query_items(), {nullptr, rows.data(), MatrixLayout::row_major, kK + 2}));
    expect_ok(model.kneighbors(sets.query_items(), {nullptr, columns.data(), MatrixLayout::transposed, kQueries + 1}));
    for (std::int64_t q = 0; q < kQueries; ++q)
        for (std::int64_t j = 0; j < kK + 2; ++j) {
            const std::int32_t index = j < kK ? expected.indices[static_cast<std::size_t>(q * kK + j)] : 77;
            EXPECT_EQ(rows[static_cast<std::size_t>(q * (kK + 2) + j)], index);
            if (j < kK) {
                EXPECT_EQ(columns[static_cast<std::size_t>(j * (kQueries + 1) + q)], index);
            }
        }
    for (std::int64_t j = 0; j < kK; ++j)
        EXPECT_EQ(columns[static_cast<std::size_t>(j * (kQueries + 1) + kQueries)], 77);
}

TEST(ShardedKnn, ComparesByEveryRule) {
    Sets sets;
    for (std::size_t i = 0; i < sets.points.size(); i += 11) sets.points[i] = std::nanf("");
    for (std::size_t a = 0; a < kDims; ++a) sets.points[20 * kDims + a] = std::nanf("");  // is at no distance
    const std::vector<AttributeType> types{AttributeType::nominal, AttributeType::numeric, AttributeType::numeric,
                                           AttributeType::nominal};
    for (const Metric metric : {Metric::euclidean, Metric::mixed_euclidean, Metric::manhattan, Metric::chebyshev}) {
        NeighbourRule rule{.k = kPoints, .distance = {metric, Missing::allowed}};
        if (metric == Metric::mixed_euclidean) rule.distance.types = types;
        const Neighbours expected = of_one_model(sets.point_items(), sets.query_items(), rule);
        for (const std::vector<Device>& devices : sets_of_devices()) {
            // The model keeps the types itself.
            std::vector<AttributeType> passing = types;
            NeighbourRule passed = rule;
            if (metric == Metric::mixed_euclidean) passed.distance.types = passing;
            const auto model =
                value_of(ShardedNearestNeighbours::fit(devices, sets.point_items(), passed, shards_of(90)));
            std::ranges::fill(passing, AttributeType::numeric);
            expect_same(value_of(model.kneighbors(sets.query_items())), expected);
        }
    }
}

TEST(ShardedKnn, PredictsWhatOneModelPredicts) {
    const Sets sets;
    for (const Vote vote : {Vote::majority, Vote::distance_weighted}) {
        const NeighbourRule rule{.k = 9, .vote = vote};
        const auto classifier = value_of(KnnClassifier::fit(Device::cpu(), sets.point_items(), sets.classes, rule));
        const auto regressor = value_of(KnnRegressor::fit(Device::cpu(), sets.point_items(), sets.targets, rule));
        const auto targets = value_of(regressor.predict(sets.query_items()));
        for (const std::vector<Device>& devices : sets_of_devices()) {
            const auto sharded =
                value_of(ShardedKnnClassifier::fit(devices, sets.point_items(), sets.classes, rule, shards_of(40)));
            EXPECT_EQ(value_of(sharded.predict(sets.query_items())), value_of(classifier.predict(sets.query_items())));
            const auto by_targets =
                value_of(ShardedKnnRegressor::fit(devices, sets.point_items(), sets.targets, rule, shards_of(40)));
            const auto found = value_of(by_targets.predict(sets.query_items()));
            ASSERT_EQ(found.size(), targets.size());
            for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], targets[i], 1e-4);
        }
    }
}

TEST(ShardedKnn, OfNothing) {
    const Sets sets;
    for (const std::vector<Device>& devices : sets_of_devices()) {
        const Items none{nullptr, 0, kDims};
        const auto model = value_of(ShardedNearestNeighbours::fit(devices, sets.point_items(), {}, shards_of(40)));
        EXPECT_TRUE(value_of(model.kneighbors(none)).indices.empty());
        const auto empty = value_of(ShardedKnnClassifier::fit(devices, none, {}, {.k = 2}));
        EXPECT_EQ(empty.shard_count(), 0);
        EXPECT_EQ(value_of(empty.kneighbors(sets.query_items())).indices, std::vector<std::int32_t>(2 * kQueries, -1));
        EXPECT_EQ(value_of(empty.predict(sets.query_items())), std::vector<std::int32_t>(kQueries, kNoClass));
    }
}

/// Ends a call once it has heard of so many steps.
struct Listener {
    std::vector<double> heard{};
    std::size_t most = std::numeric_limits<std::size_t>::max();

    static bool hear(void* self, double done) {
        auto& listener = *static_cast<Listener*>(self);
        listener.heard.push_back(done);
        return listener.heard.size() <= listener.most;
    }
    Options options() { return {.progress = hear, .progress_user = this}; }
};

TEST(ShardedKnn, TellsItsProgressAndEndsWhenAsked) {
    const Sets sets;
    for (const std::vector<Device>& devices : sets_of_devices()) {
        const auto model = value_of(ShardedNearestNeighbours::fit(devices, sets.point_items(), {}, shards_of(20)));
        Listener listener;
        const Neighbours all = value_of(model.kneighbors(sets.query_items(), listener.options()));
        EXPECT_GE(std::ssize(listener.heard), model.shard_count() / std::ssize(devices));
        EXPECT_TRUE(std::ranges::is_sorted(listener.heard));
        EXPECT_EQ(listener.heard.front(), 0);
        EXPECT_EQ(listener.heard.back(), 1);
        Listener impatient{.most = 2};
        const auto ended = model.kneighbors(sets.query_items(), impatient.options());
        ASSERT_FALSE(ended);
        EXPECT_EQ(ended.error().code, ErrorCode::cancelled);
        expect_same(value_of(model.kneighbors(sets.query_items())), all);
    }
}

TEST(ShardedKnn, EndsWhereAShardFails) {
    const Sets sets;
    for (const std::vector<Device>& devices : sets_of_devices()) {
        const auto model = value_of(ShardedNearestNeighbours::fit(devices, sets.point_items(), {}, shards_of(20)));
        for (const char* const variant : {"no_such", "cpu_two_stage", "two_stage"}) {
            const auto found = model.kneighbors(sets.query_items(), {.variant = variant});
            const bool runs_on_all = std::ranges::all_of(devices, [&](const Device& device) {
                return device.is_cuda() ? variant == std::string("two_stage") : variant == std::string("cpu_two_stage");
            });
            EXPECT_EQ(static_cast<bool>(found), runs_on_all) << variant << " on " << devices.back().key();
        }
        EXPECT_TRUE(model.kneighbors(sets.query_items()));
    }
}

TEST(ShardedKnn, IsUsedByManyThreads) {
    const Sets sets;
    const Neighbours expected = of_one_model(sets.point_items(), sets.query_items(), {});
    for (const Device& device : usable_devices()) {
        if (device.is_cuda()) continue;  // the host executor runs one kernel at a time
        const auto model =
            value_of(ShardedNearestNeighbours::fit(std::vector{device, device}, sets.point_items(), {}, shards_of(20)));
        std::vector<Neighbours> found(4);
        std::vector<std::thread> threads;
        for (Neighbours& one : found)
            threads.emplace_back([&] { one = value_of(model.kneighbors(sets.query_items(), {.threads = 1})); });
        for (std::thread& thread : threads) thread.join();
        for (const Neighbours& one : found) expect_same(one, expected);
    }
}

TEST(ShardedKnn, SaysWhatIsWrong) {
    const Sets sets;
    const std::vector cpu{Device::cpu()};
    const auto fit = [&](std::span<const Device> devices, const Items& points, const NeighbourRule& rule,
                         const Options& options = {}) -> Result<void> {
        const auto model = ShardedNearestNeighbours::fit(devices, points, rule, {}, options);
        if (!model) return model.error();
        return {};
    };
    expect_invalid(fit({}, sets.point_items(), {}), "name one");
    expect_invalid(fit(cpu, {nullptr, kPoints, kDims}, {}), "points.values is null");
    expect_invalid(fit(cpu, sets.point_items(), {.k = 0}), "k is 0");
    expect_invalid(fit(cpu, sets.point_items(), {}, {.memory = Memory::device}), "host memory");
    expect_invalid(fit(cpu, sets.point_items(), {}, {.threads = -1}), "threads");
    int stream = 0;
    expect_invalid(fit(cpu, sets.point_items(), {}, {.stream = reinterpret_cast<Stream>(&stream)}), "Options::stream");
    const std::vector<std::int32_t> few(kPoints - 1), negative(kPoints, -2);
    const auto classify = [&](std::span<const std::int32_t> classes) -> Result<void> {
        const auto model = ShardedKnnClassifier::fit(cpu, sets.point_items(), classes, {});
        if (!model) return model.error();
        return {};
    };
    expect_invalid(classify(few), "499 classes");
    expect_invalid(classify(negative), "class of point 0 is -2");

    auto model = value_of(ShardedNearestNeighbours::fit(cpu, sets.point_items(), {}, shards_of(40)));
    expect_invalid(model.kneighbors({sets.queries.data(), 4, kDims + 1}, NeighbourLists{}), "attributes");
    expect_invalid(model.kneighbors(sets.query_items(), NeighbourLists{}), "neither distances nor indices");
    std::vector<std::int32_t> indices(kQueries * 5);
    expect_invalid(model.kneighbors(sets.query_items(), {nullptr, indices.data(), MatrixLayout::row_major, 2}),
                   "stride");
    expect_error(model.kneighbors(sets.query_items(), {nullptr, indices.data()}, {.variant = "no_such"}),
                 ErrorCode::unknown_variant, "no_such");
    const auto moved = std::move(model);
    EXPECT_EQ(model.shard_count(), 0);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(model.resident_count(), 0);
    expect_invalid(model.kneighbors(sets.query_items(), {nullptr, indices.data()}), "moved from");
    EXPECT_GT(moved.shard_count(), 1);
}

}  // namespace
}  // namespace espalier
