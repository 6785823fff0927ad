// Distance matrix, selection and vote on the CPU, queries cut into chunks (source K 5.5, P). The budget is
// a tunable because a small matrix is still in the cache when the selection reads it, while a large one
// keeps more threads busy at once.

#include <algorithm>
#include <cstring>

#include "kernels/core/variant.hpp"
#include "variants/knn/two_stage.hpp"

namespace espalier::knn {
namespace {

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) { return pipeline_supports(problem); }

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return chunk_workspace(problem, device, problem.queries,
                           static_cast<std::size_t>(configuration["budget_mib"]) << 20);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const bool on_host = problem.queries_in == QueriesIn::host;
    const float* const queries = on_host ? buffers.on_host.query_values : buffers.query_values;
    const auto load = [&](std::int64_t first, std::int64_t count, float* to) {
        for (std::int64_t a = 0; a < problem.dims; ++a)
            std::copy_n(queries + a * problem.queries + first, count, to + a * count);
    };
    const auto vote_chunk = [&](std::int64_t first, const Neighbours& chunk) {
#pragma omp parallel for schedule(static)
        for (std::int64_t row = 0; row < chunk.rows; ++row) vote(problem, buffers, chunk.of(row), first);
    };
    run_two_stage(context, problem, buffers, queries, load, vote_chunk);
    if (on_host && problem.queries > 0)
        std::memcpy(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries));
}

}  // namespace

Variant<Problem> cpu_two_stage() {
    return {.role = Role::baseline,
            .summary = "distance matrix, then selection, then vote, in chunks of queries",
            .source = "K 5.5, P",
            .limits = "k <= 1,024",
            .tolerance = kPipeline,
            .space = {{"budget_mib", {64, 1, 8}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
