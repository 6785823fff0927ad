// What the sweep's edge cases cannot ask of the knn pipelines: chunks of every size, the neighbours
// themselves, workspaces that are too small, and the check of their predictions.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "harness/base/bench_memory.hpp"
#include "harness/bench/families/knn_check.hpp"
#include "harness/bench/families/workload.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/dispatch/choose.hpp"
#include "reference_cpu/distance.hpp"
#include "registries/knn/registry.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::knn {

using namespace ::espalier::knn;

namespace {

struct Result {
    std::vector<std::int32_t> classes, indices;
    std::vector<float> distances;
};

/// The value of an attribute, from random bits.
using Draw = float (*)(std::uint32_t bits);

/// A problem with data, run on variants directly. Values are whole by default, so that distances are exact.
class Tables {
public:
    explicit Tables(
        const Problem& problem, Draw draw = [](std::uint32_t bits) { return static_cast<float>(bits % 6); })
        : problem_(problem) {
        std::mt19937 random(5);
        const auto values_of = [&](std::int64_t count) {
            std::vector<float> values(static_cast<std::size_t>(count));
            for (float& value : values) value = draw(static_cast<std::uint32_t>(random()));
            return values;
        };
        query_values_ = values_of(problem.queries * problem.dims);
        point_values_ = values_of(problem.points * problem.dims);
        for (std::int64_t p = 0; p < problem.points; ++p)
            point_classes_.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(problem.classes)));
    }

    /// With the queries on the host the predictions are taken from there.
    Result run(const Registered<Problem>& entry, const Configuration& configuration, const DeviceInfo& device,
               std::size_t workspace_bytes) const {
        const auto lists = static_cast<std::size_t>(problem_.queries * problem_.k) * 4;
        BenchMemory queries = uploaded(device, query_values_), points = uploaded(device, point_values_);
        BenchMemory point_classes = uploaded(device, point_classes_), workspace(device.kind, workspace_bytes);
        BenchMemory classes(device.kind, static_cast<std::size_t>(problem_.queries) * 4);
        BenchMemory distances(device.kind, lists), indices(device.kind, lists);
        workspace.fill(0, workspace_bytes, 0xFF);
        const bool on_host = problem_.queries_in == QueriesIn::host;
        std::vector<std::int32_t> on_host_classes(on_host ? static_cast<std::size_t>(problem_.queries) : 0, 99);
        OnHost host;
        if (on_host)
            host = {query_values_.data(), point_values_.data(), point_classes_.data(), nullptr,
                    reinterpret_cast<std::byte*>(on_host_classes.data())};
        Context context{device, nullptr, {workspace.data(), workspace_bytes}};
        entry.variant.run(context, problem_,
                          {.query_values = on_host ? nullptr : reinterpret_cast<const float*>(queries.data()),
                           .point_values = reinterpret_cast<const float*>(points.data()),
                           .point_classes = reinterpret_cast<const std::int32_t*>(point_classes.data()),
                           .classes = reinterpret_cast<std::int32_t*>(classes.data()),
                           .neighbour_distances = reinterpret_cast<float*>(distances.data()),
                           .neighbour_indices = reinterpret_cast<std::int32_t*>(indices.data()),
                           .on_host = host,
                           .stages = {choose<distance::Problem>, choose<smallest_k::Problem>}},
                          configuration);
        const auto on_device = downloaded<std::int32_t>(classes);
        if (on_host) {
            EXPECT_EQ(on_host_classes, on_device);
        }
        return {on_device, downloaded<std::int32_t>(indices), downloaded<float>(distances)};
    }

    [[nodiscard]] Result expected() const {
        Result result;
        const auto n = static_cast<std::size_t>(problem_.queries), k = static_cast<std::size_t>(problem_.k);
        result.indices.resize(n * k);
        result.distances.resize(n * k);
        for (std::size_t q = 0; q < n; ++q) {
            std::vector<double> all;
            for (std::size_t p = 0; p < static_cast<std::size_t>(problem_.points); ++p)
                all.push_back(reference::distance(item(query_values_, n, q),
                                                  item(point_values_, static_cast<std::size_t>(problem_.points), p),
                                                  problem_.metric, problem_.missing, {}));
            const auto near = reference::nearest(all, problem_.k);
            for (std::size_t j = 0; j < k; ++j) {
                result.indices[j * n + q] = near[j].index;
                result.distances[j * n + q] = static_cast<float>(near[j].distance);
            }
            result.classes.push_back(reference::knn_class(near, point_classes_, problem_.vote));
        }
        return result;
    }

private:
    template <class T>
    static BenchMemory uploaded(const DeviceInfo& device, const std::vector<T>& values) {
        BenchMemory memory(device.kind, values.size() * sizeof(T));
        memory.store(0, bytes_of(values));
        return memory;
    }
    template <class T>
    static std::vector<T> downloaded(const BenchMemory& memory) {
        std::vector<T> values(memory.size() / sizeof(T));
        memory.load(0, std::as_writable_bytes(std::span(values)));
        return values;
    }
    [[nodiscard]] std::vector<float> item(const std::vector<float>& values, std::size_t count, std::size_t i) const {
        std::vector<float> one;
        for (std::size_t a = 0; a < static_cast<std::size_t>(problem_.dims); ++a) one.push_back(values[a * count + i]);
        return one;
    }

    Problem problem_;
    std::vector<float> query_values_, point_values_;
    std::vector<std::int32_t> point_classes_;
};

DeviceInfo device_of(DeviceKind kind) { return kind == DeviceKind::cpu ? device::describe_cpu() : device::open(0); }

/// Whether a variant has no stages: it needs all of the workspace that it asks for, which has no matrix in it.
bool is_one_search(const Registered<Problem>& entry) {
    return entry.variant.name == "fused_tile" || entry.variant.name.starts_with("screened_") ||
           entry.variant.name.starts_with("few_") || entry.variant.name == "tile_rank" ||
           entry.variant.name == "enumeration_sort";
}

/// Every pipeline, on the CPU and on the host executor; of the CPU's knn_fused_test has those without stages.
class Pipeline : public testing::TestWithParam<const Registered<Problem>*> {};

TEST_P(Pipeline, ChunksOfAnySizeGiveTheSameNeighbours) {
    const Registered<Problem>& entry = *GetParam();
    const DeviceInfo device = device_of(entry.kind);
    int ran = 0;
    for (const auto queries_in : {QueriesIn::device, QueriesIn::host})
        for (const auto& configuration : entry.variant.space.enumerate()) {
            Problem problem{.queries = 103, .points = 37, .dims = 3, .k = 4, .classes = 3};
            problem.queries_in = queries_in;
            if (!entry.variant.supports(problem, configuration, device)) continue;
            const Tables tables(problem);
            const Result expected = tables.expected();
            const std::size_t whole = entry.variant.workspace(problem, configuration, device);
            for (const std::size_t bytes : {whole, std::size_t{20'000}, std::size_t{10'000}, std::size_t{6'000}}) {
                if (is_one_search(entry) && bytes != whole) continue;
                SCOPED_TRACE(configuration.text() + " with " + std::to_string(bytes) + " bytes of workspace");
                const Result actual = tables.run(entry, configuration, device, bytes);
                EXPECT_EQ(actual.classes, expected.classes);
                EXPECT_EQ(actual.indices, expected.indices);
                EXPECT_EQ(actual.distances, expected.distances);
                ++ran;
            }
        }
    EXPECT_GT(ran, 0);
}

TEST_P(Pipeline, AWorkspaceThatIsTooSmallForOneQueryIsOutOfMemory) {
    const Registered<Problem>& entry = *GetParam();
    const DeviceInfo device = device_of(entry.kind);
    Problem problem{.queries = 5, .points = 1000, .dims = 3, .k = 4, .classes = 3};
    problem.queries_in = QueriesIn::host;
    const Tables tables(problem);
    try {
        static_cast<void>(tables.run(entry, entry.variant.space.enumerate()[0], device, 2048));
        FAIL() << "ran";
    } catch (const device::DeviceError& error) {
        EXPECT_TRUE(error.out_of_memory());
        expect_holds(error.what(), {"bytes of workspace, given are "});
        if (!is_one_search(entry)) expect_holds(error.what(), {"1000 points", "distance/", "smallest_k/"});
    }
}

TEST_P(Pipeline, AsksForABoundedWorkspace) {
    const Registered<Problem>& entry = *GetParam();
    const DeviceInfo device = device_of(entry.kind);
    for (const auto& configuration : entry.variant.space.enumerate())
        for (const std::int64_t queries : {1, 1000, 10'000'000})
            for (const std::int64_t points : {1, 1000, 1'000'000}) {
                const Problem problem{.queries = queries, .points = points, .dims = 20, .k = 10};
                const std::size_t bytes = entry.variant.workspace(problem, configuration, device);
                if (!is_one_search(entry)) {
                    EXPECT_GE(bytes, static_cast<std::size_t>(points) * 4);
                }
                // No budget is above 8 GiB; one query against many points may need more than the smallest.
                EXPECT_LE(bytes, std::size_t{8} << 30);
            }
}

std::vector<const Registered<Problem>*> pipelines() {
    std::vector<const Registered<Problem>*> all;
    for (const auto& entry : registry())
        if (!entry.gpu_only && !entry.variant.name.starts_with("cpu_fused")) all.push_back(&entry);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Knn, Pipeline, testing::ValuesIn(pipelines()),
                         [](const auto& pipeline) { return std::string(pipeline.param->variant.name); });

struct Hostile {
    const char* name;
    Draw draw;
};

constexpr float fraction(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

/// What bounds by rounded products have a hard time with, and what they cannot hold for at all.
constexpr std::array kHostile{
    Hostile{"uniform", fraction},
    Hostile{"equal", [](std::uint32_t) { return 2.5F; }},
    Hostile{"two_values", [](std::uint32_t bits) { return static_cast<float>(bits % 2); }},
    Hostile{"near_ties", [](std::uint32_t bits) { return 1 + static_cast<float>(bits % 3) * 0x1p-23F; }},
    Hostile{"far_off", [](std::uint32_t bits) { return 1e6F + fraction(bits); }},
    Hostile{"clusters", [](std::uint32_t bits) { return static_cast<float>(bits % 2) * 1e4F + fraction(bits); }},
    Hostile{"denormal", [](std::uint32_t bits) { return fraction(bits) * 1e-39F; }},
    Hostile{"tiny_squares", [](std::uint32_t bits) { return fraction(bits) * 1e-21F; }},
    Hostile{"huge", [](std::uint32_t bits) { return (fraction(bits) - 0.5F) * 3e38F; }},
    Hostile{"outlier", [](std::uint32_t bits) { return bits % 200 == 0 ? 1e30F : fraction(bits); }},
    Hostile{
        "infinity",
        [](std::uint32_t bits) { return bits % 100 == 0 ? std::numeric_limits<float>::infinity() : fraction(bits); }},
    Hostile{"mostly_nan",
            [](std::uint32_t bits) { return bits % 3 == 0 ? std::nanf("") : static_cast<float>(bits % 5); }}};

class OneSearch : public testing::TestWithParam<Hostile> {};

/// Expects the same bits, NaN aside.
void expect_same(const std::vector<float>& actual, const std::vector<float>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (std::isnan(expected[i]))
            EXPECT_TRUE(std::isnan(actual[i])) << "at " << i;
        else
            EXPECT_EQ(actual[i], expected[i]) << "at " << i;
}

void expect_what_two_stages_find(const Problem& problem, Draw draw) {
    const DeviceInfo device = device::open(0);
    const auto entry_of = [](std::string_view name) {
        return std::ranges::find_if(registry(), [&](const auto& entry) { return entry.variant.name == name; });
    };
    const Tables tables(problem, draw);
    const auto run = [&](const Registered<Problem>& entry, const Configuration& configuration) {
        return tables.run(entry, configuration, device, entry.variant.workspace(problem, configuration, device));
    };
    const auto& stages = *entry_of("two_stage");
    const Result expected = run(stages, stages.variant.space.enumerate()[0]);
    for (const auto* name : {"fused_tile", "screened_groups", "screened_threshold", "tile_rank"})
        for (const auto& configuration : entry_of(name)->variant.space.enumerate()) {
            if (!entry_of(name)->variant.supports(problem, configuration, device)) continue;
            SCOPED_TRACE(std::string(name) + " " + configuration.text() + " with " + problem_key(problem));
            const Result actual = run(*entry_of(name), configuration);
            EXPECT_EQ(actual.indices, expected.indices);
            expect_same(actual.distances, expected.distances);
            EXPECT_EQ(actual.classes, expected.classes);
        }
}

TEST_P(OneSearch, FindsWhatTwoStagesFindToTheBit) {
    for (const auto& [dims, k] : {std::pair<std::int64_t, std::int64_t>{3, 40}, {40, 6}})
        expect_what_two_stages_find({.queries = 40, .points = 300, .dims = dims, .k = k, .classes = 3},
                                    GetParam().draw);
}

// Attributes come in chunks of 64.
TEST(OneSearchOfManyAttributes, FindsWhatTwoStagesFindToTheBit) {
    for (const std::int64_t dims : {100, 140})
        expect_what_two_stages_find({.queries = 10, .points = 300, .dims = dims, .k = 6, .classes = 3}, fraction);
}

// Cosine distances, rows wider than a block keeps, and lists longer than a warp's, each beyond what screened_groups
// takes.
TEST(OneSearchOfMore, FindsWhatTwoStagesFindToTheBit) {
    const Problem few{.queries = 10, .points = 600, .dims = 20, .k = 6, .classes = 3};
    for (const Draw draw :
         {Draw(fraction), Draw([](std::uint32_t bits) { return static_cast<float>(bits % 3) - 1; })}) {
        Problem cosine = few, wide = few, many = few;
        cosine.metric = Metric::cosine, wide.dims = 700, many.k = 200;
        for (const Problem& problem : {cosine, wide, many}) expect_what_two_stages_find(problem, draw);
    }
}

// Some queries of several tiles are not finite: chunks end within a tile.
TEST(OneSearchOfManyQueries, FindsWhatTwoStagesFindToTheBit) {
    const Draw draw = [](std::uint32_t bits) {
        return bits % 5 == 0 ? std::numeric_limits<float>::infinity() : fraction(bits);
    };
    expect_what_two_stages_find({.queries = 700, .points = 150, .dims = 3, .k = 6, .classes = 3}, draw);
    // So few that it leaves them to the direct search.
    expect_what_two_stages_find({.queries = 200, .points = 16, .dims = 1, .k = 3, .classes = 3}, draw);
}

INSTANTIATE_TEST_SUITE_P(Knn, OneSearch, testing::ValuesIn(kHostile),
                         [](const auto& hostile) { return std::string(hostile.param.name); });

TEST(KnnReference, TiesGoToTheSmallestClassAndTheFirstPoint) {
    const std::vector<std::int32_t> classes{2, 1, 2, 1, 0};
    const auto near = reference::nearest({1, 1, 1, 1, 5}, 2);
    EXPECT_EQ(near[0].index, 0);
    EXPECT_EQ(near[1].index, 1);
    EXPECT_EQ(reference::knn_class(near, classes, Vote::majority), 1);
    EXPECT_EQ(reference::knn_class(reference::nearest({1, 2, 1, 2, 9}, 4), classes, Vote::majority), 1);
    EXPECT_EQ(reference::knn_class(reference::nearest({1, 2, 1, 2, 9}, 4), classes, Vote::distance_weighted), 2);
    EXPECT_EQ(reference::knn_class(reference::nearest({1, 1, 1, 0, 9}, 4), classes, Vote::distance_weighted), 1);
    const double nan = std::nan("");
    EXPECT_EQ(reference::knn_class(reference::nearest({nan, 3, nan, nan, nan}, 3), classes, Vote::majority), 1);
    EXPECT_EQ(reference::knn_class(reference::nearest({nan, nan}, 2), classes, Vote::majority), kNoClass);
}

TEST(KnnReference, TargetsAreMeans) {
    const std::vector<float> targets{10, 20, 40};
    EXPECT_EQ(reference::knn_target(reference::nearest({1, 2, 9}, 2), targets, Vote::majority), 15);
    EXPECT_NEAR(reference::knn_target(reference::nearest({1, 3, 9}, 2), targets, Vote::distance_weighted), 12.5, 1e-12);
    EXPECT_EQ(reference::knn_target(reference::nearest({0, 3, 9}, 3), targets, Vote::distance_weighted), 10);
    EXPECT_TRUE(std::isnan(reference::knn_target({}, targets, Vote::majority)));
}

TEST(KnnCheck, IsStrictWhereArithmeticIsExact) {
    const std::vector<std::int32_t> classes{0, 1, 1};
    const PredictionCheck check({1, 1, 1}, 1, Vote::majority, {});
    EXPECT_TRUE(check.accepts_class(0, classes));
    EXPECT_FALSE(check.accepts_class(1, classes)) << "the first of equally near points must be taken";
    const std::vector<float> targets{10, 20, 40};
    EXPECT_TRUE(check.accepts_target(10, targets));
    EXPECT_FALSE(check.accepts_target(20, targets));
}

TEST(KnnCheck, AllowsWhatRoundingCanDoAndNoMore) {
    const std::vector<std::int32_t> classes{0, 1, 2, 3};
    const PredictionCheck check({1, 1 + 1e-9, 2, 3}, 1, Vote::majority, {.relative = 1e-6});
    EXPECT_TRUE(check.accepts_class(0, classes));
    EXPECT_TRUE(check.accepts_class(1, classes));
    EXPECT_FALSE(check.accepts_class(2, classes));
    EXPECT_FALSE(check.accepts_class(kNoClass, classes));
    // Two places for three equally near points: classes 1 and 2 may have two votes and one, class 0 has two.
    const std::vector<std::int32_t> few{0, 0, 1, 1, 2};
    const PredictionCheck crowded({1, 1, 2, 2, 2}, 4, Vote::majority, {.relative = 1e-6});
    EXPECT_TRUE(crowded.accepts_class(0, few));
    EXPECT_FALSE(crowded.accepts_class(1, few)) << "two votes each at best, and then class 0 has the tie";
    EXPECT_FALSE(crowded.accepts_class(2, few));
    const std::vector<float> targets{10, 20, 40, 80};
    EXPECT_TRUE(check.accepts_target(20, targets));
    EXPECT_FALSE(check.accepts_target(40, targets));
    EXPECT_FALSE(check.accepts_target(std::nanf(""), targets));
}

}  // namespace
}  // namespace espalier::bench::knn
