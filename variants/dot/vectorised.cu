// 16-byte loads, several in flight per thread, and sums in single precision that are short enough to stay
// accurate. The last block to finish adds up the blocks' sums in a fixed order: one launch, nothing through
// the host, and the same bits every time, unlike atomic additions.

#include "variants/dot/block_sum.cuh"
#include "variants/dot/quads.cuh"

namespace espalier::dot {
namespace {

using namespace device;

constexpr int kUnroll = 4;

/// Chains of at most 4 * kUnroll additions in single precision: their rounding is all that is lost.
__device__ double sum_of_quads(const Quads& quads) {
    const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    double sum = 0;
    for (; i + (kUnroll - 1) * threads < quads.count; i += kUnroll * threads) {
        float4 a[kUnroll], b[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) a[u] = quads.a[i + u * threads], b[u] = quads.b[i + u * threads];
        float chain = 0;
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) chain += product(a[u], b[u]);
        sum += static_cast<double>(chain);
    }
    for (; i < quads.count; i += threads) sum += static_cast<double>(product(quads.a[i], quads.b[i]));
    return sum;
}

/// What follows each other in the workspace.
struct Partial {
    unsigned* finished;  ///< blocks that have written their sum
    double* sums;        ///< one per block
};

__global__ void __launch_bounds__(kThreads)
    sum(Quads quads, const float* a, const float* b, std::int64_t elements, Partial partial, float* result) {
    double mine = sum_of_quads(quads);
    if (blockIdx.x == 0) mine += quads.rest(a, b, elements, threadIdx.x);
    if (quads.a == nullptr) mine += sum_of_products(a, b, elements);

    double total = block_sum(mine);
    if (gridDim.x == 1) {
        if (threadIdx.x == 0) *result = static_cast<float>(total);
        return;
    }
    auto& last = shared<bool, struct IsLast>();
    if (threadIdx.x == 0) {
        partial.sums[blockIdx.x] = total;
        __threadfence();  // the sum must be visible before the block counts as finished
        last = atomicAdd(partial.finished, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    mine = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) mine += __ldcg(&partial.sums[i]);
    total = block_sum(mine);
    if (threadIdx.x == 0) *result = static_cast<float>(total);
}

unsigned blocks_of(const Problem& problem, const DeviceInfo& device, const Configuration& configuration) {
    // Below that many elements for each block another block costs more than it takes off the others.
    constexpr std::int64_t kElementsPerBlock = 4LL * kUnroll * kThreads;
    const std::int64_t needed =
        std::max<std::int64_t>(1, (problem.elements + kElementsPerBlock - 1) / kElementsPerBlock);
    const std::int64_t most = std::int64_t{std::max(1, device.sm_count)} * configuration["blocks_per_sm"];
    return static_cast<unsigned>(std::min(needed, most));
}

constexpr std::size_t kSumsOffset = 16;

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return kSumsOffset + blocks_of(problem, device, configuration) * sizeof(double);
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const unsigned blocks = blocks_of(problem, context.device, configuration);
    std::byte* const memory = context.workspace.data();
    const Partial partial{reinterpret_cast<unsigned*>(memory), reinterpret_cast<double*>(memory + kSumsOffset)};
    if (blocks > 1) fill(partial.finished, 0, sizeof(unsigned), context.stream);
    launch(sum, blocks, kThreads, 0, context.stream, Quads(problem, buffers), buffers.a, buffers.b, problem.elements,
           partial, buffers.result);
}

}  // namespace

Variant<Problem> vectorised() {
    return {.role = Role::modern,
            .summary = "16-byte loads; the last block adds up the blocks' sums in a fixed order",
            .tolerance = kShortChains,
            .space = {{"blocks_per_sm", {8, 4, 2}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::dot
