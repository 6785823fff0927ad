// screened_groups on data that spoil a common scale: its neighbours are those of the direct form, to the bit and in the
// oracle's order, and few queries are left to the direct search.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

#include "registries/knn/registry.hpp"
#include "tests/variants/drawn_tables.hpp"

namespace espalier::knn {
namespace {

struct Case {
    const char* name;
    Value value;
    std::int64_t dims, k = 3;
    std::int32_t most_direct = 0;
    std::int64_t queries = 60, points = 6000;
};

float with_outlier(const Item& item, std::int64_t attribute, std::uint32_t bits) {
    return item.is_point && item.number == 1000 && attribute == 2 ? 1e15F : fraction(bits);
}
/// An attribute that is millions of times as wide as the others.
template <int which>
float with_time(const Item&, std::int64_t attribute, std::uint32_t bits) {
    return attribute == which ? 1.7e9F + 3e7F * fraction(bits) : 10 * fraction(bits);
}
/// What one half of a number cannot tell apart.
float in_narrow_cluster(const Item& item, std::int64_t attribute, std::uint32_t bits) {
    return centre(item.number % 8, attribute) + 0.1F * fraction(bits);
}
/// Numbers over many magnitudes, as incomes, areas and counts are.
float heavy_tailed(const Item&, std::int64_t, std::uint32_t bits) {
    const float share = fraction(bits) + 0x1p-25F;
    return 1 / (share * share);
}

const Case kCases[] = {
    {"uniform", [](const Item&, std::int64_t, std::uint32_t bits) { return fraction(bits); }, 24},
    {"outlier_of_few_attributes", with_outlier, 3},
    {"outlier", with_outlier, 24},
    {"outlier_of_wide_rows", with_outlier, 100, 40},
    {"time", with_time<0>, 14},
    {"time_last", with_time<99>, 100},
    {"time_beside_a_full_step", with_time<3>, 17},
    {"two_times",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         return attribute == 4 ? with_time<4>(item, attribute, bits) : with_time<0>(item, attribute, bits);
     },
     20},
    {"clusters_of_few_attributes", in_narrow_cluster, 4},
    {"clusters_of_five_attributes", in_narrow_cluster, 5, 10},
    {"heavy_tails", heavy_tailed, 10, 3, 2},
    {"not_finite",
     [](const Item& item, std::int64_t attribute, std::uint32_t bits) {
         if (item.is_point && item.number % 700 == 0 && attribute == 2) return std::numeric_limits<float>::infinity();
         if (item.is_point && item.number % 1100 == 0 && attribute == 1) return std::nanf("");
         return fraction(bits);
     },
     24},
    {"queries_far_out",
     [](const Item& item, std::int64_t, std::uint32_t bits) {
         return !item.is_point && item.number < 5 ? 1e9F * fraction(bits) : fraction(bits);
     },
     24, 3, 5},
};

void PrintTo(const Case& of, std::ostream* to) { *to << of.name; }

class Groups : public testing::TestWithParam<Case> {};

TEST_P(Groups, CertifyTheirQueries) {
    const Case& of = GetParam();
    Problem problem;
    problem.queries = of.queries, problem.points = of.points, problem.dims = of.dims, problem.k = of.k;
    const DrawnTables tables(problem, of.value);
    const Found expected = tables.expected();
    const auto entry =
        std::ranges::find_if(registry(), [](const auto& each) { return each.variant.name == "screened_groups"; });
    for (const Configuration& configuration : entry->variant.space.enumerate()) {
        SCOPED_TRACE(configuration.text());
        const Found found = tables.found("screened_groups", configuration);
        EXPECT_EQ(found.distances, expected.distances);
        EXPECT_EQ(found.indices, expected.indices);
        // Of large groups a few thousand points are few.
        if (configuration["group"] == 8) {
            EXPECT_LE(found.counts[0], of.most_direct);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Knn, Groups, testing::ValuesIn(kCases),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace espalier::knn
