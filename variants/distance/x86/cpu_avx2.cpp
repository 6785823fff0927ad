// cpu_openmp's tiles with the inner loop compiled for AVX2: 8 sums at once instead of the 4 that every x86-64
// processor has, a multiply-add in one instruction, and four points per load of the queries' values.

#define ESPALIER_TARGET target("avx2,fma")
#include "variants/distance/x86/target_tiles.hpp"

namespace espalier::distance {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!(device.avx2 && device.fma)) return Support::no("the processor has no AVX2 and FMA");
    return Support::yes();
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
