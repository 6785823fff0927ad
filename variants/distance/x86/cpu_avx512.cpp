// cpu_openmp's tiles with the inner loop compiled for AVX-512: 16 sums at once instead of the 4 that every x86-64
// processor has, a multiply-add in one instruction, and four points per load of the queries' values.

#include "kernels/core/variant.hpp"
#include "variants/distance/cpu_tiles.hpp"

namespace espalier::distance {
namespace {

template <Metric metric, Missing missing>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512"))) void compute(
    const Problem& problem, const Buffers& buffers, const CpuTile& tile) {
    const std::int64_t end = tile.first_point + tile.points;
    for (std::int64_t p = tile.first_point; p < end; p += kPointsAtOnce)
        four_points<metric, missing>(problem, buffers, tile, p, std::min(kPointsAtOnce, end - p));
}

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!(device.avx512)) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return Support::yes();
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    with_metric(problem, [&](auto metric, auto missing) {
        for_each_tile(problem, [&](const CpuTile& tile) { compute<metric(), missing()>(problem, buffers, tile); });
    });
}

}  // namespace

Variant<Problem> cpu_avx512() {
    return {.role = Role::modern,
            .summary = "OpenMP over tiles, 16 queries x 4 points at once with AVX-512",
            .limits = "AVX-512 (F, BW, DQ, VL)",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::distance
