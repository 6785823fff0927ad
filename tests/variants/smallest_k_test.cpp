// The order of smallest_k, the limits of its variants, and what of the CUB variants needs no CUB.

#include "reference_cpu/smallest_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"
#include "variants/smallest_k/key_types.hpp"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/sorted_rows.cuh"

namespace espalier::smallest_k {
Variant<Problem> warp_rows();
Variant<Problem> warp_packed_rows();
Variant<Problem> warp_sort_rows();
Variant<Problem> block_rows();
Variant<Problem> split_rows();
Variant<Problem> warp_cut_rows();
Variant<Problem> block_cut_rows();
Variant<Problem> cpu_minima_avx2();
Variant<Problem> cpu_minima_avx512();
}  // namespace espalier::smallest_k

namespace espalier::bench::smallest_k {

using namespace ::espalier::smallest_k;

Suite<Problem> suite();

namespace {

using Floats = std::numeric_limits<float>;

TEST(SmallestKOrder, KeysOrderAsDocumented) {
    const float ascending[] = {-Floats::infinity(),
                               Floats::lowest(),
                               -1.0F,
                               -Floats::min(),
                               -Floats::denorm_min(),
                               0.0F,
                               Floats::denorm_min(),
                               Floats::min(),
                               1.0F,
                               std::nextafter(1.0F, 2.0F),
                               Floats::max(),
                               Floats::infinity(),
                               Floats::quiet_NaN()};
    for (std::size_t i = 1; i < std::size(ascending); ++i) {
        EXPECT_LT(key_of(ascending[i - 1]), key_of(ascending[i])) << i;
        if (i + 1 < std::size(ascending)) {
            EXPECT_EQ(value_of(key_of(ascending[i])), ascending[i]);
        }
    }
    EXPECT_EQ(key_of(-0.0F), key_of(0.0F));
    EXPECT_EQ(key_of(-Floats::quiet_NaN()), key_of(Floats::quiet_NaN()));
    EXPECT_LT(key_of(Floats::quiet_NaN()), kEmptyKey);
    EXPECT_TRUE(std::isnan(value_of(kNanKey)));
    EXPECT_TRUE(std::isnan(value_of(kEmptyKey)));
    EXPECT_EQ(index_of_entry(kEmptyEntry), kNoIndex);
}

TEST(SmallestKOrder, TheQuickTestNeverTurnsAwayWhatComesBefore) {
    const float values[] = {-Floats::infinity(), -1.0F, -0.0F, 0.0F, 1.0F, Floats::infinity(), Floats::quiet_NaN()};
    for (const float value : values)
        for (const float worst : values)
            EXPECT_TRUE(key_of(value) >= key_of(worst) || may_come_before(value, worst)) << value << " " << worst;
}

TEST(SmallestKOrder, IntegersOrderByTheirSign) {
    using Ints = std::numeric_limits<std::int32_t>;
    const std::int32_t ascending[] = {Ints::min(), Ints::min() + 1, -1, 0, 1, Ints::max() - 1, Ints::max()};
    for (std::size_t i = 0; i < std::size(ascending); ++i) {
        EXPECT_EQ(value_as<std::int32_t>(key_of(ascending[i])), ascending[i]);
        if (i == 0) continue;
        EXPECT_LT(key_of(ascending[i - 1]), key_of(ascending[i]));
        EXPECT_TRUE(may_come_before(ascending[i - 1], ascending[i]));
        EXPECT_EQ(may_come_before(ascending[i], ascending[i - 1]), false) << i;
    }
    EXPECT_EQ(value_as<std::int32_t>(kEmptyKey), Ints::max());
    EXPECT_LT(entry_of(key_of(Ints::max()), 5), kEmptyEntry) << "an element of what fills lists comes before it";
    EXPECT_TRUE(may_come_before(Ints::max(), value_as<std::int32_t>(kEmptyKey)));
}

struct ShortFormat {
    double (*number_of)(std::uint16_t);
    std::uint16_t (*pattern_of)(double);
    float (*float_of)(std::uint16_t);
    std::uint16_t (*of_exact)(float);
};

class SmallestKTypes : public testing::TestWithParam<ShortFormat> {};

// The oracle's conversions are arithmetic on whole numbers, ours multiply and shift.
TEST_P(SmallestKTypes, EveryPatternOf16BitsIsTheOraclesNumber) {
    const auto& [number_of, pattern_of, float_of, of_exact] = GetParam();
    int numbers = 0;
    for (std::uint32_t i = 0; i < 1 << 16; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const double number = number_of(bits);
        const float value = float_of(bits);
        if (std::isnan(number)) {
            ASSERT_TRUE(std::isnan(value)) << i;
            ASSERT_TRUE(std::isnan(number_of(of_exact(value)))) << i;
            continue;
        }
        ++numbers;
        ASSERT_EQ(value, number) << i;
        ASSERT_EQ(of_exact(value), bits);
        ASSERT_EQ(pattern_of(number), bits);
    }
    EXPECT_GT(numbers, 60'000);
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallestKTypes,
                         testing::Values(ShortFormat{reference::number_of_binary16, reference::binary16_of,
                                                     float_of_binary16, binary16_of_exact},
                                         ShortFormat{reference::number_of_bfloat16, reference::bfloat16_of,
                                                     float_of_bfloat16, bfloat16_of_exact}),
                         [](const auto& instance) { return instance.index == 0 ? "binary16" : "bfloat16"; });

TEST(SmallestKOracle, RoundsToTheNearestAndEven) {
    EXPECT_EQ(reference::binary16_of(65504), 0x7BFF);
    EXPECT_EQ(reference::binary16_of(65519), 0x7BFF);
    EXPECT_EQ(reference::binary16_of(65520), 0x7C00) << "infinity";
    EXPECT_EQ(reference::binary16_of(2049), 0x6800) << "2048";
    EXPECT_EQ(reference::binary16_of(2051), 0x6802) << "2052";
    EXPECT_EQ(reference::binary16_of(-0x1.8p-24), 0x8002) << "a denormal";
    EXPECT_EQ(reference::bfloat16_of(257), 0x4380) << "256";
    EXPECT_EQ(reference::bfloat16_of(259), 0x4382) << "260";
}

TEST(SmallestKOracle, FillsListsOfIntegers) {
    constexpr double kLeast = std::numeric_limits<std::int32_t>::min(), kMost = -(kLeast + 1);
    const auto list = reference::smallest_k({kMost, 3, kLeast}, 5, kMost);
    std::vector<double> values;
    std::vector<std::int32_t> indices;
    for (const auto& [value, index] : list) values.push_back(value), indices.push_back(index);
    EXPECT_EQ(values, (std::vector<double>{kLeast, 3, kMost, kMost, kMost}));
    EXPECT_EQ(indices, (std::vector<std::int32_t>{2, 1, 0, kNoIndex, kNoIndex}));
}

Support supports(std::string_view variant, const Problem& problem, const Configuration& configuration,
                 const DeviceInfo& device) {
    const Family& family = *find_family("smallest_k");
    return family.supports(family.find(variant), problem_key(problem), configuration, device);
}

// Keys of before there were layouts, in journals and results, go on to mean the transposed one.
TEST(SmallestKLayout, KeysLeaveOutTheDefault) {
    std::string wrong;
    EXPECT_EQ(problem_key(Problem{5, 6, 2}), "rows=5;columns=6;k=2");
    EXPECT_EQ(problem_key(Problem{5, 6, 2, MatrixLayout::row_major}), "rows=5;columns=6;k=2;layout=row_major");
    EXPECT_EQ(parse_problem<Problem>("rows=5;columns=6;k=2", wrong)->layout, MatrixLayout::transposed);
    EXPECT_EQ(parse_problem<Problem>("rows=5;layout=row_major", wrong)->layout, MatrixLayout::row_major);
    const Family& family = *find_family("smallest_k");
    EXPECT_EQ(family.canonical("rows=5;columns=6;k=2;layout=transposed"), "rows=5;columns=6;k=2");
    EXPECT_FALSE(parse_problem<Problem>("layout=diagonal", wrong));
    EXPECT_NE(wrong.find("known: transposed, row_major"), std::string::npos) << wrong;
}

// Old keys mean lists in order, and what runs those serves lists in any order, too.
TEST(SmallestKOrderAxis, KeysLeaveOutTheDefault) {
    std::string wrong;
    Problem any{5, 6, 2, MatrixLayout::row_major};
    any.order = ListOrder::any;
    EXPECT_EQ(problem_key(any), "rows=5;columns=6;k=2;layout=row_major;order=any");
    EXPECT_EQ(parse_problem<Problem>("rows=5;columns=6;k=2", wrong)->order, ListOrder::ascending);
    EXPECT_EQ(parse_problem<Problem>("rows=5;order=any", wrong)->order, ListOrder::any);
    const Family& family = *find_family("smallest_k");
    EXPECT_EQ(family.canonical("rows=5;columns=6;k=2;order=ascending"), "rows=5;columns=6;k=2");
    EXPECT_FALSE(parse_problem<Problem>("order=descending", wrong));
    EXPECT_NE(wrong.find("known: ascending, any"), std::string::npos) << wrong;
}

Problem of_type(Problem problem, KeyType keys) {
    problem.keys = keys;
    return problem;
}

// Old keys mean float32, and what knows nothing else declines.
TEST(SmallestKKeysAxis, KeysLeaveOutTheDefault) {
    std::string wrong;
    EXPECT_EQ(problem_key(of_type({5, 6, 2}, KeyType::bfloat16)), "rows=5;columns=6;k=2;keys=bfloat16");
    EXPECT_EQ(parse_problem<Problem>("rows=5;columns=6;k=2", wrong)->keys, KeyType::float32);
    EXPECT_EQ(parse_problem<Problem>("rows=5;keys=int32", wrong)->keys, KeyType::int32);
    EXPECT_EQ(find_family("smallest_k")->canonical("rows=5;columns=6;k=2;keys=float32"), "rows=5;columns=6;k=2");
    EXPECT_FALSE(parse_problem<Problem>("keys=int64", wrong));
    EXPECT_NE(wrong.find("known: float32, float16, bfloat16, int32"), std::string::npos) << wrong;
    const DeviceInfo gpu = device::open(0);
    EXPECT_EQ(supports("local_insertion", of_type({9, 500, 8}, KeyType::int32), {{"block", 64}}, gpu).reason,
              "runs keys=float32 alone");
}

TEST(SmallestKKeysAxis, BaselinesServeEveryType) {
    for (const KeyType keys : {KeyType::float16, KeyType::bfloat16, KeyType::int32})
        for (const MatrixLayout layout : {MatrixLayout::transposed, MatrixLayout::row_major}) {
            const Problem problem = of_type({9, 500, 8, layout}, keys);
            EXPECT_TRUE(supports("global_insertion", problem, {{"block", 64}}, device::open(0)));
            EXPECT_TRUE(supports("cpu_scalar", problem, {}, device::describe_cpu()));
        }
}

TEST(SmallestKKeysAxis, ShorterNumbersAreFewerBytes) {
    const Problem problem{100, 1000, 10};
    EXPECT_EQ(problem.cost().bytes, 4 * 100'000 + 8 * 1'000);
    EXPECT_EQ(of_type(problem, KeyType::int32).cost().bytes, problem.cost().bytes);
    EXPECT_EQ(of_type(problem, KeyType::float16).cost().bytes, 2 * 100'000 + 6 * 1'000);
    EXPECT_EQ(suite().data_bytes(of_type(problem, KeyType::bfloat16)), 206'000);
}

TEST(SmallestKKeysAxis, IntegersFillTheirRangeAndFewStayFew) {
    const auto numbers = [](Data data) {
        Problem problem = of_type({10, 1000, 1}, KeyType::int32);
        problem.data = data;
        const auto workload = suite().workload(problem, 1, Pattern::uniform);
        const auto values = values_of<std::int32_t>(workload->inputs()[0]);
        return std::set<std::int32_t>(values.begin(), values.end());
    };
    const auto uniform = numbers(Data::uniform), few = numbers(Data::few_values), far = numbers(Data::distances);
    EXPECT_LT(*uniform.begin(), -2'000'000'000);
    EXPECT_GT(*uniform.rbegin(), 2'000'000'000);
    EXPECT_EQ(few.size(), 8);
    EXPECT_GE(*far.begin(), 0);
    EXPECT_GT(*far.rbegin(), 500'000'000);
}

TEST(SmallestKOrderAxis, AnyOrderAsksForLess) {
    Problem any{9, 500, 8};
    any.order = ListOrder::any;
    const DeviceInfo gpu = device::open(0);
    EXPECT_TRUE(supports("local_insertion", any, {{"block", 64}}, gpu)) << "it lists them in order";
    EXPECT_EQ(supports("copy_rows", {9, 8, 8}, {}, gpu).reason, "sorts nothing: needs order=any");
    EXPECT_EQ(supports("copy_rows", any, {}, gpu).reason, "selects nothing: needs k of all columns");
    any.k = 500;
    EXPECT_TRUE(supports("copy_rows", any, {}, gpu));
}

/// What a workload says of the three smallest of the row {1, 0, 0, 0}.
std::string verdict(const std::vector<float>& values, const std::vector<std::int32_t>& indices, ListOrder order) {
    Problem problem{1, 4, 3, MatrixLayout::row_major};
    problem.order = order;
    const Suite<Problem> all = suite();
    const auto workload = all.workload(problem, 1, Pattern::descending);
    const auto bytes = [](const auto& list) { return std::as_bytes(std::span(list)); };
    const std::array outputs{bytes(values), bytes(indices)};
    return workload->check(outputs, {.reason = "exact"}).description;
}

TEST(SmallestKOrderAxis, ChecksTheElementsAndNotTheirOrder) {
    EXPECT_EQ(verdict({0, 0, 0}, {1, 2, 3}, ListOrder::ascending), "");
    EXPECT_NE(verdict({0, 0, 0}, {3, 1, 2}, ListOrder::ascending), "");
    EXPECT_EQ(verdict({0, 0, 0}, {3, 1, 2}, ListOrder::any), "");
    EXPECT_NE(verdict({0, 0, 0}, {3, 1, 1}, ListOrder::any), "") << "one of them twice";
    EXPECT_NE(verdict({0, 1, 0}, {3, 0, 1}, ListOrder::any), "") << "one of the larger";
    EXPECT_NE(verdict({0, 0, 1}, {1, 2, 3}, ListOrder::any), "") << "a value that is not its element's";
}

TEST(SmallestKLayout, WhatDoesNotKnowItDeclines) {
    const Problem rows{9, 500, 8, MatrixLayout::row_major};
    const Configuration block{{"block", 64}};
    EXPECT_EQ(supports("local_insertion", rows, block, device::open(0)).reason, "runs layout=transposed alone");
    EXPECT_TRUE(supports("local_insertion", {9, 500, 8}, block, device::open(0)));
    EXPECT_TRUE(supports("global_insertion", rows, block, device::open(0)));
}

TEST(SmallestKLimits, ListsInRegisters) {
    DeviceInfo device = device::open(0);
    const Configuration in_memory{{"block", 256}, {"texture", 0}}, in_texture{{"block", 256}, {"texture", 1}};
    EXPECT_TRUE(supports("register_insertion", {9, 500, 118}, in_memory, device));
    EXPECT_TRUE(supports("register_insertion", {9, 500, 119}, in_memory, device));
    EXPECT_FALSE(supports("register_insertion", {9, 500, 120}, in_memory, device));
    device.texture_1d_linear_floats = 60;
    EXPECT_TRUE(supports("register_insertion", {5, 12, 3}, in_texture, device));
    EXPECT_FALSE(supports("register_insertion", {61, 1, 3}, in_texture, device));
    EXPECT_TRUE(supports("register_insertion", {61, 1, 3}, in_memory, device));
}

TEST(SmallestKLimits, ListsInSharedMemory) {
    DeviceInfo device = device::open(0);
    device.shared_per_block_optin = 16 * 1024;  // the source's device
    EXPECT_TRUE(supports("shared_insertion", {9, 500, 8}, {{"block", 256}}, device));
    EXPECT_FALSE(supports("shared_insertion", {9, 500, 9}, {{"block", 256}}, device));
}

TEST(SmallestKLimits, ListsOfOneTile) {
    const DeviceInfo device = device::open(0);
    EXPECT_TRUE(supports("block_rank_merge", {9, 500, 64}, {{"tile", 64}}, device));
    EXPECT_FALSE(supports("block_rank_merge", {9, 500, 65}, {{"tile", 64}}, device));
}

TEST(SmallestKLimits, LongRowsOfTheEdgeCasesAreCutIntoSlices) {
    const DeviceInfo device = device::open(0);
    const Family& family = *find_family("smallest_k");
    const auto workspace = [&](const Problem& problem) {
        return family.workspace(family.find("warp_select"), problem_key(problem), {{"warps", 8}}, device);
    };
    EXPECT_EQ(workspace({35, 1000, 2}), 0);
    EXPECT_EQ(workspace({35, 1100, 2}), 2U * 35 * 2 * sizeof(std::uint64_t));
}

TEST(SmallestKLimits, RowsBeyondSharedMemoryAreSortedInTheWorkspace) {
    DeviceInfo device = device::open(0);
    device.shared_per_block_optin = 512;  // 64 entries
    const Family& family = *find_family("smallest_k");
    const std::size_t v = family.find("bitonic_sort_rows");
    for (const std::int64_t columns : {63, 64, 65, 130}) {
        const auto bench = family.bench(problem_key(Problem{11, columns, 9}), 3, Pattern::uniform, device);
        bench->run(v, family.variants()[v].configurations[0]);
        EXPECT_EQ(bench->check(v).description, "") << columns;
    }
}

/// The gathering and keeping around CUB's sorts, with the standard library's stable sort in between.
TEST(SmallestKSortedRows, GatherSortAndKeepMatchTheOracle) {
    const DeviceInfo device = device::open(0);
    for (const Problem& problem : {Problem{1, 1, 1}, Problem{33, 65, 7}, Problem{5, 3, 6}, Problem{4, 0, 2},
                                   Problem{70, 31, 31}, Problem{32, 32, 1}}) {
        std::mt19937 random(5);
        std::vector<float> matrix(static_cast<std::size_t>(problem.elements()));
        for (float& value : matrix) value = static_cast<float>(random() % 20);  // many ties
        device::Buffer distances(matrix.size() * 4);
        const auto results = static_cast<std::size_t>(problem.results());
        device::Buffer values(results * 4), indices(results * 4);
        if (!matrix.empty()) device::copy_to_device(distances.data(), matrix.data(), distances.size());

        const Batch batch(problem);
        device::Buffer workspace(batch.bytes());
        const Context context{device, nullptr, {workspace.data(), workspace.size()}};
        const Buffers buffers{distances.as<float>(), values.as<float>(), indices.as<std::int32_t>()};
        sort_batches(context, problem, buffers, batch, BatchArrays(batch, workspace.data()),
                     [&](std::int64_t count, auto& keys, auto& columns) {
                         for (std::int64_t row = 0; row < count; ++row) {
                             const std::int64_t at = row * problem.columns;
                             std::vector<std::int32_t> order(static_cast<std::size_t>(problem.columns));
                             std::iota(order.begin(), order.end(), 0);
                             std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
                                 return keys.Current()[at + a] < keys.Current()[at + b];
                             });
                             for (std::size_t j = 0; j < order.size(); ++j) {
                                 const auto to = at + static_cast<std::int64_t>(j);
                                 keys.Alternate()[to] = keys.Current()[at + order[j]];
                                 columns.Alternate()[to] = columns.Current()[at + order[j]];
                             }
                         }
                         keys.selector = columns.selector = 1;
                     });

        for (std::int64_t row = 0; row < problem.rows; ++row) {
            std::vector<float> row_values;
            for (std::int64_t c = 0; c < problem.columns; ++c)
                row_values.push_back(matrix[static_cast<std::size_t>(c * problem.rows + row)]);
            const auto expected = reference::smallest_k({row_values.begin(), row_values.end()}, problem.k);
            for (std::int64_t j = 0; j < problem.k; ++j) {
                const auto at = j * problem.rows + row;
                const auto& [value, index] = expected[static_cast<std::size_t>(j)];
                EXPECT_EQ(indices.as<std::int32_t>()[at], index);
                EXPECT_TRUE(values.as<float>()[at] == value || index == kNoIndex);
            }
        }
    }
}

struct RowsOfFewValues {
    const char* name;
    std::vector<float> values;  ///< the columns go through them in turn, with a step that spreads them over the lanes
};
void PrintTo(const RowsOfFewValues& rows, std::ostream* out) { *out << rows.name; }

/// Fewer of them than a list has entries.
std::vector<float> few_numbers() {
    std::vector<float> values(190, Floats::quiet_NaN());
    values[17] = 1, values[60] = -1;
    return values;
}

/// The keys of the two kinds of values are neighbours but for that of -0, which no element has.
std::vector<float> zeros_and_few_below() {
    std::vector<float> values(90, 0.0F);
    values[0] = -Floats::denorm_min();
    return values;
}

/// More neighbouring keys than the bits tell apart that a sort in 32 bits leaves to them, the larger ones first, beside
/// one far away.
std::vector<float> nearly_equal_beside(float far) {
    std::vector<float> values{far};
    for (int i = 199; i >= 0; --i) values.push_back(1 + static_cast<float>(i) * Floats::epsilon());
    return values;
}

class SmallestKRows : public testing::TestWithParam<RowsOfFewValues> {};

/// Where the cut falls among more equal elements than fit, they are taken in the order of their columns.
TEST_P(SmallestKRows, TakeTiesInTheOrderOfTheirColumns) {
    const DeviceInfo device = device::open(0);
    for (const Problem& problem :
         {Problem{3, 256, 20, MatrixLayout::row_major}, Problem{2, 1001, 8, MatrixLayout::row_major},
          Problem{2, 1024, 100, MatrixLayout::row_major}, Problem{1, 5000, 70, MatrixLayout::row_major},
          Problem{1, 13001, 300, MatrixLayout::row_major}}) {
        std::vector<float> matrix(static_cast<std::size_t>(problem.elements()));
        const auto& few = GetParam().values;
        for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = few[(i * 7 + i / 50) % few.size()];
        const auto results = static_cast<std::size_t>(problem.results());
        device::Buffer distances(matrix.size() * 4), values(results * 4), indices(results * 4);
        device::copy_to_device(distances.data(), matrix.data(), distances.size());
        const Buffers buffers{distances.as<float>(), values.as<float>(), indices.as<std::int32_t>()};
        for (const Variant<Problem>& variant : {warp_rows(), warp_packed_rows(), warp_sort_rows(), block_rows(),
                                                split_rows(), warp_cut_rows(), block_cut_rows()})
            for (const Configuration& configuration : variant.space.enumerate()) {
                if (!variant.supports(problem, configuration, device)) continue;
                SCOPED_TRACE(variant.summary);
                SCOPED_TRACE(problem_key(problem) + " " + configuration.text());
                device::Buffer workspace(variant.workspace ? variant.workspace(problem, configuration, device) : 0);
                Context context{device, nullptr, {workspace.data(), workspace.size()}};
                variant.run(context, problem, buffers, configuration);
                for (std::int64_t row = 0; row < problem.rows; ++row) {
                    const auto first = matrix.begin() + row * problem.columns;
                    const auto expected = reference::smallest_k({first, first + problem.columns}, problem.k);
                    for (std::int64_t j = 0; j < problem.k; ++j)
                        ASSERT_EQ(indices.as<std::int32_t>()[row * problem.k + j],
                                  expected[static_cast<std::size_t>(j)].index)
                            << "row " << row << ", " << j;
                }
            }
    }
}

/// Cuts of k elements exactly, where a search has to end at a key that many elements have.
TEST(SmallestKThreshold, TakesTiesAtTheEndsOfTheNumbers) {
    const DeviceInfo device = device::open(0);
    constexpr float kEnds[] = {-Floats::infinity(), Floats::lowest(),   Floats::lowest(),
                               Floats::max(),       Floats::infinity(), Floats::quiet_NaN()};
    for (const std::int64_t k : {40, 70, 200, 400, 520})
        for (const ListOrder order : {ListOrder::ascending, ListOrder::any}) {
            Problem problem{2, 530, k, MatrixLayout::row_major};
            problem.order = order;
            std::vector<float> matrix(static_cast<std::size_t>(problem.elements()));
            for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = kEnds[(i * 7 + i / 50) % std::size(kEnds)];
            const auto results = static_cast<std::size_t>(problem.results());
            device::Buffer distances(matrix.size() * 4), values(results * 4), indices(results * 4);
            device::copy_to_device(distances.data(), matrix.data(), distances.size());
            const Buffers buffers{distances.as<float>(), values.as<float>(), indices.as<std::int32_t>()};
            for (const Variant<Problem>& variant :
                 {warp_rows(), warp_packed_rows(), block_rows(), warp_cut_rows(), block_cut_rows()})
                for (const Configuration& configuration : variant.space.enumerate()) {
                    if (!variant.supports(problem, configuration, device)) continue;
                    SCOPED_TRACE(problem_key(problem) + " " + configuration.text());
                    Context context{device, nullptr, {}};
                    variant.run(context, problem, buffers, configuration);
                    for (std::int64_t row = 0; row < problem.rows; ++row) {
                        const auto first = matrix.begin() + row * problem.columns;
                        std::vector<std::int32_t> expected, found;
                        for (const auto& [value, index] : reference::smallest_k({first, first + problem.columns}, k))
                            expected.push_back(index);
                        for (std::int64_t j = 0; j < k; ++j) found.push_back(indices.as<std::int32_t>()[row * k + j]);
                        if (order == ListOrder::any) std::ranges::sort(expected), std::ranges::sort(found);
                        ASSERT_EQ(found, expected) << "row " << row;
                    }
                }
        }
}

/// Rows of few integers, of which many are at the ends of the range: below INT32_MIN there is no key, and INT32_MAX is
/// what lists are filled with.
TEST(SmallestKThreshold, TakesTiesAtTheEndsOfTheIntegers) {
    using Ints = std::numeric_limits<std::int32_t>;
    const DeviceInfo device = device::open(0);
    const std::vector<std::vector<std::int32_t>> kinds{
        {Ints::min(), Ints::min(), Ints::min() + 1, 0, Ints::max() - 1, Ints::max()},
        {Ints::min()},
        {Ints::max()},
        {Ints::max(), Ints::max() - 1},
        {Ints::max(), Ints::max(), Ints::max(), Ints::min()},
    };
    int tried = 0;
    for (const auto& kind : kinds)
        for (const auto& [columns, k] : {std::array<std::int64_t, 2>{30, 40},
                                         {530, 8},
                                         {530, 40},
                                         {530, 200},
                                         {530, 520},
                                         {5000, 70},
                                         {9001, 70}}) {
            const Problem problem = of_type({2, columns, k, MatrixLayout::row_major}, KeyType::int32);
            std::vector<std::int32_t> matrix(static_cast<std::size_t>(problem.elements()));
            for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = kind[(i * 7 + i / 50) % kind.size()];
            const auto results = static_cast<std::size_t>(problem.results());
            device::Buffer keys(matrix.size() * 4), selected(results * 4), indices(results * 4);
            device::copy_to_device(keys.data(), matrix.data(), keys.size());
            const Buffers buffers{
                .indices = indices.as<std::int32_t>(), .keys = keys.data(), .selected = selected.data()};
            for (const Variant<Problem>& variant :
                 {warp_packed_rows(), block_rows(), split_rows(), warp_cut_rows(), block_cut_rows()})
                for (const Configuration& configuration : variant.space.enumerate()) {
                    if (!variant.supports(problem, configuration, device)) continue;
                    ++tried;
                    SCOPED_TRACE(variant.summary);
                    SCOPED_TRACE(problem_key(problem) + " " + configuration.text());
                    device::Buffer workspace(variant.workspace ? variant.workspace(problem, configuration, device) : 0);
                    Context context{device, nullptr, {workspace.data(), workspace.size()}};
                    variant.run(context, problem, buffers, configuration);
                    for (std::int64_t row = 0; row < problem.rows; ++row) {
                        const auto first = matrix.begin() + row * columns;
                        const auto expected = reference::smallest_k({first, first + columns}, k, Ints::max());
                        for (std::int64_t j = 0; j < k; ++j) {
                            const auto& [value, index] = expected[static_cast<std::size_t>(j)];
                            ASSERT_EQ(indices.as<std::int32_t>()[row * k + j], index) << row << ", " << j;
                            ASSERT_EQ(selected.as<std::int32_t>()[row * k + j], value) << row << ", " << j;
                        }
                    }
                }
        }
    EXPECT_GT(tried, 100);
}

INSTANTIATE_TEST_SUITE_P(Values, SmallestKRows,
                         testing::Values(RowsOfFewValues{"signed zeros", {-0.0F, 0.0F, 1}},
                                         RowsOfFewValues{"nearly equal", nearly_equal_beside(1e30F)},
                                         RowsOfFewValues{"nearly equal above a small one", nearly_equal_beside(-1e30F)},
                                         RowsOfFewValues{"zeros and few below", zeros_and_few_below()},
                                         RowsOfFewValues{"eight", {0, 1, 2, 3, 4, 5, 6, 7}},
                                         RowsOfFewValues{"infinities", {Floats::infinity(), -Floats::infinity()}},
                                         RowsOfFewValues{"infinity and NaN", {Floats::infinity(), Floats::quiet_NaN()}},
                                         RowsOfFewValues{"few numbers among NaN", few_numbers()},
                                         RowsOfFewValues{"NaN", {Floats::quiet_NaN()}}),
                         [](const auto& instance) { return "Values" + std::to_string(instance.index); });

/// Rows that bounds of blocks may go wrong at: their orders, numbers that are few among NaN, and ends of the numbers.
std::vector<std::vector<float>> rows_for_bounds(std::size_t columns) {
    std::mt19937 random(static_cast<unsigned>(columns));
    std::vector<std::vector<float>> rows(8, std::vector<float>(columns));
    for (std::size_t i = 0; i < columns; ++i) {
        const auto x = static_cast<float>(random() >> 8) * 0x1p-24F - 0.25F;
        rows[0][i] = x;
        rows[1][i] = static_cast<float>(i);
        rows[2][i] = -static_cast<float>(i);
        rows[3][i] = static_cast<float>(random() % 3);
        rows[4][i] = random() % 50 == 0 ? x : Floats::quiet_NaN();
        rows[5][i] = random() % 2 ? Floats::infinity() : random() % 100 == 0 ? x : Floats::quiet_NaN();
        rows[6][i] = i * 2 < columns ? x : -Floats::infinity();
        rows[7][i] = random() % 2 ? -0.0F : 0.0F;
    }
    return rows;
}

/// The rows twice and the first once more: sixteen that are transposed together, and a rest.
TEST(SmallestKMinima, BoundNothingAway) {
    const DeviceInfo cpu = device::describe_cpu();
    int tried = 0;
    for (const Variant<Problem>& variant : {cpu_minima_avx2(), cpu_minima_avx512()})
        for (const std::int64_t columns : {1, 31, 32, 33, 1000, 8191, 8192, 8193, 20'000}) {
            const auto kinds = rows_for_bounds(static_cast<std::size_t>(columns));
            const auto rows = static_cast<std::int64_t>(2 * kinds.size() + 1);
            const auto row = [&](std::int64_t r) -> const std::vector<float>& {
                return kinds[static_cast<std::size_t>(r) % kinds.size()];
            };
            for (const std::int64_t k : {1, 8, 127, 129, 1000})
                for (const MatrixLayout layout : {MatrixLayout::row_major, MatrixLayout::transposed}) {
                    const Problem problem{rows, columns, k, layout};
                    if (!variant.supports(problem, {}, cpu)) continue;
                    ++tried;
                    std::vector<float> matrix(static_cast<std::size_t>(problem.elements()));
                    std::vector<float> values(static_cast<std::size_t>(problem.results()));
                    std::vector<std::int32_t> indices(values.size());
                    for (std::int64_t r = 0; r < rows; ++r)
                        for (std::int64_t c = 0; c < columns; ++c)
                            matrix[static_cast<std::size_t>(problem.at(r, c))] = row(r)[static_cast<std::size_t>(c)];
                    Context context{cpu, nullptr, {}};
                    variant.run(context, problem, {matrix.data(), values.data(), indices.data()}, {});
                    for (std::int64_t r = 0; r < rows; ++r) {
                        std::vector<std::int32_t> expected, found;
                        for (const auto& [value, index] : reference::smallest_k({row(r).begin(), row(r).end()}, k))
                            expected.push_back(index);
                        for (std::int64_t j = 0; j < k; ++j)
                            found.push_back(indices[static_cast<std::size_t>(problem.result_at(r, j))]);
                        ASSERT_EQ(found, expected) << problem_key(problem) << ", row " << r;
                    }
                }
        }
    if (tried == 0) GTEST_SKIP() << "needs a processor with AVX2";
}

TEST(SmallestKSortedRows, WorkspaceOfABatchIsBounded) {
    EXPECT_EQ(Batch({1000000, 1000, 5}).rows, (1 << 26) / 1000);
    EXPECT_EQ(Batch({3, 1 << 27, 5}).rows, 1);
    EXPECT_EQ(Batch({0, 0, 5}).rows, 1);
}

}  // namespace
}  // namespace espalier::bench::smallest_k
