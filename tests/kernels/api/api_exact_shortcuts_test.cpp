// What the search in double precision knows to look at less: coordinates far beyond all others, and codes as bytes.
// Answers are compared with a plain scan, whose distances are computed here by their definitions.

#include "tests/kernels/api/exact_scan.hpp"

namespace espalier {
namespace {

/// The metrics by their definitions, with missing cells; nominal attributes are `types`' business.
double by_definition(Metric metric, const std::vector<AttributeType>& types, const Row& x, const Row& y) {
    double sum = 0, most = 0, present = 0;
    for (std::size_t a = 0; a < x.size(); ++a) {
        if (std::isnan(x[a]) || std::isnan(y[a])) continue;
        ++present;
        const bool nominal = metric == Metric::mixed_euclidean && types[a] == AttributeType::nominal;
        const double difference = nominal ? (x[a] == y[a] ? 0 : 1) : std::fabs(x[a] - y[a]);
        sum += metric == Metric::manhattan ? difference : difference * difference;
        most = std::max(most, difference);
    }
    if (present == 0) return kNone;
    if (metric == Metric::chebyshev) return most;
    if (present < static_cast<double>(x.size())) sum *= static_cast<double>(x.size()) / present;
    return metric == Metric::manhattan ? sum : std::sqrt(sum);
}

/// Tables in which a share of the cells has one of a few values far beyond the others, or is missing.
struct FarCells {
    const char* name;
    std::vector<double> values;
    int in;  ///< one cell in so many
};

void PrintTo(const FarCells& one, std::ostream* out) { *out << one.name; }

class FarQueries : public testing::TestWithParam<FarCells> {};

TEST_P(FarQueries, HaveTheNeighboursOfAScan) {
    Items64 points = drawn(31, 700, 7, uniform), queries = drawn(32, 60, 7, uniform);
    std::mt19937 random(33);
    for (Items64* items : {&points, &queries})
        for (Row& row : items->rows)
            for (double& cell : row)
                if (random() % static_cast<unsigned>(GetParam().in) == 0)
                    cell = GetParam().values[random() % GetParam().values.size()];
    for (std::size_t i = 500; i < 600; ++i) points.rows[i] = points.rows[i % 50];  // some rows recur
    queries.rows[0][2] = 12345;                                                    // far where no point is
    queries.rows[1][0] = queries.rows[1][4] = GetParam().values[0];
    for (Items64* items : {&points, &queries})
        for (Row& row : items->rows) row[6] = std::floor(4 * row[0]);
    std::vector types(7, AttributeType::numeric);
    types[6] = AttributeType::nominal;
    for (const Metric metric : {Metric::euclidean, Metric::manhattan, Metric::chebyshev, Metric::mixed_euclidean}) {
        const Formula distance = [&](const Row& x, const Row& y) { return by_definition(metric, types, x, y); };
        for (const std::int64_t k : {1, 5, 40}) {
            SCOPED_TRACE(std::to_string(static_cast<int>(metric)) + ", k " + std::to_string(k));
            NeighbourRule rule{.k = k, .distance = {.metric = metric, .missing = Missing::allowed}};
            if (metric == Metric::mixed_euclidean) rule.distance.types = types;
            expect_scanned(fitted(points, rule), k, points, queries, distance);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Tables, FarQueries,
                         testing::Values(FarCells{"Minus9999", {-9999}, 30}, FarCells{"FloatMin", {-3.4e38}, 30},
                                         FarCells{"SeveralCodes", {-9999, -9998, 1e6, 1e30}, 12},
                                         FarCells{"CodesAndGaps", {-9999, kNone, kNone}, 12},
                                         FarCells{"NotFarEnoughToBeClamped", {200, -300}, 20},
                                         FarCells{"InManyCells", {-9999}, 4}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(ExactSearch, FarQueriesAreToldByTheirFarCoordinate) {
    for (const double value : {-9999.0, -3.4e38}) {
        Items64 points = drawn(34, 4000, 20, uniform), queries = drawn(35, 300, 20, uniform);
        no_data(value)(points, queries);
        const ExactKnnClassifier model = fitted(points, {.k = 5});
        const std::int64_t queries_before = exact::scanned_queries, before = exact::scanned_distances;
        ASSERT_TRUE(model.kneighbors(queries.items()));
        const std::int64_t scanned = exact::scanned_queries - queries_before;
        EXPECT_GT(scanned, 0) << "queries with two such cells";
        EXPECT_LT(exact::scanned_distances - before, scanned * 4000 / 2) << "distances of whole rows";
    }
}

TEST(ExactSearch, CodesAreComparedAsBytes) {
    // More values than a byte holds, more attributes than a byte counts, rows that recur, values that no point has.
    for (const auto& [dims, values] : {std::pair{3, 3}, {20, 4}, {6, 255}, {6, 300}, {300, 3}}) {
        SCOPED_TRACE(std::to_string(dims) + " attributes of " + std::to_string(values) + " values");
        const auto code = [&, values = values](int more) {
            return [=, all = values + more](std::mt19937& random) {
                return 0.5 * static_cast<double>(random() % static_cast<unsigned>(all)) - 7;
            };
        };
        const Items64 points = drawn(41, 500, dims, code(0));
        Items64 queries = drawn(42, 30, dims, code(2));
        queries.rows[3][1] = kNone;
        const std::vector types(static_cast<std::size_t>(dims), AttributeType::nominal);
        const NeighbourRule mixed{.k = 9, .distance = {Metric::mixed_euclidean, Missing::allowed, types}};
        const Formula distance = [&](const Row& x, const Row& y) {
            return by_definition(Metric::mixed_euclidean, types, x, y);
        };
        const std::int64_t before = exact::scanned_queries.load();
        expect_scanned(fitted(points, mixed), 9, points, queries, distance);
        expect_scanned(fitted(points, {.k = 600, .distance = mixed.distance}), 600, points, queries, distance);
        expect_scanned(fitted(points, mixed), 9, points, queries, distance, {.variant = "cpu_two_stage"});
        EXPECT_EQ(scans_since(before), 0);
        const double differences = std::round(std::pow(distance(queries.rows[0], points.rows[7]), 2));
        const auto expect_within = [&](const ExactDistance& how, double radius) {
            const auto found = fitted(points, mixed, how).radius_neighbours(queries.items(), radius).value();
            for (std::size_t q = 0; q < queries.rows.size(); ++q) {
                std::int64_t within = 0;
                for (const Row& point : points.rows)
                    within += std::pow(distance(queries.rows[q], point), 2) <= differences + 1e-9;
                EXPECT_EQ(found.offsets[q + 1] - found.offsets[q], within) << q;
            }
        };
        expect_within({}, std::sqrt(differences));
        expect_within({.metric = ExactMetric::hamming}, differences / dims);
    }
}

}  // namespace
}  // namespace espalier
