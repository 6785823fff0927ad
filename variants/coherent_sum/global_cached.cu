// One thread per time sample, traces and delays straight from global memory: neighbouring threads read
// neighbouring samples, and the caches catch what sources share (source S, section 6: the paper's best).

#include "variants/coherent_sum/global_sum.cuh"
#include "variants/coherent_sum/tolerance.hpp"

namespace espalier::coherent_sum {

Variant<Problem> global_cached() {
    return {
        .role = Role::baseline,
        .summary = "one thread per sample, everything from global memory through the caches",
        .source = "S 6, fig. 6",
        .limits = "sources < 2^31, samples <= 65,535 blocks",
        .tolerance = kSinglePrecision,
        .space = {{"block", {256, 128, 512, 1024}}},
        .supports = [](const Problem& problem, const Configuration& configuration,
                       const DeviceInfo&) { return fits_the_grid(problem, configuration["block"]); },
        .workspace = [](const Problem& problem, const Configuration&,
                        const DeviceInfo&) { return peak_bytes(problem); },
        .run =
            [](Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
                sum_window(context, problem, buffers, configuration["block"], 0, sum_from_global);
            }};
}

}  // namespace espalier::coherent_sum
