// `global`, but both sets are read through 2-D textures, a row per attribute (sources K 5, 6.3). The
// texture unit computes the addresses and its cache is laid out for neighbourhoods in two dimensions; in
// exchange a texture's width limits the sets. Queries beyond it are taken a textureful at a time; points
// cannot be, as their set must be whole.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/pitched_texture.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;

/// `part` has the queries from `first_query` on that are in the texture.
template <Metric metric, Missing missing, class Types>
__global__ void one_distance_per_thread(Problem problem, Problem part, std::int64_t first_query, Tiles tiles,
                                        Texture2DValues query_values, Texture2DValues point_values,
                                        const __grid_constant__ Types types, float* result) {
    const std::int64_t q = tiles.first_query(blockIdx.x) + threadIdx.x;
    const std::int64_t p = tiles.first_point(blockIdx.x) + threadIdx.y;
    if (q >= part.queries || p >= part.points) return;
    Accumulator<metric, missing> distance{};
    for (std::int64_t a = 0; a < part.dims; ++a) distance.add(query_values(a, q), point_values(a, p), types[a]);
    result[p * problem.queries + first_query + q] = distance.result(part.dims);
}

std::int64_t queries_at_once(const Problem& problem, const DeviceInfo& device) {
    return std::min(problem.queries, most_columns(device));
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (auto texture = fit_texture_2d(problem.points, problem.dims, device); !texture) return texture;
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    return pitched_bytes(problem.points, problem.dims, device) +
           pitched_bytes(queries_at_once(problem, device), problem.dims, device);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    std::byte* const copies = context.workspace.data();
    const PitchedTexture points(context, buffers.point_values, problem.points, 0, problem.points, problem.dims, copies);
    const std::int64_t at_once = queries_at_once(problem, context.device);
    for (std::int64_t first = 0; first < problem.queries; first += at_once) {
        Problem part = problem;
        part.queries = std::min(at_once, problem.queries - first);
        const PitchedTexture queries(context, buffers.query_values, problem.queries, first, part.queries, problem.dims,
                                     copies + pitched_bytes(problem.points, problem.dims, context.device));
        const Tiles tiles(part, kTile, kTile);
        with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
            launch(one_distance_per_thread<metric(), missing(), decltype(types)>,
                   dim3(static_cast<unsigned>(tiles.count())), dim3(kTile, kTile), 0, context.stream, problem, part,
                   first, tiles, queries.values(), points.values(), types, buffers.result);
        });
    }
}

}  // namespace

Variant<Problem> texture_2d() {
    return {.summary = "one thread per distance, both sets through 2-D textures",
            .source = "K 5, 6.3",
            .limits = "points and dims within the device's 2-D textures",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::distance
