// One thread per delay, so that thousands of receivers' worth of threads are there even if receivers are few;
// neighbours write neighbouring delays. The coordinates are the same for all sources and come from the caches.

#include <algorithm>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/travel_time.hpp"

namespace espalier::travel_time {
namespace {

constexpr int kBlock = 256;

__global__ void one_delay_each(Problem problem, Buffers buffers) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < problem.delays(); i += stride) {
        const Position at = position_of(problem, buffers.model, i / problem.receivers);
        const double distance = sqrt(squared_distance(at, buffers.receivers + 3 * (i % problem.receivers)));
        buffers.delays[i] =
            delay_of(distance * buffers.model.samples_per_metre, problem.phases, buffers.model.phase_samples);
    }
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.delays() == 0) return;
    // Any number of delays: the grid's limit is 2^31 - 1 blocks, beyond which threads take several.
    const std::int64_t blocks = std::min<std::int64_t>((problem.delays() + kBlock - 1) / kBlock, 1 << 20);
    device::launch(one_delay_each, dim3(static_cast<unsigned>(blocks)), dim3(kBlock), 0, context.stream, problem,
                   buffers);
}

}  // namespace

Variant<Problem> global() {
    return {.role = Role::baseline,
            .summary = "one thread per delay, coordinates from global memory",
            .source = "",
            .tolerance = {},
            .space = {},
            .supports = [](const Problem& problem, const Configuration&,
                           const DeviceInfo&) { return needs_a_phase(problem); },
            .run = run};
}

}  // namespace espalier::travel_time
