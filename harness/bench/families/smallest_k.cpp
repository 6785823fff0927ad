#include "reference_cpu/smallest_k.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/bench/families/host_array.hpp"
#include "harness/bench/families/parallel.hpp"
#include "harness/bench/families/selection_keys.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::bench::smallest_k {

using namespace ::espalier::smallest_k;

namespace {

/// Distances of points around 64 centres to rows around the same ones, in four dimensions.
class ClusteredPoints {
public:
    ClusteredPoints(const Problem& problem, std::uint64_t seed)
        : rows_(around_centres(problem.rows, seed, 1)), columns_(around_centres(problem.columns, seed, 2)) {}

    [[nodiscard]] float distance(std::int64_t row, std::int64_t column) const {
        const Point &x = rows_[static_cast<std::size_t>(row)], &y = columns_[static_cast<std::size_t>(column)];
        float sum = 0;
        for (std::size_t a = 0; a < x.size(); ++a) sum += (x[a] - y[a]) * (x[a] - y[a]);
        return std::sqrt(sum);
    }

private:
    using Point = std::array<float, 4>;

    static float uniform(std::uint64_t seed, std::uint64_t i) {
        return static_cast<float>(random_bits(seed, i) >> 40) * 0x1p-24F;
    }

    static std::vector<Point> around_centres(std::int64_t count, std::uint64_t seed, std::uint64_t stream) {
        constexpr float kSpread = 0.05F;
        std::vector<Point> points(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < points.size(); ++i) {
            const std::uint64_t centre = random_bits(4 * seed + stream, i * 5) % 64;
            for (std::size_t a = 0; a < points[i].size(); ++a)
                points[i][a] = uniform(4 * seed, centre * 4 + a) + kSpread * uniform(4 * seed + stream, i * 5 + 1 + a);
        }
        return points;
    }

    std::vector<Point> rows_, columns_;
};

/// Uniform: what the problem's data are, or 0..1, as distances are not negative. Constant: all elements tie. Ascending
/// and descending along each row, the best and the worst case of insertion, every value four times. Special: NaN,
/// infinities, denormals, signed zeros and both extremes among few ordinary values, so that all tie. `Keys` as in
/// selection_keys.hpp; numbers are rounded to what its type holds.
template <class Keys>
class MatrixWorkload final : public Workload<Problem> {
public:
    MatrixWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern)
        : problem_(problem), pattern_(pattern_of(problem, pattern)) {
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(matrix_)}; }
    std::vector<std::size_t> output_bytes() const override {
        const auto results = static_cast<std::size_t>(problem_.results());
        return {results * sizeof(Stored), results * sizeof(std::int32_t)};
    }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        auto* const indices = reinterpret_cast<std::int32_t*>(out[1]);
        if constexpr (std::is_same_v<Stored, float>)
            return {reinterpret_cast<const float*>(in[0]), reinterpret_cast<float*>(out[0]), indices};
        else
            return {.indices = indices, .keys = in[0], .selected = out[0]};
    }

    /// Exact: selection computes nothing.
    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        if (!expected_) compute_expected();
        const auto values = values_of<Stored>(outputs[0]);
        const auto indices = values_of<std::int32_t>(outputs[1]);
        if (tolerance.any_order) return check_in_any_order(values, indices);
        if (problem_.order == ListOrder::any) return check_lists(values, indices);
        const std::size_t at = first_where(values.size(), [&](std::size_t i) {
            const auto& [value, index] = (*expected_)[i];
            return !equal(Keys::number(values[i]), value) || indices[i] != index;
        });
        return at == values.size() ? Mismatch{} : Mismatch{describe(at, Keys::number(values[at]), indices[at])};
    }

    bool adopt(std::span<const std::span<const std::byte>> outputs) override {
        const auto values = values_of<Stored>(outputs[0]);
        const auto indices = values_of<std::int32_t>(outputs[1]);
        expected_.emplace();
        for (std::size_t i = 0; i < values.size(); ++i) expected_->push_back({Keys::number(values[i]), indices[i]});
        if (problem_.order == ListOrder::any)
            for (std::int64_t row = 0; row < problem_.rows; ++row) {
                const auto list = sorted_list(row, values, indices);
                for (std::size_t j = 0; j < list.size(); ++j)
                    (*expected_)[static_cast<std::size_t>(problem_.result_at(row, static_cast<std::int64_t>(j)))] =
                        list[j];
            }
        return true;
    }

    void refresh(std::uint64_t seed) override {
        matrix_.resize(static_cast<std::size_t>(problem_.elements()));
        expected_.reset();
        if (pattern_ == Pattern::uniform && problem_.data == Data::distances) {
            const ClusteredPoints points(problem_, seed);
            return generate(matrix_, [&](std::size_t i) {
                const auto at = static_cast<std::int64_t>(i);
                return Keys::distance(points.distance(row_of(at), column_of(at)));
            });
        }
        generate(matrix_,
                 [&](std::size_t i) { return value(column_of(static_cast<std::int64_t>(i)), random_bits(seed, i)); });
    }

private:
    using Stored = typename Keys::Stored;

    [[nodiscard]] bool row_major() const { return problem_.layout == MatrixLayout::row_major; }
    [[nodiscard]] std::int64_t column_of(std::int64_t at) const {
        return row_major() ? at % problem_.columns : at / problem_.rows;
    }
    [[nodiscard]] std::int64_t row_of(std::int64_t at) const {
        return row_major() ? at / problem_.columns : at % problem_.rows;
    }

    static Pattern pattern_of(const Problem& problem, Pattern pattern) {
        if (pattern != Pattern::uniform) return pattern;
        if (problem.data == Data::ascending) return Pattern::ascending;
        if (problem.data == Data::descending) return Pattern::descending;
        return pattern;
    }

    /// The list of a row in the order of its values, then of its columns, as far as it holds elements.
    [[nodiscard]] std::vector<reference::Neighbour> sorted_list(std::int64_t row, std::span<const Stored> values,
                                                                std::span<const std::int32_t> indices) const {
        std::vector<reference::Neighbour> list;
        for (std::int64_t j = 0; j < problem_.k; ++j) {
            const auto at = static_cast<std::size_t>(problem_.result_at(row, j));
            list.push_back({Keys::number(values[at]), indices[at]});
        }
        const auto elements = std::min(problem_.k, problem_.columns);
        std::sort(list.begin(), list.begin() + elements,
                  [](const auto& a, const auto& b) { return reference::comes_before(a, b); });
        return list;
    }

    /// Row by row: the elements that are expected, each in any place, and behind them entries without one.
    [[nodiscard]] Mismatch check_lists(std::span<const Stored> values, std::span<const std::int32_t> indices) const {
        const std::size_t wrong = first_where(static_cast<std::size_t>(problem_.rows), [&](std::size_t row) {
            const auto list = sorted_list(static_cast<std::int64_t>(row), values, indices);
            for (std::size_t j = 0; j < list.size(); ++j) {
                const auto at = static_cast<std::size_t>(
                    problem_.result_at(static_cast<std::int64_t>(row), static_cast<std::int64_t>(j)));
                const auto& expected = (*expected_)[at];
                if (!equal(list[j].value, expected.value) || list[j].index != expected.index) return true;
            }
            return false;
        });
        if (wrong == static_cast<std::size_t>(problem_.rows)) return {};
        return {"row " + std::to_string(wrong) + " does not hold its k smallest, of equal ones those of lower columns"};
    }

    /// Each of an element of its own, and sorted the values that are expected. For k up to the length of a row.
    [[nodiscard]] Mismatch check_in_any_order(std::span<const Stored> values,
                                              std::span<const std::int32_t> indices) const {
        const std::size_t wrong = first_where(static_cast<std::size_t>(problem_.rows), [&](std::size_t row) {
            return !is_selection(static_cast<std::int64_t>(row), values, indices);
        });
        if (wrong == static_cast<std::size_t>(problem_.rows)) return {};
        return {"row " + std::to_string(wrong) + " does not hold its k smallest"};
    }

    [[nodiscard]] bool is_selection(std::int64_t row, std::span<const Stored> values,
                                    std::span<const std::int32_t> indices) const {
        std::vector<std::pair<double, std::int32_t>> list;
        for (std::int64_t j = 0; j < problem_.k; ++j) {
            const auto at = static_cast<std::size_t>(problem_.result_at(row, j));
            const std::int32_t column = indices[at];
            if (column < 0 || column >= problem_.columns) return false;
            const double value = Keys::number(values[at]);
            if (!equal(Keys::number(matrix_[static_cast<std::size_t>(problem_.at(row, column))]), value)) return false;
            list.emplace_back(value, column);
        }
        std::ranges::sort(list, {}, &std::pair<double, std::int32_t>::second);
        const auto same_column = [](const auto& a, const auto& b) { return a.second == b.second; };
        if (std::ranges::adjacent_find(list, same_column) != list.end()) return false;
        std::ranges::sort(
            list, [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); },
            &std::pair<double, std::int32_t>::first);
        for (std::size_t j = 0; j < list.size(); ++j)
            if (!equal(list[j].first,
                       (*expected_)[static_cast<std::size_t>(problem_.result_at(row, static_cast<std::int64_t>(j)))]
                           .value))
                return false;
        return true;
    }

    static bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

    Stored value(std::int64_t column, std::uint64_t bits) const {
        switch (pattern_) {
            case Pattern::constant: return Keys::of(1.5);
            case Pattern::ascending: return Keys::of(static_cast<double>(column / 4));
            case Pattern::descending: return Keys::of(static_cast<double>((problem_.columns - column) / 4));
            case Pattern::special: return Keys::kSpecial[bits % Keys::kSpecial.size()];
            case Pattern::uniform: break;
        }
        return problem_.data == Data::few_values ? Keys::of(static_cast<double>(bits >> 61)) : Keys::uniform(bits);
    }

    void compute_expected() {
        const auto rows = static_cast<std::size_t>(problem_.rows), columns = static_cast<std::size_t>(problem_.columns);
        expected_.emplace(static_cast<std::size_t>(problem_.results()));
        in_parallel(problem_.rows, [&](std::int64_t row) {
            const auto r = static_cast<std::size_t>(row);
            std::vector<double> values(columns);
            for (std::size_t c = 0; c < columns; ++c)
                values[c] = Keys::number(row_major() ? matrix_[r * columns + c] : matrix_[c * rows + r]);
            const auto list = reference::smallest_k(values, problem_.k, Keys::kPadding);
            for (std::size_t j = 0; j < list.size(); ++j)
                (*expected_)[row_major() ? r * list.size() + j : j * rows + r] = list[j];
        });
    }

    [[nodiscard]] std::string describe(std::size_t at, double value, std::int32_t index) const {
        const auto rows = static_cast<std::size_t>(problem_.rows), k = static_cast<std::size_t>(problem_.k);
        const auto& expected = (*expected_)[at];
        return "entry " + std::to_string(row_major() ? at % k : at / rows) + " of row " +
               std::to_string(row_major() ? at / k : at % rows) + " is " + std::to_string(value) + " at " +
               std::to_string(index) + ", expected " + std::to_string(expected.value) + " at " +
               std::to_string(expected.index);
    }

    Problem problem_;
    Pattern pattern_;
    HostArray<Stored> matrix_;
    std::optional<std::vector<reference::Neighbour>> expected_;  ///< laid out as the outputs
};

std::unique_ptr<Workload<Problem>> workload(const Problem& problem, std::uint64_t seed, Pattern pattern) {
    switch (problem.keys) {
        case KeyType::float16: return make_workload<MatrixWorkload<Float16Keys>>(problem, seed, pattern);
        case KeyType::bfloat16: return make_workload<MatrixWorkload<Bfloat16Keys>>(problem, seed, pattern);
        case KeyType::int32: return make_workload<MatrixWorkload<Int32Keys>>(problem, seed, pattern);
        case KeyType::float32: break;
    }
    return make_workload<MatrixWorkload<Float32Keys>>(problem, seed, pattern);
}

/// Every size with every k that is not longer than its rows.
std::vector<Problem> combine(std::span<const std::array<std::int64_t, 2>> sizes, std::span<const std::int64_t> ks,
                             MatrixLayout layout = MatrixLayout::transposed) {
    std::vector<Problem> problems;
    for (const auto& [rows, columns] : sizes)
        for (const auto k : ks)
            if (k <= columns) problems.push_back({rows, columns, k, layout});
    return problems;
}

void append(std::vector<Problem>& problems, const std::vector<Problem>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
}

/// The same problems with all but uniform data.
std::vector<Problem> with_other_data(std::span<const Problem> uniform) {
    std::vector<Problem> problems;
    for (Problem problem : uniform)
        for (const Data data : {Data::ascending, Data::descending, Data::distances, Data::few_values}) {
            problem.data = data;
            problems.push_back(problem);
        }
    return problems;
}

/// The same problems with numbers of all types but float32.
std::vector<Problem> with_other_keys(const std::vector<Problem>& floats) {
    std::vector<Problem> problems;
    for (Problem problem : floats)
        for (const KeyType keys : {KeyType::float16, KeyType::bfloat16, KeyType::int32}) {
            problem.keys = keys;
            problems.push_back(problem);
        }
    return problems;
}

using Sizes = std::vector<std::array<std::int64_t, 2>>;

std::vector<Problem> cpu_problems(Effort effort) {
    if (effort == Effort::quick)
        return combine(Sizes{{1, 1000}, {100, 1000}, {1000, 100}}, std::vector<std::int64_t>{1, 10, 100});
    // About the numbers of rows that threads take at a time, and beyond.
    Sizes sizes{{1, 1000},  {1, 10000},  {5, 1000},  {20, 100},   {20, 1000},   {20, 10000}, {50, 100},
                {50, 1000}, {100, 1000}, {200, 100}, {1000, 100}, {1000, 1000}, {200, 10000}};
    if (effort == Effort::full) sizes.insert(sizes.end(), {{10000, 10000}, {1000, 100000}});
    auto problems = combine(sizes, std::vector<std::int64_t>{1, 5, 10, 21, 32, 100, 1000});
    if (effort != Effort::full)  // the slowest by far
        std::erase_if(problems, [](const Problem& p) { return p.rows == 1000 && p.k == 1000; });
    append(problems, combine(Sizes{{1, 10000}, {20, 1000}, {1000, 100}, {1000, 1000}, {200, 10000}},
                             std::vector<std::int64_t>{1, 10, 100}, MatrixLayout::row_major));
    append(problems, with_other_keys(combine(Sizes{{1, 10000}, {200, 10000}}, std::vector<std::int64_t>{10},
                                             MatrixLayout::row_major)));
    return problems;
}

/// As frameworks have them: one long row, some, and many short ones, with the numbers of columns between them at which
/// a row stops fitting a part of a warp, a warp and a block.
std::vector<Problem> row_major_gpu_problems() {
    constexpr auto kLayout = MatrixLayout::row_major;
    auto problems = combine(Sizes{{1, 100000}, {30, 1000}, {100, 10000}, {1000, 1000}, {3333, 5000}, {10000, 10000}},
                            std::vector<std::int64_t>{1, 10, 32, 50, 128, 512}, kLayout);
    append(problems, combine(Sizes{{1048576, 64}, {1048576, 256}, {262144, 1024}, {131072, 2048}},
                             std::vector<std::int64_t>{1, 8, 32, 128}, kLayout));
    append(problems, combine(Sizes{{16384, 16384}, {10000, 100000}}, std::vector<std::int64_t>{8, 32, 128}, kLayout));
    // Lists that are a good part of their row.
    append(problems, combine(Sizes{{262144, 1024}}, std::vector<std::int64_t>{512, 1024}, kLayout));
    append(problems, combine(Sizes{{3333, 5000}, {16384, 16384}}, std::vector<std::int64_t>{1024}, kLayout));
    append(problems, with_other_data(combine(Sizes{{1048576, 256}, {262144, 1024}, {3333, 5000}, {16384, 16384}},
                                             std::vector<std::int64_t>{8, 32, 128}, kLayout)));
    auto unsorted = combine(Sizes{{1000, 1000}, {3333, 5000}, {1048576, 256}, {262144, 1024}},
                            std::vector<std::int64_t>{32, 128, 256, 512, 1024}, kLayout);
    for (Problem& problem : unsorted) problem.order = ListOrder::any;
    append(problems, unsorted);
    // A part of a warp, a warp and a block per row, a long row, and a list that is a good part of its row.
    append(problems,
           with_other_keys(combine(Sizes{{262144, 1024}, {16384, 16384}}, std::vector<std::int64_t>{32}, kLayout)));
    append(problems,
           with_other_keys({{{1048576, 256, 8, kLayout}, {1, 100000, 50, kLayout}, {262144, 1024, 512, kLayout}}}));
    return problems;
}

std::vector<Problem> gpu_problems(Effort effort) {
    if (effort == Effort::quick)
        return combine(Sizes{{1, 1000}, {1000, 1000}, {10000, 1000}}, std::vector<std::int64_t>{1, 10, 100});
    // Single rows, some and many, where another way is best; then the sources' n x n up to what checks within minutes,
    // and many short rows. There lists of hundreds kept by every thread would take most of a sweep's time: one such is
    // enough.
    auto problems = combine(Sizes{{1, 10000},
                                  {1, 100000},
                                  {10, 10000},
                                  {10, 100000},
                                  {30, 1000},
                                  {100, 10000},
                                  {300, 1000},
                                  {300, 30000},
                                  {1000, 1000}},
                            std::vector<std::int64_t>{1, 4, 10, 21, 32, 64, 128});
    const auto add = [&](const std::vector<Problem>& more) { append(problems, more); };
    add(combine(Sizes{{1, 10000}, {1, 100000}, {10, 10000}, {30, 1000}, {300, 1000}, {1000, 1000}},
                std::vector<std::int64_t>{512}));
    add(combine(Sizes{{1, 1000000}, {100, 100000}, {1000, 10000}, {10000, 10000}, {262144, 1024}, {1048576, 256}},
                std::vector<std::int64_t>{1, 10, 32, 128}));
    add(combine(Sizes{{16384, 16384}, {10000, 100000}}, std::vector<std::int64_t>{10}));
    // Between k that different ways are best for.
    add(combine(Sizes{{1, 100000}, {10, 10000}, {100, 10000}, {300, 30000}, {1000, 1000}},
                std::vector<std::int64_t>{2}));
    add(combine(Sizes{{1000, 10000}, {10000, 10000}, {262144, 1024}}, std::vector<std::int64_t>{5}));
    if (effort == Effort::full) {
        add(combine(Sizes{{10, 100000}, {100, 10000}, {300, 30000}, {1000, 10000}}, std::vector<std::int64_t>{512}));
        add(combine(Sizes{{16384, 16384}}, std::vector<std::int64_t>{1, 32, 128}));
        add(combine(Sizes{{10000, 100000}}, std::vector<std::int64_t>{32, 128}));
        add(combine(Sizes{{100, 1000}, {32, 1000000}, {50000, 50000}, {100000, 10000}},
                    std::vector<std::int64_t>{1, 5, 10, 21, 32, 50, 100, 256, 1024}));
    }
    add(row_major_gpu_problems());
    return problems;
}

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    return kind == DeviceKind::cpu ? cpu_problems(effort) : gpu_problems(effort);
}

void append_data_cases(std::vector<TypedEdgeCase<Problem>>& cases) {
    for (const auto layout : {MatrixLayout::transposed, MatrixLayout::row_major})
        for (const Data data : {Data::descending, Data::distances, Data::few_values})
            cases.push_back({{7, 700, 40, layout, data}});
}

Problem in_any_order(Problem problem) {
    problem.order = ListOrder::any;
    return problem;
}

/// Any order: what one may copy, what one may leave unsorted and what ties, in both layouts.
void append_order_cases(std::vector<TypedEdgeCase<Problem>>& cases) {
    for (const auto layout : {MatrixLayout::transposed, MatrixLayout::row_major}) {
        for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 5},
                                               {3, 0, 2},
                                               {1, 1, 1},
                                               {5, 3, 7},
                                               {33, 17, 17},
                                               {9, 45, 7},
                                               {2, 300, 300},
                                               {3, 600, 200},
                                               {1, 1100, 1024},
                                               {2, 1024, 1024}})
            cases.push_back({in_any_order({rows, columns, k, layout})});
        for (const auto pattern : {Pattern::constant, Pattern::descending, Pattern::special})
            cases.push_back({in_any_order({4, 530, 20, layout}), pattern});
    }
}

/// Numbers of other types: empty, single and padded problems, odd rows that no vector reads, what a part of a warp, a
/// warp, a block and slices hold, ties, and every special number, in both layouts.
void append_key_cases(std::vector<TypedEdgeCase<Problem>>& cases) {
    const auto add = [&](Problem problem, Pattern pattern = Pattern::uniform) {
        for (const KeyType keys : {KeyType::float16, KeyType::bfloat16, KeyType::int32}) {
            problem.keys = keys;
            cases.push_back({problem, pattern});
        }
    };
    for (const auto layout : {MatrixLayout::transposed, MatrixLayout::row_major}) {
        for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 2},
                                               {3, 0, 2},
                                               {1, 1, 1},
                                               {5, 3, 7},
                                               {33, 17, 1},
                                               {17, 31, 8},
                                               {9, 64, 40},
                                               {3, 1001, 33}})
            add({rows, columns, k, layout});
        for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
            for (const auto& [columns, k] : {std::array<std::int64_t, 2>{45, 7}, {530, 20}, {1100, 140}})
                add({3, columns, k, layout}, pattern);
        add(in_any_order({3, 600, 200, layout}));
        add(in_any_order({2, 300, 300, layout}), Pattern::special);
    }
    for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{5, 256, 33},
                                           {2, 1024, 512},
                                           {2, 2048, 100},
                                           {1, 2300, 1024},
                                           {3, 4100, 9},
                                           {1, 8300, 50}})
        for (const auto pattern : {Pattern::uniform, Pattern::special})
            add({rows, columns, k, MatrixLayout::row_major}, pattern);
    for (const Data data : {Data::distances, Data::few_values}) add({7, 700, 40, MatrixLayout::row_major, data});
}

/// Around what cuts and sorts of a warp and a block hold.
void append_long_lists(std::vector<TypedEdgeCase<Problem>>& cases) {
    for (const auto& [columns, k] : {std::array<std::int64_t, 2>{513, 128},
                                     {1000, 300},
                                     {1024, 512},
                                     {1024, 1024},
                                     {1025, 257},
                                     {2048, 512},
                                     {2049, 600},
                                     {4100, 700}})
        for (const auto pattern : {Pattern::uniform, Pattern::ascending, Pattern::special})
            cases.push_back({{1, columns, k, MatrixLayout::row_major}, pattern});
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    // Empty and single in every dimension, around the tiles of 16 and 32 and blocks of 256, k at and
    // beyond the number of columns.
    for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 2},
                                           {3, 0, 2},
                                           {3, 5, 0},
                                           {1, 1, 1},
                                           {1, 1, 4},
                                           {5, 3, 3},
                                           {33, 17, 1},
                                           {2, 31, 31},
                                           {17, 33, 8},
                                           {31, 40, 9},
                                           {1, 300, 16},
                                           {257, 20, 5},
                                           {255, 16, 17}})
        cases.push_back({{rows, columns, k}});
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        for (const std::int64_t k : {1, 7, 20, 50}) cases.push_back({{9, 45, k}, pattern});
    // Around the limits of lists in registers and shared memory, and the longest list.
    for (const std::int64_t k :
         {31, 32, 33, 63, 64, 65, 119, 120, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024})
        cases.push_back({{k % 2 + 1, k < 200 ? k + 9 : 600, k}, k % 2 == 0 ? Pattern::uniform : Pattern::descending});
    cases.push_back({{3, 1100, 1024}, Pattern::special});
    cases.push_back({{1, 2100, 40}, Pattern::descending});
    cases.push_back({{35, 1100, 2}});  // long enough to be cut into slices
    // Row-major: the sizes again, then rows around what a part of a warp, a warp and a block hold in registers, whose
    // beginnings are aligned to four elements, two and one.
    for (const auto& [rows, columns, k] : {std::array<std::int64_t, 3>{0, 5, 2},
                                           {3, 0, 2},
                                           {3, 5, 0},
                                           {1, 1, 4},
                                           {5, 3, 3},
                                           {33, 17, 1},
                                           {17, 31, 8},
                                           {9, 64, 64},
                                           {6, 130, 31},
                                           {5, 256, 33},
                                           {3, 257, 8},
                                           {3, 512, 128},
                                           {2, 1023, 65},
                                           {2, 1028, 10},
                                           {1, 2050, 129},
                                           {2, 2300, 1024},
                                           {1, 4500, 40},
                                           {3, 4097, 9},
                                           {1, 8300, 1024}})
        cases.push_back({{rows, columns, k, MatrixLayout::row_major}});
    append_data_cases(cases);
    append_order_cases(cases);
    append_long_lists(cases);
    append_key_cases(cases);
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        for (const auto& [columns, k] :
             {std::array<std::int64_t, 2>{45, 7}, {200, 20}, {1100, 50}, {2100, 3}, {4200, 90}, {9000, 70}})
            cases.push_back({{3, columns, k, MatrixLayout::row_major}, pattern});
    return cases;
}

/// Rows from one to those of a batch, k up to the library's limit, lists in both layouts. Traces: vocabularies of
/// 30522 to 128256 words that a text goes on with, the classes of ImageNet, the experts that a word is sent to, and
/// neighbours among the tables of `knn`.
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    return {
        .sizes = {{"rows", 1, cpu ? 10'000 : 1'000'000},
                  {"columns", 16, 1'000'000, {{16, 2}, {4, 1}, {1, 1}}},
                  {"k", 1, 1024}},
        .alternatives = {{"layout", {{"transposed", 1}, {"row_major", 1}}},
                         {"data",
                          {{"uniform", 2}, {"distances", 3}, {"ascending", 1}, {"descending", 1}, {"few_values", 1}}},
                         {"order", {{"ascending", 3}, {"any", 1}}}},
        .orders = {{"k", "columns"}},
        .most_data_bytes = std::size_t{1} << (cpu ? 27 : 32),
        .most_ops = cpu ? 1e7 : 1e9,
        .traces = {"rows=1;columns=50257;k=50", "rows=32;columns=50257;k=40", "rows=256;columns=30522;k=10",
                   "rows=8;columns=128256;k=64", "rows=64;columns=32000;k=5", "rows=256;columns=1000;k=5",
                   "rows=4096;columns=64;k=6", "rows=8192;columns=128;k=8", "rows=16384;columns=256;k=8",
                   "rows=360;columns=1437;k=5", "rows=54;columns=124;k=7", "rows=10000;columns=60000;k=10",
                   "rows=100;columns=1000000;k=100", "rows=1;columns=1000000;k=10", "rows=4000;columns=16000;k=15",
                   "rows=16281;columns=32561;k=20"}};
}

/// Selection from a square matrix by k. The figures' axes are not on record here; 21 is the largest list that the
/// source's cards kept in registers, 8 the largest in shared memory.
std::vector<PublishedTable<Problem>> published() {
    std::vector<Problem> problems, short_lists;
    for (const std::int64_t k : {1, 5, 8, 10, 15, 21}) problems.push_back({10000, 10000, k});
    for (const std::int64_t k : {1, 5, 8}) short_lists.push_back({10000, 10000, k});
    return {{"K-fig8",
             problems,
             {"register_insertion:block=256;texture=0", "register_insertion:block=256;texture=1", "radix_sort_rows",
              "segmented_radix_sort"}},
            {"K-fig9", problems, {"register_insertion:block=256;texture=0", "global_insertion", "local_insertion"}},
            {"K-5.3", short_lists, {"register_insertion:block=256;texture=0", "shared_insertion"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = workload,
            .data_bytes =
                [](const Problem& problem) {
                    const std::size_t key = key_bytes(problem.keys);
                    return static_cast<std::size_t>(problem.elements()) * key +
                           static_cast<std::size_t>(problem.results()) * (key + sizeof(std::int32_t));
                },
            .domain = domain,
            .published = published};
}

}  // namespace espalier::bench::smallest_k
