#pragma once

#include "variants/knn/chunk.hpp"

namespace espalier::knn {

/// One chunk after the other. `load(first, count, to)` copies `count` queries from `first` on to `to`,
/// attribute-major; `vote(first, neighbours)` predicts for as many queries as `neighbours` has rows.
/// `all_queries` is what a chunk that holds them all reads without a copy.
template <class Load, class Vote>
void run_two_stage(const Context& context, const Problem& problem, const Buffers& buffers, const float* all_queries,
                   Load load, Vote vote) {
    std::int64_t most = problem.queries;
    for (std::int64_t first = 0; first < problem.queries;) {
        const ChunkPlan plan = plan_chunk(problem, buffers.stages, context, std::min(most, problem.queries - first));
        const float* query_values = all_queries;
        if (plan.layout.copied) {
            auto* const copy = reinterpret_cast<float*>(context.workspace.data() + plan.layout.query_values);
            load(first, plan.layout.queries, copy);
            query_values = copy;
        }
        run_stages(context, plan, buffers, query_values);
        vote(first, neighbours_in(context, plan.layout, problem));
        most = plan.layout.queries;
        first += most;
    }
}

}  // namespace espalier::knn
