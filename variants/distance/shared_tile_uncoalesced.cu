// The tile of the second published CUDA k-NN (source K 3.2.2): 16 x 16 distances from 16 attributes at a time in shared
// memory, as in `shared_load_tile`, but both sets are item-major and neighbouring threads load neighbouring items,
// whose values lie `dims` words apart: a warp's load touches as many cache lines as it has items. A barrier stands
// before and after every step, and every step computes all 16 attributes, those beyond the end being zeros. The source
// joins it with a radix sort of each row (`smallest_k/radix_sort_rows`) and a vote on the CPU (`knn/placement`).

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;
using Tile = float[kTile][kTile];

__global__ void distances_of_uncoalesced_tile(Problem problem, Tiles tiles, const float* query_items,
                                              const float* point_items, float* result) {
    auto& queries = shared<Tile, struct QueryTile>();
    auto& points = shared<Tile, struct PointTile>();
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::int64_t first_point = tiles.first_point(blockIdx.x);
    const std::int64_t q = tiles.first_query(blockIdx.x) + x, p = first_point + y;
    const std::int64_t loaded_point = first_point + x;

    float sum = 0;
    for (std::int64_t first = 0; first < problem.dims; first += kTile) {
        const std::int64_t a = first + y;
        const bool inside = a < problem.dims;
        __syncthreads();
        queries[y][x] = inside && q < problem.queries ? query_items[q * problem.dims + a] : 0;
        points[y][x] = inside && loaded_point < problem.points ? point_items[loaded_point * problem.dims + a] : 0;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) {
            const float difference = queries[i][x] - points[i][y];
            sum += difference * difference;
        }
    }
    if (q < problem.queries && p < problem.points) result[p * problem.queries + q] = sqrtf(sum);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.metric != Metric::euclidean || problem.missing != Missing::none)
        return Support::no("the published code knows the euclidean metric only, without missing values");
    if (!problem.item_major) return Support::no("reads item-major copies, which the caller does not have");
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const Tiles tiles(problem, kTile, kTile);
    launch(distances_of_uncoalesced_tile, dim3(static_cast<unsigned>(tiles.count())), dim3(kTile, kTile), 0,
           context.stream, problem, tiles, buffers.query_items, buffers.point_items, buffers.result);
}

}  // namespace

Variant<Problem> shared_tile_uncoalesced() {
    return {.summary = "16 x 16 tile in shared memory from item-major data, uncoalesced, barriers around every step",
            .source = "K 3.2.2",
            .limits = "euclidean without missing values; needs the item-major copies",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
