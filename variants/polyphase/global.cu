// One thread per place in a copy, which writes it in all of them: two loads serve `phases` stores, and the
// stores of a warp are neighbours in every copy.

#include <algorithm>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/polyphase.hpp"

namespace espalier::polyphase {
namespace {

constexpr int kBlock = 256;

__global__ void write_all_copies(Problem problem, Buffers buffers) {
    const std::int64_t places = problem.receivers * problem.pitch();
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < places; i += stride) {
        const std::int64_t r = i / problem.pitch(), k = i % problem.pitch();
        const float* sample = buffers.traces + r * problem.samples + k;
        const float now = k < problem.samples ? *sample : 0;
        const float next = k + 1 < problem.samples ? sample[1] : now;
        float* copy = buffers.copies + r * problem.phases * problem.pitch() + k;
        for (std::int64_t p = 0; p < problem.phases; ++p, copy += problem.pitch())
            *copy = interpolated(now, next, p, problem.phases);
    }
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.values() == 0) return;
    const std::int64_t places = problem.receivers * problem.pitch();
    const std::int64_t blocks = std::min<std::int64_t>((places + kBlock - 1) / kBlock, 1 << 20);
    device::launch(write_all_copies, dim3(static_cast<unsigned>(blocks)), dim3(kBlock), 0, context.stream, problem,
                   buffers);
}

}  // namespace

Variant<Problem> global() {
    return {.role = Role::baseline,
            .summary = "one thread per sample, which writes all copies of it",
            .source = "",
            .tolerance = kInterpolated,
            .space = {},
            .supports = [](const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); },
            .run = run};
}

}  // namespace espalier::polyphase
