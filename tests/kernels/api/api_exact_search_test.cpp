// The search in double precision: which tables it need not scan, metrics that only it has, weights and radii. Answers
// are compared with a plain scan, whose distances are computed here by their definitions.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "tests/kernels/api/exact_scan.hpp"

namespace espalier {
namespace {

/// A table and queries of which at most a share needs a look at all points.
struct Case {
    const char* name;
    int dims;
    double share;
    std::function<double(std::mt19937&)> cell;
    std::function<void(Items64& points, Items64& queries)> spoil;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class FewScans : public testing::TestWithParam<Case> {};

TEST_P(FewScans, AndTheAnswersOfAScan) {
    constexpr int kPoints = 2000, kQueries = 50;
    Items64 points = drawn(1, kPoints, GetParam().dims, GetParam().cell);
    Items64 queries = drawn(2, kQueries, GetParam().dims, GetParam().cell);
    GetParam().spoil(points, queries);
    for (const std::int64_t k : {1, 5}) {
        const ExactKnnClassifier model = fitted(points, {.k = k});
        const std::int64_t before = exact::scanned_queries.load();
        expect_scanned(model, k, points, queries, euclidean);
        EXPECT_LE(static_cast<double>(scans_since(before)), GetParam().share * kQueries);
    }
}

void leave(Items64&, Items64&) {}

void repeat_rows(Items64& points, Items64& queries) {
    for (std::size_t i = 50; i < points.rows.size(); ++i) points.rows[i] = points.rows[i * 7919 % 50];
    for (std::size_t i = 0; i < 20; ++i) queries.rows[i] = points.rows[i];
}

std::function<void(Items64&, Items64&)> one_cell(double value) {
    return [value](Items64& points, Items64&) { points.rows[77][3] = value; };
}

/// Most coordinates are near 0, and a whole column is far away.
void offset_column(Items64& points, Items64& queries) {
    for (Items64* items : {&points, &queries})
        for (Row& row : items->rows) row[2] = 1e12 + std::floor(row[2] * 1000);
}

double bit(std::mt19937& random) { return static_cast<double>(random() % 2); }
double small_whole(std::mt19937& random) { return static_cast<double>(random() % 10); }
double quarter(std::mt19937& random) { return 1e6 + 0.25 * static_cast<double>(random() % 8); }

INSTANTIATE_TEST_SUITE_P(Tables, FewScans,
                         testing::Values(Case{"DistinctRows", 20, 0, uniform, leave},
                                         Case{"RowsFortyTimes", 20, 0, uniform, repeat_rows},
                                         Case{"OneCellOf1e30", 20, 0, uniform, one_cell(1e30)},
                                         Case{"OneCellOfFloatMin", 20, 0, uniform, one_cell(-3.4e38)},
                                         Case{"OneCellOf1e200", 20, 0, uniform, one_cell(1e200)},
                                         Case{"OneInfiniteCell", 20, 0, uniform, one_cell(HUGE_VAL)},
                                         Case{"Minus9999InHundredth", 20, 0.1, uniform, no_data(-9999)},
                                         Case{"FloatMinInHundredth", 20, 0.1, uniform, no_data(-3.4e38)},
                                         Case{"Int32MinInHundredth", 20, 0.1, uniform, no_data(-2147483648.0)},
                                         Case{"OffsetColumn", 20, 0, uniform, offset_column},
                                         Case{"Bits", 20, 0, bit, leave}, Case{"BitsThatRecur", 8, 0, bit, leave},
                                         Case{"WholeNumbers", 4, 0, small_whole, leave},
                                         Case{"QuartersFarFromZero", 6, 0, quarter, leave}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(ExactSearch, NearTiesGetMoreCandidates) {
    // 400 points at 1 + i 1e-12, in an order of their own, among others far away: neither equal nor told by floats.
    Items64 points = drawn(3, 2000, 2, [](std::mt19937& random) { return 100 + 50 * uniform(random); });
    for (int i = 0; i < 400; ++i) points.rows[static_cast<std::size_t>(i * 5)] = {1 + (i * 263 % 400) * 1e-12, 0};
    const Items64 queries{{{0, 0}, {0, 1e-3}}};
    const ExactKnnClassifier model = fitted(points, {.k = 7});
    const std::int64_t before = exact::scanned_queries.load();
    expect_scanned(model, 7, points, queries, euclidean);
    EXPECT_EQ(scans_since(before), 0);
}

TEST(ExactSearch, HugeQueriesAreScannedRightly) {
    const Items64 points = drawn(4, 1500, 5, uniform);
    Items64 queries = drawn(5, 6, 5, uniform);
    queries.rows[0][1] = 1e30;
    queries.rows[1] = Row(5, 1e7);
    queries.rows[2][4] = -1e5;
    queries.rows[3] = Row(5, -1e160);
    expect_scanned(fitted(points, {.k = 4}), 4, points, queries, euclidean);
}

TEST(ExactSearch, NominalTiesNeedNoScan) {
    const Items64 points =
        drawn(6, 2000, 10, [](std::mt19937& random) { return 1e12 + static_cast<double>(random() % 3); });
    const Items64 queries =
        drawn(7, 60, 10, [](std::mt19937& random) { return 1e12 + static_cast<double>(random() % 4); });
    const std::vector types(10, AttributeType::nominal);
    const Formula unequal = [](const Row& x, const Row& y) {
        double sum = 0;
        for (std::size_t a = 0; a < x.size(); ++a) sum += x[a] == y[a] ? 0 : 1;
        return sum;
    };
    const std::int64_t before = exact::scanned_queries.load();
    expect_scanned(fitted(points, {.k = 5, .distance = {.metric = Metric::mixed_euclidean, .types = types}}), 5, points,
                   queries, [&](const Row& x, const Row& y) { return std::sqrt(unequal(x, y)); });
    expect_scanned(fitted(points, {.k = 5}, {.metric = ExactMetric::hamming}), 5, points, queries,
                   [&](const Row& x, const Row& y) { return unequal(x, y) / 10; });
    EXPECT_EQ(scans_since(before), 0);
}

TEST(ExactSearch, EveryPipelineKeepsTheOrderOfTies) {
    const Items64 points = drawn(8, 600, 6, bit), queries = drawn(9, 40, 6, small_whole);
    Items64 apart = points;  // no two rows are equal
    for (std::size_t i = 0; i < apart.rows.size(); ++i) apart.rows[i].push_back(static_cast<double>(i % 60));
    Items64 asked = queries;
    for (Row& row : asked.rows) row.push_back(30);
    const ExactKnnClassifier model = fitted(apart, {.k = 5});
    const std::vector<Explanation::RankedChoice> ranking = model.explain_predict(40).value().ranking;
    for (const Explanation::RankedChoice& one : ranking)
        if (one.infeasible.empty()) expect_scanned(model, 5, apart, asked, euclidean, {.variant = one.variant});
    expect_scanned(model, 5, apart, asked, euclidean, {.variant = "cpu_two_stage"});
}

TEST(ExactSearch, KGoesBeyondTheDevices) {
    const Items64 points = drawn(10, 1600, 3, uniform), queries = drawn(11, 3, 3, uniform);
    for (const std::int64_t k : {1100, 1600, 2000})
        expect_scanned(fitted(points, {.k = k}), k, points, queries, euclidean);
    Items64 equal = points;  // 32 rows, 50 times each
    for (std::size_t i = 32; i < equal.rows.size(); ++i) equal.rows[i] = equal.rows[i % 32];
    expect_scanned(fitted(equal, {.k = 1200}), 1200, equal, queries, euclidean);
}

double power_sum(const Row& x, const Row& y, double p) {
    double sum = 0, present = 0;
    for (std::size_t a = 0; a < x.size(); ++a) {
        if (std::isnan(x[a]) || std::isnan(y[a])) continue;
        sum += std::pow(std::fabs(x[a] - y[a]), p);
        ++present;
    }
    if (present == 0) return kNone;
    return std::pow(sum * static_cast<double>(x.size()) / present, 1 / p);
}

TEST(ExactMetrics, MinkowskiIsTheRootOfPowers) {
    const Items64 points = drawn(12, 300, 11, uniform), queries = drawn(13, 20, 11, uniform);
    for (const double p : {1.0, 1.5, 2.0, 3.0, 4.0, 7.25, 20.0})
        expect_scanned(fitted(points, {.k = 5}, {.metric = ExactMetric::minkowski, .p = p}), 5, points, queries,
                       [p](const Row& x, const Row& y) { return power_sum(x, y, p); });
    expect_scanned(fitted(points, {.k = 5}, {.metric = ExactMetric::minkowski, .p = HUGE_VAL}), 5, points, queries,
                   [](const Row& x, const Row& y) {
                       double most = 0;
                       for (std::size_t a = 0; a < x.size(); ++a) most = std::max(most, std::fabs(x[a] - y[a]));
                       return most;
                   });
    // |1 - 4|^3 + |2 - 6|^3 = 91, by hand.
    const auto one =
        fitted({{{1, 2}}}, {.k = 1}, {.metric = ExactMetric::minkowski, .p = 3}).kneighbors(Items64{{{4, 6}}}.items());
    EXPECT_NEAR(one.value().distances[0], 4.497941445275415, 1e-15);
    Items64 gaps = points;
    for (std::size_t i = 0; i < gaps.rows.size(); ++i) gaps.rows[i][i % 11] = kNone;
    gaps.rows[5] = Row(11, kNone);
    expect_scanned(
        fitted(gaps, {.k = 300, .distance = {.missing = Missing::allowed}}, {.metric = ExactMetric::minkowski, .p = 3}),
        300, gaps, queries, [](const Row& x, const Row& y) { return power_sum(x, y, 3); });
}

/// The angle between two places by their vectors.
double angle(double latitude, double longitude, double other_latitude, double other_longitude) {
    const auto vector = [](double la, double lo) {
        return std::array{std::cos(la) * std::cos(lo), std::cos(la) * std::sin(lo), std::sin(la)};
    };
    const auto x = vector(latitude, longitude), y = vector(other_latitude, other_longitude);
    double square = 0, sum_square = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        square += (x[i] - y[i]) * (x[i] - y[i]);
        sum_square += (x[i] + y[i]) * (x[i] + y[i]);
    }
    return 2 * std::atan2(std::sqrt(square), std::sqrt(sum_square));
}

TEST(ExactMetrics, HaversineIsTheAngleAtTheCentre) {
    constexpr double kRadians = std::numbers::pi / 180;
    Items64 points = drawn(14, 200, 1, [](std::mt19937& random) { return 180 * uniform(random) - 90; });
    std::mt19937 random(15);
    for (Row& row : points.rows) row.push_back(360 * uniform(random) - 180);
    const Items64 queries{{{89.9, 10}, {0, 179.999}, {-33.9, 18.4}, {48.8566, 2.3522}}};
    const Formula degrees = [](const Row& x, const Row& y) {
        return angle(x[0] * kRadians, x[1] * kRadians, y[0] * kRadians, y[1] * kRadians);
    };
    const ExactDistance haversine{.metric = ExactMetric::haversine, .degrees = true};
    expect_scanned(fitted(points, {.k = 6}, haversine), 6, points, queries, degrees);
    // Ezeiza and Charles de Gaulle, the example of scikit-learn's haversine_distances: 11099.54 km.
    const auto airports = fitted({{{49.0083899664, 2.53844117956}}}, {.k = 1}, haversine)
                              .kneighbors(Items64{{{-34.83333, -58.5166646}}}.items());
    EXPECT_NEAR(airports.value().distances[0] * 6371, 11099.54035582, 1e-5);
    Items64 radians = points, asked = queries;
    for (Items64* items : {&radians, &asked})
        for (Row& row : items->rows)
            for (double& cell : row) cell *= kRadians;
    expect_scanned(fitted(radians, {.k = 6}, {.metric = ExactMetric::haversine}), 6, radians, asked,
                   [](const Row& x, const Row& y) { return angle(x[0], x[1], y[0], y[1]); });
}

TEST(ExactMetrics, HammingCountsWhatDiffers) {
    const Items64 points{{{1, 2, 3, 4}, {1, 9, 9, 4}, {kNone, 2, 3, 9}, {kNone, kNone, kNone, kNone}}};
    const auto distances = [&](const ExactDistance& distance) {
        return fitted(points, {.k = 4, .distance = {.missing = Missing::allowed}}, distance)
            .kneighbors(Items64{{{1, 2, 3, 4}}}.items())
            .value();
    };
    const auto plain = distances({.metric = ExactMetric::hamming});
    EXPECT_EQ(plain.indices, (std::vector<std::int32_t>{0, 2, 1, 3}));
    EXPECT_EQ(plain.distances[1], 1.0 / 3);
    EXPECT_EQ(plain.distances[2], 0.5);
    EXPECT_TRUE(std::isnan(plain.distances[3]));
    const std::vector<double> weights{1, 1, 2, 4};
    const auto weighted = distances({.metric = ExactMetric::hamming, .weights = weights});
    EXPECT_EQ(weighted.indices, (std::vector<std::int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(weighted.distances[1], 3.0 / 8);
    EXPECT_EQ(weighted.distances[2], 4.0 / 7);
}

TEST(ExactWeights, MultiplyWhatIsCompared) {
    Items64 points = drawn(16, 800, 4, uniform), queries = drawn(17, 30, 4, uniform);
    for (Row& row : points.rows) row[3] = row[3] < 0.1 ? 1e30 : kNone;  // of weight 0: is not looked at
    const std::vector<double> weights{2, 0.5, 3, 0};
    expect_scanned(fitted(points, {.k = 5}, {.weights = weights}), 5, points, queries, [](const Row& x, const Row& y) {
        return std::sqrt(4 * std::pow(x[0] - y[0], 2) + 0.25 * std::pow(x[1] - y[1], 2) + 9 * std::pow(x[2] - y[2], 2));
    });
    expect_scanned(fitted(points, {.k = 5, .distance = {.metric = Metric::manhattan}}, {.weights = weights}), 5, points,
                   queries, [](const Row& x, const Row& y) {
                       return 2 * std::fabs(x[0] - y[0]) + 0.5 * std::fabs(x[1] - y[1]) + 3 * std::fabs(x[2] - y[2]);
                   });
    for (Items64* items : {&points, &queries})
        for (Row& row : items->rows) row[1] = std::floor(4 * row[1]), row[2] = std::floor(3 * row[2]);
    using T = AttributeType;
    const std::vector types{T::numeric, T::nominal, T::nominal, T::numeric};
    expect_scanned(
        fitted(points, {.k = 5, .distance = {.metric = Metric::mixed_euclidean, .types = types}}, {.weights = weights}),
        5, points, queries, [](const Row& x, const Row& y) {
            return std::sqrt(4 * std::pow(x[0] - y[0], 2) + (x[1] == y[1] ? 0 : 0.25) + (x[2] == y[2] ? 0 : 9));
        });
}

TEST(ExactRadius, HoldsAllThatAreWithin) {
    const Items64 points = drawn(18, 1500, 3, uniform), queries = drawn(19, 25, 3, uniform);
    const ExactKnnClassifier model = fitted(points, {.k = 3});
    for (const double radius : {0.01, 0.1, 0.4, 10.0, HUGE_VAL}) {
        const auto found = model.radius_neighbours(queries.items(), radius);
        ASSERT_TRUE(found) << found.error().message;
        for (std::size_t q = 0; q < queries.rows.size(); ++q) {
            auto expected = scanned(points, queries.rows[q], euclidean);
            std::erase_if(expected, [&](const Listed& one) { return !(one.distance <= radius); });
            const auto from = static_cast<std::size_t>(found.value().offsets[q]);
            ASSERT_EQ(static_cast<std::size_t>(found.value().offsets[q + 1]) - from, expected.size());
            for (std::size_t j = 0; j < expected.size(); ++j)
                ASSERT_EQ(found.value().indices[from + j], expected[j].index);
        }
    }
}

TEST(ExactRadius, IncludesItsEndAndPredicts) {
    const Items64 points{{{0}, {3}, {3}, {4}, {kNone}}};
    const NeighbourRule rule{.k = 1, .distance = {.missing = Missing::allowed}};
    const ExactKnnClassifier model = fitted(points, rule, {}, {2, 0, 0, 1, 1});
    const Items64 queries{{{1}, {3.5}, {100}, {kNone}}};
    const auto found = model.radius_neighbours(queries.items(), 2).value();
    EXPECT_EQ(found.offsets, (std::vector<std::int64_t>{0, 3, 6, 6, 6}));
    EXPECT_EQ(found.indices, (std::vector<std::int32_t>{0, 1, 2, 1, 2, 3}));
    EXPECT_EQ(found.distances, (std::vector<double>{1, 2, 2, 0.5, 0.5, 0.5}));
    EXPECT_EQ(model.predict_within(queries.items(), 2).value(), (std::vector<std::int32_t>{0, 0, kNoClass, kNoClass}));
    const std::vector<double> targets{10, 20, 40, 60, 0};
    const auto regressor = ExactKnnRegressor::fit(Device::cpu(), points.items(), targets, rule).value();
    const auto means = regressor.predict_within(queries.items(), 2).value();
    EXPECT_EQ(means[0], 70.0 / 3);
    EXPECT_EQ(means[1], 40);
    EXPECT_TRUE(std::isnan(means[2]) && std::isnan(means[3]));
    expect_refused(model.radius_neighbours(queries.items(), -1), "radius is -1");
    expect_refused(model.radius_neighbours(queries.items(), kNone), "radius");
}

TEST(ExactMetrics, BadDistancesAreNamed) {
    const Items64 points{{{1, 2, 3}, {4, 5, 6}}}, places{{{139.7, 35.7}, {10, 20}}};
    const std::vector<std::int32_t> classes{0, 1};
    const auto fit = [&](const Items64& items, const ExactDistance& distance) {
        return ExactKnnClassifier::fit(Device::cpu(), items.items(), classes, {.k = 1}, distance);
    };
    const std::vector<double> negative{1, -1, 1}, few{1, 1}, unknown{1, kNone, 1};
    expect_refused(fit(points, {.metric = ExactMetric::minkowski, .p = 0.5}), "p is 0.5");
    expect_refused(fit(points, {.metric = ExactMetric::minkowski, .p = kNone}), "p is");
    expect_refused(fit(points, {.metric = ExactMetric::haversine}), "latitude and longitude");
    expect_refused(fit(places, {.metric = ExactMetric::haversine, .degrees = true}), "139.7");
    expect_refused(fit(places, {.metric = ExactMetric::haversine}), "radians");
    expect_refused(fit(points, {.weights = negative}), "attribute 1");
    expect_refused(fit(points, {.weights = unknown}), "attribute 1");
    expect_refused(fit(points, {.weights = few}), "2 weights");
    const auto model = fitted(points, {.k = 1}, {.metric = ExactMetric::minkowski, .p = 3});
    const auto refused = model.kneighbors(points.items(), {.variant = "cpu_two_stage"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_FALSE(model.explain_predict(2));
}

}  // namespace
}  // namespace espalier
