// count_bytes, dot_product, KnnClassifier and KnnRegressor as a user calls them: results against the oracle,
// and every error.

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "api_helpers.hpp"
#include "reference_cpu/distance.hpp"
#include "reference_cpu/dot.hpp"
#include "reference_cpu/histogram.hpp"
#include "reference_cpu/knn.hpp"

namespace espalier {
namespace {

std::vector<float> numbers(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values(size);
    for (auto& value : values) value = static_cast<float>(static_cast<int>(random() % 201) - 100);
    return values;
}

TEST(CountBytes, EqualsTheOracleAtAnyAddress) {
    std::vector<std::uint8_t> bytes(100'003);
    std::mt19937 random(1);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 300);
    for (const Device& device : usable_devices())
        for (const std::size_t offset : {0U, 1U, 3U, 100'003U}) {
            const std::span part(bytes.data() + offset, bytes.size() - offset);
            Histogram256 counts;
            counts.fill(77);
            expect_ok(count_bytes(device, part.data(), static_cast<std::int64_t>(part.size()), counts.data()));
            EXPECT_EQ(counts, reference::histogram(part)) << device.key() << " offset " << offset;
        }
}

TEST(CountBytes, RefusesWhatIsNotAProblem) {
    Histogram256 counts{};
    const std::uint8_t byte = 0;
    const auto cpu = Device::cpu();
    expect_invalid(count_bytes(cpu, &byte, -1, counts.data()), "size is -1");
    expect_invalid(count_bytes(cpu, nullptr, 1, counts.data()), "bytes is null");
    expect_invalid(count_bytes(cpu, &byte, 1, nullptr), "counts is null");
    expect_invalid(count_bytes(cpu, reinterpret_cast<const std::uint8_t*>(counts.data()), 9, counts.data()), "overlap");
    EXPECT_FALSE(explain_count_bytes(cpu, -1));
}

TEST(DotProduct, IsWithinItsBoundOfTheOracle) {
    for (const std::size_t size : {0U, 1U, 1000U, 70'001U}) {
        const auto a = numbers(size, 1), b = numbers(size, 2);
        const auto expected = reference::dot(a, b);
        for (const Device& device : usable_devices()) {
            float result = -1;
            expect_ok(dot_product(device, a.data(), b.data(), static_cast<std::int64_t>(size), &result));
            EXPECT_NEAR(result, expected.sum, 1e-4 * expected.absolute_sum) << device.key() << " size " << size;
        }
    }
}

TEST(DotProduct, RefusesWhatIsNotAProblem) {
    const auto a = numbers(4, 1);
    float result = 0;
    const auto cpu = Device::cpu();
    expect_invalid(dot_product(cpu, a.data(), a.data(), -4, &result), "elements is -4");
    expect_invalid(dot_product(cpu, nullptr, a.data(), 4, &result), "a is null");
    expect_invalid(dot_product(cpu, a.data(), nullptr, 4, &result), "b is null");
    expect_invalid(dot_product(cpu, a.data(), a.data(), 4, nullptr), "result is null");
    expect_invalid(dot_product(cpu, a.data(), a.data(), 4, const_cast<float*>(&a[3])), "overlap");
    EXPECT_FALSE(explain_dot_product(cpu, -1));
}

/// Whole numbers, so that distances are exact in single precision and ties abound.
class NearestNeighbours : public testing::Test {
protected:
    static constexpr std::int64_t kQueries = 23, kPoints = 41, kDims = 3;

    NearestNeighbours() {
        for (auto* set : {&queries_, &points_})
            for (float& value : *set) value = std::round(value / 25);
        for (std::size_t p = 0; p < kPoints; ++p) {
            classes_.push_back(static_cast<std::int32_t>(p % 4));
            targets_.push_back(static_cast<float>(p));
        }
    }

    [[nodiscard]] Items queries() const { return {queries_.data(), kQueries, kDims}; }
    [[nodiscard]] Items points() const { return {points_.data(), kPoints, kDims}; }

    [[nodiscard]] std::vector<reference::NearPoint> nearest(std::size_t query, const NeighbourRule& rule) const {
        std::vector<double> distances;
        for (std::size_t p = 0; p < kPoints; ++p)
            distances.push_back(reference::distance({&queries_[query * kDims], kDims}, {&points_[p * kDims], kDims},
                                                    rule.distance.metric, rule.distance.missing, rule.distance.types));
        return reference::nearest(distances, rule.k);
    }

    std::vector<float> queries_ = numbers(kQueries * kDims, 3), points_ = numbers(kPoints * kDims, 4);
    std::vector<std::int32_t> classes_;
    std::vector<float> targets_;
};

constexpr AttributeType kTypes[] = {AttributeType::nominal, AttributeType::numeric, AttributeType::numeric};

std::vector<NeighbourRule> rules() {
    return {{.k = 1},
            {.k = 5, .vote = Vote::distance_weighted},
            {.k = 60},
            {.k = 7, .distance = {Metric::manhattan}},
            {.k = 7, .distance = {Metric::mixed_euclidean, Missing::allowed, kTypes}}};
}

TEST_F(NearestNeighbours, ClassifyAsTheOracleDoes) {
    for (const Device& device : usable_devices())
        for (const NeighbourRule& rule : rules()) {
            const auto classifier = KnnClassifier::fit(device, points(), classes_, rule);
            ASSERT_TRUE(classifier) << classifier.error().message;
            const auto predicted = classifier.value().predict(queries());
            ASSERT_TRUE(predicted) << predicted.error().message;
            for (std::size_t q = 0; q < kQueries; ++q)
                EXPECT_EQ(predicted.value()[q], reference::knn_class(nearest(q, rule), classes_, rule.vote))
                    << device.key() << " k " << rule.k << " query " << q;
        }
}

TEST_F(NearestNeighbours, RegressAsTheOracleDoes) {
    for (const Device& device : usable_devices())
        for (const NeighbourRule& rule : rules()) {
            const auto regressor = KnnRegressor::fit(device, points(), targets_, rule);
            ASSERT_TRUE(regressor) << regressor.error().message;
            const auto predicted = regressor.value().predict(queries());
            ASSERT_TRUE(predicted) << predicted.error().message;
            for (std::size_t q = 0; q < kQueries; ++q)
                EXPECT_NEAR(predicted.value()[q], reference::knn_target(nearest(q, rule), targets_, rule.vote), 1e-3);
        }
}

TEST_F(NearestNeighbours, ModelsOutliveTheirInputsAndServeManyThreads) {
    for (const Device& device : usable_devices()) {
        auto points_then = points_;
        auto types_then = std::vector<AttributeType>(std::begin(kTypes), std::end(kTypes));
        const NeighbourRule rule{.distance = {Metric::mixed_euclidean, Missing::none, types_then}};
        const auto fitted = KnnClassifier::fit(device, {points_then.data(), kPoints, kDims}, classes_, rule);
        ASSERT_TRUE(fitted);
        const KnnClassifier classifier = fitted.value();
        const auto expected = classifier.predict(queries()).value();
        points_then.assign(points_then.size(), 1e9F);
        types_then.assign(3, AttributeType::numeric);
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&] { EXPECT_EQ(classifier.predict(queries()).value(), expected); });
        for (auto& thread : threads) thread.join();
    }
}

TEST_F(NearestNeighbours, WithoutPointsOrQueriesAreNobody) {
    for (const Device& device : usable_devices()) {
        const auto nobody = KnnClassifier::fit(device, {nullptr, 0, kDims}, {}, {});
        ASSERT_TRUE(nobody) << nobody.error().message;
        EXPECT_EQ(nobody.value().predict(queries()).value(), std::vector<std::int32_t>(kQueries, kNoClass));
        const auto somebody = KnnClassifier::fit(device, points(), classes_, {});
        EXPECT_TRUE(somebody.value().predict({nullptr, 0, kDims}).value().empty());
    }
}

TEST_F(NearestNeighbours, AreListedAsTheOracleListsThem) {
    for (const Device& device : usable_devices())
        for (const NeighbourRule& rule : rules()) {
            const auto k = static_cast<std::size_t>(rule.k);
            const auto classifier = KnnClassifier::fit(device, points(), classes_, rule).value();
            const auto found = classifier.kneighbors(queries());
            ASSERT_TRUE(found) << found.error().message;
            EXPECT_EQ(found.value().queries, static_cast<std::int64_t>(kQueries));
            EXPECT_EQ(found.value().k, rule.k);
            for (std::size_t q = 0; q < kQueries; ++q) {
                const auto expected = nearest(q, rule);
                for (std::size_t j = 0; j < k; ++j) {
                    const std::int32_t index = found.value().indices[q * k + j];
                    const float distance = found.value().distances[q * k + j];
                    if (j < expected.size()) {
                        EXPECT_EQ(index, expected[j].index) << device.key() << " k " << k << " query " << q << " " << j;
                        EXPECT_FLOAT_EQ(distance, static_cast<float>(expected[j].distance));
                    } else {
                        EXPECT_EQ(index, kNoIndex);
                        EXPECT_TRUE(std::isnan(distance));
                    }
                }
            }
        }
}

/// Every pipeline through the library, those too that no tree chooses. Which of them are linked is the program's
/// choice.
TEST_F(NearestNeighbours, AreTheSameThroughEveryPipeline) {
    for (const Device& device : usable_devices()) {
        const auto classifier = KnnClassifier::fit(device, points(), classes_, {}).value();
        const auto regressor = KnnRegressor::fit(device, points(), targets_, {}).value();
        const auto expected = classifier.predict(queries()).value();
        const auto lists = classifier.kneighbors(queries()).value().indices;
        int ran = 0;
        for (const char* variant : {"two_stage", "synchronous", "asynchronous", "placement", "cpu_two_stage",
                                    "placement:gpu_distance=0;gpu_selection=1;gpu_vote=1",
                                    "placement:gpu_distance=1;gpu_selection=1;gpu_vote=0"}) {
            const auto classes = classifier.predict(queries(), {.variant = variant});
            if (!classes) continue;
            ++ran;
            EXPECT_EQ(classes.value(), expected) << variant;
            EXPECT_EQ(classifier.kneighbors(queries(), {.variant = variant}).value().indices, lists) << variant;
            EXPECT_TRUE(regressor.predict(queries(), {.variant = variant})) << variant;
        }
        EXPECT_GE(ran, device.is_cuda() && ESPALIER_TEST_DEVICES == 2 ? 6 : 1) << device.key();
        const auto why = classifier.explain_predict(1000).value();
        EXPECT_NE(why.problem.find(device.is_cuda() ? "queries_in=host" : "queries_in=device"), std::string::npos);
    }
}

TEST_F(NearestNeighbours, RefuseWhatIsNotAProblem) {
    const auto cpu = Device::cpu();
    const auto fit = [&](const Items& points, std::span<const std::int32_t> classes, const NeighbourRule& rule) {
        const auto fitted = KnnClassifier::fit(cpu, points, classes, rule);
        return fitted ? Result<void>() : Result<void>(fitted.error());
    };
    expect_invalid(fit(points(), classes_, {.k = 0}), "k is 0");
    expect_invalid(fit(points(), classes_, {.k = 1025}), "k is 1025");
    expect_invalid(fit(points(), classes_, {.vote = static_cast<Vote>(5)}), "Vote");
    expect_invalid(fit(points(), classes_, {.distance = {Metric::mixed_euclidean}}), "type of each");
    expect_invalid(fit({points_.data(), -1, kDims}, classes_, {}), "points.count is -1");
    expect_invalid(fit({nullptr, kPoints, kDims}, classes_, {}), "points.values is null");
    expect_invalid(fit(points(), std::span(classes_).first(40), {}), "41 points, but 40 classes");
    classes_[3] = -2;
    expect_invalid(fit(points(), classes_, {}), "point 3 is -2");
    classes_[3] = std::numeric_limits<std::int32_t>::max();
    expect_invalid(fit(points(), classes_, {}), "point 3");

    const auto regressor = KnnRegressor::fit(cpu, points(), targets_, {}).value();
    const auto message = [&](const Items& queries) { return regressor.predict(queries).error().message; };
    EXPECT_NE(message({queries_.data(), kQueries, 2}).find("attributes"), std::string::npos);
    EXPECT_NE(message({nullptr, kQueries, kDims}).find("queries.values is null"), std::string::npos);
    EXPECT_EQ(regressor.predict(queries(), {.variant = "no_such"}).error().code, ErrorCode::unknown_variant);
    EXPECT_FALSE(regressor.explain_predict(-1));
    EXPECT_EQ(regressor.explain_predict(100).value().family, "knn");
}

}  // namespace
}  // namespace espalier
