// Matrices to select from, and the check of what was selected.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/bench/families/parallel.hpp"
#include "harness/bench/families/selection_keys.hpp"
#include "harness/bench/families/smallest_k_suite.hpp"
#include "kernels/device/host_array.hpp"
#include "reference_cpu/smallest_k.hpp"

namespace espalier::bench::smallest_k {
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
    device::HostArray<Stored> matrix_;
    std::optional<std::vector<reference::Neighbour>> expected_;  ///< laid out as the outputs
};

}  // namespace

std::unique_ptr<Workload<Problem>> workload(const Problem& problem, std::uint64_t seed, Pattern pattern) {
    switch (problem.keys) {
        case KeyType::float16: return make_workload<MatrixWorkload<Float16Keys>>(problem, seed, pattern);
        case KeyType::bfloat16: return make_workload<MatrixWorkload<Bfloat16Keys>>(problem, seed, pattern);
        case KeyType::int32: return make_workload<MatrixWorkload<Int32Keys>>(problem, seed, pattern);
        case KeyType::float32: break;
    }
    return make_workload<MatrixWorkload<Float32Keys>>(problem, seed, pattern);
}

}  // namespace espalier::bench::smallest_k
