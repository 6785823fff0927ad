#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "variants/distance/accumulator.hpp"

/// Distances on the CPU in tiles of points x queries, for the variants that compile the inner loops for
/// one instruction set.
namespace espalier::distance {

/// Queries first_query .. + queries against points first_point .. + points.
struct CpuTile {
    std::int64_t first_query, queries, first_point, points;
};

/// The sums of a tile's row block stay in the first-level cache.
inline constexpr std::int64_t kQueriesPerTile = 256;
inline constexpr std::int64_t kPointsPerTile = 32;
/// Points that share each load of the queries' values.
inline constexpr std::int64_t kPointsAtOnce = 4;

/// Distances of up to 256 queries and 4 points. `inline` into a caller that has a target attribute, whose
/// instruction set the vectoriser then uses.
template <Metric metric, Missing missing>
[[gnu::always_inline]] inline void four_points(const Problem& problem, const Buffers& buffers, const CpuTile& tile,
                                               std::int64_t first_point, std::int64_t points) {
    const auto queries = static_cast<std::size_t>(tile.queries);
    std::array<AccumulatorRow<metric, missing, kQueriesPerTile>, kPointsAtOnce> sums;
    for (auto& row : sums) row.clear(queries);
    for (std::int64_t a = 0; a < problem.dims; ++a) {
        const auto type = metric == Metric::mixed_euclidean ? buffers.types[a] : AttributeType::numeric;
        const float* x = buffers.query_values + a * problem.queries + tile.first_query;
        const float* y = buffers.point_values + a * problem.points + first_point;
        // Missing points are computed as copies of the last one: the loop keeps its length.
        const float y0 = y[0], y1 = y[std::min<std::int64_t>(1, points - 1)];
        const float y2 = y[std::min<std::int64_t>(2, points - 1)], y3 = y[points - 1];
        if (metric == Metric::mixed_euclidean && type == AttributeType::nominal) {
#pragma omp simd
            for (std::size_t i = 0; i < queries; ++i) {
                sums[0].add(i, x[i], y0, AttributeType::nominal);
                sums[1].add(i, x[i], y1, AttributeType::nominal);
                sums[2].add(i, x[i], y2, AttributeType::nominal);
                sums[3].add(i, x[i], y3, AttributeType::nominal);
            }
        } else {
#pragma omp simd
            for (std::size_t i = 0; i < queries; ++i) {
                sums[0].add(i, x[i], y0);
                sums[1].add(i, x[i], y1);
                sums[2].add(i, x[i], y2);
                sums[3].add(i, x[i], y3);
            }
        }
    }
    for (std::int64_t p = 0; p < points; ++p) {
        float* result = buffers.result + (first_point + p) * problem.queries + tile.first_query;
        const auto& row = sums[static_cast<std::size_t>(p)];
        for (std::size_t i = 0; i < queries; ++i) result[i] = row.result(i, problem.dims);
    }
}

/// Calls `compute(tile)` for all tiles of the first `queries`, on all threads.
template <class Compute>
void for_each_tile(const Problem& problem, std::int64_t queries, Compute compute) {
    const std::int64_t across = (queries + kQueriesPerTile - 1) / kQueriesPerTile;
    const std::int64_t down = (problem.points + kPointsPerTile - 1) / kPointsPerTile;
#pragma omp parallel for schedule(dynamic) if (across * down > 1)
    for (std::int64_t i = 0; i < across * down; ++i) {
        const std::int64_t first_query = i % across * kQueriesPerTile, first_point = i / across * kPointsPerTile;
        compute(CpuTile{first_query, std::min(kQueriesPerTile, queries - first_query), first_point,
                        std::min(kPointsPerTile, problem.points - first_point)});
    }
}

}  // namespace espalier::distance
