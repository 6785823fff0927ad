#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "kernels/core/variant.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/problems/knn.hpp"
#include "variants/knn/vote.hpp"

/// The unit of work of every pipeline (source K 5.5): the queries are cut into chunks so that a chunk's
/// rows of the distance matrix fit the memory; for each chunk the matrix is computed, the k nearest are
/// selected from it, and they vote. The points are never cut: their number only makes the chunks smaller,
/// down to one query.
namespace espalier::knn {

/// Where a chunk's intermediate results lie in the workspace, in bytes from its start.
struct ChunkLayout {
    std::int64_t queries;       ///< in the chunk
    bool copied;                ///< whether the chunk needs a copy of its queries
    std::size_t query_values;   ///< dims x queries, if copied
    std::size_t matrix;         ///< points x queries
    std::size_t distances;      ///< k x queries
    std::size_t indices;        ///< k x queries
    std::size_t of_the_stages;  ///< the rest: workspace of the stages' variants, which take turns

    ChunkLayout(const Problem& problem, const DeviceInfo& device, std::int64_t chunk)
        : queries(chunk),
          copied(chunk < problem.queries ||
                 (device.kind == DeviceKind::cuda && problem.queries_in == QueriesIn::host)) {
        const auto floats = [&](std::int64_t per_query) { return static_cast<std::size_t>(per_query * chunk) * 4; };
        query_values = 0;
        matrix = aligned(copied ? floats(problem.dims) : 0);
        distances = matrix + aligned(floats(problem.points));
        indices = distances + aligned(floats(problem.k));
        of_the_stages = indices + aligned(floats(problem.k));
    }

private:
    /// Textures are bound at multiples of 512 bytes on every GPU so far.
    static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 511) / 512 * 512; }
};

/// What the stages' variants may need beside the matrix, which this header cannot know exactly: pitched
/// copies of both sets for textures, keys and indices twice over for a radix sort, which has up to 16 MiB of
/// histograms, too.
inline std::size_t stage_allowance(const Problem& problem, const DeviceInfo& device, std::int64_t chunk) {
    if (device.kind == DeviceKind::cpu) return 0;
    const auto copies = static_cast<std::size_t>(problem.dims * (problem.points + chunk)) * 2 * sizeof(float);
    return copies + static_cast<std::size_t>(chunk * problem.points) * 6 * sizeof(float) + (std::size_t{20} << 20);
}

/// Bytes that hold a chunk of `most` queries, but no more than the budget, but enough for one query.
inline std::size_t chunk_workspace(const Problem& problem, const DeviceInfo& device, std::int64_t most,
                                   std::size_t budget) {
    const auto for_chunk = [&](std::int64_t chunk) {
        return ChunkLayout(problem, device, chunk).of_the_stages + stage_allowance(problem, device, chunk);
    };
    return std::max(std::min(for_chunk(most), budget), for_chunk(std::min<std::int64_t>(most, 1)));
}

/// The stages' problems and variants for a chunk.
struct ChunkPlan {
    ChunkLayout layout;
    distance::Problem distance_problem;
    smallest_k::Problem smallest_k_problem;
    Chosen<distance::Problem> distance;
    Chosen<smallest_k::Problem> smallest_k;

    ChunkPlan(const Problem& problem, const Stages& stages, const DeviceInfo& device, std::int64_t chunk)
        : layout(problem, device, chunk),
          distance_problem{chunk, problem.points, problem.dims, problem.metric, problem.missing, false},
          smallest_k_problem{chunk, problem.points, problem.k},
          distance(stages.distance(distance_problem, device)),
          smallest_k(stages.smallest_k(smallest_k_problem, device)) {}

    [[nodiscard]] std::size_t workspace(const DeviceInfo& device) const {
        return layout.of_the_stages + std::max(stage_workspace(distance, distance_problem, device),
                                               stage_workspace(smallest_k, smallest_k_problem, device));
    }

    [[nodiscard]] std::string does_not_fit(std::size_t bytes, std::size_t given) const {
        return "one query against " + std::to_string(distance_problem.points) + " points with distance/" +
               std::string(distance.variant->name) + " and smallest_k/" + std::string(smallest_k.variant->name) +
               " needs " + std::to_string(bytes) + " bytes of workspace, given are " + std::to_string(given);
    }

    template <class P>
    static std::size_t stage_workspace(const Chosen<P>& chosen, const P& problem, const DeviceInfo& device) {
        return chosen.variant->workspace ? chosen.variant->workspace(problem, chosen.configuration, device) : 0;
    }
};

/// The largest chunk of at most `most` queries whose intermediate results and stages fit the workspace.
/// Throws DeviceError (out of memory) if not even one query does.
inline ChunkPlan plan_chunk(const Problem& problem, const Stages& stages, const Context& context, std::int64_t most) {
    constexpr std::int64_t kWarp = 32;
    const std::size_t given = context.workspace.size();
    std::int64_t chunk = most;
    if (ChunkLayout(problem, context.device, chunk).of_the_stages > given) {
        const std::size_t per_query = ChunkLayout(problem, context.device, 1).of_the_stages;
        chunk = std::clamp<std::int64_t>(static_cast<std::int64_t>(given / per_query), 1, most);
        if (chunk > kWarp) chunk -= chunk % kWarp;  // whole warps read the matrix's rows
    }
    while (true) {
        const ChunkPlan plan(problem, stages, context.device, chunk);
        const std::size_t bytes = plan.workspace(context.device);
        if (bytes <= given) return plan;
        if (chunk == 1) throw device::DeviceError(plan.does_not_fit(bytes, given), 2);
        chunk /= 2;
    }
}

/// Computes a chunk's matrix and lists. `query_values` are the chunk's own.
inline void run_stages(const Context& context, const ChunkPlan& plan, const Buffers& buffers,
                       const float* query_values) {
    std::byte* const memory = context.workspace.data();
    auto* const matrix = reinterpret_cast<float*>(memory + plan.layout.matrix);
    Context of_stage{context.device, context.stream, context.workspace.subspan(plan.layout.of_the_stages)};
    plan.distance.variant->run(of_stage, plan.distance_problem,
                               {.query_values = query_values,
                                .point_values = buffers.point_values,
                                .result = matrix,
                                .types = buffers.types,
                                .types_on_host = buffers.types_on_host},
                               plan.distance.configuration);
    plan.smallest_k.variant->run(of_stage, plan.smallest_k_problem,
                                 {.distances = matrix,
                                  .values = reinterpret_cast<float*>(memory + plan.layout.distances),
                                  .indices = reinterpret_cast<std::int32_t*>(memory + plan.layout.indices)},
                                 plan.smallest_k.configuration);
}

/// The lists that `run_stages` left in the workspace.
inline Neighbours neighbours_in(const Context& context, const ChunkLayout& layout, const Problem& problem) {
    const std::byte* const memory = context.workspace.data();
    return {reinterpret_cast<const float*>(memory + layout.distances),
            reinterpret_cast<const std::int32_t*>(memory + layout.indices),
            layout.queries,
            0,
            problem.k,
            problem.vote};
}

inline constexpr Tolerance kPipeline{
    .relative = 0x1p-24,
    .reason = "single-precision distances, unit roundoff per expected rounding: equally near points may change places"};

/// What every pipeline asks of a problem; the rest is the stages' business.
inline Support pipeline_supports(const Problem& problem) {
    if (problem.k > kMaxSmallestK) return Support::no("k above 1,024");
    if (problem.points > std::numeric_limits<std::int32_t>::max())
        return Support::no("more than 2,147,483,647 points: their indices are 32-bit");
    return Support::yes();
}

}  // namespace espalier::knn
