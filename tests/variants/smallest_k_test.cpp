// The order of smallest_k, the features of its problems, and the limits of its variants.

#include "reference_cpu/smallest_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

}  // namespace
}  // namespace espalier::bench::smallest_k
