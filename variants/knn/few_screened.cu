// Few queries against many points, where even one multiply-add for each pair and attribute takes as long as reading the
// points, or longer. Tensor cores multiply instead, three products of split numbers (few_screening.hpp) for each of
// float's, which leaves the units that add up little to do. A block has 32 queries and a slice of the points, 32 at a
// time for each of its warps, which copies the attributes to come to shared memory while it multiplies 16 of them.
//
// What comes out is a bound of each distance, off by some 1e-4 of the norms about a median. Lists keep k + 16 points or
// some more by it; after their first points slices tell each other what is too far for all lists. In a second kernel
// the blocks of a query merge them and compute their points' direct distances; where the first point outside of the
// list is surely farther than the k-th of these, they are the neighbours, to the bit. Other queries, those of points
// closer together than products can tell, or not finite, are searched for as `few_queries` does.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/few_screen_kernels.cuh"
#include "variants/knn/few_settle_kernels.cuh"

namespace espalier::knn {
namespace {

using few::FewSearch, few::ScreenLayout;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for its matrix instructions, this is " +
                           std::to_string(device.sm));
    if ((problem.metric != Metric::euclidean && problem.metric != Metric::cosine) || problem.missing != Missing::none)
        return Support::no("bounds euclidean and cosine distances without missing values only");
    if (problem.queries > few::kMostQueries)
        return Support::no("more than 128 queries: tiles of both sets read the points less often");
    if (problem.k > few::kLongestList) return Support::no("k above 128: its lists would be merged for longer");
    if (problem.dims > few::kMostScreened) return Support::no("more than 16,384 attributes: its bounds grow with them");
    const std::size_t shared = few::shared_by_block(problem.k, device);
    if (shared > device.shared_per_block_optin)
        return Support::no("a block needs " + std::to_string(shared) + " bytes of shared memory, the device has " +
                           std::to_string(device.shared_per_block_optin));
    return pipeline_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    return ScreenLayout(problem, device).bytes;
}

/// Searches for the queries that were given up, if any, in tiles as wide as their number allows.
template <Metric metric>
void search_directly(const Context& context, const Problem& problem, const Buffers& buffers, FewSearch search,
                     const ScreenLayout& layout, const std::int32_t* given_up) {
    search.groups = ScreenLayout::direct_groups(problem), search.slices = layout.direct.slices,
    search.share = layout.direct.share;
    search.k = static_cast<std::int32_t>(problem.k), search.length = layout.length;
    search.listed_count = given_up, search.listed = given_up + 1;
    const bool may_be_large = few::may_be_large(search.length, context.device);
    const dim3 blocks(static_cast<unsigned>(std::max(search.groups, search.slices)));
    const auto launch = [&](auto kernel, std::size_t bytes) {
        device::launch(kernel, blocks, dim3(few::kThreads), bytes, context.stream, search, problem, buffers,
                       may_be_large);
    };
    if (layout.direct.each == 1) {
        launch(few::search_given_up<metric, 1, 1>, few::shared_bytes<1, 1>(search.length));
    } else {
        if (!few::is_wide(problem.points, search.slices, 1))
            launch(few::search_given_up<metric, few::kGroup, 1>, few::shared_bytes<few::kGroup, 1>(search.length));
        if (few::is_wide(problem.points, search.slices, search.groups))
            launch(few::search_given_up<metric, few::kGroup, 4>, few::shared_bytes<few::kGroup, 4>(search.length));
        // Of fewer queries slices are narrower: where not even all of them make large groups, no part of them does.
        if (few::cut_of_given_up(problem.queries, problem.points, search.slices, may_be_large).each > few::kGroup)
            launch(few::search_given_up<metric, few::kLargeGroup, 4>,
                   few::shared_bytes<few::kLargeGroup, 4>(search.length));
    }
    if (search.slices > 1)
        device::launch(few::vote_of_given_up, dim3(static_cast<unsigned>(problem.queries)), dim3(few::kMergeThreads),
                       few::merge_bytes(search.length), context.stream, search, problem, buffers, may_be_large);
}

template <Metric metric>
void search(const Context& context, const Problem& problem, const Buffers& buffers, const float* queries,
            const ScreenLayout& layout) {
    std::byte* const memory = context.workspace.data();
    auto* const given_up = reinterpret_cast<std::int32_t*>(memory + layout.given_up);
    auto* const centre = reinterpret_cast<float*>(memory + layout.centre);
    const FewSearch search{queries,
                           buffers.point_values,
                           problem.queries,
                           problem.points,
                           layout.slices.share,
                           layout.slices.count,
                           layout.groups,
                           static_cast<std::int32_t>(problem.dims),
                           layout.kept,
                           layout.kept,
                           reinterpret_cast<std::uint64_t*>(memory + layout.lists)};
    auto* const bounds = reinterpret_cast<few::SharedBound*>(memory + layout.bounds);
    auto* const split = reinterpret_cast<few::SplitNumbers*>(memory + layout.split);
    const few::Measured measured{reinterpret_cast<std::uint64_t*>(memory + layout.entries),
                                 reinterpret_cast<std::int32_t*>(memory + layout.parts)};
    const std::int64_t attributes = std::max<std::int64_t>(ScreenLayout::whole_steps(problem.dims), 1);
    device::launch(few::prepare_few<metric>, dim3(static_cast<unsigned>(attributes)), dim3(few::kThreads), 0,
                   context.stream, search, centre, split, bounds, given_up, measured.parts);
    const bool is_aligned = problem.points % 4 == 0 && reinterpret_cast<std::uintptr_t>(search.point_values) % 16 == 0;
    device::launch(is_aligned ? few::screen_few<metric, true> : few::screen_few<metric, false>,
                   dim3(static_cast<unsigned>(search.groups * search.slices)), dim3(few::kScreenThreads),
                   few::screen_bytes(layout.kept, layout.stages), context.stream, search,
                   static_cast<const float*>(centre), static_cast<const few::SplitNumbers*>(split), bounds,
                   layout.stages);
    device::launch(few::settle_few<metric>, dim3(static_cast<unsigned>(problem.queries * layout.kept / kLanes)),
                   dim3(few::kMergeThreads), few::settle_bytes(layout.kept), context.stream, search,
                   static_cast<const float*>(centre), problem, buffers, measured, given_up);
    search_directly<metric>(context, problem, buffers, search, layout, given_up);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.queries == 0) return;
    const ScreenLayout layout(problem, context.device);
    check_workspace(context, layout.bytes);
    const float* queries = buffers.query_values;
    if (problem.queries_in == QueriesIn::host) {
        device::copy_to_device(context.workspace.data(), buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(context.workspace.data());
    }
    if (problem.k == 0)
        vote_per_query(problem, buffers, {nullptr, nullptr, problem.queries, 0, 0, problem.vote}, 0, context.stream);
    else if (problem.metric == Metric::cosine)
        search<Metric::cosine>(context, problem, buffers, queries, layout);
    else
        search<Metric::euclidean>(context, problem, buffers, queries, layout);
    if (problem.queries_in == QueriesIn::host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

}  // namespace

Variant<Problem> few_screened() {
    return {
        .role = Role::modern,
        .summary = "tensor cores bound distances in one pass over the points; direct distances of k and some more",
        .limits = "compute capability 8.0; euclidean or cosine, none missing; 128 queries, k <= 128, dims <= 16,384",
        .tolerance = kPipeline,
        .supports = supports,
        .workspace = workspace,
        .run = run};
}

}  // namespace espalier::knn
