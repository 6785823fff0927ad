// One thread per time sample, traces and delays straight from global memory: neighbouring threads read
// neighbouring samples, and the caches catch what sources share (source S, section 6: the paper's best).

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

__global__ void sum_from_global(Problem problem, Buffers buffers, unsigned long long* peaks) {
    const std::int64_t source = blockIdx.x;
    const std::int64_t sample = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = sample < problem.samples;
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    const float sum = inside ? sum_over_receivers(problem, buffers.traces + sample, delays) : 0;
    keep(problem, buffers, peaks, source, sample, sum, inside);
}

}  // namespace

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
