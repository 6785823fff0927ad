#include "espalier/distance.hpp"

#include "kernels/api/items.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/distance.hpp"

namespace espalier::inline v0 {
namespace {

using distance::Buffers;
using distance::Problem;

Problem problem_of(const Items& queries, const Items& points, const DistanceRule& rule) {
    return {.queries = queries.count,
            .points = points.count,
            .dims = queries.dims,
            .metric = rule.metric,
            .missing = rule.missing,
            .item_major = false};
}

std::optional<Error> invalid_layout(MatrixLayout layout) {
    if (is_enumerator(layout, MatrixLayout::row_major)) return std::nullopt;
    return invalid("layout is none of the enumerators of espalier::MatrixLayout");
}

}  // namespace

Result<void> pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                const DistanceRule& rule, float* result, const Options& options, MatrixLayout layout) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_comparison(queries, points, rule)) return *error;
        if (auto error = invalid_layout(layout)) return *error;
        if (auto error = invalid_layout(queries, "the queries", options)) return *error;
        if (auto error = invalid_layout(points, "the points", options)) return *error;
        const Problem problem = problem_of(queries, points, rule);
        const std::int64_t query_values = value_count(queries), point_values = value_count(points);
        if (auto error = invalid_arrays({input_array("queries.values", queries.values, query_values),
                                         input_array("points.values", points.values, point_values),
                                         output_array("result", result, problem.distances())}))
            return *error;
        // Every metric is symmetric, and every variant writes its matrix transposed.
        if (layout == MatrixLayout::row_major)
            return pairwise_distances(device, points, queries, rule, result, options);
        const AttributeMajor ordered_queries(queries), ordered_points(points);
        const bool mixed = rule.metric == Metric::mixed_euclidean;
        const auto bind = [&](Arrays& arrays) -> Buffers {
            Buffers buffers;
            buffers.query_values = arrays.input(ordered_queries.values(), query_values);
            buffers.point_values = arrays.input(ordered_points.values(), point_values);
            buffers.result = arrays.output(result, problem.distances());
            buffers.types = mixed ? arrays.host_input(rule.types.data(), problem.dims) : nullptr;
            buffers.types_on_host = mixed ? rule.types.data() : nullptr;
            return buffers;
        };
        return run(device, problem, options, bind);
    });
}

Result<Explanation> explain_pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                               const DistanceRule& rule, const Options& options, MatrixLayout layout) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_comparison(queries, points, rule)) return *error;
        if (auto error = invalid_layout(layout)) return *error;
        if (layout == MatrixLayout::row_major)
            return explain_pairwise_distances(device, points, queries, rule, options);
        return explain(problem_of(queries, points, rule), state_of(device).info, options);
    });
}

}  // namespace espalier::inline v0
