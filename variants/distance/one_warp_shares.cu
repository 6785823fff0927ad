// one_warp_partials with neighbouring attributes for each thread instead of every 32nd, so that a warp reads words that
// lie a share apart. Source K 3.2.3 calls its reads uncoalesced and does not say how the attributes are dealt out;
// dealt out in turns, only cards before compute capability 1.2 could not coalesce them: rows of `dims` words start at
// any alignment. Up to 32 attributes both are the same.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr unsigned kThreads = 32;

template <Metric metric, Missing missing, class Types>
__global__ void one_distance_per_block(Problem problem, const float* query_items, const float* point_items,
                                       const __grid_constant__ Types types, float* result) {
    auto& partials = shared<Accumulator<metric, missing>[kThreads]>();
    const std::int64_t q = blockIdx.x % problem.queries, p = blockIdx.x / problem.queries;
    const unsigned t = threadIdx.x;
    partials[t] = {};
    const std::int64_t share = (problem.dims + kThreads - 1) / kThreads, end = min((t + 1) * share, problem.dims);
    for (std::int64_t a = t * share; a < end; ++a)
        partials[t].add(query_items[q * problem.dims + a], point_items[p * problem.dims + a], types[a]);
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) partials[t].merge(partials[t + half]);
        __syncthreads();
    }
    if (t == 0) result[p * problem.queries + q] = partials[0].result(problem.dims);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (!problem.item_major) return Support::no("reads item-major copies, which the caller does not have");
    return Tiles(problem, 1, 1).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(one_distance_per_block<metric(), missing(), decltype(types)>,
               dim3(static_cast<unsigned>(problem.distances())), dim3(kThreads), 0, context.stream, problem,
               buffers.query_items, buffers.point_items, types, buffers.result);
    });
}

}  // namespace

Variant<Problem> one_warp_shares() {
    return {.summary = "one_warp_partials with neighbouring attributes for each thread: uncoalesced",
            .source = "K 3.2.3",
            .limits = "needs the item-major copies; fewer than 2^31 distances",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
