// Every block sums its share in shared memory and adds it to one float in device memory with an atomic:
// nothing passes through the host. Source H, exercise. The baseline of GPUs.
// The order in which blocks add, and so the last bits, change from run to run.

#include "variants/dot/block_sum.cuh"

namespace espalier::dot {
namespace {

using namespace device;

__global__ void add(const float* a, const float* b, std::int64_t elements, float* result) {
    const double sum = block_sum(sum_of_products(a, b, elements));
    if (threadIdx.x == 0) atomicAdd(result, static_cast<float>(sum));
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    fill(buffers.result, 0, sizeof(float), context.stream);
    if (problem.elements == 0) return;
    launch(add, blocks_for(problem, context.device, configuration["blocks_per_sm"]), kThreads, 0, context.stream,
           buffers.a, buffers.b, problem.elements, buffers.result);
}

}  // namespace

Variant<Problem> atomic_float() {
    return {.role = Role::baseline,
            .summary = "blocks add into one float in device memory with an atomic",
            .source = "H",
            .tolerance = kBlockChain,
            .nondeterminism = "blocks add to one float in the order in which they finish",
            .space = {{"blocks_per_sm", {8, 4}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::dot
