// Rows that selections of smallest_k may go wrong at: ties, ends of the numbers, few numbers among NaN, beside the
// oracle; and what of the CUB variants needs no CUB.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"
#include "reference_cpu/smallest_k.hpp"
#include "variants/smallest_k/sorted_rows.cuh"

namespace espalier::smallest_k {
Variant<Problem> warp_rows();
Variant<Problem> warp_packed_rows();
Variant<Problem> warp_sort_rows();
Variant<Problem> block_rows();
Variant<Problem> split_rows();
Variant<Problem> warp_cut_rows();
Variant<Problem> block_cut_rows();
Variant<Problem> block_rank_rows();
Variant<Problem> cpu_avx2();
Variant<Problem> cpu_avx512();
Variant<Problem> cpu_minima_avx2();
Variant<Problem> cpu_minima_avx512();
Variant<Problem> cpu_insertion_avx2();
Variant<Problem> cpu_insertion_avx512();
}  // namespace espalier::smallest_k

namespace espalier::bench::smallest_k {

using namespace ::espalier::smallest_k;

namespace {

using Floats = std::numeric_limits<float>;

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
                                                split_rows(), warp_cut_rows(), block_cut_rows(), block_rank_rows()})
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
                 {warp_rows(), warp_packed_rows(), block_rows(), warp_cut_rows(), block_cut_rows(), block_rank_rows()})
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
            Problem problem{2, columns, k, MatrixLayout::row_major};
            problem.keys = KeyType::int32;
            std::vector<std::int32_t> matrix(static_cast<std::size_t>(problem.elements()));
            for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = kind[(i * 7 + i / 50) % kind.size()];
            const auto results = static_cast<std::size_t>(problem.results());
            device::Buffer keys(matrix.size() * 4), selected(results * 4), indices(results * 4);
            device::copy_to_device(keys.data(), matrix.data(), keys.size());
            const Buffers buffers{
                .indices = indices.as<std::int32_t>(), .keys = keys.data(), .selected = selected.data()};
            for (const Variant<Problem>& variant :
                 {warp_packed_rows(), block_rows(), split_rows(), warp_cut_rows(), block_cut_rows(), block_rank_rows()})
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

/// Rows that bounds of blocks and of samples may go wrong at: their orders, numbers that are few among NaN, ends of the
/// numbers, and what falls at first, down to many equals, to NaN, or to where it rises again, or does so in waves.
std::vector<std::vector<float>> rows_for_bounds(std::size_t columns) {
    std::mt19937 random(static_cast<unsigned>(columns));
    std::vector<std::vector<float>> rows(12, std::vector<float>(columns));
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
        const auto left = static_cast<float>(columns - i), half = static_cast<float>(columns / 2);
        rows[8][i] = std::max(left, half);
        rows[9][i] = left > half ? left : Floats::quiet_NaN();
        rows[10][i] = std::fabs(left - half / 2);
        rows[11][i] = left - static_cast<float>(i % 512 * 3);
    }
    return rows;
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The rows twice and the first once more: sixteen that are taken together, and a rest.
TEST(SmallestKOnCpu, BoundsNothingAway) {
    const DeviceInfo cpu = device::describe_cpu();
    int tried = 0;
    for (const Variant<Problem>& variant : {cpu_avx2(), cpu_avx512(), cpu_minima_avx2(), cpu_minima_avx512(),
                                            cpu_insertion_avx2(), cpu_insertion_avx512()})
        for (const std::int64_t columns : {1, 31, 32, 33, 1000, 8191, 8192, 8193, 20'000}) {
            const auto kinds = rows_for_bounds(static_cast<std::size_t>(columns));
            const auto rows = static_cast<std::int64_t>(2 * kinds.size() + 1);
            const auto row = [&](std::int64_t r) -> const std::vector<float>& {
                return kinds[static_cast<std::size_t>(r) % kinds.size()];
            };
            for (const std::int64_t k : {1, 8, 21, 127, 129, 1000})
                for (const MatrixLayout layout : {MatrixLayout::row_major, MatrixLayout::transposed}) {
                    const Problem problem{rows, columns, k, layout};
                    const Configuration configuration = variant.space.enumerate().front();
                    if (!variant.supports(problem, configuration, cpu)) continue;
                    ++tried;
                    std::vector<float> matrix(static_cast<std::size_t>(problem.elements()));
                    std::vector<float> values(static_cast<std::size_t>(problem.results()));
                    std::vector<std::int32_t> indices(values.size());
                    for (std::int64_t r = 0; r < rows; ++r)
                        for (std::int64_t c = 0; c < columns; ++c)
                            matrix[static_cast<std::size_t>(problem.at(r, c))] = row(r)[static_cast<std::size_t>(c)];
                    Context context{cpu, nullptr, {}};
                    variant.run(context, problem, {matrix.data(), values.data(), indices.data()}, configuration);
                    for (std::int64_t r = 0; r < rows; ++r) {
                        std::vector<std::int32_t> expected, found;
                        for (const auto& [value, index] : reference::smallest_k({row(r).begin(), row(r).end()}, k)) {
                            const auto at = problem.result_at(r, static_cast<std::int64_t>(expected.size()));
                            ASSERT_TRUE(same_number(values[static_cast<std::size_t>(at)], value))
                                << problem_key(problem) << ", row " << r << ", " << expected.size();
                            expected.push_back(index);
                            found.push_back(indices[static_cast<std::size_t>(at)]);
                        }
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
