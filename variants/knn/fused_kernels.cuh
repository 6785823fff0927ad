#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "device/copy_ahead.hpp"
#include "device/kernel.hpp"
#include "variants/distance/attribute_types.cuh"
#include "variants/distance/register_tile.cuh"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/fused_search.hpp"

/// The search in one kernel: a tile of queries x points has its distances in registers, as `distance/register_tile`
/// computes them, and each is held against the k-th best so far of its query. What is nearer goes to a buffer in shared
/// memory, and from there, 32 at a time, into the query's list.
namespace espalier::knn {
namespace {

using distance::add_terms;
using distance::item_of;
using distance::kDepth;
using distance::kSide;
using distance::kVector;
using distance::read_row;

static_assert(kThreads == kSide * kSide);
inline constexpr int kSharedList = kLanes;  ///< longer lists are in device memory

/// What a search kernel is given. `listed` has the queries to search for and `listed_count` their number, both in
/// device memory; null for `count` queries from `first` on.
struct Search {
    const float* query_values;
    const float* point_values;
    std::int64_t queries, points;
    std::int64_t first, count;
    const std::int32_t* listed;
    const std::int32_t* listed_count;
    std::int64_t slices;  ///< of all points; of listed queries, whose number only the device knows, the blocks
    std::int32_t dims, k, length;
    Walk walk;
    std::uint64_t* lists;  ///< per slice, query tile and query of it, `length` each

    [[nodiscard]] __device__ std::int64_t searched() const { return listed_count ? *listed_count : count; }
    [[nodiscard]] __device__ std::int64_t slices_of(std::int64_t query_tiles) const {
        if (!listed_count) return slices;
        const std::int64_t for_each = slices / std::max<std::int64_t>(query_tiles, 1);
        return std::max<std::int64_t>(std::min<std::int64_t>(for_each, walk.tiles), 1);
    }
    [[nodiscard]] __device__ std::int64_t query_at(std::int64_t place) const {
        return listed ? listed[place] : first + place;
    }
};

/// Whether sums of squares are compared in place of their roots, which are as many instructions as ten attributes.
template <Metric metric, Missing missing>
inline constexpr bool kBySquares = missing == Missing::none &&
                                   (metric == Metric::euclidean || metric == Metric::mixed_euclidean);

/// What stands for a distance in comparisons.
template <Metric metric, Missing missing>
__device__ float comparable(const distance::Accumulator<metric, missing>& sum, std::int64_t dims) {
    if constexpr (kBySquares<metric, missing>)
        return std::bit_cast<float>(sum);  // it has no other member
    else
        return sum.result(dims);
}
template <bool squares>
__device__ float distance_of(float comparable) {
    return squares ? std::sqrt(comparable) : comparable;
}

__device__ inline float next_above(float value) { return __uint_as_float(__float_as_uint(value) + 1); }
__device__ inline float next_below(float value) { return __uint_as_float(__float_as_uint(value) - 1); }

/// The largest comparable of a distance below `bound`, or up to it; -1 if there is none. Different sums of squares may
/// have the same root, and distances that are the same are ties.
template <bool squares>
__device__ float largest_below(float bound) {
    if (bound == 0) return -1;
    if constexpr (!squares) return next_below(bound);
    float sum = bound * bound;
    while (std::sqrt(sum) >= bound) sum = next_below(sum);
    while (std::sqrt(next_above(sum)) < bound) sum = next_above(sum);
    return sum;
}
template <bool squares>
__device__ float largest_up_to(float bound) {
    if constexpr (!squares) return bound;
    float sum = bound * bound;
    while (std::sqrt(sum) > bound) sum = next_below(sum);
    while (std::sqrt(next_above(sum)) <= bound) sum = next_above(sum);
    return sum;
}

/// What a candidate of a query may have: its comparable is not above `strict` if all points of its tile come after
/// `last`, the k-th neighbour so far, which ties precede, and else not above `inclusive`. A limit of NaN lets all in,
/// another one no NaN. Aligned for vector reads of four.
template <int queries, bool squares>
struct alignas(16) Limits {
    static constexpr int kQueries = queries;
    float strict[queries], inclusive[queries];
    std::int32_t last[queries];

    __device__ static float ranked(float comparable) { return distance_of<squares>(comparable); }
    /// Anything may come in.
    __device__ void open(int query) {
        strict[query] = inclusive[query] = std::numeric_limits<float>::quiet_NaN();
        last[query] = std::numeric_limits<std::int32_t>::max();
    }
    /// The k-th entry is the last that anybody wants.
    __device__ void follow(int query, std::uint64_t kth, std::uint64_t) {
        if (kth == kEmptyEntry) return open(query);
        const std::uint32_t key = key_of_entry(kth);
        const float bound = value_of(key);
        last[query] = smallest_k::index_of_entry(kth);
        if (key == smallest_k::kNanKey) {
            strict[query] = std::numeric_limits<float>::infinity();
            inclusive[query] = bound;
        } else {
            strict[query] = largest_below<squares>(bound);
            inclusive[query] = largest_up_to<squares>(bound);
        }
    }
    /// No candidate may come in any more.
    __device__ void close(int query) { strict[query] = inclusive[query] = -1, last[query] = 0; }
};

/// 8 attributes of a tile of a set to shared memory, without waiting. A thread's values are all of one item, at which
/// `set` points; of none without one, and beyond `dims`, they are 0.
template <int items>
__device__ void copy_slice(float (&tile)[kDepth][items], const float* set, bool has_item, std::int64_t count,
                           std::int32_t first_attribute, std::int32_t dims, unsigned thread) {
    constexpr int kLoads = items * kDepth / kThreads, kRows = kThreads / items;
    const std::int32_t row = static_cast<std::int32_t>(thread) / items;
    const float* from = set + (first_attribute + row) * count;
#pragma unroll
    for (int i = 0; i < kLoads; ++i, from += kRows * count) {
        const bool is_there = has_item && first_attribute + row + i * kRows < dims;
        device::copy_ahead(&tile[row + i * kRows][thread % items], is_there ? from : set, is_there);
    }
}

/// A tile's distances that are yet to be held against the limits.
template <Metric metric, Missing missing, int per_thread>
struct Offer {
    using Sum = distance::Accumulator<metric, missing>;
    static constexpr bool kSquares = kBySquares<metric, missing>;
    static constexpr int kItems = kSide * per_thread;

    const Sum (&sums)[per_thread][per_thread];
    std::int64_t dims, first_point, points;
    std::uint32_t taken[2] = {};  ///< a bit per distance that is in a buffer already

    /// Puts candidates into the buffers. Returns whether one found no room: it has to come again after a merge.
    __device__ bool operator()(const Lists<Limits<kItems, kSquares>>& lists, unsigned x, unsigned y) {
        const Limits<kItems, kSquares>& limits = lists.limits;
        bool left = false;
#pragma unroll
        for (int first = 0; first < per_thread; first += kVector) {
            float limit[kVector];
            read_limits(limit, limits, item_of(x, first));
#pragma unroll
            for (int v = 0; v < kVector; ++v) {
                const int i = first + v;
                float values[per_thread];
                bool any = false;
#pragma unroll
                for (int j = 0; j < per_thread; ++j) {
                    values[j] = comparable(sums[j][i], dims);
                    any = any || !(values[j] > limit[v]);
                }
                if (any) left = take(lists, values, limit[v], item_of(x, i), y, i * per_thread) || left;
            }
        }
        return left;
    }

private:
    /// Of four neighbouring queries.
    __device__ void read_limits(float (&limit)[kVector], const Limits<kItems, kSquares>& limits, int query) const {
        const float4 strict = *reinterpret_cast<const float4*>(limits.strict + query);
        const float4 inclusive = *reinterpret_cast<const float4*>(limits.inclusive + query);
        const int4 last = *reinterpret_cast<const int4*>(limits.last + query);
        limit[0] = first_point > last.x ? strict.x : inclusive.x;
        limit[1] = first_point > last.y ? strict.y : inclusive.y;
        limit[2] = first_point > last.z ? strict.z : inclusive.z;
        limit[3] = first_point > last.w ? strict.w : inclusive.w;
    }

    __device__ bool take(const Lists<Limits<kItems, kSquares>>& lists, const float (&values)[per_thread], float limit,
                         int query, unsigned y, int bit) {
        bool left = false;
        const auto first = static_cast<std::uint32_t>(first_point);
#pragma unroll
        for (int j = 0; j < per_thread; ++j) {
            if (!(values[j] <= limit || limit != limit)) continue;
            const std::uint32_t own = 1U << (bit % 32 + j);
            const std::uint32_t point = first + static_cast<std::uint32_t>(item_of(y, j));
            if ((taken[bit / 32] & own) != 0 || point >= points) continue;
            if (lists.offer(query, values[j], point))
                taken[bit / 32] |= own;
            else
                left = true;
        }
        return left;
    }
};

/// Bytes of dynamic shared memory.
template <int per_thread>
constexpr std::size_t shared_lists(std::int32_t length) {
    constexpr std::size_t kQueries = kSide * per_thread;
    return kQueries * (kBuffer + (length <= kSharedList ? kSharedList : 0)) * sizeof(std::uint64_t);
}

// Long: results are of this very text; copies, sums and lists share buffers and barriers.
template <Metric metric, Missing missing, int per_thread, class Types>
__global__ void __launch_bounds__(kThreads, metric == Metric::mixed_euclidean ? 1 : 2)
    search_tiles(Search search, const __grid_constant__ Types types) {
    constexpr int kItems = kSide * per_thread;
    constexpr bool kSquares = kBySquares<metric, missing>;
    using Buffer = float[2][kDepth][kItems];
    auto& queries = device::shared<Buffer, struct QueryTile>();
    auto& points = device::shared<Buffer, struct PointTile>();
    auto& limits = device::shared<Limits<kItems, kSquares>>();
    auto& waiting = device::shared<std::int32_t[kItems], struct Waiting>();
    auto* const dynamic = device::dynamic_shared<std::uint64_t>();
    auto& buffers = *reinterpret_cast<std::uint64_t(*)[kItems][kBuffer]>(dynamic);
    const bool in_shared = search.length <= kSharedList;
    const unsigned x = threadIdx.x, y = threadIdx.y, thread = y * kSide + x;
    const std::int64_t searched = search.searched(), query_tiles = divided_up(searched, kItems);
    const std::int64_t slices = search.slices_of(query_tiles), items = query_tiles * slices;
    const std::int64_t tiles = search.walk.tiles;

    for (std::int64_t work = blockIdx.x; work < items; work += gridDim.x) {
        std::uint64_t* const result = search.lists + work * kItems * search.length;
        const Lists<Limits<kItems, kSquares>> lists{
            limits, waiting, buffers, in_shared ? dynamic + kItems * kBuffer : result, search.k, search.length};
        const std::int64_t first_place = work % query_tiles * kItems, slice = work / query_tiles;
        lists.clear(searched - first_place, thread);
        __syncthreads();

        const auto begin = static_cast<std::int32_t>(slice * tiles / slices);
        const auto end = static_cast<std::int32_t>((slice + 1) * tiles / slices);
        std::int32_t tile = search.walk.tile_at(begin);
        const std::int64_t place = first_place + thread % kItems;
        const bool has_query = place < searched;
        const float* const query = search.query_values + (has_query ? search.query_at(place) : 0);
        const auto copy = [&](std::int32_t of, std::int32_t attribute, int to) {
            const std::int64_t point = std::int64_t{of} * kItems + thread % kItems;
            const bool has_point = point < search.points;
            copy_slice(queries[to], query, has_query, search.queries, attribute, search.dims, thread);
            copy_slice(points[to], search.point_values + (has_point ? point : 0), has_point, search.points, attribute,
                       search.dims, thread);
        };
        if (begin < end) copy(tile, 0, 0);
        int buffer = 0;
        for (std::int32_t position = begin; position < end; ++position) {
            distance::Accumulator<metric, missing> sums[per_thread][per_thread] = {};
            const std::int64_t first_point = std::int64_t{tile} * kItems;
            const std::int32_t next_tile = search.walk.after(tile);
            std::int32_t first = 0;
            do {
                device::wait_for_copies();
                // One barrier: what is copied next goes where nobody reads any more.
                __syncthreads();
                const bool ends = first + kDepth >= search.dims;
                if (!ends || position + 1 < end) copy(ends ? next_tile : tile, ends ? 0 : first + kDepth, buffer ^ 1);
                const auto step = [&](int a) {
                    float q[per_thread], p[per_thread];
                    read_row(q, queries[buffer][a], x);
                    read_row(p, points[buffer][a], y);
                    // The type is the same for all 64 terms: one branch outside of them.
                    if (types[first + a] == AttributeType::nominal)
                        add_terms(sums, q, p, AttributeType::nominal);
                    else
                        add_terms(sums, q, p, AttributeType::numeric);
                };
                if (first + kDepth <= search.dims) {
#pragma unroll 2
                    for (int a = 0; a < kDepth; ++a) step(a);
                } else {
                    for (int a = 0; a < search.dims - first; ++a) step(a);
                }
                first += kDepth, buffer ^= 1;
            } while (first < search.dims);
            Offer<metric, missing, per_thread> offer{sums, search.dims, first_point, search.points};
            while (__syncthreads_or(offer(lists, x, y))) {
                // Half-full buffers, too: it is the block's waiting that costs.
                lists.merge(kBuffer / 2, thread / kLanes, thread % kLanes);
                __syncthreads();
            }
            tile = next_tile;
        }
        lists.merge(1, thread / kLanes, thread % kLanes);
        __syncthreads();
        if (in_shared)
            for (int i = static_cast<int>(thread); i < kItems * search.length; i += kThreads)
                result[i] = lists.lists[i];
        __syncthreads();
    }
}

/// A warp per query merges the lists of its slices and writes the k first of them as `smallest_k` does.
template <int tile>
__global__ void __launch_bounds__(kThreads)
    merge_slices(Search search, std::int64_t rows, float* distances, std::int32_t* indices) {
    const unsigned lane = threadIdx.x;
    const std::int64_t searched = search.searched(), query_tiles = divided_up(searched, tile);
    const std::int64_t slices = search.slices_of(query_tiles);
    const std::int64_t slice_stride = query_tiles * tile * search.length;
    for (std::int64_t place = std::int64_t{blockIdx.x} * kBlockWarps + threadIdx.y; place < searched;
         place += std::int64_t{gridDim.x} * kBlockWarps) {
        std::uint64_t* const list = search.lists + place * search.length;
        for (std::int64_t slice = 1; slice < slices; ++slice)
            for (int first = 0; first < search.length; first += kLanes) {
                const std::uint64_t entry = list[slice * slice_stride + first + static_cast<int>(lane)];
                merge_sorted(list, search.length, entry, lane);
            }
        const std::int64_t row = search.query_at(place) - search.first;
        for (int j = static_cast<int>(lane); j < search.k; j += kLanes) {
            distances[j * rows + row] = value_of(key_of_entry(list[j]));
            indices[j * rows + row] = smallest_k::index_of_entry(list[j]);
        }
    }
}

/// Searches with a block per item of work, or as many as are given.
template <int per_thread>
void launch_search(const Context& context, const Problem& problem, const Buffers& buffers, const Search& search,
                   std::int64_t blocks) {
    const distance::Problem distances{problem.queries, problem.points,  problem.dims,
                                      problem.metric,  problem.missing, false};
    const distance::Buffers types_of{.types = buffers.types, .types_on_host = buffers.types_on_host};
    distance::with_metric_and_types(distances, types_of, [&](auto metric, auto missing, auto types) {
        // What a variant declines is not compiled either: it would spill.
        if constexpr (per_thread == 4 || (metric() != Metric::cosine && missing() == Missing::none))
            device::launch(search_tiles<metric(), missing(), per_thread, decltype(types)>,
                           dim3(static_cast<unsigned>(blocks)), dim3(kSide, kSide),
                           shared_lists<per_thread>(search.length), context.stream, search, types);
    });
}

/// `queries`: at most so many are searched for.
template <int per_thread>
void launch_merge(const Context& context, const Search& search, const FoundLists& found, std::int64_t queries) {
    device::launch(merge_slices<kSide * per_thread>, dim3(static_cast<unsigned>(divided_up(queries, kBlockWarps))),
                   dim3(kLanes, kBlockWarps), 0, context.stream, search, queries, found.distances, found.indices);
}

}  // namespace
}  // namespace espalier::knn
