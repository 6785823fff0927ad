// Every block leaves the sum of its share in memory; the host fetches these, adds them in double precision
// and writes the result back to the device, where every variant leaves it. Source H, exercise: the first
// version, whose time is that of two small copies and a wait unless the vectors are long.

#include <numeric>
#include <vector>

#include "variants/dot/block_sum.cuh"

namespace espalier::dot {
namespace {

using namespace device;

__global__ void sum_blocks(const float* a, const float* b, std::int64_t elements, float* partial) {
    const double sum = block_sum(sum_of_products(a, b, elements));
    if (threadIdx.x == 0) partial[blockIdx.x] = static_cast<float>(sum);
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return blocks_for(problem, device, configuration["blocks_per_sm"]) * sizeof(float);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const unsigned blocks = blocks_for(problem, context.device, configuration["blocks_per_sm"]);
    std::vector<float> sums(blocks);
    if (blocks > 0) {
        auto* const partial = reinterpret_cast<float*>(context.workspace.data());
        launch(sum_blocks, blocks, kThreads, 0, context.stream, buffers.a, buffers.b, problem.elements, partial);
        copy_to_host(sums.data(), partial, blocks * sizeof(float), context.stream);
        synchronize(context.stream);
    }
    const auto sum = static_cast<float>(std::accumulate(sums.begin(), sums.end(), 0.0));
    copy_to_device(buffers.result, &sum, sizeof sum, context.stream);
    synchronize(context.stream);
}

}  // namespace

Variant<Problem> host_finish() {
    return {.summary = "a partial sum per block, added up by the host",
            .source = "H",
            .tolerance = kShortChains,
            .waits = "the host adds up",
            .space = {{"blocks_per_sm", {8, 4}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::dot
