#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "kernels/core/variant.hpp"
#include "variants/knn/fused_kernels.cuh"
#include "variants/knn/threshold_lists.cuh"

/// The launches of `screened_threshold`, for all queries or for a list that comes about on the device.
namespace espalier::knn::threshold {
namespace {

/// How points and queries are cut, and where things are in the workspace, in bytes from its start.
struct ThresholdLayout {
    std::int64_t point_tiles, query_tiles, slices, every, groups, chunk_tiles, room;
    std::int32_t per_thread;  ///< of the direct search, and side
    FusedLayout direct;
    std::int64_t direct_blocks;
    std::size_t centre, inverse, query_tiles_at, point_tiles_at, query_norms, query_rows, point_rows, queries, tops,
        floors, counts, candidates, left, lists, distances, indices, bytes = 0;

    /// `budget`: bytes for samples and candidates.
    ThresholdLayout(const Problem& problem, const DeviceInfo& device, std::int64_t sampled_every,
                    std::int64_t budget = std::int64_t{1} << 30)
        : point_tiles(divided_up(problem.points, kTilePoints)),
          query_tiles(divided_up(problem.queries, kTileQueries)),
          slices(std::max<std::int64_t>(divided_up(problem.dims, kTileAttributes), 1)),
          // Eight groups for each neighbour, if there are as many.
          every(std::clamp<std::int64_t>(point_tiles * kTileGroups / std::max<std::int64_t>(8 * problem.k, 1), 1,
                                         sampled_every)),
          groups(divided_up(point_tiles, every) * kTileGroups),
          per_thread(problem.metric == Metric::cosine ? 4 : 8),
          direct(problem, device, kSide * per_thread),
          direct_blocks(2 * std::max(device.sm_count, 1)) {
        room = std::min(problem.points, std::max(expected(problem), worth_listing(problem, device)));
        plan_chunks(problem, budget);
        place_all(problem);
    }

    [[nodiscard]] std::int64_t chunk() const { return chunk_tiles * kTileQueries; }

    /// Candidates of a query at most, unless points are near each other beside the rest or lie in an order: a sample
    /// leaves k of each of its points, give or take.
    [[nodiscard]] std::int64_t expected(const Problem& problem) const {
        const auto spread = static_cast<std::int64_t>(4 * std::sqrt(static_cast<double>(problem.k)));
        return (problem.k + spread + 8) * every;
    }

    /// Cuts of `tiles` that leave no round of blocks half empty: at least eight, so that blocks at work share queries.
    /// A block begins with a wait that is as long as three tiles.
    [[nodiscard]] static std::int32_t cuts(std::int64_t tiles_of_queries, std::int64_t tiles, std::int64_t at_once) {
        const std::int64_t least = std::min<std::int64_t>(8, tiles);
        const auto cost = [&](std::int64_t of) {
            return divided_up(tiles_of_queries * of, at_once) * (divided_up(tiles, of) + 3);
        };
        std::int64_t best = least;
        for (std::int64_t of = least + 1; of <= std::min<std::int64_t>(tiles, 512); ++of)
            if (cost(of) < cost(best)) best = of;
        return static_cast<std::int32_t>(best);
    }

private:
    /// Candidates whose distances one by one take as long as those of all points in tiles: of fewer queries than there
    /// are warps that keep the memory busy as much fewer, for then each waits for its own.
    static std::int64_t worth_listing(const Problem& problem, const DeviceInfo& device) {
        if (device.emulated) return problem.points / 3;  // so that small problems have lists
        const std::int64_t of_many = std::min<std::int64_t>(problem.points / 24, 8'192);
        const std::int64_t many = 8 * std::int64_t{std::max(device.sm_count, 1)};
        return of_many * std::min(problem.queries, many) / many;
    }
    /// Chunks of the same number of tiles, whose samples and candidates are within the budget.
    void plan_chunks(const Problem& problem, std::int64_t budget) {
        const std::int64_t per_query = 4 * groups + 8 * (room + problem.k);
        const std::int64_t most = std::max<std::int64_t>(budget / (per_query * kTileQueries), 1);
        const std::int64_t chunks = std::max<std::int64_t>(divided_up(query_tiles, most), 1);
        chunk_tiles = divided_up(query_tiles, chunks);
    }
    void place_all(const Problem& problem) {
        take(static_cast<std::int64_t>(sizeof(Findings)));
        centre = take(problem.dims * 4);
        inverse = take(problem.metric == Metric::cosine ? (problem.queries + problem.points) * 4 : 0);
        queries = take(problem.queries_in == QueriesIn::host ? problem.queries * problem.dims * 4 : 0);
        query_tiles_at = take(query_tiles * slices * static_cast<std::int64_t>(sizeof(QueryTile)));
        point_tiles_at = take(point_tiles * slices * static_cast<std::int64_t>(sizeof(PointTile)));
        query_norms = take(query_tiles * kTileQueries * 4);
        query_rows = take(problem.queries * row_stride(problem.dims) * 4);
        point_rows = take(problem.points * row_stride(problem.dims) * 4);
        tops = take(chunk() * groups * 4);
        floors = take(chunk() * 4);
        counts = take(chunk() * 4);
        candidates = take(chunk() * room * 8);
        left = take(chunk() * 4);
        const std::int64_t count = std::min(chunk(), problem.queries);
        lists = take(std::max(divided_up(count, direct.tile), direct_blocks) * direct.tile * direct.length * 8);
        distances = take(count * problem.k * 4);
        indices = take(count * problem.k * 4);
    }
    std::size_t take(std::int64_t wanted) {
        return std::exchange(bytes, bytes + (static_cast<std::size_t>(wanted) + 1023) / 1024 * 1024);
    }
};

/// Whether a device has the memory for tiles.
inline Support supports_products(const DeviceInfo& device) {
    if (product_bytes<0>() <= device.shared_per_block_optin) return Support::yes();
    return Support::no("its tiles need " + std::to_string(product_bytes<0>()) +
                       " bytes of shared memory per block, the device has " +
                       std::to_string(device.shared_per_block_optin));
}

/// One call: the arrays and where everything is.
struct ThresholdSearch {
    const Context& context;
    const Problem& problem;
    const Buffers& buffers;
    const ThresholdLayout& layout;
    std::byte* memory;     ///< of the layout
    const float* queries;  ///< all of them, on the device

    template <class T>
    [[nodiscard]] T* at(std::size_t place) const {
        return reinterpret_cast<T*>(memory + place);
    }
    [[nodiscard]] Findings* findings() const { return at<Findings>(0); }

    /// Centre, scale and halves of both sets.
    void prepare_sets() const {
        const GivenSet of_queries{queries, problem.queries}, of_points{buffers.point_values, problem.points};
        const auto dims = static_cast<std::int32_t>(problem.dims);
        device::fill(findings(), 0, sizeof(Findings), context.stream);
        if (problem.metric == Metric::cosine)
            launch(find_inverse_norms, divided_up(problem.queries + problem.points, kThreads), of_queries, of_points,
                   dims, at<float>(layout.inverse));
        else if (dims > 0 && problem.points > 0)
            launch(find_medians, dims, of_points, Listed{}, at<float>(layout.centre), findings());
        constexpr std::int64_t kItems = 64;
        const HalvesOf halves{of_queries,
                              of_points,
                              {},
                              static_cast<std::int32_t>(layout.query_tiles * kTileQueries / kItems),
                              dims,
                              static_cast<std::int32_t>(layout.slices),
                              static_cast<float>(1 - kept_back(problem.dims)),
                              problem.metric,
                              at<float>(layout.centre),
                              at<float>(layout.inverse),
                              findings(),
                              at<QueryTile>(layout.query_tiles_at),
                              at<PointTile>(layout.point_tiles_at),
                              at<float>(layout.query_norms),
                              at<float>(layout.query_rows),
                              at<float>(layout.point_rows)};
        launch(prepare_halves, halves.query_blocks + layout.point_tiles * kTilePoints / kItems, halves);
    }

    /// The lists of `count` queries from `first` on.
    template <Metric metric>
    void search(std::int64_t first, std::int64_t count, const FoundLists& found) const {
        device::fill(&findings()->unlisted, 0, sizeof findings()->unlisted, context.stream);
        Products products = products_of(first, count);
        const Exact exact = exact_of(products, first, count, found);
        device::fill(products.counts, 0, static_cast<std::size_t>(layout.chunk()) * 4, context.stream);
        multiply<SampleTops>(products);
        find_thresholds<metric>(products, exact, exact.room, nullptr);
        products.every = 1;
        multiply<FloorCandidates>(products);
        device::launch(search_candidates<metric>, dim3(static_cast<unsigned>(divided_up(count, kBlockWarps))),
                       dim3(kLanes, kBlockWarps), list_bytes(), context.stream, exact);
        search_left<metric>(first, count, found, {at<std::int32_t>(layout.left), &findings()->unlisted});
    }

    /// By the sample's products. Queries of which it says that they have more than `most` candidates have none listed;
    /// `limits` are kept if there is a place for them.
    template <Metric metric>
    void find_thresholds(const Products& products, const Exact& exact, std::int64_t most, float* limits) const {
        device::launch(
            find_floors<metric, WholeSample>,
            dim3(static_cast<unsigned>(products.query_tiles * kTileQueries / kBlockWarps)), dim3(kLanes, kBlockWarps),
            list_bytes(), context.stream, exact,
            WholeSample{exact.groups, exact.every, static_cast<std::int32_t>(most), limits, products.counts});
    }

    /// What is multiplied for `count` queries from `first` on.
    [[nodiscard]] Products products_of(std::int64_t first, std::int64_t count) const {
        return {at<QueryTile>(layout.query_tiles_at),
                at<PointTile>(layout.point_tiles_at),
                {},
                first / kTileQueries,
                static_cast<std::int32_t>(divided_up(count, kTileQueries)),
                static_cast<std::int32_t>(layout.point_tiles),
                static_cast<std::int32_t>(layout.every),
                static_cast<std::int32_t>(layout.slices),
                1,
                static_cast<std::int32_t>(layout.groups),
                at<float>(layout.tops),
                at<float>(layout.floors),
                at<std::int32_t>(layout.counts),
                at<Candidate>(layout.candidates),
                static_cast<std::int32_t>(layout.room)};
    }

    /// What is searched for after these products.
    [[nodiscard]] Exact exact_of(const Products& products, std::int64_t first, std::int64_t count,
                                 const FoundLists& found) const {
        return {at<float>(layout.query_rows),
                at<float>(layout.point_rows),
                at<float>(layout.query_norms),
                {},
                first,
                count,
                first,
                count,
                static_cast<std::int32_t>(problem.dims),
                static_cast<std::int32_t>(problem.k),
                products.groups,
                products.every,
                products.room,
                absolute_error(problem.dims),
                products.tops,
                at<float>(layout.floors),
                products.counts,
                products.candidates,
                found,
                findings(),
                at<std::int32_t>(layout.left)};
    }

    [[nodiscard]] std::size_t list_bytes() const {
        return static_cast<std::size_t>(list_length(static_cast<int>(problem.k)) * kBlockWarps) * 8;
    }

    template <class Receiver>
    void multiply(const Products& products) const {
        const auto steps = divided_up(problem.dims, kStep);
        if (steps <= 1) return multiply<Receiver, 1, 1>(products);
        if (steps <= 2) return multiply<Receiver, 2, 1>(products);
        if (steps <= 4) return multiply<Receiver, 4, 1>(products);
        if (steps <= 8) return multiply<Receiver, 4, 2>(products);
        multiply<Receiver, 4, 0>(products);
    }

    /// Queries by number, and how many they are.
    struct Left {
        const std::int32_t *queries, *count;
    };
    /// The direct search for the queries that are left, `count` at most.
    template <Metric metric>
    void search_left(std::int64_t first, std::int64_t count, const FoundLists& found, const Left& left) const {
        constexpr int kPerThread = metric == Metric::cosine ? 4 : 8;
        const Search direct{queries,
                            buffers.point_values,
                            problem.queries,
                            problem.points,
                            first,
                            count,
                            left.queries,
                            left.count,
                            layout.direct_blocks,
                            static_cast<std::int32_t>(problem.dims),
                            static_cast<std::int32_t>(problem.k),
                            layout.direct.length,
                            Walk(layout.direct.point_tiles),
                            at<std::uint64_t>(layout.lists)};
        launch_search<kPerThread>(context, problem, buffers, direct, layout.direct_blocks);
        launch_merge<kPerThread>(context, direct, found, count);
    }

private:
    template <class Kernel, class... Arguments>
    void launch(Kernel kernel, std::int64_t blocks, const Arguments&... arguments) const {
        if (blocks > 0)
            device::launch(kernel, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0, context.stream,
                           arguments...);
    }

    template <class Receiver, int steps, int kept>
    void multiply(Products products) const {
        using Block = Blocks<kept>;
        const std::int64_t blocks = products.query_tiles * Block::kPerTile;
        products.cuts = layout.cuts(blocks, divided_up(products.point_tiles, products.every),
                                    std::int64_t{std::max(context.device.sm_count, 1)} * Block::kAtOnce);
        if (products.cuts > 0)
            device::launch(multiply_tiles<Receiver, steps, kept>, dim3(static_cast<unsigned>(blocks * products.cuts)),
                           dim3(kLanes, Block::kWarps), product_bytes<kept>(), context.stream, products);
    }
};

}  // namespace
}  // namespace espalier::knn::threshold
