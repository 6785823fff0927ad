// cpu_openmp's tiles with the inner loop compiled for AVX-512: 16 sums at once instead of the 4 that every x86-64
// processor has, a multiply-add in one instruction, and four points per load of the queries' values.

#include "variants/prefer_512.hpp"

#define ESPALIER_TARGET target("avx512f,avx512bw,avx512dq,avx512vl,fma" ESPALIER_PREFER_512)
#include "variants/distance/x86/target_tiles.hpp"

namespace espalier::distance {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!(device.avx512)) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return Support::yes();
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
