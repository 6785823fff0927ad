// As global_cached, but the block first stages its source's delays (the hodograph) in shared memory. The
// paper finds no gain: the delays are the same for all threads and a broadcast from L1 is as good
// (source S, section 6).

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

using namespace device;

__global__ void sum_with_shared_delays(Problem problem, Buffers buffers, unsigned long long* peaks) {
    auto* delays = dynamic_shared<std::int32_t>();
    const std::int64_t source = blockIdx.x;
    for (std::int64_t r = threadIdx.x; r < problem.receivers; r += blockDim.x)
        delays[r] = buffers.delays[source * problem.receivers + r];
    __syncthreads();

    const std::int64_t sample = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = sample < problem.samples;
    const float sum = inside ? sum_over_receivers(problem, buffers.traces + sample, delays) : 0;
    keep(problem, buffers, peaks, source, sample, sum, inside);
}

std::size_t hodograph_bytes(const Problem& problem) {
    return static_cast<std::size_t>(problem.receivers) * sizeof(std::int32_t);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (hodograph_bytes(problem) > device.shared_per_block_optin)
        return Support::no("the delays of " + std::to_string(problem.receivers) + " receivers need " +
                           std::to_string(hodograph_bytes(problem)) + " bytes of shared memory, a block has " +
                           std::to_string(device.shared_per_block_optin));
    return fits_the_grid(problem, configuration["block"]);
}

}  // namespace

Variant<Problem> shared_hodograph() {
    return {
        .role = Role::documented,
        .summary = "the source's delays staged in shared memory, traces from global memory",
        .source = "S",
        .limits = "4 x receivers bytes <= shared memory of a block",
        .tolerance = kSinglePrecision,
        .space = {{"block", {256, 128, 512, 1024}}},
        .supports = supports,
        .workspace = [](const Problem& problem, const Configuration&,
                        const DeviceInfo&) { return peak_bytes(problem); },
        .run =
            [](Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
                sum_window(context, problem, buffers, configuration["block"], hodograph_bytes(problem),
                           sum_with_shared_delays);
            }};
}

}  // namespace espalier::coherent_sum
