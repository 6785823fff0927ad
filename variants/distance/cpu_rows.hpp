#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "variants/distance/accumulator.hpp"
#include "variants/distance/cpu_tiles.hpp"

/// Distances of few queries on the CPU: vectors go along the points, whose attributes are read in the order of memory,
/// where tiles of queries (cpu_tiles.hpp) would read four points at a time.
namespace espalier::distance {

/// Points of a tile. Their sums with four queries stay in the first-level cache.
inline constexpr std::int64_t kPointsInRow = 512;

/// Distances of up to `at_once` queries and 512 points. `inline` into a caller that has a target attribute.
template <Metric metric, Missing missing, std::size_t at_once>
[[gnu::always_inline]] inline void row_of_points(const Problem& problem, const Buffers& buffers, const CpuTile& tile,
                                                 std::int64_t first_query) {
    const auto points = static_cast<std::size_t>(tile.points);
    const auto queries = std::min(at_once, static_cast<std::size_t>(tile.first_query + tile.queries - first_query));
    std::array<AccumulatorRow<metric, missing, kPointsInRow>, at_once> sums;
    for (auto& row : sums) row.clear(points);
    for (std::int64_t a = 0; a < problem.dims; ++a) {
        const auto type = metric == Metric::mixed_euclidean ? buffers.types[a] : AttributeType::numeric;
        const float* from = buffers.query_values + a * problem.queries + first_query;
        const float* y = buffers.point_values + a * problem.points + tile.first_point;
        // Missing queries are computed as copies of the last one.
        std::array<float, at_once> x;
        for (std::size_t j = 0; j < at_once; ++j) x[j] = from[std::min(j, queries - 1)];
        if (metric == Metric::mixed_euclidean && type == AttributeType::nominal) {
#pragma omp simd
            for (std::size_t i = 0; i < points; ++i)
                for (std::size_t j = 0; j < at_once; ++j) sums[j].add(i, x[j], y[i], AttributeType::nominal);
        } else {
#pragma omp simd
            for (std::size_t i = 0; i < points; ++i)
                for (std::size_t j = 0; j < at_once; ++j) sums[j].add(i, x[j], y[i]);
        }
    }
    std::array<std::array<float, kPointsInRow>, at_once> rows;
    for (std::size_t j = 0; j < at_once; ++j)
        for (std::size_t i = 0; i < points; ++i) rows[j][i] = sums[j].result(i, problem.dims);
    const auto stride = static_cast<std::size_t>(problem.queries);
    float* const result = buffers.result + tile.first_point * problem.queries + first_query;
    if (queries == at_once)  // a constant: numbers side by side
        for (std::size_t i = 0; i < points; ++i)
            for (std::size_t j = 0; j < at_once; ++j) result[i * stride + j] = rows[j][i];
    else
        for (std::size_t i = 0; i < points; ++i)
            for (std::size_t j = 0; j < queries; ++j) result[i * stride + j] = rows[j][i];
}

/// Those of a tile's queries and its points, four queries at once.
template <Metric metric, Missing missing>
[[gnu::always_inline]] inline void rows_of_points(const Problem& problem, const Buffers& buffers, const CpuTile& tile) {
    const std::int64_t end = tile.first_query + tile.queries;
    for (std::int64_t q = tile.first_query; q < end;)
        if (end - q > 2)
            row_of_points<metric, missing, 4>(problem, buffers, tile, q), q += 4;
        else
            row_of_points<metric, missing, 1>(problem, buffers, tile, q), q += 1;
}

/// The queries whose vectors go along them: whole vectors, of 16 at most. The others, and all if they are few, are left
/// to vectors along the points, if there are points for these.
constexpr std::int64_t queries_in_vectors(const Problem& problem) {
    constexpr std::int64_t kVector = 16, kFew = 2 * kVector;
    if (problem.points < 2 * kVector) return problem.queries;
    return problem.queries < kFew ? 0 : problem.queries / kVector * kVector;
}

/// Calls `compute(tile)` for tiles of all queries from one on, on all threads.
template <class Compute>
void for_each_row(const Problem& problem, std::int64_t first_query, Compute compute) {
    const std::int64_t tiles = (problem.points + kPointsInRow - 1) / kPointsInRow;
#pragma omp parallel for schedule(dynamic) if (tiles > 1)
    for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t first = i * kPointsInRow;
        compute(
            CpuTile{first_query, problem.queries - first_query, first, std::min(kPointsInRow, problem.points - first)});
    }
}

}  // namespace espalier::distance
