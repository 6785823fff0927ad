#pragma once

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

/// Neighbouring items lie side by side: the threads of a warp, which are neighbours along the queries, read
/// neighbouring words, and the point's value is one word for all of them.
struct AttributeMajor {
    __device__ static std::int64_t place(std::int64_t item, std::int64_t items, std::int64_t attribute, std::int64_t) {
        return attribute * items + item;
    }
};

/// One thread per distance, from sets in a `Layout`. `Values` is a pointer or a texture.
template <Metric metric, Missing missing, class Layout, class Values, class Types>
__global__ void one_distance_per_thread(Problem problem, Tiles tiles, Values queries, Values points,
                                        const __grid_constant__ Types types, float* result) {
    const std::int64_t q = tiles.first_query(blockIdx.x) + threadIdx.x;
    const std::int64_t p = tiles.first_point(blockIdx.x) + threadIdx.y;
    if (q >= problem.queries || p >= problem.points) return;
    Accumulator<metric, missing> distance{};
    for (std::int64_t a = 0; a < problem.dims; ++a)
        distance.add(queries[Layout::place(q, problem.queries, a, problem.dims)],
                     points[Layout::place(p, problem.points, a, problem.dims)], types[a]);
    result[p * problem.queries + q] = distance.result(problem.dims);
}

}  // namespace
}  // namespace espalier::distance
