#pragma once

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/api/items.hpp"
#include "kernels/api/planned.hpp"
#include "kernels/problems/distance.hpp"

namespace espalier::distance {

inline Problem problem_of(const Items& queries, const Items& points, const DistanceRule& rule) {
    return {.queries = queries.count,
            .points = points.count,
            .dims = queries.dims,
            .metric = rule.metric,
            .missing = rule.missing,
            .item_major = false};
}

inline Items without_values(Items items) {
    items.values = nullptr;
    return items;
}

/// Every metric is symmetric, and every variant writes its matrix transposed: for the row-major one the two sets change
/// places.
struct DistanceCall {
    Problem problem;  ///< as the variant gets it
    bool exchanged;
    Items first, second;                                   ///< the variant's sets, but for their values
    std::int64_t stride;                                   ///< of the result
    std::vector<AttributeType> types;                      ///< empty unless the metric is mixed
    bool queries_on_host = false, result_on_host = false;  ///< whatever the options say

    [[nodiscard]] std::array<ArraySpec, 4> arrays() const {
        ArraySpec on_host = input_of<AttributeType>("types", std::ssize(types));
        on_host.on_host = true;
        const char *queries = "queries.values", *points = "points.values";
        ArraySpec one = items_of(exchanged ? points : queries, first),
                  other = items_of(exchanged ? queries : points, second),
                  result = in_rows(output_of<float>("result", problem.distances()), problem.points, stride);
        (exchanged ? other : one).on_host = queries_on_host;
        result.on_host = result_on_host;
        return {one, other, result, on_host};
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
    [[nodiscard]] double roundings() const { return 8 + std::sqrt(static_cast<double>(problem.dims)); }
    /// The types are known when a plan is made.
    [[nodiscard]] bool fill(std::size_t array, std::span<std::byte> values) const {
        if (array == 3) std::memcpy(values.data(), types.data(), values.size());
        return array == 3;
    }
    [[nodiscard]] Pointers<4> pointers(const Items& queries, const Items& points, float* result) const {
        return {const_cast<float*>(exchanged ? points.values : queries.values),
                const_cast<float*>(exchanged ? queries.values : points.values), result,
                const_cast<AttributeType*>(types.data())};
    }
};

inline DistanceCall call_of(const Items& queries, const Items& points, const DistanceRule& rule,
                            const DistanceMatrix& result) {
    const bool exchanged = result.layout == MatrixLayout::row_major;
    const Items &first = exchanged ? points : queries, &second = exchanged ? queries : points;
    DistanceCall call{problem_of(first, second, rule), exchanged,     without_values(first),
                      without_values(second),          result.stride, {}};
    if (rule.metric == Metric::mixed_euclidean) call.types.assign(rule.types.begin(), rule.types.end());
    return call;
}

}  // namespace espalier::distance
