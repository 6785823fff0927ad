// `global` on item-major data: the bad baseline (sources K 2.3.6, 3.2). Neighbouring threads read words
// that lie `dims` apart, so every read of a warp touches as many cache lines as it has queries.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;

template <Metric metric, Missing missing, class Types>
__global__ void one_distance_per_thread(Problem problem, Tiles tiles, const float* query_items,
                                        const float* point_items, const __grid_constant__ Types types, float* result) {
    const std::int64_t q = tiles.first_query(blockIdx.x) + threadIdx.x;
    const std::int64_t p = tiles.first_point(blockIdx.x) + threadIdx.y;
    if (q >= problem.queries || p >= problem.points) return;
    Accumulator<metric, missing> distance{};
    for (std::int64_t a = 0; a < problem.dims; ++a)
        distance.add(query_items[q * problem.dims + a], point_items[p * problem.dims + a], types[a]);
    result[p * problem.queries + q] = distance.result(problem.dims);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (!problem.item_major) return Support::no("reads item-major copies, which the caller does not have");
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const Tiles tiles(problem, kTile, kTile);
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(one_distance_per_thread<metric(), missing(), decltype(types)>,
               dim3(static_cast<unsigned>(tiles.count())), dim3(kTile, kTile), 0, context.stream, problem, tiles,
               buffers.query_items, buffers.point_items, types, buffers.result);
    });
}

}  // namespace

Variant<Problem> global_uncoalesced() {
    return {.summary = "one thread per distance, uncoalesced reads of item-major data",
            .source = "K 2.3.6, 3.2",
            .limits = "needs the item-major copies",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
