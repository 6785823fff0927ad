// One thread per time sample, traces and delays straight from global memory: neighbouring threads read
// neighbouring samples, and the caches catch what sources share (source S, section 6: the paper's best).

#include "variants/coherent_sum/sample_per_thread.cuh"

namespace espalier::coherent_sum {

Variant<Problem> global_cached() {
    return {.role = Role::baseline,
            .summary = "one thread per sample, everything from global memory through the caches",
            .source = "S 6, fig. 6",
            .limits = "sources < 2^31, samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"block", {256, 128, 512, 1024}}},
            .supports = supports,
            .workspace = workspace,
            .run = run<InOrder>};
}

}  // namespace espalier::coherent_sum
