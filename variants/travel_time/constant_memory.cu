// One thread per receiver, which walks over all trial sources; receivers and grid lie in constant memory, the
// delays go to global memory (source S, the hodograph stage). Threads of a warp read different receivers,
// which constant memory hands out one after the other; but each reads its receiver once, for all sources.

#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/travel_time.hpp"

namespace espalier::travel_time {
namespace {

constexpr std::int64_t kMostReceivers = 2560;  // 60 KiB of the 64 that a kernel may name

__constant__ double receivers_in_constant_memory[3 * kMostReceivers];

__global__ void walk_over_sources(Problem problem, Buffers buffers) {
    const std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (r >= problem.receivers) return;
    const double receiver[3] = {receivers_in_constant_memory[3 * r], receivers_in_constant_memory[3 * r + 1],
                                receivers_in_constant_memory[3 * r + 2]};
    for (std::int64_t source = 0; source < problem.sources(); ++source) {
        const double distance = sqrt(squared_distance(position_of(problem, buffers.model, source), receiver));
        buffers.delays[source * problem.receivers + r] =
            delay_of(distance * buffers.model.samples_per_metre, problem.phases, buffers.model.phase_samples);
    }
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.receivers > kMostReceivers)
        return Support::no("the coordinates of " + std::to_string(problem.receivers) +
                           " receivers do not fit constant memory, which holds those of " +
                           std::to_string(kMostReceivers));
    return needs_a_phase(problem);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.delays() == 0) return;
    device::copy_to_constant(receivers_in_constant_memory, buffers.receivers_on_host,
                             static_cast<std::size_t>(problem.receivers) * 3 * sizeof(double), context.stream);
    const int block = configuration["block"];
    device::launch(walk_over_sources, dim3(static_cast<unsigned>((problem.receivers + block - 1) / block)),
                   dim3(static_cast<unsigned>(block)), 0, context.stream, problem, buffers);
}

}  // namespace

Variant<Problem> constant_memory() {
    return {.role = Role::documented,
            .summary = "one thread per receiver, receivers and grid in constant memory",
            .source = "S",
            .limits = "receivers <= 2560",
            .tolerance = {},
            .space = {{"block", {64, 32, 256}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::travel_time
