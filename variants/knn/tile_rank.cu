// The third published CUDA k-NN, the one that source K calls the most competitive (K 3.2.3): distances and ranks in one
// kernel. A block loads its queries and points into shared memory a tile of attributes at a time, coalesced; after the
// last one its distances stay in shared memory, every thread counts those that come before its own and keeps it if they
// are fewer than k. A block's k nearest go to device memory, where a thread per query merges the blocks' lists one
// after the other. No matrix is written; but a block finds no more than it holds, so that k is at most the points of a
// tile.
//
// `tile` is the number of points; blocks have 256 threads and the rest of them other queries, or 1,024 for as many
// points. `smallest_k/block_rank_merge` is the ranking by itself.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/knn/chunk.hpp"
#include "variants/knn/chunk_kernels.cuh"
#include "variants/knn/fused_search.hpp"
#include "variants/smallest_k/order.hpp"

namespace espalier::knn {
namespace {

using smallest_k::entry_of;
using smallest_k::index_of_entry;
using smallest_k::kEmptyEntry;
using smallest_k::key_of;
using smallest_k::key_of_entry;
using smallest_k::value_of;

constexpr int threads_for(int tile) { return tile > 256 ? tile : 256; }

/// What both kernels are given: a chunk of `count` queries from `first` on, and all points. Blocks are numbered along
/// the tiles of points.
struct Ranked {
    const float* query_values;
    const float* point_values;
    std::int64_t queries, points, dims, k;
    std::int64_t first, count;
    std::int64_t point_tiles;
    std::uint64_t* partials;  ///< entry j of tile t of query q of the chunk is partials[(t * k + j) * count + q]
};

template <int tile, int rows, Metric metric, Missing missing, class Types>
__global__ void rank_tiles(Ranked ranked, const __grid_constant__ Types types) {
    constexpr int kDepth = tile > 256 ? 8 : 16;  ///< attributes at a time
    auto& points = device::shared<float[kDepth][tile], struct PointTile>();
    auto& queries = device::shared<float[kDepth][rows], struct QueryTile>();
    auto& entries = device::shared<std::uint64_t[rows][tile], struct Entries>();
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * tile + x;
    const std::int64_t point_tile = blockIdx.x % ranked.point_tiles, query_tile = blockIdx.x / ranked.point_tiles;
    const std::int64_t p = point_tile * tile + x, q = query_tile * rows + y;

    distance::Accumulator<metric, missing> sum{};
    for (std::int64_t first = 0; first < ranked.dims; first += kDepth) {
        for (int a = y; a < kDepth; a += rows)
            if (first + a < ranked.dims && p < ranked.points)
                points[a][x] = ranked.point_values[(first + a) * ranked.points + p];
        if (thread < kDepth * rows) {
            const int a = thread / rows, row = thread % rows;
            const std::int64_t query = query_tile * rows + row;
            if (first + a < ranked.dims && query < ranked.count)
                queries[a][row] = ranked.query_values[(first + a) * ranked.queries + ranked.first + query];
        }
        __syncthreads();
        const int depth = ranked.dims - first < kDepth ? static_cast<int>(ranked.dims - first) : kDepth;
        if (p < ranked.points && q < ranked.count)
            for (int a = 0; a < depth; ++a) sum.add(queries[a][y], points[a][x], types[first + a]);
        __syncthreads();
    }
    const std::uint64_t entry =
        p < ranked.points ? entry_of(key_of(sum.result(ranked.dims)), static_cast<std::uint32_t>(p)) : kEmptyEntry;
    entries[y][x] = entry;
    __syncthreads();
    // Beyond the last point all entries are equal: the thread's number decides.
    int rank = 0;
    for (int t = 0; t < tile; ++t) rank += entries[y][t] < entry || (entries[y][t] == entry && t < x) ? 1 : 0;
    if (q < ranked.count && rank < ranked.k) ranked.partials[(point_tile * ranked.k + rank) * ranked.count + q] = entry;
}

/// Inserts each tile's list into the first one's; both ascend, so that the first entry that comes too late ends a list.
__global__ void merge_ranked(Ranked ranked, FoundLists found) {
    const std::int64_t q = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (q >= ranked.count) return;
    const auto at = [&](std::int64_t tile, std::int64_t j) -> std::uint64_t& {
        return ranked.partials[(tile * ranked.k + j) * ranked.count + q];
    };
    for (std::int64_t tile = 1; tile < ranked.point_tiles; ++tile)
        for (std::int64_t i = 0; i < ranked.k; ++i) {
            const std::uint64_t entry = at(tile, i);
            if (entry >= at(0, ranked.k - 1)) break;
            std::int64_t j = ranked.k - 1;
            for (; j > 0 && entry < at(0, j - 1); --j) at(0, j) = at(0, j - 1);
            at(0, j) = entry;
        }
    for (std::int64_t j = 0; j < ranked.k; ++j) {
        const std::uint64_t entry = ranked.point_tiles > 0 ? at(0, j) : kEmptyEntry;
        found.distances[j * ranked.count + q] = value_of(key_of_entry(entry));
        found.indices[j * ranked.count + q] = index_of_entry(entry);
    }
}

/// What the workspace holds, in bytes from its start: copies of queries on the host, a chunk's partial lists, its
/// lists.
struct RankLayout {
    std::int64_t tile, rows, point_tiles, chunk;
    std::size_t partials, distances, indices, bytes;

    RankLayout(const Problem& problem, const Configuration& configuration)
        : tile(configuration["tile"]),
          rows(threads_for(configuration["tile"]) / tile),
          point_tiles(divided_up(problem.points, tile)) {
        constexpr std::int64_t kBudget = std::int64_t{1} << 30, kMostBlocks = 2147483647;
        const std::int64_t per_query = std::max<std::int64_t>((point_tiles + 1) * problem.k * 8, 1);
        const std::int64_t fit =
            std::min(kBudget / per_query / rows, kMostBlocks / std::max<std::int64_t>(point_tiles, 1));
        chunk = std::min(problem.queries, std::max<std::int64_t>(fit, 1) * rows);
        partials = problem.queries_in == QueriesIn::host ? aligned(problem.queries * problem.dims * 4) : 0;
        distances = partials + aligned(point_tiles * problem.k * chunk * 8);
        indices = distances + aligned(problem.k * chunk * 4);
        bytes = indices + aligned(problem.k * chunk * 4);
    }

private:
    static constexpr std::size_t aligned(std::int64_t bytes) {
        return (static_cast<std::size_t>(bytes) + 511) / 512 * 512;
    }
};

template <int tile>
void launch_ranks(const Context& context, const Problem& problem, const Buffers& buffers, const Ranked& ranked) {
    constexpr int kRows = threads_for(tile) / tile;
    const auto blocks = static_cast<unsigned>(divided_up(ranked.count, kRows) * ranked.point_tiles);
    const distance::Problem distances{problem.queries, problem.points, problem.dims, problem.metric, problem.missing};
    const distance::Buffers types_alone{.types = buffers.types, .types_on_host = buffers.types_on_host};
    distance::with_metric_and_types(distances, types_alone, [&](auto metric, auto missing, auto types) {
        device::launch(rank_tiles<tile, kRows, metric(), missing(), decltype(types)>, dim3(blocks), dim3(tile, kRows),
                       0, context.stream, ranked, types);
    });
}

void search(const Context& context, const Problem& problem, const Buffers& buffers, const Ranked& ranked,
            const FoundLists& found, std::int64_t tile) {
    if (ranked.point_tiles > 0) {
        if (tile == 16) launch_ranks<16>(context, problem, buffers, ranked);
        if (tile == 64) launch_ranks<64>(context, problem, buffers, ranked);
        if (tile == 256) launch_ranks<256>(context, problem, buffers, ranked);
        if (tile == 1024) launch_ranks<1024>(context, problem, buffers, ranked);
    }
    device::launch(merge_ranked, dim3(blocks_for(ranked.count)), dim3(kThreadsPerBlock), 0, context.stream, ranked,
                   found);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.queries == 0) return;
    const RankLayout layout(problem, configuration);
    check_workspace(context, layout.bytes);
    std::byte* const memory = context.workspace.data();
    const float* queries = buffers.query_values;
    const bool on_host = problem.queries_in == QueriesIn::host;
    if (on_host) {
        device::copy_to_device(memory, buffers.on_host.query_values,
                               static_cast<std::size_t>(problem.queries * problem.dims) * sizeof(float),
                               context.stream);
        queries = reinterpret_cast<const float*>(memory);
    }
    const FoundLists found{reinterpret_cast<float*>(memory + layout.distances),
                           reinterpret_cast<std::int32_t*>(memory + layout.indices)};
    for (std::int64_t first = 0; first < problem.queries; first += layout.chunk) {
        const Ranked ranked{.query_values = queries,
                            .point_values = buffers.point_values,
                            .queries = problem.queries,
                            .points = problem.points,
                            .dims = problem.dims,
                            .k = problem.k,
                            .first = first,
                            .count = std::min(layout.chunk, problem.queries - first),
                            .point_tiles = layout.point_tiles,
                            .partials = reinterpret_cast<std::uint64_t*>(memory + layout.partials)};
        if (problem.k > 0) search(context, problem, buffers, ranked, found, layout.tile);
        vote_per_query(problem, buffers, {found.distances, found.indices, ranked.count, 0, problem.k, problem.vote},
                       first, context.stream);
    }
    if (on_host)
        device::copy_to_host(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries),
                             context.stream);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.k > configuration["tile"])
        return Support::no("k above the tile of " + std::to_string(configuration["tile"]) +
                           " points: a block cannot find more than it holds");
    return pipeline_supports(problem);
}

}  // namespace

Variant<Problem> tile_rank() {
    return {.summary = "a block ranks the distances of its tile in shared memory, one thread per query merges",
            .source = "K 3.2.3",
            .limits = "k <= tile",
            .tolerance = kPipeline,
            .space = {{"tile", {256, 1024, 64, 16}}},
            .supports = supports,
            .workspace = [](const Problem& problem, const Configuration& configuration,
                            const DeviceInfo&) { return RankLayout(problem, configuration).bytes; },
            .run = run};
}

}  // namespace espalier::knn
