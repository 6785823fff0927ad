// A block computes 16 x 16 distances and walks the attributes 16 at a time: it loads the 16 x 16 values
// of its queries and of its points into shared memory, waits, adds their terms, waits, goes on
// (sources K 5.2.1, 5.2.3). Each value is fetched 16 times less often than by `global`. Loads are
// coalesced (neighbouring threads, neighbouring items), and tile[attribute][item] has no bank conflicts:
// a warp stores 32 consecutive words, reads 16 consecutive queries and two points, each broadcast.

#include "device/kernel.hpp"
#include "harness/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;
using Tile = float[kTile][kTile];

template <Metric metric, Missing missing, class Types>
__global__ void distances_of_tile(Problem problem, Tiles tiles, const float* query_values, const float* point_values,
                                  Types types, float* result) {
    auto& queries = shared<Tile, struct QueryTile>();
    auto& points = shared<Tile, struct PointTile>();
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

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const Tiles tiles(problem, kTile, kTile);
    with_metric_and_types(context, problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(distances_of_tile<metric(), missing(), decltype(types)>, dim3(static_cast<unsigned>(tiles.count())),
               dim3(kTile, kTile), 0, context.stream, problem, tiles, buffers.query_values, buffers.point_values, types,
               buffers.result);
    });
}

}  // namespace

Variant<Problem> shared_load_tile() {
    return {.summary = "16 x 16 tile in shared memory, 16 attributes at a time, two barriers per step",
            .source = "K 5.2.1, 5.2.3",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
