// Queries streamed from the host, one chunk after the other, each step waiting for the last: the host gathers
// a chunk, one copy takes it to the device, the stages run, the predictions come back (source K, the
// synchronous side of K9 and K10). Through pageable or page-locked memory (S3).

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/staging.cuh"

namespace espalier::knn {
namespace {

using namespace device;

constexpr std::size_t kBudget = std::size_t{1} << 30;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return streaming_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return chunk_workspace(problem, device, queries_per_chunk(problem, configuration["chunks"]), kBudget);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const std::int64_t most = queries_per_chunk(problem, configuration["chunks"]);
    for (std::int64_t first = 0; first < problem.queries;) {
        const ChunkPlan plan = plan_chunk(problem, buffers.stages, context, std::min(most, problem.queries - first));
        const std::int64_t count = plan.layout.queries;
        const std::size_t bytes = staging_bytes(problem, count);
        std::byte* const memory = staging(configuration["pinned"] != 0, 0, bytes);
        auto* const values = reinterpret_cast<float*>(context.workspace.data() + plan.layout.query_values);
        gather_on_host(problem, buffers, first, count, memory);
        if (problem.dims > 0) copy_to_device(values, memory, bytes, context.stream);
        run_stages(context, plan, buffers, values);
        vote_per_query(problem, buffers, neighbours_in(context, plan.layout, problem), first, context.stream);
        copy_to_host(memory, predictions_of(buffers) + prediction_bytes(first), prediction_bytes(count),
                     context.stream);
        synchronize(context.stream);
        std::memcpy(buffers.on_host.predictions + prediction_bytes(first), memory, prediction_bytes(count));
        first += count;
    }
}

}  // namespace

Variant<Problem> synchronous() {
    return {.summary = "queries streamed from the host, every step waiting for the one before",
            .source = "K 5.5, K9, K10; S3",
            .limits = "k <= 1,024; queries_in=host",
            .tolerance = kPipeline,
            .waits = "it waits for every chunk",
            .space = {{"chunks", {8, 1, 32}}, {"pinned", {0, 1}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
