// A block computes 16 x 16 distances: it loads all attributes of its 16 queries and 16 points into
// shared memory, waits once, and computes (source K 5.2.2). One barrier instead of two per 16 attributes,
// but the memory grows with the attributes, and with it fewer blocks fit a multiprocessor: the source saw
// the lead over `shared_load_tile` shrink with the occupancy and turn at 128 attributes (K3, K4).
// [attribute][item] as there: free of bank conflicts.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;

template <Metric metric, Missing missing, class Types>
__global__ void distances_of_tile(Problem problem, Tiles tiles, const float* query_values, const float* point_values,
                                  const __grid_constant__ Types types, float* result) {
    auto* const queries = dynamic_shared<float>();
    auto* const points = queries + problem.dims * kTile;
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const std::int64_t first_point = tiles.first_point(blockIdx.x);
    const std::int64_t q = tiles.first_query(blockIdx.x) + x, p = first_point + y;
    const std::int64_t loaded_point = first_point + x;

    for (std::int64_t a = y; a < problem.dims; a += kTile) {
        if (q < problem.queries) queries[a * kTile + x] = query_values[a * problem.queries + q];
        if (loaded_point < problem.points) points[a * kTile + x] = point_values[a * problem.points + loaded_point];
    }
    __syncthreads();
    if (q >= problem.queries || p >= problem.points) return;
    Accumulator<metric, missing> distance{};
    for (int a = 0; a < problem.dims; ++a) distance.add(queries[a * kTile + x], points[a * kTile + y], types[a]);
    result[p * problem.queries + q] = distance.result(problem.dims);
}

std::size_t shared_bytes(const Problem& problem) {
    return 2 * kTile * static_cast<std::size_t>(problem.dims) * sizeof(float);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (shared_bytes(problem) > device.shared_per_block_optin)
        return Support::no(
            std::to_string(problem.dims) + " attributes of 32 items need " + std::to_string(shared_bytes(problem)) +
            " bytes of shared memory per block, the device has " + std::to_string(device.shared_per_block_optin));
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const Tiles tiles(problem, kTile, kTile);
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(distances_of_tile<metric(), missing(), decltype(types)>, dim3(static_cast<unsigned>(tiles.count())),
               dim3(kTile, kTile), shared_bytes(problem), context.stream, problem, tiles, buffers.query_values,
               buffers.point_values, types, buffers.result);
    });
}

}  // namespace

Variant<Problem> shared_load_all() {
    return {.summary = "16 x 16 tile, all attributes in shared memory, one barrier",
            .source = "K 5.2.2, K2-K4",
            .limits = "128 x dims bytes of shared memory per block",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
