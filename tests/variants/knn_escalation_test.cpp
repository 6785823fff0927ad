// screened_threshold, with cells, on data that half precision is blind to: its neighbours are those of the direct form,
// to the bit and in the oracle's order, and the queries are answered by the stage that is there for them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "registries/knn/registry.hpp"
#include "tests/variants/drawn_tables.hpp"
#include "variants/knn/escalation_counts.hpp"

namespace espalier::knn {
namespace {

/// Who is to answer the queries that the first screening leaves.
enum class Stage { none, cells, cells_at_once, cells_at_once_but_strays, direct, cells_and_lists, any };

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
    {"far_clusters_of_many_queries", in_far_cluster, Stage::cells_at_once, 24, 3, Metric::euclidean, 200},
    {"clusters_that_halves_see",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         return 10 * centre(item.number % 5, attribute) + fraction(bits);
     },
     Stage::cells_at_once, 24, 3, Metric::euclidean, 200},
    {"directions_of_five_clusters",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         return centre(item.number % 5, attribute) + 0.1F * fraction(bits);
     },
     Stage::cells_at_once, 24, 3, Metric::cosine, 200},
    {"clusters_beside_some_in_none",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         if (item.number % 67 == 0) return 200 * fraction(bits) - 100;
         return 10 * centre(item.number % 5, attribute) + fraction(bits);
     },
     Stage::cells_at_once_but_strays, 24, 3, Metric::euclidean, 200},
    {"many_clusters_beside_strays",  // that would widen every cell to all points
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         if (item.number % 36 == 0) return 40 * fraction(bits) - 20;
         return 10 * centre(item.number % 37, attribute) + fraction(bits);
     },
     Stage::cells_at_once_but_strays, 24, 3, Metric::euclidean, 250, 6000},
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

DrawnTables tables_of(const Case& of) {
    Problem problem;
    problem.queries = of.queries, problem.points = of.points, problem.dims = of.dims, problem.k = of.k;
    problem.metric = of.metric;
    return {problem, of.value};
}

class Escalation : public testing::TestWithParam<Case> {};

TEST_P(Escalation, AnswersByTheStageThatIsThereForIt) {
    const DrawnTables tables = tables_of(GetParam());
    const Found expected = tables.expected();
    const auto entry =
        std::ranges::find_if(registry(), [](const auto& each) { return each.variant.name == "screened_threshold"; });
    for (const Configuration& configuration : entry->variant.space.enumerate()) {
        SCOPED_TRACE(configuration.text());
        const Found found = tables.found("screened_threshold", configuration);
        EXPECT_EQ(found.distances, expected.distances);
        EXPECT_EQ(found.indices, expected.indices);
        const auto queries = static_cast<std::int32_t>(tables.problem.queries);
        const EscalationCounts counts{found.counts[0], found.counts[1], found.counts[2], found.counts[3]};
        EXPECT_LE(counts.by_cell + counts.listed + counts.direct, queries);
        switch (GetParam().stage) {
            case Stage::none: EXPECT_EQ(counts.by_cell + counts.listed + counts.direct, 0); break;
            case Stage::cells: EXPECT_EQ(counts.by_cell, queries); break;
            case Stage::cells_at_once:
                EXPECT_EQ(counts.by_cell, queries);
                EXPECT_EQ(counts.at_once, queries);
                break;
            case Stage::cells_at_once_but_strays:
                EXPECT_EQ(counts.at_once, queries);
                EXPECT_GE(counts.by_cell, queries - queries / 20);
                break;
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
