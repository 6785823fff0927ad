// Most distances are ruled out without being computed. Tensor cores multiply the queries and the points, centred and
// rounded to half precision, and from each product follows a lower bound of the distance (screened_bound.hpp). The
// points with the least bounds, some more than k, are kept per query as `fused_tile` keeps the nearest ones, and their
// distances are computed in single precision, term by term. A query is done if its k-th distance is below the bound of
// everything that was thrown away, which is above the last one kept: then the list is what the direct search finds, to
// the bit. The others are listed, and `fused_tile`'s kernel searches for them.
//
// Data with a few clusters far apart, whose norms are much larger than the distances within, is bounded badly, and so
// are points at the same place: that costs the direct search, and the screening in vain on top.

#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/fused_kernels.cuh"
#include "variants/knn/screened_kernels.cuh"

namespace espalier::knn {
namespace {

constexpr std::int64_t kMostWanted = 128;
constexpr int kDirect = 8;  ///< distances per thread and side of the direct search
using Direct = distance::Accumulator<Metric::euclidean, Missing::none>;

/// Where things are in the workspace, in bytes from its start, and how the screening is cut. Of the arrays of halves
/// there are whole tiles.
struct ScreenLayout {
    std::int64_t point_tiles, query_tiles, chunk;
    std::int32_t width, length;
    FusedLayout direct;
    std::int64_t direct_blocks;
    std::size_t centre, queries, query_rows, query_norms, point_rows, point_norms, listed, lists, distances, indices,
        bytes;

    ScreenLayout(const Problem& problem, const DeviceInfo& device)
        : point_tiles(divided_up(problem.points, kScreenTile)),
          query_tiles(divided_up(problem.queries, kScreenTile)),
          width(static_cast<std::int32_t>(std::max<std::int64_t>(divided_up(problem.dims, kStep), 1) * kStep)),
          length(static_cast<std::int32_t>(divided_up(problem.k + std::max<std::int64_t>(problem.k / 2, 8), 32) * 32)),
          direct(problem, device, kSide * kDirect),
          direct_blocks(2 * std::max(device.sm_count, 1)) {
        constexpr std::int64_t kBudget = std::int64_t{1} << 30;
        const std::int64_t per_query = (length + problem.k) * 8 + 4;
        chunk = std::min(problem.queries, std::max<std::int64_t>(kBudget / per_query / kScreenTile, 1) * kScreenTile);
        const std::int64_t last = chunk > 0 && problem.queries % chunk > 0 ? problem.queries % chunk : chunk;
        const std::int64_t screened = std::max(cut(chunk, device).items(), cut(last, device).items()) * length;
        const std::int64_t searched = std::max(divided_up(chunk, direct.tile), direct_blocks) * direct.length;
        bytes = 0;
        take(static_cast<std::int64_t>(sizeof(Findings)));
        centre = take(problem.dims * 4);
        queries = take(problem.queries_in == QueriesIn::host ? problem.queries * problem.dims * 4 : 0);
        query_rows = take(query_tiles * kScreenTile * width * 2);
        query_norms = take(query_tiles * kScreenTile * 4);
        point_rows = take(point_tiles * kScreenTile * width * 2);
        point_norms = take(point_tiles * kScreenTile * 4);
        listed = take(chunk * 4);
        lists = take(std::max(screened, searched) * kScreenTile * 8);
        distances = take(chunk * problem.k * 4);
        indices = take(chunk * problem.k * 4);
    }

    [[nodiscard]] Cut cut(std::int64_t count, const DeviceInfo& device) const {
        constexpr std::int64_t kStart = 8;  // tiles as long as the start of the lists
        return Cut::of(divided_up(count, kScreenTile), point_tiles, std::max(device.sm_count, 1), kStart);
    }

private:
    std::size_t take(std::int64_t wanted) {
        return std::exchange(bytes, bytes + (static_cast<std::size_t>(wanted) + 511) / 512 * 512);
    }
};

/// What the direct distances are computed of, and where they go.
struct Ranking {
    Screen screen;
    const float* query_values;
    const float* point_values;
    std::int64_t queries, points;
    std::int32_t dims, k;
    double absolute;  ///< error of the bounds
    FoundLists found;
    Findings* findings;
    std::int32_t* listed;
};

/// Whether a point that the screening gave `value` is behind a neighbour of this entry, by index or distance.
__device__ bool surely_behind(const Ranking& ranking, float norm, float screened, std::uint64_t neighbour) {
    if (neighbour == kEmptyEntry) return false;
    const double least = static_cast<double>(norm) + 2.0 * static_cast<double>(screened);
    const float sum = largest_up_to<true>(value_of(key_of_entry(neighbour)));
    return surely_above(least - ranking.absolute, static_cast<double>(sum),
                        static_cast<double>(scale_of(*ranking.findings)), ranking.dims);
}

__device__ std::uint64_t direct_entry(const Ranking& ranking, std::int64_t query, std::uint32_t point) {
    Direct sum{};
#pragma unroll 8
    for (std::int32_t a = 0; a < ranking.dims; ++a)
        sum.add(ranking.query_values[a * ranking.queries + query], ranking.point_values[a * ranking.points + point]);
    return entry_of(key_of(sum.result(ranking.dims)), point);
}

/// A warp per query: merges the lists of the slices, computes the distances that may matter, and writes the k first or
/// lists the query.
__global__ void __launch_bounds__(kThreads) rank_directly(Ranking ranking) {
    auto& best_lists = device::shared<std::uint64_t[kBlockWarps][kMostWanted]>();
    const Screen& screen = ranking.screen;
    const unsigned lane = threadIdx.x;
    const int k = ranking.k, own = static_cast<int>(lane);
    const std::int64_t place = std::int64_t{blockIdx.x} * kBlockWarps + threadIdx.y;
    if (place >= screen.count) return;
    const std::int64_t query = screen.first + place;
    const float norm = screen.query_norms[query];
    bool certified = false;
    if (ranking.findings->unbounded == 0 && norm == norm) {
        std::uint64_t* const list = screen.lists + place * screen.length;
        for (std::int64_t slice = 1; slice < screen.slices; ++slice)
            for (int first = 0; first < screen.length; first += kLanes)
                merge_sorted(list, screen.length,
                             list[slice * screen.query_tiles() * kScreenTile * screen.length + first + own], lane);
        __syncwarp();
        std::uint64_t* const best = best_lists[threadIdx.y];
        const int length = (k + kLanes - 1) / kLanes * kLanes;
        for (int j = own; j < length; j += kLanes) best[j] = kEmptyEntry;
        __syncwarp();
        // The first k in any case; of the others those that may be nearer than the k-th so far.
        const auto compute = [&](std::uint64_t screened, bool wanted) {
            if (!__any_sync(kAll, wanted)) return;
            __syncwarp();  // every lane has read the k-th best, which is about to be another one
            std::uint64_t entries[1] = {kEmptyEntry};
            if (wanted)
                entries[0] =
                    direct_entry(ranking, query, static_cast<std::uint32_t>(smallest_k::index_of_entry(screened)));
            sort(entries, lane);
            merge_sorted(best, length, entries[0], lane);
            __syncwarp();
        };
        for (int first = 0; first < screen.length; first += kLanes) {
            const std::uint64_t screened = list[first + own];
            const bool is_there = screened != kEmptyEntry;
            compute(screened, is_there && first + own < k);
            compute(screened, is_there && first + own >= k &&
                                  !surely_behind(ranking, norm, value_of(key_of_entry(screened)), best[k - 1]));
        }
        const float least = least_discarded(list[k - 1], list[screen.length - 1], screen.margin_of(query));
        // Nothing was thrown away if there is no such bound.
        certified = least == std::numeric_limits<float>::infinity() || surely_behind(ranking, norm, least, best[k - 1]);
        if (certified)
            for (int j = own; j < k; j += kLanes) {
                ranking.found.distances[j * screen.count + place] = value_of(key_of_entry(best[j]));
                ranking.found.indices[j * screen.count + place] = smallest_k::index_of_entry(best[j]);
            }
    }
    if (!certified && lane == 0)
        ranking.listed[atomicAdd(&ranking.findings->uncertified, 1)] = static_cast<std::int32_t>(query);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for matrices of halves, this is " + std::to_string(device.sm));
    if (problem.metric != Metric::euclidean || problem.missing != Missing::none)
        return Support::no("bounds euclidean distances without missing values only");
    if (problem.k > kMostWanted) return Support::no("k above 128: its lists would be merged for longer than they save");
    if (problem.queries > std::numeric_limits<std::int32_t>::max())
        return Support::no("more than 2,147,483,647 queries: it lists them in 32 bits");
    const std::size_t bytes = screen_bytes(problem.dims) + 4096;  // the static arrays' share
    if (bytes > device.shared_per_block_optin)
        return Support::no("tiles of " + std::to_string(problem.dims) + " attributes need " + std::to_string(bytes) +
                           " bytes of shared memory per block, the device has " +
                           std::to_string(device.shared_per_block_optin));
    return pipeline_supports(problem);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    return ScreenLayout(problem, device).bytes;
}

/// Centre, scale and halves of both sets.
void prepare(const Context& context, const Problem& problem, const ScreenLayout& layout, const float* queries,
             const float* points) {
    std::byte* const memory = context.workspace.data();
    auto* const findings = reinterpret_cast<Findings*>(memory);
    auto* const centre = reinterpret_cast<float*>(memory + layout.centre);
    const auto dims = static_cast<std::int32_t>(problem.dims);
    device::fill(findings, 0, sizeof(Findings), context.stream);
    if (dims > 0)
        device::launch(find_centre, dim3(static_cast<unsigned>(dims)), dim3(kThreads), 0, context.stream,
                       problem.points, points, centre);
    const auto with_set = [&](std::int64_t count, const float* values, bool of_points) {
        if (count > 0 && dims > 0)
            device::launch(find_extremes, dim3(static_cast<unsigned>(divided_up(count, 4 * kThreads)), dims),
                           dim3(kThreads), 0, context.stream, count, dims, of_points, values, centre, findings);
    };
    with_set(problem.points, points, true);
    with_set(problem.queries, queries, false);
    const auto kept = static_cast<float>(1 - kept_back(problem.dims));
    const auto to_rows = [&](std::int64_t count, std::int64_t tiles, const float* values, float factor, float otherwise,
                             std::size_t rows, std::size_t norms) {
        if (tiles > 0)
            device::launch(prepare_set, dim3(static_cast<unsigned>(tiles * 2)), dim3(kThreads), 0, context.stream,
                           count, dims, layout.width, factor, otherwise, values, centre, findings,
                           reinterpret_cast<std::uint16_t*>(memory + rows), reinterpret_cast<float*>(memory + norms));
    };
    to_rows(problem.queries, layout.query_tiles, queries, kept, 0, layout.query_rows, layout.query_norms);
    to_rows(problem.points, layout.point_tiles, points, -kept / 2, -std::numeric_limits<float>::infinity(),
            layout.point_rows, layout.point_norms);
}

/// The lists of `count` queries from `first` on.
FoundLists search(const Context& context, const Problem& problem, const Buffers& buffers, const ScreenLayout& layout,
                  const float* queries, std::int64_t first, std::int64_t count, Offering offering) {
    std::byte* const memory = context.workspace.data();
    auto* const findings = reinterpret_cast<Findings*>(memory);
    auto* const listed = reinterpret_cast<std::int32_t*>(memory + layout.listed);
    auto* const lists = reinterpret_cast<std::uint64_t*>(memory + layout.lists);
    const FoundLists found{reinterpret_cast<float*>(memory + layout.distances),
                           reinterpret_cast<std::int32_t*>(memory + layout.indices)};
    if (problem.k == 0) return found;
    const auto dims = static_cast<std::int32_t>(problem.dims), k = static_cast<std::int32_t>(problem.k);
    const Cut cut = layout.cut(count, context.device);
    const Screen screen{reinterpret_cast<const std::uint16_t*>(memory + layout.query_rows),
                        reinterpret_cast<const std::uint16_t*>(memory + layout.point_rows),
                        reinterpret_cast<const float*>(memory + layout.point_norms),
                        reinterpret_cast<const float*>(memory + layout.query_norms),
                        first,
                        count,
                        cut.slices,
                        layout.width,
                        layout.length,
                        k,
                        static_cast<float>(margin_of_norms(problem.dims)),
                        Walk(layout.point_tiles),
                        lists,
                        findings};
    device::fill(&findings->uncertified, 0, sizeof findings->uncertified, context.stream);
    device::launch(offering == Offering::chosen ? screen_tiles<Offering::chosen> : screen_tiles<Offering::branches>,
                   dim3(static_cast<unsigned>(cut.items())), dim3(kLanes, kBlockWarps), screen_bytes(problem.dims),
                   context.stream, screen);
    const Ranking ranking{screen, queries, buffers.point_values,         problem.queries, problem.points,
                          dims,   k,       absolute_error(problem.dims), found,           findings,
                          listed};
    device::launch(rank_directly, dim3(static_cast<unsigned>(divided_up(count, kBlockWarps))),
                   dim3(kLanes, kBlockWarps), 0, context.stream, ranking);
    const Search direct{queries,
                        buffers.point_values,
                        problem.queries,
                        problem.points,
                        first,
                        count,
                        listed,
                        &findings->uncertified,
                        layout.direct_blocks,
                        dims,
                        k,
                        layout.direct.length,
                        Walk(layout.direct.point_tiles),
                        lists};
    launch_search<kDirect>(context, problem, buffers, direct, layout.direct_blocks);
    launch_merge<kDirect>(context, direct, found, count);
    return found;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const auto offering = configuration["branches"] == 1 ? Offering::chosen : Offering::branches;
    const ScreenLayout layout(problem, context.device);
    check_workspace(context, layout.bytes);
    const float* queries = buffers.query_values;
    if (problem.queries_in == QueriesIn::host) {
        std::byte* const copy = context.workspace.data() + layout.queries;
        device::copy_to_device(copy, buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(copy);
    }
    if (problem.k > 0) prepare(context, problem, layout, queries, buffers.point_values);
    for (std::int64_t first = 0; first < problem.queries; first += layout.chunk) {
        const std::int64_t count = std::min(layout.chunk, problem.queries - first);
        const FoundLists found = search(context, problem, buffers, layout, queries, first, count, offering);
        vote_per_query(problem, buffers, {found.distances, found.indices, count, 0, problem.k, problem.vote}, first,
                       context.stream);
    }
    if (problem.queries_in == QueriesIn::host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

}  // namespace

Variant<Problem> screened_tile() {
    return {.role = Role::modern,
            .summary = "tensor cores rule out all but a few points by bounds; direct distances of what is left",
            .limits = "compute capability 8.0; euclidean without missing values; k <= 128; dims <= 576 on an H200",
            .tolerance = kPipeline,
            .space = {{"branches", {1, 16}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::knn
