// cpu_openmp's tiles with the inner loop compiled for AVX2: 8 sums at once instead of the 4 that every x86-64
// processor has, a multiply-add in one instruction, and four points per load of the queries' values.

#include "kernels/core/variant.hpp"
#include "variants/distance/cpu_tiles.hpp"

namespace espalier::distance {
namespace {

template <Metric metric, Missing missing>
__attribute__((target("avx2,fma"))) void compute(const Problem& problem, const Buffers& buffers, const CpuTile& tile) {
    const std::int64_t end = tile.first_point + tile.points;
    for (std::int64_t p = tile.first_point; p < end; p += kPointsAtOnce)
        four_points<metric, missing>(problem, buffers, tile, p, std::min(kPointsAtOnce, end - p));
}

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!(device.avx2 && device.fma)) return Support::no("the processor has no AVX2 and FMA");
    return Support::yes();
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    with_metric(problem, [&](auto metric, auto missing) {
        for_each_tile(problem, [&](const CpuTile& tile) { compute<metric(), missing()>(problem, buffers, tile); });
    });
}

}  // namespace

Variant<Problem> cpu_avx2() {
    return {.role = Role::modern,
            .summary = "OpenMP over tiles, 8 queries x 4 points at once with AVX2",
            .limits = "AVX2 and FMA",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
