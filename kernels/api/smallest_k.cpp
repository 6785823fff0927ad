#include "espalier/smallest_k.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "kernels/api/planned.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::inline v0 {
namespace {

using smallest_k::Buffers;
using smallest_k::Problem;

std::optional<Error> invalid_shape(const SelectionShape& shape) {
    const auto& [rows, columns, k, layout, order, keys] = shape;
    if (auto refused = refused_k(k)) return invalid(std::move(*refused));
    if (auto refused = refused_count("columns", columns)) return invalid(std::move(*refused));
    if (!is_enumerator(layout, MatrixLayout::row_major))
        return invalid("layout is none of the enumerators of espalier::MatrixLayout");
    if (!is_enumerator(order, ListOrder::any))
        return invalid("order is none of the enumerators of espalier::ListOrder");
    if (!is_enumerator(keys, KeyType::int32)) return invalid("keys is none of the enumerators of espalier::KeyType");
    if (auto error = invalid_sizes({{"rows", rows}, {"columns", columns}})) return error;
    return invalid_sizes({{"rows", rows}, {"k", k}});
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

    [[nodiscard]] std::array<ArraySpec, 3> arrays() const {
        const std::size_t bytes = smallest_k::key_bytes(problem.keys);
        return {
            ArraySpec{.name = input_name, .count = problem.elements(), .element = bytes},
            ArraySpec{.name = "values", .count = problem.results(), .element = bytes, .use = ArraySpec::Use::output},
            output_of<std::int32_t>("indices", problem.results())};
    }
    [[nodiscard]] Buffers bind(const Pointers<3>& at) const {
        auto* const indices = static_cast<std::int32_t*>(at[2]);
        if (problem.keys == KeyType::float32)
            return {static_cast<const float*>(at[0]), static_cast<float*>(at[1]), indices};
        return {.indices = indices, .keys = at[0], .selected = at[1]};
    }
};

Problem problem_of(const SelectionShape& shape) {
    Problem problem{shape.rows, shape.columns, shape.k, shape.layout};
    problem.order = shape.order;
    problem.keys = shape.keys;
    return problem;
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
        return call_once(device, SelectionCall{problem_of(shape)}, pointers(distances, values, indices), options);
    });
}

Result<void> select_smallest_k_of(const Device& device, const SelectionShape& shape, const void* keys, void* values,
                                  std::int32_t* indices, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        return call_once(device, SelectionCall{problem_of(shape), "keys"}, pointers(keys, values, indices), options);
    });
}

Result<SelectionPlan> plan_select_smallest_k(const Device& device, const SelectionShape& shape,
                                             const Options& options) {
    return guarded([&]() -> Result<SelectionPlan> {
        if (auto error = invalid_shape(shape)) return *error;
        const std::string_view input = shape.keys == KeyType::float32 ? "distances" : "keys";
        return plan_call<SelectionPlan>(device, SelectionCall{problem_of(shape), input}, options);
    });
}

Result<void> SelectionPlan::run(std::span<const float> distances, std::span<float> values,
                                std::span<std::int32_t> indices, Stream stream, std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<SelectionCall>(state());
        const Problem& problem = planned.call.problem;
        if (auto error = other_keys(problem.keys, "run_of")) return *error;
        if (auto error = other_sizes({{"distances.size()", std::ssize(distances), problem.elements()},
                                      {"values.size()", std::ssize(values), problem.results()},
                                      {"indices.size()", std::ssize(indices), problem.results()}}))
            return *error;
        return run_planned(planned, pointers(distances.data(), values.data(), indices.data()), stream, workspace);
    });
}

Result<void> SelectionPlan::run_of(std::span<const std::byte> keys, std::span<std::byte> values,
                                   std::span<std::int32_t> indices, Stream stream,
                                   std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<SelectionCall>(state());
        const Problem& problem = planned.call.problem;
        const auto bytes = static_cast<std::int64_t>(smallest_k::key_bytes(problem.keys));
        if (auto error = other_sizes({{"keys.size()", std::ssize(keys), problem.elements() * bytes},
                                      {"values.size()", std::ssize(values), problem.results() * bytes},
                                      {"indices.size()", std::ssize(indices), problem.results()}}))
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

}  // namespace espalier::inline v0
