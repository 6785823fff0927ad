// `global`, but both sets are read through linear 1-D textures (sources K 5, 6.3; K8). On the source's
// GPUs the texture cache caught the values that neighbouring tiles share; since global memory has caches
// of its own, the texture unit is a detour. With `texture_types` the attributes' types are read from a
// texture as well, even where they would fit constant memory: what that costs is K11.

#include "variants/distance/one_per_thread.cuh"
#include "variants/distance/value_texture.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (configuration["texture_types"] == 1 && problem.metric != Metric::mixed_euclidean)
        return Support::no("only mixed_euclidean has attribute types to put into a texture");
    if (auto textures = fit_linear_textures(problem, device); !textures) return textures;
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.distances() == 0) return;
    const Tiles tiles(problem, kTile, kTile);
    const ValueTexture queries(buffers.query_values, problem.queries * problem.dims);
    const ValueTexture points(buffers.point_values, problem.points * problem.dims);
    with_metric_and_types(
        problem, buffers,
        [&](auto metric, auto missing, auto types) {
            launch(one_distance_per_thread<metric(), missing(), AttributeMajor, TextureValues, decltype(types)>,
                   dim3(static_cast<unsigned>(tiles.count())), dim3(kTile, kTile), 0, context.stream, problem, tiles,
                   queries.values(), points.values(), types, buffers.result);
        },
        configuration["texture_types"] == 1 ? TypeStorage::texture : TypeStorage::constant_if_they_fit);
}

}  // namespace

Variant<Problem> texture_1d() {
    return {.summary = "one thread per distance, both sets through 1-D textures",
            .source = "K 5, 6.3, K8, K11",
            .limits = "each set within the device's 1-D linear textures",
            .tolerance = kDirectSum,
            .space = {{"texture_types", {0, 1}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
