#pragma once

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/tiles.cuh"

/// One block of 32 threads per distance on item-major data, as the R plugin of source K 3.2.3 does it. The partial sums
/// of the threads are added up in shared memory by halves, with a barrier after each step although the block is a
/// single warp. Blocks this small leave most of a multiprocessor empty, and rows of `dims` words start at any
/// alignment, so reads straddle cache lines.
///
/// `Deal` says which attributes a thread sums: Deal(thread, dims) has `begin` and `end`, and `kStep` from one to the
/// next.
namespace espalier::distance {
namespace {

using namespace device;

constexpr unsigned kThreads = 32;

template <class Deal, Metric metric, Missing missing, class Types>
__global__ void one_distance_per_block(Problem problem, const float* query_items, const float* point_items,
                                       const __grid_constant__ Types types, float* result) {
    auto& partials = shared<Accumulator<metric, missing>[kThreads]>();
    const std::int64_t q = blockIdx.x % problem.queries, p = blockIdx.x / problem.queries;
    const unsigned t = threadIdx.x;
    partials[t] = {};
    const Deal attributes(t, problem.dims);
    for (std::int64_t a = attributes.begin; a < attributes.end; a += Deal::kStep)
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

template <class Deal>
void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(one_distance_per_block<Deal, metric(), missing(), decltype(types)>,
               dim3(static_cast<unsigned>(problem.distances())), dim3(kThreads), 0, context.stream, problem,
               buffers.query_items, buffers.point_items, types, buffers.result);
    });
}

}  // namespace
}  // namespace espalier::distance
