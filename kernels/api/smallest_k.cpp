#include "espalier/smallest_k.hpp"

#include <limits>

#include "kernels/api/planned.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::inline v0 {
namespace {

using smallest_k::Buffers;
using smallest_k::Problem;

std::optional<Error> invalid_shape(const SelectionShape& shape) {
    const auto& [rows, columns, k, layout, order] = shape;
    if (auto refused = refused_k(k)) return invalid(std::move(*refused));
    if (auto refused = refused_count("columns", columns)) return invalid(std::move(*refused));
    if (!is_enumerator(layout, MatrixLayout::row_major))
        return invalid("layout is none of the enumerators of espalier::MatrixLayout");
    if (!is_enumerator(order, ListOrder::any))
        return invalid("order is none of the enumerators of espalier::ListOrder");
    if (auto error = invalid_sizes({{"rows", rows}, {"columns", columns}})) return error;
    return invalid_sizes({{"rows", rows}, {"k", k}});
}

struct SelectionCall {
    Problem problem;

    [[nodiscard]] std::array<ArraySpec, 3> arrays() const {
        return {input_of<float>("distances", problem.elements()), output_of<float>("values", problem.results()),
                output_of<std::int32_t>("indices", problem.results())};
    }
    static Buffers bind(const Pointers<3>& at) {
        return {static_cast<const float*>(at[0]), static_cast<float*>(at[1]), static_cast<std::int32_t*>(at[2])};
    }
};

Problem problem_of(const SelectionShape& shape) {
    Problem problem{shape.rows, shape.columns, shape.k, shape.layout};
    problem.order = shape.order;
    return problem;
}

Pointers<3> pointers(const float* distances, float* values, std::int32_t* indices) {
    return {const_cast<float*>(distances), values, indices};
}

}  // namespace

Result<void> select_smallest_k(const Device& device, const SelectionShape& shape, const float* distances, float* values,
                               std::int32_t* indices, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        return call_once(device, SelectionCall{problem_of(shape)}, pointers(distances, values, indices), options);
    });
}

Result<SelectionPlan> plan_select_smallest_k(const Device& device, const SelectionShape& shape,
                                             const Options& options) {
    return guarded([&]() -> Result<SelectionPlan> {
        if (auto error = invalid_shape(shape)) return *error;
        return plan_call<SelectionPlan>(device, SelectionCall{problem_of(shape)}, options);
    });
}

Result<void> SelectionPlan::run(std::span<const float> distances, std::span<float> values,
                                std::span<std::int32_t> indices, Stream stream, std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<SelectionCall>(state());
        const Problem& problem = planned.call.problem;
        if (auto error = other_sizes({{"distances.size()", std::ssize(distances), problem.elements()},
                                      {"values.size()", std::ssize(values), problem.results()},
                                      {"indices.size()", std::ssize(indices), problem.results()}}))
            return *error;
        return run_planned(planned, pointers(distances.data(), values.data(), indices.data()), stream, workspace);
    });
}

Result<Explanation> explain_select_smallest_k(const Device& device, const SelectionShape& shape,
                                              const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape)) return *error;
        return explain(problem_of(shape), state_of(device).info, options);
    });
}

}  // namespace espalier::inline v0
