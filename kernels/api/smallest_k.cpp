#include "espalier/smallest_k.hpp"

#include <limits>

#include "kernels/api/checks.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::inline v0 {
namespace {

using smallest_k::Buffers;
using smallest_k::Problem;

std::optional<Error> invalid_shape(const SelectionShape& shape) {
    const auto& [rows, columns, k] = shape;
    if (auto refused = refused_k(k)) return invalid(std::move(*refused));
    if (auto refused = refused_count("columns", columns)) return invalid(std::move(*refused));
    if (auto error = invalid_sizes({{"rows", rows}, {"columns", columns}})) return error;
    return invalid_sizes({{"rows", rows}, {"k", k}});
}

}  // namespace

Result<void> select_smallest_k(const Device& device, const SelectionShape& shape, const float* distances, float* values,
                               std::int32_t* indices, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        const Problem problem{shape.rows, shape.columns, shape.k};
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
        return explain(Problem{shape.rows, shape.columns, shape.k}, state_of(device).info, options);
    });
}

}  // namespace espalier::inline v0
