// screened_threshold, with cells, on data that half precision is blind to: its neighbours are those of the direct form,
// to the bit and in the oracle's order, and the queries are answered by the stage that is there for them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "harness/base/bench_memory.hpp"
#include "kernels/device/runtime.hpp"
#include "registries/knn/registry.hpp"
#include "variants/knn/escalation_counts.hpp"

namespace espalier::knn {
namespace {

using bench::BenchMemory;

struct Item {
    std::int64_t number;
    bool is_point;
};

/// A value of a table, from random bits.
using Value = float (*)(const Item& item, std::int64_t attribute, std::uint32_t bits);

float fraction(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

/// The same for each attribute of a cluster, queries and points: -1 to 1.
float centre(std::int64_t cluster, std::int64_t attribute) {
    return 2 * fraction(static_cast<std::uint32_t>(cluster * 7919 + attribute * 104729 + 1) * 2654435761U) - 1;
}

float in_far_cluster(const Item& item, std::int64_t attribute, std::uint32_t bits) {
    return 10'000 + 1000 * centre(item.number % 4, attribute) + fraction(bits);
}

/// Who is to answer the queries that the first screening leaves.
enum class Stage { none, cells, direct, cells_and_lists, any };

struct Case {
    const char* name;
    Value value;
    Stage stage;
    std::int64_t dims = 24, k = 3;
    Metric metric = Metric::euclidean;
    std::int64_t queries = 60, points = 1500;
};

constexpr float kUlp = 0x1p-23F;

const Case kCases[] = {
    {"uniform", [](const Item&, std::int64_t, std::uint32_t bits) { return fraction(bits); }, Stage::none},
    {"far_clusters", in_far_cluster, Stage::cells},
    {"far_clusters_several_chunks", in_far_cluster, Stage::cells, 8, 2, Metric::euclidean, 600, 1200},
    {"far_clusters_of_wide_rows", in_far_cluster, Stage::cells, 200},
    {"far_clusters_of_odd_rows", in_far_cluster, Stage::cells, 67, 5},
    {"far_clusters_long_lists", in_far_cluster, Stage::cells, 24, 40, Metric::euclidean, 20, 3000},
    {"one_ulp", [](const Item&, std::int64_t, std::uint32_t bits) { return 1 + static_cast<float>(bits % 2) * kUlp; },
     Stage::none},
    {"one_ulp_at_four_places",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         return 100 + std::round(40 * centre(item.number % 4, attribute)) +
                static_cast<float>(bits % 3 == 0) * 64 * kUlp;
     },
     Stage::cells},
    {"huge_offset", [](const Item&, std::int64_t, std::uint32_t bits) { return 1e6F + 0.01F * fraction(bits); },
     Stage::direct},
    {"huge_offset_beside_small_numbers",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         return attribute == 0 ? 1e6F * static_cast<float>(item.number % 3) : 0.01F * fraction(bits);
     },
     Stage::cells},
    {"mixed_scales",  // the first tenth of the points and a quarter of the queries are wide, the others narrow
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         const bool is_wide = item.is_point ? item.number < 150 : item.number % 4 == 0;
         if (is_wide) return 2000 * fraction(bits) - 1000;
         return 300 * centre(item.number % 3, attribute) + 0.001F * fraction(bits);
     },
     Stage::cells_and_lists},
    {"scales_by_cluster",  // a hundred times narrower each
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         const auto cluster = item.number % 3;
         return 100 * centre(cluster, attribute) + fraction(bits) * (cluster == 0 ? 1 : cluster == 1 ? 1e-2F : 1e-4F);
     },
     Stage::cells},
    {"time_stamps",
     [](const Item&, std::int64_t attribute, std::uint32_t bits) {
         return attribute == 0 ? 1.7e9F + 3e7F * fraction(bits) : 10 * fraction(bits);
     },
     Stage::any},
    {"duplicates_beyond_room",
     [](const Item& item, std::int64_t attribute, std::uint32_t) { return 1000 * centre(item.number % 2, attribute); },
     Stage::direct},
    {"duplicates_a_few_each",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         const auto place = item.is_point ? item.number % 100 : static_cast<std::int64_t>(bits % 50);
         return 10'000 * centre(item.number % 4, attribute) + centre(100 + place, attribute);
     },
     Stage::cells},
    {"corners_that_cells_are_blind_to",  // of four cubes each, points at which differ in the last bits
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         const auto corner = item.number / 4 % 8;
         const float side = attribute < 3 && (corner >> attribute) % 2 == 1 ? 0.25F : 0.0F;
         return 0x1p20F * (std::round(16 * centre(item.number % 4, attribute)) + side +
                           static_cast<float>(bits >> 8 & 3) * 0x1p-19F);
     },
     Stage::cells},
    {"not_finite_beside_far_clusters",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         if (item.is_point && item.number % 7 == 0 && attribute == 2) return std::numeric_limits<float>::infinity();
         if (item.is_point && item.number % 11 == 0 && attribute == 3) return std::nanf("");
         return in_far_cluster(item, attribute, bits);
     },
     Stage::cells},
    {"narrow_directions",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         return centre(item.number % 4, attribute) + 0.05F * fraction(bits);
     },
     Stage::cells, 24, 3, Metric::cosine},
    {"zeros_beside_narrow_directions",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         if (item.number % 9 == 0) return 0.0F;
         return 1 + 0.002F * fraction(bits) + static_cast<float>(attribute % 2);
     },
     Stage::direct, 24, 3, Metric::cosine},
};

void PrintTo(const Case& of, std::ostream* to) { *to << of.name; }

struct Found {
    std::vector<float> distances;
    std::vector<std::int32_t> indices;
    EscalationCounts counts{};
};

/// A case's tables, attribute-major.
struct Tables {
    Problem problem;
    std::vector<float> queries, points;

    explicit Tables(const Case& of) {
        problem.queries = of.queries, problem.points = of.points, problem.dims = of.dims, problem.k = of.k;
        problem.metric = of.metric;
        std::mt19937 random(11);
        const auto values = [&](std::int64_t count, bool is_point) {
            std::vector<float> all;
            for (std::int64_t a = 0; a < problem.dims; ++a)
                for (std::int64_t i = 0; i < count; ++i)
                    all.push_back(of.value({i, is_point}, a, static_cast<std::uint32_t>(random())));
            return all;
        };
        queries = values(problem.queries, false), points = values(problem.points, true);
    }

    [[nodiscard]] float direct(std::int64_t q, std::int64_t p) const {
        float sum = 0, query_norm = 0, point_norm = 0;
        for (std::int64_t a = 0; a < problem.dims; ++a) {
            const float x = queries[static_cast<std::size_t>(a * problem.queries + q)];
            const float y = points[static_cast<std::size_t>(a * problem.points + p)];
            if (problem.metric == Metric::cosine)
                sum += x * y, query_norm += x * x, point_norm += y * y;
            else
                sum += (x - y) * (x - y);
        }
        if (problem.metric != Metric::cosine) return std::sqrt(sum);
        const float norm = std::sqrt(query_norm) * std::sqrt(point_norm);
        return std::max(norm == 0 ? 1.0F : 1.0F - sum / norm, 0.0F);
    }

    [[nodiscard]] Found expected() const {
        const auto k = static_cast<std::size_t>(problem.k), rows = static_cast<std::size_t>(problem.queries);
        Found found{std::vector<float>(k * rows), std::vector<std::int32_t>(k * rows)};
        for (std::size_t q = 0; q < rows; ++q) {
            std::vector<std::pair<float, std::int32_t>> all;
            for (std::int64_t p = 0; p < problem.points; ++p)
                if (const float d = direct(static_cast<std::int64_t>(q), p); d == d)
                    all.emplace_back(d, static_cast<std::int32_t>(p));
            std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(k));
            for (std::size_t j = 0; j < k; ++j)
                found.distances[j * rows + q] = all[j].first, found.indices[j * rows + q] = all[j].second;
        }
        return found;
    }

    template <class T>
    static BenchMemory uploaded(const DeviceInfo& device, const std::vector<T>& values) {
        BenchMemory memory(device.kind, values.size() * sizeof(T));
        memory.store(0, std::as_bytes(std::span(values)));
        return memory;
    }

    [[nodiscard]] Found found(const Configuration& configuration) const {
        const DeviceInfo device = device::open(0);
        const auto entry = std::ranges::find_if(
            registry(), [](const auto& each) { return each.variant.name == "screened_threshold"; });
        EXPECT_TRUE(static_cast<bool>(entry->variant.supports(problem, configuration, device)));
        const auto lists = static_cast<std::size_t>(problem.queries * problem.k) * 4;
        const auto bytes = entry->variant.workspace(problem, configuration, device);
        const std::vector<std::int32_t> classes_of_points(static_cast<std::size_t>(problem.points));
        BenchMemory query_values = uploaded(device, queries), point_values = uploaded(device, points);
        BenchMemory point_classes = uploaded(device, classes_of_points), workspace(device.kind, bytes);
        BenchMemory classes(device.kind, static_cast<std::size_t>(problem.queries) * 4);
        BenchMemory distances(device.kind, lists), indices(device.kind, lists);
        workspace.fill(0, bytes, 0xFF);
        Context context{device, nullptr, {workspace.data(), bytes}};
        entry->variant.run(context, problem,
                           {.query_values = reinterpret_cast<const float*>(query_values.data()),
                            .point_values = reinterpret_cast<const float*>(point_values.data()),
                            .point_classes = reinterpret_cast<const std::int32_t*>(point_classes.data()),
                            .classes = reinterpret_cast<std::int32_t*>(classes.data()),
                            .neighbour_distances = reinterpret_cast<float*>(distances.data()),
                            .neighbour_indices = reinterpret_cast<std::int32_t*>(indices.data())},
                           configuration);
        Found found{std::vector<float>(lists / 4), std::vector<std::int32_t>(lists / 4)};
        distances.load(0, std::as_writable_bytes(std::span(found.distances)));
        indices.load(0, std::as_writable_bytes(std::span(found.indices)));
        workspace.load(0, std::as_writable_bytes(std::span(&found.counts, 1)));
        return found;
    }
};

class Escalation : public testing::TestWithParam<Case> {};

TEST_P(Escalation, AnswersByTheStageThatIsThereForIt) {
    const Tables tables(GetParam());
    const Found expected = tables.expected();
    const auto entry =
        std::ranges::find_if(registry(), [](const auto& each) { return each.variant.name == "screened_threshold"; });
    for (const Configuration& configuration : entry->variant.space.enumerate()) {
        SCOPED_TRACE(configuration.text());
        const Found found = tables.found(configuration);
        EXPECT_EQ(found.distances, expected.distances);
        EXPECT_EQ(found.indices, expected.indices);
        const auto queries = static_cast<std::int32_t>(tables.problem.queries);
        const EscalationCounts counts = found.counts;
        EXPECT_LE(counts.by_cell + counts.listed + counts.direct, queries);
        switch (GetParam().stage) {
            case Stage::none: EXPECT_EQ(counts.by_cell + counts.listed + counts.direct, 0); break;
            case Stage::cells: EXPECT_EQ(counts.by_cell, queries); break;
            case Stage::direct: EXPECT_EQ(counts.direct, queries); break;
            case Stage::cells_and_lists:
                EXPECT_GT(counts.by_cell, 0);
                EXPECT_GT(counts.listed, 0);
                EXPECT_EQ(counts.by_cell + counts.listed, queries);
                break;
            case Stage::any: break;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Knn, Escalation, testing::ValuesIn(kCases),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace espalier::knn
