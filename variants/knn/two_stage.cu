// Distance matrix, selection and vote on the GPU; nothing but the predictions has to leave it (source
// K 5.4, 5.5). The queries are cut into chunks that fit a memory budget, because the matrix outgrows the
// device's memory long before the training set does. Queries on the host are copied attribute by attribute
// from where they are.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/two_stage.hpp"

namespace espalier::knn {
namespace {

using namespace device;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) { return pipeline_supports(problem); }

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return chunk_workspace(problem, device, problem.queries,
                           static_cast<std::size_t>(configuration["budget_mib"]) << 20);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const bool on_host = problem.queries_in == QueriesIn::host;
    const auto load = [&](std::int64_t first, std::int64_t count, float* to) {
        if (!on_host) return gather_queries(problem, buffers.query_values, first, count, to, context.stream);
        for (std::int64_t a = 0; a < problem.dims; ++a)
            copy_to_device(to + a * count, buffers.on_host.query_values + a * problem.queries + first,
                           static_cast<std::size_t>(count) * sizeof(float), context.stream);
    };
    const auto vote = [&](std::int64_t first, const Neighbours& chunk) {
        vote_per_query(problem, buffers, chunk, first, context.stream);
    };
    run_two_stage(context, problem, buffers, buffers.query_values, load, vote);
    if (on_host && problem.queries > 0)
        copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                     context.stream);
}

}  // namespace

Variant<Problem> two_stage() {
    return {.role = Role::baseline,
            .summary = "distance matrix, then selection, then vote, all on the GPU, in chunks of queries",
            .source = "K 5.4, 5.5",
            .limits = "k <= 1,024",
            .tolerance = kPipeline,
            .space = {{"budget_mib", {1024, 64, 8192}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
