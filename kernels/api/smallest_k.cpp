#include "espalier/smallest_k.hpp"

#include <limits>

#include "kernels/api/checks.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::inline v0 {
namespace {

using smallest_k::Buffers;
using smallest_k::Problem;

std::optional<Error> invalid_shape(const SelectionShape& shape) {
    const auto& [rows, columns, k, layout] = shape;
    if (k < 1 || k > kMaxSmallestK)
        return invalid("k is " + std::to_string(k) + ": it goes from 1 to " + std::to_string(kMaxSmallestK));
    if (columns > std::numeric_limits<std::int32_t>::max())
        return invalid("columns is " + std::to_string(columns) + ": indices of 32 bits reach 2147483647");
    if (!is_enumerator(layout, MatrixLayout::row_major))
        return invalid("layout is none of the enumerators of espalier::MatrixLayout");
    if (auto error = invalid_sizes({{"rows", rows}, {"columns", columns}})) return error;
    return invalid_sizes({{"rows", rows}, {"k", k}});
}

Problem problem_of(const SelectionShape& shape) { return {shape.rows, shape.columns, shape.k, shape.layout}; }

}  // namespace

Result<void> select_smallest_k(const Device& device, const SelectionShape& shape, const float* distances, float* values,
                               std::int32_t* indices, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        const Problem problem = problem_of(shape);
        if (auto error = invalid_arrays({input_array("distances", distances, problem.elements()),
                                         output_array("values", values, problem.results()),
                                         output_array("indices", indices, problem.results())}))
            return *error;
        return run(device, problem, options, [&](Arrays& arrays) -> Buffers {
            return {arrays.input(distances, problem.elements()), arrays.output(values, problem.results()),
                    arrays.output(indices, problem.results())};
        });
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
