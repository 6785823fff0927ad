// OpenMP over tiles of points x queries (sources K12, P). Within a tile one point is taken at a time and
// the loop over its queries is the innermost: neighbouring queries are neighbours in memory, so the
// compiler vectorises it, and the sums of a tile row stay in the first-level cache.

#include <algorithm>

#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"

namespace espalier::distance {
namespace {

constexpr std::int64_t kPointsPerTile = 32;
constexpr std::int64_t kMostQueries = 1024;

template <Metric metric, Missing missing>
using Row = AccumulatorRow<metric, missing, kMostQueries>;

template <Metric metric, Missing missing>
void tile_row(const Problem& problem, const Buffers& buffers, std::int64_t point, std::int64_t first,
              std::int64_t queries, Row<metric, missing>& row) {
    const auto count = static_cast<std::size_t>(queries);
    row.clear(count);
    for (std::int64_t a = 0; a < problem.dims; ++a) {
        const auto type = metric == Metric::mixed_euclidean ? buffers.types[a] : AttributeType::numeric;
        const float y = buffers.point_values[a * problem.points + point];
        const float* x = buffers.query_values + a * problem.queries + first;
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) row.add(i, x[i], y, type);
    }
    float* result = buffers.result + point * problem.queries + first;
    for (std::size_t i = 0; i < count; ++i) result[i] = row.result(i, problem.dims);
}

template <Metric metric, Missing missing>
void all_distances(const Problem& problem, const Buffers& buffers, std::int64_t queries_per_tile) {
    const std::int64_t across = (problem.queries + queries_per_tile - 1) / queries_per_tile;
    const std::int64_t down = (problem.points + kPointsPerTile - 1) / kPointsPerTile;
#pragma omp parallel if (across * down > 1)
    {
        Row<metric, missing> row;
#pragma omp for schedule(dynamic)
        for (std::int64_t tile = 0; tile < across * down; ++tile) {
            const std::int64_t first = tile % across * queries_per_tile;
            const std::int64_t count = std::min(queries_per_tile, problem.queries - first);
            const std::int64_t begin = tile / across * kPointsPerTile;
            for (std::int64_t p = begin; p < std::min(begin + kPointsPerTile, problem.points); ++p)
                tile_row<metric, missing>(problem, buffers, p, first, count, row);
        }
    }
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    with_metric(problem, [&](auto metric, auto missing) {
        all_distances<metric(), missing()>(problem, buffers, configuration["tile"]);
    });
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.summary = "OpenMP over tiles, vectorised over queries",
            .source = "K12, P",
            .tolerance = kDirectSum,
            .space = {{"tile", {256, 64, 1024}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
