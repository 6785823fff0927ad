// `global` on item-major data: the bad baseline (sources K 2.3.6, 3.2). Neighbouring threads read words
// that lie `dims` apart, so every read of a warp touches as many cache lines as it has queries.

#include "variants/distance/one_per_thread.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kTile = 16;

struct ItemMajor {
    __device__ static std::int64_t place(std::int64_t item, std::int64_t, std::int64_t attribute, std::int64_t dims) {
        return item * dims + attribute;
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (!problem.item_major) return Support::no("reads item-major copies, which the caller does not have");
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const Tiles tiles(problem, kTile, kTile);
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(one_distance_per_thread<metric(), missing(), ItemMajor, const float*, decltype(types)>,
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
