#include "espalier/distance.hpp"

#include <vector>

#include "kernels/api/items.hpp"
#include "kernels/api/planned.hpp"
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

/// Every metric is symmetric, and every variant writes its matrix transposed: for the row-major one the two sets change
/// places.
struct DistanceCall {
    Problem problem;  ///< as the variant gets it
    bool exchanged;
    Layout query_layout, point_layout;  ///< of the variant's sets
    std::vector<AttributeType> types;   ///< empty unless the metric is mixed

    [[nodiscard]] std::array<ArraySpec, 4> arrays() const {
        ArraySpec on_host = input_of<AttributeType>("types", std::ssize(types));
        on_host.on_host = true;
        const char *queries = "queries.values", *points = "points.values";
        return {items_of(exchanged ? points : queries, {nullptr, problem.queries, problem.dims, query_layout}),
                items_of(exchanged ? queries : points, {nullptr, problem.points, problem.dims, point_layout}),
                output_of<float>("result", problem.distances()), on_host};
    }
    [[nodiscard]] Buffers bind(const Pointers<4>& at) const {
        Buffers buffers;
        buffers.query_values = static_cast<const float*>(at[0]);
        buffers.point_values = static_cast<const float*>(at[1]);
        buffers.result = static_cast<float*>(at[2]);
        buffers.types = static_cast<const AttributeType*>(at[3]);
        buffers.types_on_host = types.empty() ? nullptr : types.data();
        return buffers;
    }
    [[nodiscard]] Pointers<4> pointers(const Items& queries, const Items& points, float* result) const {
        return {const_cast<float*>(exchanged ? points.values : queries.values),
                const_cast<float*>(exchanged ? queries.values : points.values), result,
                const_cast<AttributeType*>(types.data())};
    }
};

DistanceCall call_of(const Items& queries, const Items& points, const DistanceRule& rule, MatrixLayout layout) {
    const bool exchanged = layout == MatrixLayout::row_major;
    const Items &first = exchanged ? points : queries, &second = exchanged ? queries : points;
    DistanceCall call{problem_of(first, second, rule), exchanged, first.layout, second.layout, {}};
    if (rule.metric == Metric::mixed_euclidean) call.types.assign(rule.types.begin(), rule.types.end());
    return call;
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
        DistanceCall call = call_of(queries, points, rule, layout);
        const Pointers<4> pointers = call.pointers(queries, points, result);
        return call_once(device, std::move(call), pointers, options);
    });
}

Result<DistancesPlan> plan_pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                              const DistanceRule& rule, const Options& options, MatrixLayout layout) {
    return guarded([&]() -> Result<DistancesPlan> {
        if (auto error = invalid_comparison(queries, points, rule)) return *error;
        if (auto error = invalid_layout(layout)) return *error;
        return plan_call<DistancesPlan>(device, call_of(queries, points, rule, layout), options);
    });
}

Result<void> DistancesPlan::run(const Items& queries, const Items& points, float* result, Stream stream,
                                std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<DistanceCall>(state());
        const DistanceCall& call = planned.call;
        const Problem& problem = call.problem;
        const Items first{nullptr, problem.queries, problem.dims, call.query_layout},
            second{nullptr, problem.points, problem.dims, call.point_layout};
        if (auto error = other_items(queries, "queries", call.exchanged ? second : first)) return *error;
        if (auto error = other_items(points, "points", call.exchanged ? first : second)) return *error;
        return run_planned(planned, call.pointers(queries, points, result), stream, workspace);
    });
}

Result<Explanation> explain_pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                               const DistanceRule& rule, const Options& options, MatrixLayout layout) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_comparison(queries, points, rule)) return *error;
        if (auto error = invalid_layout(layout)) return *error;
        if (layout == MatrixLayout::row_major)
            return explain_pairwise_distances(device, points, queries, rule, options);
        return explain(problem_of(queries, points, rule), state_of(device), options);
    });
}

}  // namespace espalier::inline v0
