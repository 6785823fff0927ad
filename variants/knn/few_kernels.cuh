#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "device/copy_ahead.hpp"
#include "device/kernel.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/knn/few_lists.cuh"
#include "variants/knn/few_votes.cuh"

/// The search of few queries: a block reads a slice of the points once, past the sums of its queries in registers.
namespace espalier::knn::few {
namespace {

inline constexpr int kChunk = 64;  ///< attributes of the queries in shared memory at once
inline constexpr int kWarps = kThreads / kLanes;
inline constexpr int kMergeWarps = 16, kMergeThreads = kMergeWarps * kLanes;

/// What the kernels are given. Lists are per slice and query, `length` entries each. `listed` has the queries to search
/// for and `listed_count` their number, both in device memory; null for all.
struct FewSearch {
    const float* query_values;
    const float* point_values;
    std::int64_t queries, points, share, slices, groups;
    std::int32_t dims, k, length;
    std::uint64_t* lists;
    const std::int32_t* listed = nullptr;
    const std::int32_t* listed_count = nullptr;

    [[nodiscard]] __device__ std::int64_t searched() const { return listed_count ? *listed_count : queries; }
    [[nodiscard]] __device__ std::int64_t query_at(std::int64_t place) const { return listed ? listed[place] : place; }
};

/// The sums of a thread's points with its block's queries, in the order and with the roundings of the direct form.
template <Metric metric, Missing missing, int each, int per_thread>
struct Sums {
    distance::Accumulator<metric, missing> of[per_thread][each] = {};

    template <int count>
    __device__ void add(int first, const float (&queries)[count], const float (&points)[per_thread],
                        AttributeType type) {
#pragma unroll
        for (int j = 0; j < count; ++j)
#pragma unroll
            for (int i = 0; i < per_thread; ++i) of[i][first + j].add(queries[j], points[i], type);
    }
    __device__ void add_points(const float (&)[per_thread]) {}
    [[nodiscard]] __device__ float distance(int i, int j, std::int64_t dims, float) const {
        return of[i][j].result(dims);
    }
};

/// A cosine's norms are sums of one item alone: a point's is the same for all queries, and a query's for all points.
template <int each, int per_thread>
struct Sums<Metric::cosine, Missing::none, each, per_thread> {
    float products[per_thread][each] = {}, norms[per_thread] = {};

    template <int count>
    __device__ void add(int first, const float (&queries)[count], const float (&points)[per_thread], AttributeType) {
#pragma unroll
        for (int j = 0; j < count; ++j)
#pragma unroll
            for (int i = 0; i < per_thread; ++i) products[i][first + j] += queries[j] * points[i];
    }
    __device__ void add_points(const float (&points)[per_thread]) {
#pragma unroll
        for (int i = 0; i < per_thread; ++i) norms[i] += points[i] * points[i];
    }
    [[nodiscard]] __device__ float distance(int i, int j, std::int64_t dims, float query_norm) const {
        using Sum = distance::Accumulator<Metric::cosine, Missing::none>;
        return std::bit_cast<Sum>(std::array{products[i][j], query_norm, norms[i]}).result(dims);
    }
};

/// What a block has in shared memory beside the dynamic part: distances of a tile and lists.
template <int each>
struct BlockSpace {
    static constexpr int kSearching = each < kWarps ? each : kWarps;  ///< warps that have a query
    alignas(16) float queries[2][kChunk][each];
    float norms[each];  ///< of queries; of cosine alone
    Waiting waiting[kSearching];
};

/// Bytes of dynamic shared memory: the tile's distances, where the votes are counted afterwards, and the lists.
template <int each, int per_thread>
constexpr std::size_t tile_bytes() {
    return std::max(std::size_t{each} * kThreads * per_thread * sizeof(float),
                    BlockSpace<each>::kSearching * sizeof(VoteSpace));
}
template <int each, int per_thread>
constexpr std::size_t shared_bytes(std::int32_t length) {
    return tile_bytes<each, per_thread>() + std::size_t{each} * static_cast<std::size_t>(length) * 8;
}

/// A block at work.
template <Metric metric, Missing missing, int each, int per_thread, class Types>
struct FewBlock {
    static constexpr int kTile = kThreads * per_thread;
    /// Attributes that a thread reads before it adds the ones before.
    static constexpr int kAhead = per_thread == 1 ? 8 : 4;
    static constexpr int kSearching = BlockSpace<each>::kSearching;
    using TileSums = Sums<metric, missing, each, per_thread>;

    const FewSearch& search;
    const Types& types;
    BlockSpace<each>& space;
    std::int64_t first_query, begin, end;
    int used;  ///< queries of the block
    int buffer = 0;

    [[nodiscard]] __device__ std::uint64_t* list(int query) const {
        return device::dynamic_shared<std::uint64_t>() + tile_bytes<each, per_thread>() / 8 + query * search.length;
    }

    /// The queries' attributes from one on, without waiting; 0 where there are none.
    __device__ void copy_queries(std::int32_t first, int to) const {
        for (int i = static_cast<int>(threadIdx.x); i < kChunk * each; i += kThreads) {
            const int a = i / each, q = i % each;
            const bool is_there = first + a < search.dims && q < used;
            const float* from = search.query_values;
            if (is_there) from += (first + a) * search.queries + search.query_at(first_query + q);
            device::copy_ahead(&space.queries[to][a][q], from, is_there);
        }
    }

    /// Attributes of the thread's points; 0 where there are none.
    __device__ void load(float (&values)[kAhead][per_thread], std::int32_t attribute, std::int64_t tile) const {
        const float* from = search.point_values + attribute * search.points + tile + threadIdx.x;
#pragma unroll
        for (int a = 0; a < kAhead; ++a, from += search.points)
#pragma unroll
            for (int i = 0; i < per_thread; ++i) {
                const bool is_there = attribute + a < search.dims && tile + threadIdx.x + i * kThreads < end;
                values[a][i] = is_there ? from[i * kThreads] : 0.0F;
            }
    }

    __device__ void add(TileSums& sums, const float (&values)[kAhead][per_thread], std::int32_t attribute) const {
        constexpr int kVector = each < 4 ? each : 4;
        const auto& rows = space.queries[buffer];
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
            // A pair of zeros adds nothing, but counts as an attribute where some may be missing.
            if (missing == Missing::allowed && attribute + a >= search.dims) break;
            const float* const row = rows[attribute % kChunk + a];
            const AttributeType type = types[min(attribute + a, search.dims - 1)];
            sums.add_points(values[a]);
#pragma unroll
            for (int j = 0; j < each; j += kVector) {
                float queries[kVector];
                if constexpr (kVector == 4) {
                    const float4 four = *reinterpret_cast<const float4*>(row + j);
                    queries[0] = four.x, queries[1] = four.y, queries[2] = four.z, queries[3] = four.w;
                } else {
                    queries[0] = row[j];
                }
                sums.add(j, queries, values[a], type);
            }
        }
    }

    /// Adds to the norms of the queries, a thread's each, what is in shared memory of them.
    __device__ void add_norms(float& norm, int attributes) const {
        if (threadIdx.x >= each) return;
#pragma unroll 4
        for (int a = 0; a < attributes; ++a) {
            const float value = space.queries[buffer][a][threadIdx.x];
            norm += value * value;
        }
    }

    /// The sums of a tile's points with all queries. The first chunk of the queries is on its way, and at the end it is
    /// again.
    __device__ void add_tile(TileSums& sums, std::int64_t tile) {
        const bool is_first = metric == Metric::cosine && tile == begin, is_last = tile + kTile >= end;
        float values[kAhead][per_thread], next[kAhead][per_thread], norm = 0;
        load(values, 0, tile);
        for (std::int32_t first = 0; first < search.dims; first += kChunk, buffer ^= 1) {
            device::wait_for_copies();
            // One barrier: what is copied next goes where nobody reads any more.
            __syncthreads();
            const bool ends = first + kChunk >= search.dims;
            if (!ends || !is_last) copy_queries(ends ? 0 : first + kChunk, buffer ^ 1);
            const std::int32_t chunk_end = min(first + kChunk, search.dims);
            if (is_first) add_norms(norm, chunk_end - first);
#pragma unroll 1
            for (std::int32_t a = first; a < chunk_end; a += kAhead) {
                load(next, a + kAhead, tile);
                add(sums, values, a);
#pragma unroll
                for (int v = 0; v < kAhead; ++v)
#pragma unroll
                    for (int i = 0; i < per_thread; ++i) values[v][i] = next[v][i];
            }
        }
        if (is_first && threadIdx.x < each) space.norms[threadIdx.x] = norm;
    }

    /// A query's distances to the points of a tile.
    [[nodiscard]] __device__ static float* row(int query) { return device::dynamic_shared<float>() + query * kTile; }

    __device__ void write_distances(const TileSums& sums) const {
#pragma unroll
        for (int j = 0; j < each; ++j) {
            const float norm = metric == Metric::cosine ? space.norms[j] : 0.0F;
#pragma unroll
            for (int i = 0; i < per_thread; ++i)
                row(j)[i * kThreads + static_cast<int>(threadIdx.x)] = sums.distance(i, j, search.dims, norm);
        }
    }

    [[nodiscard]] __device__ SliceList list_of(int query) const {
        return {list(query), space.waiting[query % kSearching], search.length, search.k, threadIdx.x % kLanes};
    }

    /// A warp's queries take what is nearer than their k-th neighbours.
    __device__ void select(std::int64_t tile) const {
        const auto count = static_cast<int>(min(end - tile, std::int64_t{kTile}));
        for (int q = static_cast<int>(threadIdx.x) / kLanes; q < used; q += kWarps)
            list_of(q).template take<kTile / kLanes>(row(q), count, tile);
    }
};

/// A block's part of a search. Group after group of queries, then slice after slice: blocks that run at once share
/// points in the cache.
template <Metric metric, Missing missing, int each, int per_thread, class Types>
__device__ __forceinline__ void search_slice(const FewSearch& search, const Types& types, const Problem& problem,
                                             const Buffers& buffers) {
    using Block = FewBlock<metric, missing, each, per_thread, Types>;
    const std::int64_t group = blockIdx.x % search.groups, slice = blockIdx.x / search.groups;
    const int warp = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
    const std::int64_t searched = search.searched();
    if (group * each >= searched) return;
    Block block{search,
                types,
                device::shared<BlockSpace<each>>(),
                group * each,
                slice * search.share,
                min((slice + 1) * search.share, search.points),
                static_cast<int>(min(searched - group * each, std::int64_t{each}))};
    if (search.dims == 0 && threadIdx.x < each) block.space.norms[threadIdx.x] = 0;
    for (int q = warp; q < block.used; q += kWarps) block.list_of(q).clear();
    if (block.begin < block.end) block.copy_queries(0, 0);
    for (std::int64_t tile = block.begin; tile < block.end; tile += Block::kTile) {
        typename Block::TileSums sums;
        block.add_tile(sums, tile);
        __syncthreads();  // the norms are there, and nobody reads distances any more
        block.write_distances(sums);
        __syncthreads();
        block.select(tile);
    }
    if (search.slices > 1) {
        for (int q = warp; q < block.used; q += kWarps) {
            std::uint64_t* const to = search.lists + (slice * search.queries + block.first_query + q) * search.length;
            for (int j = lane; j < search.length; j += kLanes) to[j] = block.list(q)[j];
        }
        return;
    }
    __syncthreads();  // votes are counted where the distances were
    auto* const votes = device::dynamic_shared<VoteSpace>();
    if (warp < Block::kSearching)
        for (int q = warp; q < block.used; q += kWarps)
            vote_by_warp(problem, buffers, block.list(q), votes[warp], search.query_at(block.first_query + q),
                         static_cast<unsigned>(lane));
}

template <Metric metric, Missing missing, int each, int per_thread, class Types>
__global__ void __launch_bounds__(kThreads, blocks_per_sm(each))
    search_few(FewSearch search, const __grid_constant__ Types types, Problem problem, Buffers buffers) {
    search_slice<metric, missing, each, per_thread>(search, types, problem, buffers);
}

/// A block merges the lists of the slices of one place, a warp some of them, then pairs of warps. The first warp's
/// list, `length` entries of dynamic shared memory, has the result.
__device__ inline std::uint64_t* merge_slices(const FewSearch& search, std::int64_t place) {
    const unsigned lane = threadIdx.x % kLanes;
    const int warp = static_cast<int>(threadIdx.x) / kLanes, length = search.length, k = search.k;
    auto* const lists = device::dynamic_shared<std::uint64_t>();
    std::uint64_t* const own = lists + warp * length;
    const auto list_of = [&](std::int64_t slice) { return search.lists + (slice * search.queries + place) * length; };
    for (int j = static_cast<int>(lane); j < length; j += kLanes)
        own[j] = warp < search.slices ? list_of(warp)[j] : kEmptyEntry;
    __syncwarp();
    for (std::int64_t slice = warp + kMergeWarps; slice < search.slices; slice += kMergeWarps)
        merge_lists(own, list_of(slice), length, k, lane);
    for (int apart = 1; apart < kMergeWarps; apart *= 2) {
        __syncthreads();
        if (warp % (2 * apart) == 0) merge_lists(own, own + apart * length, length, k, lane);
    }
    return lists;
}

/// The block of a query's place merges the lists of its slices and votes.
__device__ __forceinline__ void vote_of_slices(const FewSearch& search, const Problem& problem,
                                               const Buffers& buffers) {
    auto& votes = device::shared<VoteSpace>();
    const std::int64_t place = blockIdx.x;
    if (place >= search.searched()) return;
    const std::uint64_t* const list = merge_slices(search, place);
    if (threadIdx.x < kLanes) vote_by_warp(problem, buffers, list, votes, search.query_at(place), threadIdx.x);
}

__global__ void __launch_bounds__(kMergeThreads) merge_and_vote(FewSearch search, Problem problem, Buffers buffers) {
    vote_of_slices(search, problem, buffers);
}

template <Metric metric, Missing missing, int each, int per_thread, class Types>
void launch_search(const Context& context, const Problem& problem, const Buffers& buffers, const FewSearch& search,
                   const Types& types) {
    device::launch(search_few<metric, missing, each, per_thread, Types>,
                   dim3(static_cast<unsigned>(search.groups * search.slices)), dim3(kThreads),
                   shared_bytes<each, per_thread>(search.length), context.stream, search, types, problem, buffers);
}

constexpr std::size_t merge_bytes(std::int32_t length) {
    return std::size_t{kMergeWarps} * static_cast<std::size_t>(length) * 8;
}

inline void launch_merge(const Context& context, const Problem& problem, const Buffers& buffers,
                         const FewSearch& search) {
    device::launch(merge_and_vote, dim3(static_cast<unsigned>(problem.queries)), dim3(kMergeThreads),
                   merge_bytes(search.length), context.stream, search, problem, buffers);
}

}  // namespace
}  // namespace espalier::knn::few
