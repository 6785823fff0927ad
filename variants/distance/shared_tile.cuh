#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/tiles.cuh"

/// The kernel of `shared_load_tile`, whose values come from memory or through textures.
namespace espalier::distance {
namespace {

constexpr int kTile = 16;

/// `Values[i]` is value i of an attribute-major set.
template <Metric metric, Missing missing, class Values, class Types>
__global__ void distances_of_tile(Problem problem, Tiles tiles, Values query_values, Values point_values,
                                  const __grid_constant__ Types types, float* result) {
    using Tile = float[kTile][kTile];
    auto& queries = device::shared<Tile, struct QueryTile>();
    auto& points = device::shared<Tile, struct PointTile>();
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::int64_t first_point = tiles.first_point(blockIdx.x);
    const std::int64_t q = tiles.first_query(blockIdx.x) + x, p = first_point + y;
    const std::int64_t loaded_point = first_point + x;

    Accumulator<metric, missing> distance{};
    for (std::int64_t first = 0; first < problem.dims; first += kTile) {
        const std::int64_t a = first + y;
        if (a < problem.dims) {
            if (q < problem.queries) queries[y][x] = query_values[a * problem.queries + q];
            if (loaded_point < problem.points) points[y][x] = point_values[a * problem.points + loaded_point];
        }
        __syncthreads();
        if (q < problem.queries && p < problem.points) {
            // Whole tiles get a loop of known length, which the compiler unrolls.
            if (first + kTile <= problem.dims) {
                for (int i = 0; i < kTile; ++i) distance.add(queries[i][x], points[i][y], types[first + i]);
            } else {
                for (int i = 0; i < problem.dims - first; ++i)
                    distance.add(queries[i][x], points[i][y], types[first + i]);
            }
        }
        __syncthreads();
    }
    if (q < problem.queries && p < problem.points) result[p * problem.queries + q] = distance.result(problem.dims);
}

template <class Values>
void launch_shared_tiles(const Context& context, const Problem& problem, const Buffers& buffers, Values query_values,
                         Values point_values) {
    const Tiles tiles(problem, kTile, kTile);
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        device::launch(distances_of_tile<metric(), missing(), Values, decltype(types)>,
                       dim3(static_cast<unsigned>(tiles.count())), dim3(kTile, kTile), 0, context.stream, problem,
                       tiles, query_values, point_values, types, buffers.result);
    });
}

}  // namespace
}  // namespace espalier::distance
