// Nearest neighbours in double precision, against the definition computed here, point by point.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "espalier/exact_knn.hpp"
#include "tests/kernels/api/api_helpers.hpp"

namespace espalier {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Items, item-major.
struct Data {
    std::int64_t dims = 1;
    std::vector<double> values;

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(values.size()) / dims; }
    [[nodiscard]] ItemsOfDoubles items() const { return {values.data(), count(), dims}; }
    [[nodiscard]] double at(std::int64_t item, std::int64_t attribute) const {
        return values[static_cast<std::size_t>(item * dims + attribute)];
    }
};

/// The definition. Sums in extended precision where there is some: what two points differ in is not lost in it.
double defined_distance(const Data& x, std::int64_t i, const Data& y, std::int64_t j, const DistanceRule& rule) {
    long double sum = 0, largest = 0, norm_x = 0, norm_y = 0;
    std::int64_t present = 0;
    for (std::int64_t a = 0; a < x.dims; ++a) {
        const long double p = x.at(i, a), q = y.at(j, a);
        if (rule.missing == Missing::allowed && (std::isnan(p) || std::isnan(q))) continue;
        ++present;
        const bool nominal =
            rule.metric == Metric::mixed_euclidean && rule.types[static_cast<std::size_t>(a)] == AttributeType::nominal;
        const long double difference = nominal ? (p == q ? 0 : 1) : p - q;
        sum += rule.metric == Metric::manhattan ? std::fabs(difference) : difference * difference;
        largest = std::max(largest, std::fabs(difference));
        norm_x += p * p;
        norm_y += q * q;
    }
    if (rule.missing == Missing::allowed && present == 0) return kNone;
    if (rule.metric == Metric::chebyshev) return static_cast<double>(largest);
    if (rule.metric == Metric::cosine) {
        if (norm_x == 0 || norm_y == 0) return 1;
        // The sum of squares, because 1 - x.y / (|x| |y|) would cancel even in extended precision.
        long double square = 0;
        for (std::int64_t a = 0; a < x.dims; ++a) {
            const long double p = x.at(i, a), q = y.at(j, a);
            if (std::isnan(p) || std::isnan(q)) continue;
            const long double difference = p / std::sqrt(norm_x) - q / std::sqrt(norm_y);
            square += difference * difference;
        }
        return static_cast<double>(square / 2);
    }
    sum *= static_cast<long double>(x.dims) / static_cast<long double>(present);
    return static_cast<double>(rule.metric == Metric::manhattan ? sum : std::sqrt(sum));
}

struct Listed {
    double distance;
    std::int32_t index;
};

std::vector<Listed> defined_neighbours(const Data& points, const Data& queries, std::int64_t query,
                                       const NeighbourRule& rule) {
    std::vector<Listed> all;
    for (std::int64_t p = 0; p < points.count(); ++p)
        all.push_back({defined_distance(queries, query, points, p, rule.distance), static_cast<std::int32_t>(p)});
    std::ranges::stable_sort(all, [](const Listed& a, const Listed& b) {
        return a.distance < b.distance || (!std::isnan(a.distance) && std::isnan(b.distance));
    });
    all.resize(std::min(all.size(), static_cast<std::size_t>(rule.k)));
    return all;
}

/// The neighbours of every query on every device. Where exact ties are rounded differently by the two sums, `ties` lets
/// points at the same distance change places.
void expect_neighbours(const Data& points, const Data& queries, const NeighbourRule& rule, double tolerance = 1e-14) {
    const std::vector<std::int32_t> classes(static_cast<std::size_t>(points.count()));
    for (const Device& device : usable_devices()) {
        SCOPED_TRACE(device.key());
        const auto model = ExactKnnClassifier::fit(device, points.items(), classes, rule);
        ASSERT_TRUE(model) << model.error().message;
        const auto found = model.value().kneighbors(queries.items());
        ASSERT_TRUE(found) << found.error().message;
        for (std::int64_t q = 0; q < queries.count(); ++q) {
            const auto expected = defined_neighbours(points, queries, q, rule);
            for (std::int64_t j = 0; j < rule.k; ++j) {
                SCOPED_TRACE("query " + std::to_string(q) + ", neighbour " + std::to_string(j));
                const auto at = static_cast<std::size_t>(q * rule.k + j);
                const double distance = found.value().distances[at];
                if (static_cast<std::size_t>(j) >= expected.size()) {
                    ASSERT_EQ(found.value().indices[at], kNoIndex);
                    continue;
                }
                const Listed& one = expected[static_cast<std::size_t>(j)];
                ASSERT_EQ(found.value().indices[at], one.index) << distance << " instead of " << one.distance;
                if (std::isnan(one.distance))
                    ASSERT_TRUE(std::isnan(distance));
                else
                    ASSERT_NEAR(distance, one.distance, tolerance * one.distance);
            }
        }
    }
}

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    double number(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }
    Data items(std::int64_t count, std::int64_t dims, double from, double to) {
        Data data{dims, {}};
        for (std::int64_t i = 0; i < count * dims; ++i) data.values.push_back(number(from, to));
        return data;
    }

private:
    std::mt19937 random_;
};

/// Tables that floats cannot hold.
struct Table {
    const char* name;
    Data (*draw)(Draw& draw, std::int64_t count);
};

void PrintTo(const Table& table, std::ostream* out) { *out << table.name; }

Data unix_seconds(Draw& draw, std::int64_t count) {
    Data data{1, {}};
    for (std::int64_t i = 0; i < count; ++i) data.values.push_back(std::floor(draw.number(1.5e9, 1.7e9)));
    return data;
}
Data utm_metres(Draw& draw, std::int64_t count) {
    Data data{2, {}};
    for (std::int64_t i = 0; i < count; ++i) {
        data.values.push_back(draw.number(455'000, 465'000));
        data.values.push_back(draw.number(5'400'000, 5'410'000));
    }
    return data;
}
Data thousandths_at_1e9(Draw& draw, std::int64_t count) { return draw.items(count, 3, 1e9, 1e9 + 1e-3 * 256); }
Data two_far_clusters(Draw& draw, std::int64_t count) {
    Data data{2, {}};  // nothing to centre: each is dense where floats are coarse
    for (std::int64_t i = 0; i < 2 * count; ++i) data.values.push_back((i / 2 % 2 ? 1e9 : -1e9) + draw.number(0, 1));
    return data;
}
Data tiny(Draw& draw, std::int64_t count) { return draw.items(count, 2, -1e-30, 1e-30); }
Data huge(Draw& draw, std::int64_t count) { return draw.items(count, 2, -1e100, 1e100); }
Data with_outlier(Draw& draw, std::int64_t count) {
    Data data = draw.items(count, 2, 0, 1e-6);
    data.values[0] = 1e12;
    return data;
}

class ExactKnn : public testing::TestWithParam<Table> {};

TEST_P(ExactKnn, FindsWhatDoublesFind) {
    for (const Metric metric : {Metric::euclidean, Metric::manhattan, Metric::chebyshev})
        for (const std::int64_t k : {1, 5}) {
            SCOPED_TRACE("metric " + std::to_string(static_cast<int>(metric)) + ", k " + std::to_string(k));
            Draw draw(7);
            const Data points = GetParam().draw(draw, 300), queries = GetParam().draw(draw, 40);
            expect_neighbours(points, queries, {.k = k, .distance = {.metric = metric}});
        }
}

INSTANTIATE_TEST_SUITE_P(Tables, ExactKnn,
                         testing::Values(Table{"UnixSeconds", unix_seconds}, Table{"UtmMetres", utm_metres},
                                         Table{"ThousandthsAtABillion", thousandths_at_1e9},
                                         Table{"TwoFarClusters", two_far_clusters}, Table{"Tiny", tiny},
                                         Table{"Huge", huge}, Table{"WithOutlier", with_outlier}),
                         [](const auto& table) { return std::string(table.param.name); });

TEST(ExactNeighbours, NearTiesAreDecided) {
    // Points at 1 + i 1e-12 around one query, in an order that is not that of their distances.
    Data points{2, {}};
    std::vector<int> order(200);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    for (const int i : order) {
        points.values.push_back(1 + i * 1e-12);
        points.values.push_back(0);
    }
    expect_neighbours(points, {2, {0, 0, 5, 0}}, {.k = 7});
}

TEST(ExactNeighbours, TiesGoByIndex) {
    // A hundred copies of three points: more equally near ones than the device lists.
    Data points{2, {}};
    for (int i = 0; i < 300; ++i) points.values.insert(points.values.end(), {1e9 + i % 3, 1e9 - i % 3});
    expect_neighbours(points, {2, {1e9, 1e9, 1e9 + 1, 1e9 - 1, 1e9 + 2, 1e9}}, {.k = 9});
    expect_neighbours(points, {2, {1e9, 1e9}}, {.k = 150});
}

TEST(ExactNeighbours, KMayReachAndExceedThePoints) {
    Draw draw(2);
    const Data points = utm_metres(draw, 30), queries = utm_metres(draw, 4);
    for (const std::int64_t k : {29, 30, 33}) expect_neighbours(points, queries, {.k = k});
}

TEST(ExactNeighbours, CosineTellsNearlyParallelRowsApart) {
    Draw draw(4);
    Data points{3, {}}, queries{3, {1, 2, 3, -1, 1, 0, 0, 0, 0}};
    for (int i = 0; i < 120; ++i) {
        const double length = draw.number(1, 1000), off = draw.number(-1e-6, 1e-6);
        points.values.insert(points.values.end(), {length * (1 + off), 2 * length * (1 + off * 0.7), 3 * length});
    }
    points.values.insert(points.values.end(), {0, 0, 0, 1, 1, 1, -1, -2, -3});
    // At unit length each coordinate has an error of 2^-53, the nearest rows differ by 1e-11.
    expect_neighbours(points, {3, {1, 2, 3}}, {.k = 5, .distance = {.metric = Metric::cosine}}, 1e-4);
    Data spread = draw.items(200, 4, -1, 1);
    for (int i = 0; i < 4; ++i) spread.values[static_cast<std::size_t>(i)] = 0;
    expect_neighbours(spread, draw.items(20, 4, -1, 1), {.k = 5, .distance = {.metric = Metric::cosine}}, 1e-12);
    expect_neighbours(spread, {4, {0, 0, 0, 0}}, {.k = 3, .distance = {.metric = Metric::cosine}});
}

TEST(ExactNeighbours, ParallelRowsTie) {
    Data points{2, {}};
    for (int i = 1; i <= 60; ++i) points.values.insert(points.values.end(), {0.1 * i, 0.7 * i});
    const auto model = ExactKnnClassifier::fit(Device::cpu(), points.items(), std::vector<std::int32_t>(60),
                                               {.k = 3, .distance = {.metric = Metric::cosine}});
    ASSERT_TRUE(model) << model.error().message;
    const std::vector<double> query{1, 7};
    const auto found = model.value().kneighbors({query.data(), 1, 2});
    ASSERT_TRUE(found);
    EXPECT_EQ(found.value().indices, (std::vector<std::int32_t>{0, 1, 2}));
    EXPECT_EQ(found.value().distances, (std::vector<double>{0, 0, 0}));
}

TEST(ExactNeighbours, MissingCellsAreLeftOut) {
    Draw draw(6);
    for (const Metric metric : {Metric::euclidean, Metric::manhattan, Metric::chebyshev, Metric::cosine}) {
        SCOPED_TRACE("metric " + std::to_string(static_cast<int>(metric)));
        Data points = draw.items(150, 4, 1e6, 1e6 + 1), queries = draw.items(12, 4, 1e6, 1e6 + 1);
        for (std::size_t i = 0; i < points.values.size(); i += 7) points.values[i] = kNone;
        for (std::size_t i = 0; i < 20; i += 3) queries.values[i] = kNone;
        for (std::size_t i = 20; i < 24; ++i) queries.values[i] = kNone;  // a query without anything
        // Cosines of values about 1e6 with spread 1 are 1e-13: what lengths lose shows.
        expect_neighbours(points, queries, {.k = 4, .distance = {.metric = metric, .missing = Missing::allowed}},
                          metric == Metric::cosine ? 1e-2 : 1e-14);
    }
    const Data points = draw.items(100, 2, 0, 1);
    Data queries = draw.items(3, 2, 0, 1);
    queries.values[1] = kNone;
    expect_neighbours(points, queries, {.k = 2, .distance = {.missing = Missing::allowed}});
    expect_neighbours(points, {2, {0.5, 0.5, kNone, 0.5}}, {.k = 2});  // NaN is as any number: no distance
}

TEST(ExactNeighbours, NominalValuesAreEqualOrNot) {
    Draw draw(8);
    const std::vector types{AttributeType::numeric, AttributeType::nominal, AttributeType::nominal};
    Data points{3, {}}, queries{3, {}};
    for (int i = 0; i < 240; ++i) {
        Data& data = i < 200 ? points : queries;
        // Codes that floats do not tell apart, and one that no point has.
        data.values.insert(data.values.end(), {1.7e9 + draw.number(0, 4), 1e12 + std::floor(draw.number(0, 3)),
                                               i == 210 ? 77 : std::floor(draw.number(0, 2))});
    }
    expect_neighbours(points, queries, {.k = 5, .distance = {.metric = Metric::mixed_euclidean, .types = types}});
    queries.values[0] = points.values[1] = points.values[8] = kNone;
    expect_neighbours(
        points, queries,
        {.k = 5, .distance = {.metric = Metric::mixed_euclidean, .missing = Missing::allowed, .types = types}});
}

TEST(ExactNeighbours, InfinitiesAreFar) {
    Draw draw(9);
    Data points = draw.items(100, 2, 0, 1);
    points.values[6] = HUGE_VAL;
    expect_neighbours(points, {2, {0.5, 0.5}}, {.k = 3});
    expect_neighbours(points, {2, {1e150, 0.5}}, {.k = 3});
}

TEST(ExactNeighbours, BothLayoutsAreTheSame) {
    Draw draw(5);
    const Data points = utm_metres(draw, 100);
    std::vector<double> turned(200);
    for (std::size_t i = 0; i < 200; ++i) turned[i % 2 * 100 + i / 2] = points.values[i];
    const std::vector<std::int32_t> classes(100);
    const auto one = ExactKnnClassifier::fit(Device::cpu(), points.items(), classes, {.k = 5});
    const auto other =
        ExactKnnClassifier::fit(Device::cpu(), {turned.data(), 100, 2, Layout::attribute_major}, classes, {.k = 5});
    ASSERT_TRUE(one && other);
    EXPECT_EQ(one.value().kneighbors(points.items()).value().indices,
              other.value().kneighbors({turned.data(), 100, 2, Layout::attribute_major}).value().indices);
}

TEST(ExactNeighbours, ManyQueriesAreAskedInBlocks) {
    Draw draw(10);
    const Data points = utm_metres(draw, 1100);
    constexpr std::int64_t kLists = 600;  // 1,024 candidates: blocks of some 1,000 queries
    std::vector<double> turned(2200);
    for (std::size_t i = 0; i < 2200; ++i) turned[i % 2 * 1100 + i / 2] = points.values[i];
    const auto model =
        ExactKnnClassifier::fit(Device::cpu(), points.items(), std::vector<std::int32_t>(1100), {.k = kLists});
    ASSERT_TRUE(model) << model.error().message;
    const auto all = model.value().kneighbors(points.items()).value();
    const auto other = model.value().kneighbors({turned.data(), 1100, 2, Layout::attribute_major}).value();
    const auto last = model.value().kneighbors({points.values.data() + 2000, 100, 2}).value();
    EXPECT_EQ(all.distances, other.distances);
    EXPECT_EQ(std::vector(all.distances.end() - 100 * kLists, all.distances.end()), last.distances);
    EXPECT_EQ(std::vector(all.indices.end() - 100 * kLists, all.indices.end()), last.indices);
    for (std::int64_t q = 0; q < 1100; ++q) ASSERT_EQ(all.indices[static_cast<std::size_t>(q * kLists)], q);
}

TEST(ExactKnnClassifier, MajorityAndWeightsVote) {
    // Around the query: class 1 at 0.25, classes 0 and 0 at 1 and 1.5.
    const Data points{1, {1e9 + 0.25, 1e9 - 1, 1e9 + 1.5, 1e9 + 100}}, query{1, {1e9, kNone}};
    const std::vector<std::int32_t> classes{1, 0, 0, 2};
    for (const auto& [vote, k, expected] :
         {std::tuple{Vote::majority, 3, 0}, {Vote::distance_weighted, 3, 1}, {Vote::majority, 2, 0}}) {
        const auto model = ExactKnnClassifier::fit(Device::cpu(), points.items(), classes,
                                                   {.k = k, .distance = {.missing = Missing::allowed}, .vote = vote});
        ASSERT_TRUE(model) << model.error().message;
        EXPECT_EQ(model.value().predict(query.items()).value(), (std::vector<std::int32_t>{expected, kNoClass}));
    }
}

TEST(ExactKnnClassifier, ProbabilitiesAreSharesOfVotes) {
    const Data points{1, {0, 1, 3, 100}};
    const std::vector<std::int32_t> classes{2, 2, 0, 3};
    const Data queries{1, {0, 2}};
    const auto shares = [&](Vote vote, const Data& asked) {
        const auto model =
            ExactKnnClassifier::fit(Device::cpu(), points.items(), classes, {.k = 3, .vote = vote}).value();
        EXPECT_EQ(model.class_count(), 4);
        return model.predict_proba(asked.items()).value();
    };
    EXPECT_EQ(shares(Vote::majority, queries), (std::vector<double>{1.0 / 3, 0, 2.0 / 3, 0, 1.0 / 3, 0, 2.0 / 3, 0}));
    EXPECT_EQ(shares(Vote::distance_weighted, queries), (std::vector<double>{0, 0, 1, 0, 0.4, 0, 0.6, 0}));
    // Weights whose sum is infinite, and distances that weigh nothing.
    EXPECT_EQ(shares(Vote::distance_weighted, Data{1, {1e200}}), (std::vector<double>{1.0 / 3, 0, 2.0 / 3, 0}));
    const Data near{1, {0, 3e-308, 6e-308}};
    const auto model = ExactKnnClassifier::fit(Device::cpu(), near.items(), std::vector<std::int32_t>{0, 1, 1},
                                               {.k = 2, .vote = Vote::distance_weighted})
                           .value();
    const auto sums = model.predict_proba(Data{1, {1.5e-308}}.items()).value();
    EXPECT_EQ(sums[0] + sums[1], 1);
    EXPECT_EQ(ExactKnnClassifier::fit(Device::cpu(), points.items(), classes, {.k = 3})
                  .value()
                  .predict_proba({nullptr, 0, 1})
                  .value()
                  .size(),
              0U);
}

TEST(ExactKnnRegressor, TargetsStayDoubles) {
    const Data points{1, {1.7e9, 1.7e9 + 1, 1.7e9 + 5}}, queries{1, {1.7e9 + 0.25, kNone, 1.7e9}};
    const std::vector<double> targets{1700000001, 1700000004, 0};
    const auto mean = ExactKnnRegressor::fit(Device::cpu(), points.items(), targets,
                                             {.k = 2, .distance = {.missing = Missing::allowed}});
    ASSERT_TRUE(mean) << mean.error().message;
    const std::vector<double> means = mean.value().predict(queries.items()).value();
    EXPECT_EQ(means[0], 1700000002.5);
    EXPECT_TRUE(std::isnan(means[1]));
    const auto weighted =
        ExactKnnRegressor::fit(Device::cpu(), points.items(), targets, {.k = 2, .vote = Vote::distance_weighted});
    std::vector<double> results(3), distances(6);
    std::vector<std::int32_t> indices(6);
    expect_ok(weighted.value().predict(queries.items(), results.data(), {distances.data(), indices.data()}));
    EXPECT_NEAR(results[0], (4 * 1700000001. + 1700000004. / 0.75) / (4 + 1 / 0.75), 1e-6);
    EXPECT_EQ(results[2], 1700000001) << "a point at distance 0 decides alone";
    EXPECT_EQ(distances[0], 0.25);
    EXPECT_EQ(distances[1], 0.75) << "the lists of one query are side by side";
    EXPECT_EQ(indices[1], 1);
    expect_ok(weighted.value().predict(queries.items(), results.data(),
                                       {distances.data(), indices.data(), MatrixLayout::transposed}));
    EXPECT_EQ(distances[3], 0.75) << "the second neighbours lie behind all first ones";
    EXPECT_EQ(indices[3], 1);
}

TEST(ExactKnnModels, TakeOverPoints) {
    std::vector<double> values;
    for (int i = 0; i < 300; ++i) values.push_back((i * 37 % 101) / 7.0);
    for (int i = 0; i < 30; ++i) values.push_back(values[static_cast<std::size_t>(i)]);  // ten items are there twice
    const auto owned = [&] { return OwnedItemsOfDoubles{values, 110, 3}; };
    const ItemsOfDoubles items{values.data(), 110, 3}, queries{values.data() + 60, 40, 3};
    std::vector<std::int32_t> classes(110);
    std::vector<double> targets(110);
    for (std::size_t i = 0; i < 110; ++i) {
        classes[i] = static_cast<std::int32_t>(i % 4);
        targets[i] = static_cast<double>(i);
    }
    const std::vector<double> weights{2, 0, 0.5}, all{1, 3, 2};
    const Device cpu = Device::cpu();
    for (const Metric metric : {Metric::euclidean, Metric::cosine})
        for (const ExactDistance& distance :
             {ExactDistance{}, ExactDistance{.weights = weights}, ExactDistance{.weights = all},
              ExactDistance{.metric = ExactMetric::hamming}}) {
            const NeighbourRule rule{.k = 7, .distance = {.metric = metric}};
            const auto classifier = ExactKnnClassifier::fit(cpu, owned(), classes, rule, distance);
            ASSERT_TRUE(classifier) << classifier.error().message;
            EXPECT_EQ(classifier.value().predict(queries).value(),
                      ExactKnnClassifier::fit(cpu, items, classes, rule, distance).value().predict(queries).value());
            const auto regressor = ExactKnnRegressor::fit(cpu, owned(), targets, rule, distance);
            ASSERT_TRUE(regressor) << regressor.error().message;
            EXPECT_EQ(regressor.value().predict(queries).value(),
                      ExactKnnRegressor::fit(cpu, items, targets, rule, distance).value().predict(queries).value());
            const auto found = ExactNearestNeighbours::fit(cpu, owned(), rule, distance).value().kneighbors(queries);
            const auto same = ExactNearestNeighbours::fit(cpu, items, rule, distance).value().kneighbors(queries);
            EXPECT_EQ(found.value().indices, same.value().indices);
            EXPECT_EQ(found.value().distances, same.value().distances);
        }
    const auto refused = [&](std::int64_t count, std::int64_t dims) -> Result<void> {
        const auto model = ExactNearestNeighbours::fit(cpu, OwnedItemsOfDoubles{values, count, dims}, {.k = 1});
        return model ? Result<void>{} : Result<void>(model.error());
    };
    expect_invalid(refused(109, 3), "330 numbers, which are not 109 items of 3 attributes");
    expect_invalid(refused(-110, -3), "330 numbers");
    expect_invalid(refused(0, 0), "330 numbers");
    expect_invalid(refused(std::int64_t{1} << 62, 4), "330 numbers");
    expect_ok(refused(330, 1));
    EXPECT_EQ(ExactNearestNeighbours::fit(cpu, OwnedItemsOfDoubles{}, {.k = 1}).value().kneighbors({}).value().queries,
              0);
}

TEST(ExactKnnRegressor, BadArgumentsAreNamed) {
    const Data points{2, {1, 2, 3, 4}};
    const std::vector<double> targets{1, 2};
    const auto fit = [&](ItemsOfDoubles items, std::span<const double> given, const NeighbourRule& rule,
                         const Options& options = {}) -> Result<void> {
        const auto model = ExactKnnRegressor::fit(Device::cpu(), items, given, rule, options);
        if (!model) return model.error();
        return {};
    };
    expect_invalid(fit(points.items(), targets, {.k = 0}), "k is 0");
    expect_invalid(fit(points.items(), std::span(targets).first(1), {}), "1 targets");
    expect_invalid(fit({nullptr, 2, 2}, targets, {}), "points.values");
    expect_invalid(fit(points.items(), targets, {.distance = {.metric = Metric::mixed_euclidean}}), "type of each");
    expect_invalid(fit(points.items(), targets, {}, {.memory = Memory::device}), "host memory");
    const auto model = ExactKnnRegressor::fit(Device::cpu(), points.items(), targets, {.k = 1});
    ASSERT_TRUE(model);
    double result = 0;
    expect_invalid(model.value().predict({points.values.data(), 1, 3}, &result), "3 attributes");
    expect_invalid(model.value().predict({points.values.data(), 1, 2}, nullptr), "targets is null");
    expect_invalid(model.value().predict({nullptr, 1, 2}, &result), "queries.values");
    expect_ok(model.value().predict({nullptr, 0, 2}, nullptr));
    const auto explained = model.value().explain_predict(10);
    ASSERT_TRUE(explained);
    EXPECT_EQ(explained.value().family, "knn");
}

}  // namespace
}  // namespace espalier
