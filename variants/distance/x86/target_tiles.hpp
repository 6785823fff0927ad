#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/variant.hpp"
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

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    with_metric(problem, [&](auto metric, auto missing) {
        for_each_tile(problem, [&](const CpuTile& tile) { compute<metric(), missing()>(problem, buffers, tile); });
    });
}

}  // namespace
}  // namespace espalier::distance
