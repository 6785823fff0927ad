// The texture kernel of the first published CUDA k-NN (Garcia, Debreuve and Barlaud 2008; source K
// 3.2.1): one thread per distance, the training set in a 2-D texture, the queries in global memory. Each
// thread of a warp reads its own query coalesced and the same texel as its neighbours.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/distance/pitched_texture.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;

__global__ void one_distance_per_thread(Problem problem, Tiles tiles, const float* query_values,
                                        Texture2DValues point_values, float* result) {
    const std::int64_t q = tiles.first_query(blockIdx.x) + threadIdx.x;
    const std::int64_t p = tiles.first_point(blockIdx.x) + threadIdx.y;
    if (q >= problem.queries || p >= problem.points) return;
    float sum = 0;
    for (std::int64_t a = 0; a < problem.dims; ++a) {
        const float difference = point_values(a, p) - query_values[a * problem.queries + q];
        sum += difference * difference;
    }
    result[p * problem.queries + q] = sqrtf(sum);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (problem.metric != Metric::euclidean || problem.missing != Missing::none)
        return Support::no("the published code knows the euclidean metric only, without missing values");
    if (auto texture = fit_texture_2d(problem.points, problem.dims, device); !texture) return texture;
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    return pitched_bytes(problem.points, problem.dims, device);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const PitchedTexture points(context, buffers.point_values, problem.points, 0, problem.points, problem.dims,
                                context.workspace.data());
    const Tiles tiles(problem, kTile, kTile);
    launch(one_distance_per_thread, dim3(static_cast<unsigned>(tiles.count())), dim3(kTile, kTile), 0, context.stream,
           problem, tiles, buffers.query_values, points.values(), buffers.result);
}

}  // namespace

Variant<Problem> garcia_texture_2d() {
    return {.summary = "the first published kernel: points in a 2-D texture, queries in global memory",
            .source = "K 3.2.1",
            .limits = "euclidean without missing values; points and dims within the device's 2-D textures",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::distance
