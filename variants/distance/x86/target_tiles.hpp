#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/variant.hpp"
#include "variants/distance/cpu_rows.hpp"
#include "variants/distance/cpu_tiles.hpp"

#ifndef ESPALIER_TARGET
#error "the file that includes this names its instruction set: target(...)"
#endif

namespace espalier::distance {
namespace {

/// cpu_openmp's tiles with the inner loop compiled for the instruction set ESPALIER_TARGET.
template <Metric metric, Missing missing>
__attribute__((ESPALIER_TARGET)) void compute(const Problem& problem, const Buffers& buffers, const CpuTile& tile) {
    const std::int64_t end = tile.first_point + tile.points;
    for (std::int64_t p = tile.first_point; p < end; p += kPointsAtOnce)
        four_points<metric, missing>(problem, buffers, tile, p, std::min(kPointsAtOnce, end - p));
}

/// The same with vectors along the points.
template <Metric metric, Missing missing>
__attribute__((ESPALIER_TARGET)) void compute_rows(const Problem& problem, const Buffers& buffers,
                                                   const CpuTile& tile) {
    rows_of_points<metric, missing>(problem, buffers, tile);
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const std::int64_t queries = queries_in_vectors(problem);
    with_metric(problem, [&](auto metric, auto missing) {
        if (queries > 0)
            for_each_tile(problem, queries,
                          [&](const CpuTile& tile) { compute<metric(), missing()>(problem, buffers, tile); });
        if (queries < problem.queries)
            for_each_row(problem, queries,
                         [&](const CpuTile& tile) { compute_rows<metric(), missing()>(problem, buffers, tile); });
    });
}

}  // namespace
}  // namespace espalier::distance
