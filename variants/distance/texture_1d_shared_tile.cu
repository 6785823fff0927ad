// `shared_load_tile` fed from 1-D textures: the source's fastest for the euclidean metric (sources K 6.2,
// K5-K7). Texture reads need no alignment to be fast and hit the cache for the values that other blocks
// have just loaded; shared memory then serves the 16-fold reuse within the block, without bank conflicts.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/shared_tile.cuh"
#include "variants/distance/value_texture.cuh"

namespace espalier::distance {
namespace {

using namespace device;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (auto textures = fit_linear_textures(problem, device); !textures) return textures;
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    // No attribute, no texture: CUDA has no empty ones.
    if (problem.distances() == 0) return;
    const ValueTexture queries(buffers.query_values, problem.queries * problem.dims);
    const ValueTexture points(buffers.point_values, problem.points * problem.dims);
    launch_shared_tiles(context, problem, buffers, queries.values(), points.values());
}

}  // namespace

Variant<Problem> texture_1d_shared_tile() {
    return {.summary = "16 x 16 tile in shared memory, 16 attributes at a time, loaded through 1-D textures",
            .source = "K 6.2, K5-K7",
            .limits = "each set within the device's 1-D linear textures",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
