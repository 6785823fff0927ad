// One thread per distance; both sets are read straight from global memory (source K 6.1). They are
// attribute-major, so the threads of a warp, which are neighbours along the queries, read neighbouring
// words; the point's value is one word for all of them. Every value is fetched again by every tile that
// needs it, so the caches carry the kernel. Any problem: the baseline of GPUs.

#include "variants/distance/one_per_thread.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kThreads = 256;

Tiles tiles_of(const Problem& problem, const Configuration& configuration) {
    return {problem, configuration["width"], kThreads / configuration["width"]};
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    return tiles_of(problem, configuration).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.distances() == 0) return;
    const Tiles tiles = tiles_of(problem, configuration);
    const dim3 grid(static_cast<unsigned>(tiles.count()));
    const dim3 block(static_cast<unsigned>(tiles.width), static_cast<unsigned>(tiles.height));
    with_metric_and_types(problem, buffers, [&](auto metric, auto missing, auto types) {
        launch(one_distance_per_thread<metric(), missing(), AttributeMajor, const float*, decltype(types)>, grid, block,
               0, context.stream, problem, tiles, buffers.query_values, buffers.point_values, types, buffers.result);
    });
}

}  // namespace

Variant<Problem> global() {
    return {.role = Role::baseline,
            .summary = "one thread per distance, coalesced reads from global memory",
            .source = "K 6.1, K1",
            .tolerance = kDirectSum,
            .space = {{"width", {32, 16, 64}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
