// One block of 1,024 threads does everything: nothing to set to zero beforehand, no sums of blocks to meet
// afterwards, so that short vectors cost a single launch. A multiprocessor alone reads long ones slowly.

#include "variants/dot/block_sum.cuh"
#include "variants/dot/quads.cuh"

namespace espalier::dot {
namespace {

using namespace device;

constexpr int kWide = 1024;
constexpr int kUnroll = 4;  ///< quadruples of either vector in flight, as many as registers hold

/// Chains of 4 * kUnroll additions in single precision.
__device__ double sum_of_quads(const Quads& quads) {
    double sum = 0;
    for (std::int64_t i = threadIdx.x; i < quads.count; i += kUnroll * kWide) {
        float4 a[kUnroll] = {}, b[kUnroll] = {};
        // The last round's loads are all under way at once, too.
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
            if (i + u * kWide < quads.count) a[u] = quads.a[i + u * kWide], b[u] = quads.b[i + u * kWide];
        float chain = 0;
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) chain += product(a[u], b[u]);
        sum += static_cast<double>(chain);
    }
    return sum;
}

__global__ void __launch_bounds__(kWide)
    sum(Quads quads, const float* a, const float* b, std::int64_t elements, float* result) {
    const double mine = quads.a == nullptr ? sum_of_products(a, b, elements)
                                           : sum_of_quads(quads) + quads.rest(a, b, elements, threadIdx.x);
    const double total = block_sum<kWide>(mine);
    if (threadIdx.x == 0) *result = static_cast<float>(total);
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    launch(sum, 1, kWide, 0, context.stream, Quads(problem, buffers), buffers.a, buffers.b, problem.elements,
           buffers.result);
}

}  // namespace

Variant<Problem> one_block() {
    return {.role = Role::modern,
            .summary = "one block of 1,024 threads, 16-byte loads, a single launch",
            .tolerance = kShortChains,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::dot
