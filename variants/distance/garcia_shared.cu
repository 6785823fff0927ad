// The shared-memory kernel of the first published CUDA k-NN (Garcia, Debreuve and Barlaud 2008; source K
// 3.2.1, K5, K6): 16 x 16 tile as in `shared_load_tile`, but the bounds of the loop live in shared memory
// too, written by all 256 threads of the block. Those writes to one word collide: the count that the
// source measured (K5) is the same for 10 attributes as for 110, as it must be if they are the conflicts.
// Hardware since Fermi merges them, and reading the bounds back at every step remains. The tile's edge is
// filled with zeros and every step computes all 16 attributes.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;
using Tile = float[kTile][kTile];

struct Bounds {
    std::int64_t query_begin, query_step, point_begin, point_step, point_end;
};

__global__ void distances_of_tile(Problem problem, Tiles tiles, const float* query_values, const float* point_values,
                                  float* result) {
    auto& queries = shared<Tile, struct QueryTile>();
    auto& points = shared<Tile, struct PointTile>();
    auto& bounds = shared<Bounds>();
    const unsigned x = threadIdx.x, y = threadIdx.y;
    bounds.query_begin = tiles.first_query(blockIdx.x);
    bounds.query_step = kTile * problem.queries;
    bounds.point_begin = tiles.first_point(blockIdx.x);
    bounds.point_step = kTile * problem.points;
    bounds.point_end = bounds.point_begin + problem.dims * problem.points;

    const std::int64_t first_query = bounds.query_begin, first_point = bounds.point_begin;
    const bool loads_query = first_query + x < problem.queries, loads_point = first_point + x < problem.points;
    const bool computes = loads_query && first_point + y < problem.points;
    float sum = 0;
    std::int64_t attribute = y;
    for (std::int64_t q = first_query, p = first_point; p < bounds.point_end;
         q += bounds.query_step, p += bounds.point_step, attribute += kTile) {
        const bool inside = attribute < problem.dims;
        queries[y][x] = inside && loads_query ? query_values[q + problem.queries * y + x] : 0;
        points[y][x] = inside && loads_point ? point_values[p + problem.points * y + x] : 0;
        __syncthreads();
        if (computes)
            for (int i = 0; i < kTile; ++i) {
                const float difference = queries[i][x] - points[i][y];
                sum += difference * difference;
            }
        __syncthreads();
    }
    if (computes) result[(first_point + y) * problem.queries + first_query + x] = sqrtf(sum);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.metric != Metric::euclidean || problem.missing != Missing::none)
        return Support::no("the published code knows the euclidean metric only, without missing values");
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const Tiles tiles(problem, kTile, kTile);
    launch(distances_of_tile, dim3(static_cast<unsigned>(tiles.count())), dim3(kTile, kTile), 0, context.stream,
           problem, tiles, buffers.query_values, buffers.point_values, buffers.result);
}

}  // namespace

Variant<Problem> garcia_shared() {
    return {.summary = "the first published shared-memory kernel, its loop bounds in shared memory",
            .source = "K 3.2.1, K5, K6",
            .limits = "euclidean without missing values",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
