// cpu_openmp's tiles with four points per load of the queries' values. NEON is a part of the architecture, so that
// nothing has to be asked for: the vectoriser makes 4 sums at once of the inner loop, a multiply-add in one
// instruction, and 32 registers hold what four points need.

#include "kernels/core/variant.hpp"
#include "variants/distance/cpu_tiles.hpp"

namespace espalier::distance {
namespace {

template <Metric metric, Missing missing>
void compute(const Problem& problem, const Buffers& buffers, const CpuTile& tile) {
    const std::int64_t end = tile.first_point + tile.points;
    for (std::int64_t p = tile.first_point; p < end; p += kPointsAtOnce)
        four_points<metric, missing>(problem, buffers, tile, p, std::min(kPointsAtOnce, end - p));
}

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!device.neon) return Support::no("the processor has no NEON");
    return Support::yes();
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    with_metric(problem, [&](auto metric, auto missing) {
        for_each_tile(problem, problem.queries,
                      [&](const CpuTile& tile) { compute<metric(), missing()>(problem, buffers, tile); });
    });
}

}  // namespace

Variant<Problem> cpu_neon() {
    return {.role = Role::modern,
            .summary = "OpenMP over tiles, 4 queries x 4 points at once with NEON",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
