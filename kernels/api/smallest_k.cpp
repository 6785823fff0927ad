#include "espalier/smallest_k.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/api/planning.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::inline v1 {
namespace {

using smallest_k::Buffers;
using smallest_k::Problem;

std::optional<Error> invalid_shape(const SelectionShape& shape) {
    const auto& [rows, columns, k, layout, order, keys, stride, list_stride] = shape;
    if (auto refused = refused_k(k)) return invalid(std::move(*refused));
    if (auto refused = refused_count("columns", columns)) return invalid(std::move(*refused));
    if (!is_enumerator(layout, MatrixLayout::row_major))
        return invalid("layout is none of the enumerators of espalier::MatrixLayout");
    if (!is_enumerator(order, ListOrder::any))
        return invalid("order is none of the enumerators of espalier::ListOrder");
    if (!is_enumerator(keys, KeyType::int32)) return invalid("keys is none of the enumerators of espalier::KeyType");
    if (auto error = invalid_sizes({{"rows", rows}, {"columns", columns}})) return error;
    if (auto error = invalid_sizes({{"rows", rows}, {"k", k}})) return error;
    const bool by_row = layout == MatrixLayout::row_major;
    if (auto error = invalid_stride(
            {"stride", by_row ? "a row" : "a column", stride, by_row ? rows : columns, by_row ? columns : rows}))
        return error;
    return invalid_stride(
        {"list_stride", by_row ? "a list" : "a column", list_stride, by_row ? rows : k, by_row ? k : rows});
}

/// Of functions that take floats.
std::optional<Error> other_keys(KeyType keys, std::string_view right) {
    if (keys == KeyType::float32) return std::nullopt;
    const std::string name(smallest_k::kKeyNames[static_cast<std::size_t>(keys)]);
    return invalid("keys is " + name + ", but this function takes float32: call " + std::string(right));
}

struct SelectionCall {
    Problem problem;
    std::string_view input_name = "distances";
    std::int64_t stride = 0, list_stride = 0;

    [[nodiscard]] std::array<ArraySpec, 3> arrays() const {
        const std::size_t bytes = smallest_k::key_bytes(problem.keys);
        const bool by_row = problem.layout == MatrixLayout::row_major;
        const std::int64_t rows = by_row ? problem.rows : problem.columns, lists = by_row ? problem.rows : problem.k;
        return {in_rows({.name = input_name, .count = problem.elements(), .element = bytes}, rows, stride),
                in_rows({.name = "values", .count = problem.results(), .element = bytes, .use = ArraySpec::Use::output},
                        lists, list_stride),
                in_rows(output_of<std::int32_t>("indices", problem.results()), lists, list_stride)};
    }
    /// Elements from the first of an array to behind its last.
    [[nodiscard]] std::array<std::int64_t, 3> extents() const {
        const std::array<ArraySpec, 3> specs = arrays();
        const auto elements = [](const ArraySpec& spec) {
            return static_cast<std::int64_t>(spec.extent() / spec.element);
        };
        return {elements(specs[0]), elements(specs[1]), elements(specs[2])};
    }
    [[nodiscard]] Buffers bind(const Pointers<3>& at) const {
        auto* const indices = static_cast<std::int32_t*>(at[2]);
        if (problem.keys == KeyType::float32)
            return {static_cast<const float*>(at[0]), static_cast<float*>(at[1]), indices};
        return {.indices = indices, .keys = at[0], .selected = at[1]};
    }

    /// Half the bits of halves are numbers of everyday size, in either format.
    [[nodiscard]] bool fill(std::size_t, std::span<std::byte> values) const {
        if (smallest_k::key_bytes(problem.keys) != sizeof(std::uint16_t)) return false;
        for (std::size_t i = 0; i < values.size() / sizeof(std::uint16_t); ++i) {
            constexpr std::uint64_t kBelowOne = 0x3BFF;
            const auto bits = static_cast<std::uint16_t>((i * 0x9E3779B97F4A7C15U >> 40) & kBelowOne);
            std::memcpy(values.data() + i * sizeof bits, &bits, sizeof bits);
        }
        return true;
    }

    /// Lists in any order may hold any of equal elements: those are compared as sets, and with the elements that they
    /// say they are.
    [[nodiscard]] bool agree(const TrialArrays& given, const Outputs& expected, const Outputs& actual,
                             const Slack&) const {
        if (problem.order == ListOrder::ascending) return expected == actual;
        return same_sets(given.input(0), expected, actual);
    }

private:
    [[nodiscard]] bool same_sets(std::span<const std::byte> keys, const Outputs& expected,
                                 const Outputs& actual) const {
        const std::size_t bytes = smallest_k::key_bytes(problem.keys);
        const auto bits = [&](std::span<const std::byte> from, std::int64_t at) {
            std::uint32_t value = 0;
            std::memcpy(&value, from.data() + static_cast<std::size_t>(at) * bytes, bytes);
            return value;
        };
        const bool by_row = problem.layout == MatrixLayout::row_major;
        std::vector<std::uint32_t> wanted, found;
        std::vector<std::int32_t> columns;
        for (std::int64_t row = 0; row < problem.rows; ++row) {
            wanted.clear(), found.clear(), columns.clear();
            for (std::int64_t j = 0; j < problem.k; ++j) {
                const std::int64_t at = by_row ? row * problem.k + j : j * problem.rows + row;
                std::int32_t column = 0;
                std::memcpy(&column, actual[2].data() + static_cast<std::size_t>(at) * sizeof column, sizeof column);
                wanted.push_back(bits(expected[1], at));
                found.push_back(bits(actual[1], at));
                if (column == kNoIndex) continue;
                if (column < 0 || column >= problem.columns) return false;
                columns.push_back(column);
                const std::int64_t element =
                    by_row ? row * problem.columns + column : std::int64_t{column} * problem.rows + row;
                if (bits(keys, element) != found.back()) return false;
            }
            std::ranges::sort(wanted);
            std::ranges::sort(found);
            std::ranges::sort(columns);
            if (wanted != found || std::ranges::adjacent_find(columns) != columns.end()) return false;
        }
        return true;
    }
};

Problem problem_of(const SelectionShape& shape) {
    Problem problem{shape.rows, shape.columns, shape.k, shape.layout};
    problem.order = shape.order;
    problem.keys = shape.keys;
    return problem;
}

SelectionCall call_of(const SelectionShape& shape, std::string_view input_name = "distances") {
    return {problem_of(shape), input_name, shape.stride, shape.list_stride};
}

Pointers<3> pointers(const void* keys, void* values, std::int32_t* indices) {
    return {const_cast<void*>(keys), values, indices};
}

}  // namespace

Result<void> select_smallest_k(const Device& device, const SelectionShape& shape, const float* distances, float* values,
                               std::int32_t* indices, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        if (auto error = other_keys(shape.keys, "select_smallest_k_of")) return *error;
        return call_once(device, call_of(shape), pointers(distances, values, indices), options);
    });
}

Result<void> select_smallest_k_of(const Device& device, const SelectionShape& shape, const void* keys, void* values,
                                  std::int32_t* indices, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        return call_once(device, call_of(shape, "keys"), pointers(keys, values, indices), options);
    });
}

Result<SelectionPlan> plan_select_smallest_k(const Device& device, const SelectionShape& shape, const Options& options,
                                             const PlanOptions& planning) {
    return guarded([&]() -> Result<SelectionPlan> {
        if (auto error = invalid_shape(shape)) return *error;
        const std::string_view input = shape.keys == KeyType::float32 ? "distances" : "keys";
        return plan_call<SelectionPlan>(device, call_of(shape, input), options, planning);
    });
}

Result<void> SelectionPlan::run(std::span<const float> distances, std::span<float> values,
                                std::span<std::int32_t> indices, Stream stream, std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<SelectionCall>(state());
        if (auto error = other_keys(planned.call.problem.keys, "run_of")) return *error;
        const auto extents = planned.call.extents();
        if (auto error = other_sizes({{"distances.size()", std::ssize(distances), extents[0]},
                                      {"values.size()", std::ssize(values), extents[1]},
                                      {"indices.size()", std::ssize(indices), extents[2]}}))
            return *error;
        return run_planned(planned, pointers(distances.data(), values.data(), indices.data()), stream, workspace);
    });
}

Result<void> SelectionPlan::run_of(std::span<const std::byte> keys, std::span<std::byte> values,
                                   std::span<std::int32_t> indices, Stream stream,
                                   std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<SelectionCall>(state());
        const auto extents = planned.call.extents();
        const auto bytes = static_cast<std::int64_t>(smallest_k::key_bytes(planned.call.problem.keys));
        if (auto error = other_sizes({{"keys.size()", std::ssize(keys), extents[0] * bytes},
                                      {"values.size()", std::ssize(values), extents[1] * bytes},
                                      {"indices.size()", std::ssize(indices), extents[2]}}))
            return *error;
        return run_planned(planned, pointers(keys.data(), values.data(), indices.data()), stream, workspace);
    });
}

Result<Explanation> explain_select_smallest_k(const Device& device, const SelectionShape& shape,
                                              const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape)) return *error;
        return explain(problem_of(shape), state_of(device), options);
    });
}

}  // namespace espalier::inline v1
