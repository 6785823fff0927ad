// pairwise_distances, select_smallest_k and coherent sums as a user calls them: results against the oracle,
// and every error.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "api_helpers.hpp"
#include "reference_cpu/coherent_sum.hpp"
#include "reference_cpu/distance.hpp"
#include "reference_cpu/smallest_k.hpp"

namespace espalier {
namespace {

constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values(size);
    for (auto& value : values) value = static_cast<float>(random() % 1000) / 100;
    return values;
}

// --- distances

constexpr std::int64_t kQueries = 19, kPoints = 33, kDims = 7;

struct Sets {
    std::vector<float> queries = noise(kQueries * kDims, 1), points = noise(kPoints * kDims, 2);  // item-major

    [[nodiscard]] Items query_items() const { return {queries.data(), kQueries, kDims}; }
    [[nodiscard]] Items point_items() const { return {points.data(), kPoints, kDims}; }
};

std::vector<float> transposed(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
    std::vector<float> result(values.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = values[r * columns + c];
    return result;
}

void expect_distances(const std::vector<float>& result, const Sets& sets, const DistanceRule& rule) {
    for (std::size_t p = 0; p < kPoints; ++p)
        for (std::size_t q = 0; q < kQueries; ++q) {
            const double expected =
                reference::distance({&sets.queries[q * kDims], kDims}, {&sets.points[p * kDims], kDims}, rule.metric,
                                    rule.missing, rule.types);
            if (std::isnan(expected))
                EXPECT_TRUE(std::isnan(result[p * kQueries + q]));
            else
                EXPECT_NEAR(result[p * kQueries + q], expected, 1e-4 * (1 + expected));
        }
}

constexpr AttributeType kTypes[kDims] = {AttributeType::numeric, AttributeType::nominal, AttributeType::numeric,
                                         AttributeType::numeric, AttributeType::nominal, AttributeType::nominal,
                                         AttributeType::numeric};

TEST(PairwiseDistances, EqualTheOracleForEveryMetricAndLayout) {
    Sets sets;
    sets.queries[3] = sets.points[40] = kNaN;
    const auto queries = transposed(sets.queries, kQueries, kDims), points = transposed(sets.points, kPoints, kDims);
    for (const Device& device : usable_devices())
        for (const auto metric :
             {Metric::euclidean, Metric::mixed_euclidean, Metric::manhattan, Metric::chebyshev, Metric::cosine}) {
            const DistanceRule rule{metric, Missing::allowed, kTypes};
            std::vector<float> result(kQueries * kPoints, -1);
            expect_ok(pairwise_distances(device, sets.query_items(), sets.point_items(), rule,
                                         {result.data(), MatrixLayout::transposed}));
            expect_distances(result, sets, rule);

            std::vector<float> same(result.size(), -1);
            expect_ok(pairwise_distances(device, {queries.data(), kQueries, kDims, Layout::attribute_major},
                                         {points.data(), kPoints, kDims, Layout::attribute_major}, rule,
                                         {same.data(), MatrixLayout::transposed}));
            expect_distances(same, sets, rule);
        }
}

TEST(PairwiseDistances, RowMajorIsTheTransposedMatrixTransposed) {
    const Sets sets;
    for (const Device& device : usable_devices())
        for (const auto metric : {Metric::mixed_euclidean, Metric::cosine}) {
            const DistanceRule rule{metric, Missing::none, kTypes};
            std::vector<float> result(kQueries * kPoints, -1);
            expect_ok(pairwise_distances(device, sets.query_items(), sets.point_items(), rule,
                                         {result.data(), MatrixLayout::row_major}));
            expect_distances(transposed(result, kQueries, kPoints), sets, rule);
        }
}

// GPU variants keep the types in constant memory, of which a device has one copy.
TEST(PairwiseDistances, OfOtherAttributeTypesMayRunAtTheSameTime) {
    const Sets sets;
    const std::vector all_nominal(kDims, AttributeType::nominal), all_numeric(kDims, AttributeType::numeric);
    for (const Device& device : usable_devices()) {
        std::vector<std::thread> threads;
        for (const auto* types : {&all_nominal, &all_numeric, &all_nominal, &all_numeric})
            threads.emplace_back([&, types] {
                const DistanceRule rule{Metric::mixed_euclidean, Missing::none, *types};
                for (int i = 0; i < 60; ++i) {
                    std::vector<float> result(kQueries * kPoints, -1);
                    expect_ok(pairwise_distances(device, sets.query_items(), sets.point_items(), rule,
                                                 {result.data(), MatrixLayout::transposed}));
                    expect_distances(result, sets, rule);
                }
            });
        for (auto& thread : threads) thread.join();
    }
}

TEST(PairwiseDistances, OfNothing) {
    const Sets sets;
    std::vector<float> result(kPoints, -1);
    for (const Device& device : usable_devices()) {
        expect_ok(pairwise_distances(device, {nullptr, 0, kDims}, sets.point_items(), {}, nullptr));
        expect_ok(pairwise_distances(device, sets.query_items(), {nullptr, 0, kDims}, {}, nullptr));
        expect_ok(pairwise_distances(device, {nullptr, 1, 0}, {nullptr, kPoints, 0}, {}, result.data()));
        EXPECT_EQ(result, std::vector<float>(kPoints, 0));
    }
}

TEST(PairwiseDistances, RefuseWhatIsNotAProblem) {
    const Sets sets;
    std::vector<float> result(kQueries * kPoints);
    const auto call = [&](const Items& queries, const Items& points, const DistanceRule& rule, float* to,
                          const Options& options = {}) {
        return pairwise_distances(Device::cpu(), queries, points, rule, to, options);
    };
    const Items queries = sets.query_items(), points = sets.point_items();
    expect_invalid(call({queries.values, -1, kDims}, points, {}, result.data()), "queries.count is -1");
    expect_invalid(call(queries, {points.values, -1, kDims}, {}, result.data()), "points.count is -1");
    expect_invalid(call({queries.values, 1, -1}, {points.values, 1, -1}, {}, result.data()), "dims is -1");
    expect_invalid(call(queries, {points.values, kPoints, kDims - 1}, {}, result.data()), "7 attributes");
    expect_invalid(call({queries.values, kHuge / 2, 2}, {points.values, kHuge / 2, 2}, {}, result.data()), "memory");
    expect_invalid(call({nullptr, kQueries, kDims}, points, {}, result.data()), "queries.values is null");
    expect_invalid(call(queries, {nullptr, kPoints, kDims}, {}, result.data()), "points.values is null");
    expect_invalid(call(queries, points, {}, nullptr), "result is null");
    const auto row_major = [&](const Items& these, MatrixLayout layout) {
        return pairwise_distances(Device::cpu(), queries, these, {}, {result.data(), layout});
    };
    expect_invalid(row_major({nullptr, kPoints, kDims}, MatrixLayout::row_major), "points.values is null");
    expect_invalid(row_major(points, static_cast<MatrixLayout>(9)), "MatrixLayout");
    expect_invalid(call(queries, points, {}, const_cast<float*>(points.values)), "overlap");
    expect_invalid(call(queries, points, {Metric::mixed_euclidean}, result.data()), "type of each");
    expect_invalid(call(queries, points, {static_cast<Metric>(9)}, result.data()), "Metric");
    expect_invalid(call(queries, points, {.missing = static_cast<Missing>(9)}, result.data()), "Missing");
    expect_invalid(call({queries.values, kQueries, kDims, static_cast<Layout>(9)}, points, {}, result.data()),
                   "Layout");
    const std::vector types(kDims, static_cast<AttributeType>(7));
    expect_invalid(call(queries, points, {Metric::mixed_euclidean, Missing::none, types}, result.data()),
                   "AttributeType");
    const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(queries.values) + 1);
    expect_invalid(call({odd, 1, kDims}, points, {}, result.data()), "aligned");
    expect_invalid(call(queries, points, {}, result.data(), {.memory = Memory::device}), "runs on the CPU");
}

// --- the k smallest

class SelectSmallestK : public testing::TestWithParam<MatrixLayout> {};

TEST_P(SelectSmallestK, EqualsTheOracle) {
    constexpr std::int64_t rows = 21, columns = 90;
    const auto at = [](std::size_t row, std::size_t column, std::size_t of_columns) {
        return GetParam() == MatrixLayout::row_major ? row * of_columns + column : column * rows + row;
    };
    auto matrix = noise(rows * columns, 3);
    for (std::size_t i = 0; i < matrix.size(); i += 7) matrix[i] = std::floor(matrix[i]);  // ties
    matrix[5] = kNaN;
    for (const Device& device : usable_devices())
        for (const std::int64_t k : {1, 10, 90, 100}) {
            std::vector<float> values(static_cast<std::size_t>(rows * k), -1);
            std::vector<std::int32_t> indices(values.size(), -7);
            expect_ok(select_smallest_k(device, {rows, columns, k, GetParam()}, matrix.data(), values.data(),
                                        indices.data()));
            for (std::size_t r = 0; r < rows; ++r) {
                std::vector<float> row;
                for (std::size_t c = 0; c < columns; ++c) row.push_back(matrix[at(r, c, columns)]);
                const auto expected = reference::smallest_k({row.begin(), row.end()}, k);
                for (std::size_t j = 0; j < expected.size(); ++j) {
                    const std::size_t place = at(r, j, expected.size());
                    EXPECT_EQ(indices[place], expected[j].index) << device.key() << " k " << k;
                    if (!std::isnan(expected[j].value)) {
                        EXPECT_EQ(values[place], expected[j].value);
                    }
                }
            }
        }
}

TEST_P(SelectSmallestK, HoldsTheSameElementsInAnyOrder) {
    constexpr std::int64_t rows = 13, columns = 60;
    const auto matrix = noise(rows * columns, 5);
    for (const Device& device : usable_devices())
        for (const std::int64_t k : {1, 20, 60, 70}) {
            SelectionShape shape{rows, columns, k, GetParam()};
            std::vector<float> values(static_cast<std::size_t>(rows * k), -1), sorted_values(values);
            std::vector<std::int32_t> indices(values.size(), -7), sorted_indices(indices);
            expect_ok(select_smallest_k(device, shape, matrix.data(), sorted_values.data(), sorted_indices.data()));
            shape.order = ListOrder::any;
            expect_ok(select_smallest_k(device, shape, matrix.data(), values.data(), indices.data()));
            for (std::size_t r = 0; r < rows; ++r) {
                std::vector<std::pair<std::int32_t, float>> list, expected;
                for (std::size_t j = 0; j < static_cast<std::size_t>(std::min(k, columns)); ++j) {
                    const std::size_t place =
                        GetParam() == MatrixLayout::row_major ? r * static_cast<std::size_t>(k) + j : j * rows + r;
                    list.emplace_back(indices[place], values[place]);
                    expected.emplace_back(sorted_indices[place], sorted_values[place]);
                }
                std::ranges::sort(list), std::ranges::sort(expected);
                EXPECT_EQ(list, expected) << device.key() << " k " << k << " row " << r;
            }
        }
}

/// Bit patterns of a type, of which many are equal or special.
template <class T>
std::vector<T> patterns(std::size_t count, std::vector<T> special) {
    std::mt19937 random(11);
    std::vector<T> values(count);
    for (T& value : values) value = random() % 3 == 0 ? special[random() % special.size()] : static_cast<T>(random());
    return values;
}

template <class T>
void expect_selections(KeyType keys, MatrixLayout layout, double (*number)(T), double padding,
                       const std::vector<T>& special) {
    constexpr std::int64_t rows = 9, columns = 70;
    const auto at = [&](std::size_t row, std::size_t column, std::size_t of_columns) {
        return layout == MatrixLayout::row_major ? row * of_columns + column : column * rows + row;
    };
    const std::vector<T> matrix = patterns(rows * columns, special);
    for (const Device& device : usable_devices())
        for (const std::int64_t k : {1, 10, 70, 75}) {
            SCOPED_TRACE(device.key() + " k " + std::to_string(k));
            std::vector<T> values(static_cast<std::size_t>(rows * k), 77);
            std::vector<std::int32_t> indices(values.size(), -7);
            const SelectionShape shape{rows, columns, k, layout, ListOrder::ascending, keys};
            expect_ok(select_smallest_k_of(device, shape, matrix.data(), values.data(), indices.data()));
            for (std::size_t r = 0; r < rows; ++r) {
                std::vector<double> row;
                for (std::size_t c = 0; c < columns; ++c) row.push_back(number(matrix[at(r, c, columns)]));
                const auto expected = reference::smallest_k(row, k, padding);
                for (std::size_t j = 0; j < expected.size(); ++j) {
                    const std::size_t place = at(r, j, expected.size());
                    ASSERT_EQ(indices[place], expected[j].index) << "row " << r << ", " << j;
                    if (std::isnan(expected[j].value))
                        ASSERT_TRUE(std::isnan(number(values[place]))) << "row " << r << ", " << j;
                    else
                        ASSERT_EQ(number(values[place]), expected[j].value) << "row " << r << ", " << j;
                }
            }
        }
}

TEST_P(SelectSmallestK, TakesHalves) {
    expect_selections<std::uint16_t>(KeyType::float16, GetParam(), reference::number_of_binary16, kNaN,
                                     {0x0000, 0x8000, 0x0001, 0x8001, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x3C00});
}

TEST_P(SelectSmallestK, TakesBfloats) {
    expect_selections<std::uint16_t>(KeyType::bfloat16, GetParam(), reference::number_of_bfloat16, kNaN,
                                     {0x0000, 0x8000, 0x0001, 0x8001, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x3F80});
}

TEST_P(SelectSmallestK, TakesIntegers) {
    using Ints = std::numeric_limits<std::int32_t>;
    expect_selections<std::int32_t>(KeyType::int32, GetParam(),
                                    [](std::int32_t value) { return static_cast<double>(value); }, Ints::max(),
                                    {Ints::min(), Ints::min() + 1, -1, 0, 1, Ints::max() - 1, Ints::max()});
}

TEST_P(SelectSmallestK, TakesFloatsByTheirTypeToo) {
    const std::vector<float> matrix = noise(6 * 40, 8);
    std::vector<float> values(6 * 5), typed(6 * 5);
    std::vector<std::int32_t> indices(6 * 5), typed_indices(6 * 5);
    const SelectionShape shape{6, 40, 5, GetParam()};
    for (const Device& device : usable_devices()) {
        expect_ok(select_smallest_k(device, shape, matrix.data(), values.data(), indices.data()));
        expect_ok(select_smallest_k_of(device, shape, matrix.data(), typed.data(), typed_indices.data()));
        EXPECT_EQ(typed, values);
        EXPECT_EQ(typed_indices, indices);
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, SelectSmallestK, testing::Values(MatrixLayout::transposed, MatrixLayout::row_major));

TEST(SelectSmallestKErrors, RefuseWhatIsNotAProblem) {
    std::vector<float> matrix(6), values(6);
    std::vector<std::int32_t> indices(6);
    const auto call = [&](const SelectionShape& shape) {
        return select_smallest_k(Device::cpu(), shape, matrix.data(), values.data(), indices.data());
    };
    expect_invalid(call({2, 3, 0}), "k is 0");
    expect_invalid(call({2, 3, kMaxSmallestK + 1}), "1 to 1024");
    expect_invalid(call({-2, 3, 1}), "rows is -2");
    expect_invalid(call({2, -3, 1}), "columns is -3");
    expect_invalid(call({1, std::int64_t{1} << 31, 1}), "32 bits");
    expect_invalid(call({kHuge / 2, 100, 1}), "memory");
    expect_invalid(call({2, 3, 1, static_cast<MatrixLayout>(9)}), "MatrixLayout");
    expect_invalid(call({2, 3, 1, MatrixLayout::row_major, static_cast<ListOrder>(9)}), "ListOrder");
    expect_invalid(select_smallest_k(Device::cpu(), {2, 3, 1}, nullptr, values.data(), indices.data()), "distances");
    expect_invalid(select_smallest_k(Device::cpu(), {2, 3, 1}, matrix.data(), nullptr, indices.data()), "values");
    expect_invalid(select_smallest_k(Device::cpu(), {2, 3, 1}, matrix.data(), values.data(), nullptr), "indices");
    expect_invalid(select_smallest_k(Device::cpu(), {2, 3, 1}, matrix.data(), matrix.data(), indices.data()),
                   "overlap");
}

TEST(SelectSmallestKErrors, RefuseOtherTypes) {
    std::vector<float> matrix(6), values(6);
    std::vector<std::int32_t> indices(6);
    std::vector<std::uint16_t> halves(7);
    SelectionShape shape{2, 3, 1};
    shape.keys = KeyType::float16;
    const Device cpu = Device::cpu();
    expect_invalid(select_smallest_k(cpu, shape, matrix.data(), values.data(), indices.data()),
                   "call select_smallest_k_of");
    const auto call = [&](const void* keys, void* selected) {
        return select_smallest_k_of(cpu, shape, keys, selected, indices.data());
    };
    expect_invalid(call(nullptr, values.data()), "keys is null");
    expect_invalid(call(halves.data(), nullptr), "values is null");
    expect_invalid(call(halves.data(), halves.data() + 5), "overlap");
    expect_invalid(call(reinterpret_cast<const std::byte*>(halves.data()) + 1, values.data()), "2 bytes");
    expect_ok(call(halves.data() + 1, values.data()));
    shape.keys = KeyType::int32;
    expect_invalid(call(halves.data() + 1, values.data()), "4 bytes");
    shape.keys = static_cast<KeyType>(9);
    expect_invalid(call(halves.data(), values.data()), "KeyType");
}

// --- coherent sums

class CoherentSums : public testing::Test {
protected:
    static constexpr CoherentSumShape kShape{.receivers = 5, .samples = 40, .sources = 6, .span = 9};

    CoherentSums() {
        std::mt19937 random(4);
        for (auto& delay : delays_) delay = static_cast<std::int32_t>(random() % (kShape.span + 1));
    }

    std::vector<double> expected(std::size_t source) const {
        std::vector<double> magnitude;
        return reference::coherent_sum(traces_, kShape.samples + kShape.span, &delays_[source * kShape.receivers],
                                       kShape.receivers, kShape.samples, magnitude);
    }

    std::vector<float> traces_ = noise(kShape.receivers * (kShape.samples + kShape.span), 5);
    std::vector<std::int32_t> delays_ = std::vector<std::int32_t>(kShape.sources * kShape.receivers);
};

TEST_F(CoherentSums, EqualTheOracle) {
    for (const Device& device : usable_devices())
        for (const DelayPattern delays : {DelayPattern::grid, DelayPattern::scattered}) {
            CoherentSumShape shape = kShape;
            shape.delays = delays;
            std::vector<float> sums(kShape.sources * kShape.samples), maximum(kShape.sources);
            std::vector<std::int32_t> sample(kShape.sources);
            expect_ok(sum_coherently(device, shape, traces_.data(), delays_.data(), sums.data()));
            expect_ok(maximum_coherence(device, shape, traces_.data(), delays_.data(), maximum.data(), sample.data()));
            for (std::size_t source = 0; source < kShape.sources; ++source) {
                const auto oracle = expected(source);
                for (std::size_t k = 0; k < oracle.size(); ++k)
                    EXPECT_NEAR(sums[source * kShape.samples + k], oracle[k], 1e-3);
                EXPECT_NEAR(maximum[source], *std::max_element(oracle.begin(), oracle.end()), 1e-3);
                EXPECT_NEAR(oracle[static_cast<std::size_t>(sample[source])], maximum[source], 1e-3);
            }
        }
}

TEST_F(CoherentSums, InHalfPrecisionAreAsNearAsIsSaid) {
    CoherentSumShape shape = kShape;
    shape.precision = SumPrecision::half;
    for (const float scale : {1.0F, 1e30F, 1e-30F}) {
        std::vector<float> scaled;
        for (const float sample : traces_) scaled.push_back(sample * scale);
        const double most = std::abs(*std::ranges::max_element(scaled, {}, [](float x) { return std::abs(x); })),
                     off = static_cast<double>(kShape.receivers + 3) / 8000 * most;
        for (const Device& device : usable_devices()) {
            std::vector<float> sums(kShape.sources * kShape.samples);
            expect_ok(sum_coherently(device, shape, scaled.data(), delays_.data(), sums.data()));
            for (std::size_t source = 0; source < kShape.sources; ++source) {
                const auto oracle = expected(source);
                for (std::size_t k = 0; k < oracle.size(); ++k)
                    EXPECT_NEAR(sums[source * kShape.samples + k], oracle[k] * static_cast<double>(scale), off);
            }
        }
    }
}

TEST_F(CoherentSums, AreChosenByThePatternOfDelays) {
    const auto problem = [](DelayPattern delays) {
        CoherentSumShape shape = kShape;
        shape.delays = delays;
        return value_of(explain_coherent_sum(Device::cpu(), shape, Coherence::sums)).problem;
    };
    EXPECT_NE(problem(DelayPattern::grid).find("delays=cube"), std::string::npos) << problem(DelayPattern::grid);
    EXPECT_EQ(problem(DelayPattern::scattered).find("delays"), std::string::npos);
    EXPECT_EQ(CoherentSumShape{}.delays, DelayPattern::grid);
}

TEST_F(CoherentSums, RefuseWhatIsNotAProblem) {
    std::vector<float> sums(kShape.sources * kShape.samples);
    const auto call = [&](const CoherentSumShape& shape) {
        return sum_coherently(Device::cpu(), shape, traces_.data(), delays_.data(), sums.data());
    };
    expect_invalid(call({-1, 40, 6, 9}), "receivers is -1");
    expect_invalid(call({5, -1, 6, 9}), "samples is -1");
    expect_invalid(call({5, 40, -1, 9}), "sources is -1");
    expect_invalid(call({5, 40, 6, -1}), "span is -1");
    expect_invalid(call({1, std::int64_t{1} << 31, 1, 0}), "32 bits");
    expect_invalid(call({kHuge / 100, 40, 6, 9}), "memory");
    expect_invalid(call({5, 40, 6, 9, static_cast<SumPrecision>(2)}), "SumPrecision");
    expect_invalid(call({5, 40, 6, 9, {}, static_cast<DelayPattern>(2)}), "DelayPattern");
    expect_invalid(sum_coherently(Device::cpu(), kShape, nullptr, delays_.data(), sums.data()), "traces");
    expect_invalid(sum_coherently(Device::cpu(), kShape, traces_.data(), nullptr, sums.data()), "delays");
    expect_invalid(sum_coherently(Device::cpu(), kShape, traces_.data(), delays_.data(), nullptr), "sums");
    expect_invalid(maximum_coherence(Device::cpu(), kShape, traces_.data(), delays_.data(), nullptr, nullptr),
                   "maximum");
    delays_[7] = 10;
    expect_invalid(call(kShape), "source 1 at receiver 2 is 10");
    delays_[7] = -1;
    expect_invalid(call(kShape), "not in 0..9");
}

// --- what all functions share

TEST(Explain, AgreesWithTheFamilysKey) {
    for (const Device& device : usable_devices())
        for (const auto& why :
             {explain_pairwise_distances(device, {nullptr, 100, 5}, {nullptr, 200, 5}, {Metric::manhattan},
                                         {nullptr, MatrixLayout::transposed}),
              explain_pairwise_distances(device, {nullptr, 100, 5}, {nullptr, 200, 5}, {}),
              explain_select_smallest_k(device, {100, 200, 7, MatrixLayout::transposed}),
              explain_select_smallest_k(device, {100, 200, 7, MatrixLayout::row_major}),
              explain_select_smallest_k(device, {100, 200, 7, MatrixLayout::row_major, ListOrder::any}),
              explain_select_smallest_k(device,
                                        {100, 200, 7, MatrixLayout::row_major, ListOrder::ascending, KeyType::float16}),
              explain_coherent_sum(device, {10, 20, 30, 4}, Coherence::maximum),
              explain_coherent_sum(device, {10, 20, 30, 4, SumPrecision::half}, Coherence::maximum)}) {
            ASSERT_TRUE(why) << why.error().message;
            const auto same = explain(device, why.value().family, why.value().problem);
            ASSERT_TRUE(same) << same.error().message;
            // A key does not say whether there are item-major copies, which some variants read.
            const bool copies = device.is_cuda() && why.value().family == "distance";
            EXPECT_EQ(copies ? same.value().path : same.value().text(), copies ? why.value().path : why.value().text());
        }
}

TEST(Explain, RefusesWhatTheCallRefuses) {
    const auto cpu = Device::cpu();
    EXPECT_FALSE(explain_pairwise_distances(cpu, {nullptr, 1, 5}, {nullptr, 1, 6}, {}));
    EXPECT_FALSE(explain_select_smallest_k(cpu, {1, 1, 0}));
    EXPECT_FALSE(explain_coherent_sum(cpu, {-1, 1, 1, 1}, Coherence::sums));
    EXPECT_FALSE(explain_coherent_sum(cpu, {1, 1, 1, 1}, static_cast<Coherence>(5)));
}

}  // namespace
}  // namespace espalier
