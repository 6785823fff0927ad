// A block computes 16 x 16 distances and walks the attributes 16 at a time: it loads the 16 x 16 values
// of its queries and of its points into shared memory, waits, adds their terms, waits, goes on
// (sources K 5.2.1, 5.2.3). Each value is fetched 16 times less often than by `global`. Loads are
// coalesced (neighbouring threads, neighbouring items), and tile[attribute][item] has no bank conflicts:
// a warp stores 32 consecutive words, reads 16 consecutive queries and two points, each broadcast.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/shared_tile.cuh"

namespace espalier::distance {
namespace {

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    launch_shared_tiles(context, problem, buffers, buffers.query_values, buffers.point_values);
}

}  // namespace

Variant<Problem> shared_load_tile() {
    return {.summary = "16 x 16 tile in shared memory, 16 attributes at a time, two barriers per step",
            .source = "K 5.2.1, 5.2.3",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
