#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/fused_kernels.cuh"
#include "variants/knn/group_bounds.cuh"
#include "variants/knn/group_search.cuh"
#include "variants/knn/screened_sets.cuh"

/// The launches of `screened_groups` up to the list of queries that bounds do not suffice for.
namespace espalier::knn {
namespace {

inline constexpr int kDirect = 8;  ///< distances per thread and side of the direct search

/// Where things are in the workspace, in bytes from its start, and how the queries are cut. Of the arrays of halves
/// there are whole tiles of queries and spans of points.
struct GroupLayout {
    std::int64_t spans, query_tiles, chunk;
    Images images;
    std::int32_t groups;
    FusedLayout direct;
    std::int64_t direct_blocks;
    std::size_t centre, spreads, queries, query_images, query_norms, query_slacks, point_images, point_rows, listed,
        tops, lists, distances, indices, bytes;

    GroupLayout(const Problem& problem, const DeviceInfo& device, std::int64_t group)
        : spans(divided_up(problem.points, kSpan)),
          query_tiles(divided_up(problem.queries, kScreenTile)),
          images(problem.dims),
          groups(static_cast<std::int32_t>(spans * kSpan / group)),
          direct(problem, device, kSide * kDirect),
          direct_blocks(2 * std::max(device.sm_count, 1)) {
        constexpr std::int64_t kBudget = std::int64_t{1} << 30;
        // Chunks of the same number of tiles, whose maxima are within the budget.
        const std::int64_t per_tile = (2 * std::int64_t{groups} + 2 * problem.k + 1) * 4 * kScreenTile;
        const std::int64_t most = std::max<std::int64_t>(kBudget / per_tile, 1);
        const std::int64_t chunks = std::max<std::int64_t>(divided_up(query_tiles, most), 1);
        const std::int64_t tiles = divided_up(query_tiles, chunks);
        chunk = std::min(problem.queries, tiles * kScreenTile);
        const std::int64_t searched =
            std::max(divided_up(chunk, direct.tile), direct_blocks) * direct.tile * direct.length;
        bytes = 0;
        take(static_cast<std::int64_t>(sizeof(Findings)));
        centre = take(problem.dims * 4);
        spreads = take(problem.dims * 4);
        queries = take(problem.queries_in == QueriesIn::host ? problem.queries * problem.dims * 4 : 0);
        query_images = take(images.of_queries(query_tiles) * static_cast<std::int64_t>(sizeof(QueryImage)));
        query_norms = take(query_tiles * kScreenTile * 4);
        query_slacks = take(query_tiles * kScreenTile * 4);
        point_images = take(images.of_points(spans) * static_cast<std::int64_t>(sizeof(PointImage)));
        point_rows = take(problem.points * row_stride(problem.dims) * 4);
        listed = take(chunk * 4);
        tops = take(tiles * kScreenTile * groups * static_cast<std::int64_t>(sizeof(GroupTop)));
        lists = take(searched * 8);
        distances = take(chunk * problem.k * 4);
        indices = take(chunk * problem.k * 4);
    }

    /// Into slices that leave no round of blocks half empty. A block begins with a wait that is as long as a span.
    [[nodiscard]] Cut cut(std::int64_t count, const DeviceInfo& device) const {
        const std::int64_t at_once = 2 * std::max<std::int64_t>(device.sm_count, 1);
        Cut best{divided_up(count, kScreenTile), 1};
        const auto cost = [&](std::int64_t slices) {
            return divided_up(best.query_tiles * slices, at_once) * (divided_up(spans, slices) + 1);
        };
        for (std::int64_t slices = 2; slices <= std::min<std::int64_t>(spans, 512); ++slices)
            if (cost(slices) < cost(best.slices)) best.slices = slices;
        return best;
    }

private:
    std::size_t take(std::int64_t wanted) {
        return std::exchange(bytes, bytes + (static_cast<std::size_t>(wanted) + 511) / 512 * 512);
    }
};

/// What bounds of groups can be used for.
inline Support supports_groups(const Problem& problem, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for matrices of halves, this is " + std::to_string(device.sm));
    if (problem.metric != Metric::euclidean || problem.missing != Missing::none)
        return Support::no("bounds euclidean distances without missing values only");
    if (problem.k > kMostWanted) return Support::no("k above 128: its lists would be merged for longer than they save");
    if (problem.queries > std::numeric_limits<std::int32_t>::max())
        return Support::no("more than 2,147,483,647 queries: it lists them in 32 bits");
    const std::size_t bytes = 1024 + group_bytes(Images(problem.dims));
    if (bytes > device.shared_per_block_optin)
        return Support::no("tiles of " + std::to_string(problem.dims) + " attributes need " + std::to_string(bytes) +
                           " bytes of shared memory per block, the device has " +
                           std::to_string(device.shared_per_block_optin));
    return pipeline_supports(problem);
}

/// Centre, scale and halves of both sets.
void prepare_sets(const Context& context, const Problem& problem, const GroupLayout& layout, const float* queries,
                  const float* points) {
    std::byte* const memory = context.workspace.data();
    auto* const centre = reinterpret_cast<float*>(memory + layout.centre);
    Preparation of{{queries, problem.queries},
                   {points, problem.points},
                   0,
                   static_cast<std::int32_t>(problem.dims),
                   layout.images,
                   static_cast<float>(1 - share_of_one_half() - share_of_sums(problem.dims)),
                   static_cast<float>(share_of_one_half() - kShareOfTwoHalves),
                   centre,
                   reinterpret_cast<Findings*>(memory),
                   reinterpret_cast<QueryImage*>(memory + layout.query_images),
                   reinterpret_cast<PointImage*>(memory + layout.point_images),
                   reinterpret_cast<float*>(memory + layout.query_norms),
                   reinterpret_cast<float*>(memory + layout.query_slacks),
                   reinterpret_cast<float*>(memory + layout.point_rows)};
    device::fill(of.findings, 0, sizeof(Findings), context.stream);
    if (problem.dims > 0 && problem.points > 0)
        device::launch(find_middles, dim3(static_cast<unsigned>(problem.dims)), dim3(kThreads), 0, context.stream,
                       of.points, centre, reinterpret_cast<float*>(memory + layout.spreads), of.findings);
    of.query_blocks = static_cast<std::int32_t>(layout.query_tiles * kScreenTile / kPreparedItems);
    const std::int64_t blocks = of.query_blocks + layout.spans * kSpan / kPreparedItems;
    device::launch(prepare, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0, context.stream, of);
}

template <int group>
auto kernel_for(std::int32_t steps) {
    switch (steps) {
        case 1: return bound_groups<1, group>;
        case 2: return bound_groups<2, group>;
        case 3: return bound_groups<3, group>;
        case 4: return bound_groups<4, group>;
        default: return steps <= 8 ? bound_groups<8, group> : bound_groups<0, group>;
    }
}

/// How many points are looked at for a query before it is left to the direct search: about as many as take as long as
/// the direct search for it. One by one points take five times as long; and those of few queries, a warp for each,
/// leave most of the device idle, where the direct search does not.
constexpr std::int64_t most_visited(const Problem& problem) {
    constexpr std::int64_t kEnough = 1024;
    const std::int64_t idle = kEnough / std::clamp<std::int64_t>(problem.queries, 128, kEnough);
    return std::max<std::int64_t>(problem.points / (8 * idle), 4 * kMostWanted);
}

/// The lists of those of `count` queries from `first` on that bounds suffice for; the others are listed.
template <int group>
FoundLists screen(const Context& context, const Problem& problem, const GroupLayout& layout, const float* queries,
                  std::int64_t first, std::int64_t count) {
    std::byte* const memory = context.workspace.data();
    auto* const findings = reinterpret_cast<Findings*>(memory);
    auto* const listed = reinterpret_cast<std::int32_t*>(memory + layout.listed);
    const FoundLists found{reinterpret_cast<float*>(memory + layout.distances),
                           reinterpret_cast<std::int32_t*>(memory + layout.indices)};
    if (problem.k == 0) return found;
    const auto dims = static_cast<std::int32_t>(problem.dims), k = static_cast<std::int32_t>(problem.k);
    const Cut cut = layout.cut(count, context.device);
    const GroupScreen tops{reinterpret_cast<const QueryImage*>(memory + layout.query_images),
                           reinterpret_cast<const PointImage*>(memory + layout.point_images),
                           first,
                           count,
                           cut.slices,
                           layout.images,
                           static_cast<std::int32_t>(layout.spans),
                           layout.groups,
                           reinterpret_cast<GroupTop*>(memory + layout.tops)};
    if (first > 0) device::fill(&findings->uncertified, 0, sizeof findings->uncertified, context.stream);
    device::launch(kernel_for<group>(layout.images.steps), dim3(static_cast<unsigned>(cut.items())),
                   dim3(kLanes, kBlockWarps), group_bytes(layout.images), context.stream, tops);
    const GroupSearch groups{tops,
                             queries,
                             reinterpret_cast<const float*>(memory + layout.point_rows),
                             reinterpret_cast<const float*>(memory + layout.query_norms),
                             reinterpret_cast<const float*>(memory + layout.query_slacks),
                             problem.queries,
                             problem.points,
                             most_visited(problem),
                             dims,
                             k,
                             static_cast<float>(share_of_one_half() + share_of_sums(problem.dims)),
                             absolute_error_of_groups(problem.dims),
                             found,
                             findings,
                             listed};
    const std::size_t query_bytes = static_cast<std::size_t>(kBlockWarps * row_stride(dims)) * sizeof(float);
    device::launch(search_groups<group>, dim3(static_cast<unsigned>(divided_up(count, kBlockWarps))),
                   dim3(kLanes, kBlockWarps), query_bytes, context.stream, groups);
    return found;
}

/// All queries' predictions. `search_listed(queries, first, count, found)` searches for those of `count` queries from
/// `first` on that were listed, into the rows of `found`.
template <class SearchListed>
void search_by_groups(Context& context, const Problem& problem, const Buffers& buffers, const GroupLayout& layout,
                      std::int64_t group, const SearchListed& search_listed) {
    const float* queries = buffers.query_values;
    if (problem.queries_in == QueriesIn::host) {
        std::byte* const copy = context.workspace.data() + layout.queries;
        device::copy_to_device(copy, buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(copy);
    }
    if (problem.k > 0) prepare_sets(context, problem, layout, queries, buffers.point_values);
    const auto screen_chunk = group == 8 ? screen<8> : group == 32 ? screen<32> : screen<128>;
    for (std::int64_t first = 0; first < problem.queries; first += layout.chunk) {
        const std::int64_t count = std::min(layout.chunk, problem.queries - first);
        const FoundLists found = screen_chunk(context, problem, layout, queries, first, count);
        if (problem.k > 0) search_listed(queries, first, count, found);
        vote_per_query(problem, buffers, {found.distances, found.indices, count, 0, problem.k, problem.vote}, first,
                       context.stream);
    }
    if (problem.queries_in == QueriesIn::host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

}  // namespace
}  // namespace espalier::knn
