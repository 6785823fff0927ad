// Distance matrix, selection and vote on the CPU, queries cut into chunks (source K 5.5, P). The budget is
// a tunable because a small matrix is still in the cache when the selection reads it, while a large one
// keeps more threads busy at once.

#include <algorithm>

#include "harness/core/variant.hpp"
#include "variants/knn/two_stage.hpp"

namespace espalier::knn {
namespace {

std::size_t budget(const Configuration& configuration) {
    return static_cast<std::size_t>(configuration["budget_mib"]) << 20;
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return two_stage_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return two_stage_workspace(problem, device, budget(configuration));
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const auto gather = [&](std::int64_t first, std::int64_t count, float* to) {
        for (std::int64_t a = 0; a < problem.dims; ++a)
            std::copy_n(buffers.query_values + a * problem.queries + first, count, to + a * count);
    };
    const auto vote_chunk = [&](std::int64_t first, const Neighbours& chunk) {
#pragma omp parallel for schedule(static)
        for (std::int64_t row = 0; row < chunk.rows; ++row) {
            Neighbours of_query = chunk;
            of_query.row = row;
            vote(problem, buffers, of_query, first);
        }
    };
    run_two_stage(context, problem, buffers, gather, vote_chunk);
}

}  // namespace

Variant<Problem> cpu_two_stage() {
    return {.role = Role::baseline,
            .summary = "distance matrix, then selection, then vote, in chunks of queries",
            .source = "K 5.5, P",
            .limits = "k <= 1,024",
            .tolerance = kTwoStage,
            .space = {{"budget_mib", {64, 1, 8, 512}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
