// Distances in tiles of 8 queries x 48 points that never leave the registers: they are compared with what each query
// has found so far, and only what may be among its nearest is stored (variants/knn/fused/pipeline.hpp).

#include "variants/knn/x86/avx512_vectors.hpp"

namespace espalier::knn {
namespace {

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.avx512) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return fused::supports(problem);
}

}  // namespace

Variant<Problem> cpu_fused_avx512() {
    return {.role = Role::modern,
            .summary = "distances screened in registers, 8 queries x 48 points at once, by expanded squares",
            .limits = "AVX-512 (F, BW, DQ, VL); k <= 1,024; no nominal attributes, nothing missing",
            .tolerance = kPipeline,
            .space = {},
            .supports = supports,
            .workspace = fused::workspace<VectorTiles<Avx512>>,
            .run = fused::run_in_cells<VectorTiles<Avx512>, fused::run<VectorTiles<Avx512>>,
                                       fused::workspace<VectorTiles<Avx512>>>};
}

}  // namespace espalier::knn
