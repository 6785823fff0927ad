// 16 x 16 threads compute a tile of 128 x 128 (or 64 x 64) distances, 8 x 8 (4 x 4) each in registers. Per
// attribute a thread reads 8 + 8 values from shared memory, in vectors of four, and adds 64 terms, where
// `shared_load_tile` reads two values for every term: arithmetic, not shared memory, becomes the limit.
// That is how matrix products are tiled (Volkov and Demmel 2008); the terms here are differences, so
// nothing cancels as in the expanded square |x|^2 - 2xy + |y|^2, for twice the instructions. The values of
// the next 8 attributes are fetched into registers while the current ones are worked on, and two
// buffers in shared memory make one barrier per 8 attributes enough.

#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/register_tile.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

/// The values of one set on their way to shared memory.
template <int per_thread>
struct Slice {
    static constexpr int kItems = kSide * per_thread;
    static constexpr int kLoads = kItems * kDepth / (kSide * kSide);
    static constexpr int kRows = kSide * kSide / kItems;  // attributes that the block loads at a time
    float values[kLoads];

    __device__ void fetch(const float* set, std::int64_t count, std::int64_t first_item, std::int64_t first_attribute,
                          std::int64_t dims, unsigned thread) {
        const std::int64_t item = first_item + thread % kItems;
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            const std::int64_t attribute = first_attribute + thread / kItems + i * kRows;
            values[i] = item < count && attribute < dims ? set[attribute * count + item] : 0.0F;
        }
    }

    __device__ void store(float (&tile)[kDepth][kItems], unsigned thread) const {
#pragma unroll
        for (int i = 0; i < kLoads; ++i) tile[thread / kItems + i * kRows][thread % kItems] = values[i];
    }
};

template <Metric metric, Missing missing, int per_thread, class Types>
__global__ void __launch_bounds__(kSide* kSide, metric == Metric::mixed_euclidean ? 1 : 2)
    distances_of_tile(Problem problem, Tiles tiles, const float* query_values, const float* point_values,
                      const __grid_constant__ Types types, bool vector_stores, float* result) {
    using Buffer = float[2][kDepth][kSide * per_thread];
    auto& queries = shared<Buffer, struct QueryTile>();
    auto& points = shared<Buffer, struct PointTile>();
    const unsigned x = threadIdx.x, y = threadIdx.y, thread = y * kSide + x;
    const std::int64_t first_query = tiles.first_query(blockIdx.x), first_point = tiles.first_point(blockIdx.x);

    Accumulator<metric, missing> sums[per_thread][per_thread] = {};
    Slice<per_thread> next_queries, next_points;
    next_queries.fetch(query_values, problem.queries, first_query, 0, problem.dims, thread);
    next_points.fetch(point_values, problem.points, first_point, 0, problem.dims, thread);
    int buffer = 0;
    for (std::int64_t first = 0; first < problem.dims; first += kDepth, buffer ^= 1) {
        next_queries.store(queries[buffer], thread);
        next_points.store(points[buffer], thread);
        // One barrier: who is a step ahead writes the other buffer, which nobody reads any more.
        __syncthreads();
        next_queries.fetch(query_values, problem.queries, first_query, first + kDepth, problem.dims, thread);
        next_points.fetch(point_values, problem.points, first_point, first + kDepth, problem.dims, thread);
        const auto step = [&](int a) {
            float q[per_thread], p[per_thread];
            read_row(q, queries[buffer][a], x);
            read_row(p, points[buffer][a], y);
            // The type is the same for all 64 terms: one branch outside of them.
            if (types[first + a] == AttributeType::nominal)
                add_terms(sums, q, p, AttributeType::nominal);
            else
                add_terms(sums, q, p, AttributeType::numeric);
        };
        if (first + kDepth <= problem.dims) {
#pragma unroll 2
            for (int a = 0; a < kDepth; ++a) step(a);
        } else {
            for (int a = 0; a < problem.dims - first; ++a) step(a);
        }
    }

#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        const std::int64_t p = first_point + item_of(y, j);
        if (p >= problem.points) continue;
#pragma unroll
        for (int i = 0; i < per_thread; i += kVector) {
            const std::int64_t q = first_query + item_of(x, i);
            float* const to = result + p * problem.queries + q;
            float four[kVector];
#pragma unroll
            for (int v = 0; v < kVector; ++v) four[v] = sums[j][i + v].result(problem.dims);
            if (vector_stores && q + kVector <= problem.queries) {
                *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
            } else {
#pragma unroll
                for (int v = 0; v < kVector; ++v)
                    if (q + v < problem.queries) to[v] = four[v];
            }
        }
    }
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    const int per_thread = configuration["per_thread"];
    if (per_thread == 8 && (problem.metric == Metric::cosine || problem.missing == Missing::allowed))
        return Support::no("8 x 8 distances of several sums each do not fit a thread's registers");
    return Tiles(problem, kSide * per_thread, kSide * per_thread).fit_a_grid();
}

template <int per_thread>
void launch_tiles(const Context& context, const Problem& problem, const Buffers& buffers) {
    const Tiles tiles(problem, kSide * per_thread, kSide * per_thread);
    const bool vector_stores =
        problem.queries % kVector == 0 && reinterpret_cast<std::uintptr_t>(buffers.result) % sizeof(float4) == 0;
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        // What supports() declines is not compiled either: it would spill.
        if constexpr (per_thread == 4 || (metric() != Metric::cosine && missing() == Missing::none))
            launch(distances_of_tile<metric(), missing(), per_thread, decltype(types)>,
                   dim3(static_cast<unsigned>(tiles.count())), dim3(kSide, kSide), 0, context.stream, problem, tiles,
                   buffers.query_values, buffers.point_values, types, vector_stores, buffers.result);
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.distances() == 0) return;
    if (configuration["per_thread"] == 8)
        launch_tiles<8>(context, problem, buffers);
    else
        launch_tiles<4>(context, problem, buffers);
}

}  // namespace

Variant<Problem> register_tile() {
    return {.role = Role::modern,
            .summary = "128 x 128 or 64 x 64 tile, 8 x 8 or 4 x 4 distances per thread in registers",
            .source = "after Volkov and Demmel 2008",
            .limits = "8 x 8 per thread: no cosine, no missing values",
            .tolerance = kDirectSum,
            .space = {{"per_thread", {4, 8}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
