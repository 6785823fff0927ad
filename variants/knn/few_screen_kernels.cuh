#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/copy_ahead.hpp"
#include "device/kernel.hpp"
#include "device/tf32_tiles.hpp"
#include "variants/knn/few_kernels.cuh"
#include "variants/knn/few_screening.hpp"
#include "variants/knn/fused_kernels.cuh"
#include "variants/knn/middles.cuh"

/// The screen of `few_screened`: products by tensor cores, lists of what may be nearest, their direct distances, and
/// the search for the queries that it gives up.
namespace espalier::knn::few {
namespace {

inline constexpr int kTilePoints = kThreads;             ///< a warp has 32 of them
inline constexpr int kRowStride = kTilePoints + 4;       ///< lanes of a product's column store to different banks
inline constexpr int kParts = kScreened / 8;             ///< of the queries, 8 in a matrix
inline constexpr int kSteps = kChunk / 8;                ///< of 8 attributes in a chunk of the queries
inline constexpr int kOwn = 4;                           ///< points of a lane
inline constexpr std::uint32_t kFirstBits = 0xFFFFE000;  ///< 11 significant ones

/// A number's first bits, and the first of what they leave; a difference of neighbours is exact.
__device__ inline void split(float value, std::uint32_t& high, std::uint32_t& low) {
    high = __float_as_uint(value) & kFirstBits;
    low = __float_as_uint(value - __uint_as_float(high)) & kFirstBits;
}

/// A block's shared memory beside the dynamic part, which has a tile's values and the lists.
struct ScreenSpace {
    uint4 queries[2][kSteps][kParts]
                 [kLanes];  ///< what a lane multiplies by: two numbers' first bits, then their second
    Waiting waiting[kWarps];
};

constexpr std::size_t screen_bytes(std::int32_t kept) {
    return kScreened * kRowStride * sizeof(float) + std::size_t{kScreened} * static_cast<std::size_t>(kept) * 8;
}

constexpr std::size_t settle_bytes(std::int32_t kept) {
    return merge_bytes(kept) + std::size_t{2} * kChunk * static_cast<std::size_t>(kept + 1) * sizeof(float);
}

/// A block per attribute: the median of some points, about which euclidean distances have less to lose. Behind the
/// attributes it is 0.
__global__ void __launch_bounds__(kThreads)
    find_centre(const float* values, std::int64_t points, std::int32_t dims, float* centre) {
    const auto attribute = static_cast<std::int32_t>(blockIdx.x);
    const float median = attribute < dims ? middle_of(values + attribute * points, points).median : 0.0F;
    if (threadIdx.x == 0) centre[attribute] = median;
}

/// A block at work: 32 queries past a slice of the points.
template <Metric metric>
struct Screen {
    const FewSearch& search;
    const float* centre;
    ScreenSpace& space;
    std::int64_t first_query, begin, end;
    int used;
    unsigned warp, lane;

    struct Products {
        float sums[2][kParts][4] = {};  ///< of two matrices of 16 points
    };
    /// 8 attributes of four points: of each point those of a matrix's two columns of the lane.
    using Values = float[2][kOwn];

    [[nodiscard]] __device__ static float* row(int query) {
        return device::dynamic_shared<float>() + query * kRowStride;
    }
    [[nodiscard]] __device__ SliceList list_of(int query) const {
        auto* const lists = device::dynamic_shared<std::uint64_t>() + kScreened * kRowStride / 2;
        return {lists + query * search.length, space.waiting[query % kWarps], search.length, search.k, lane};
    }

    /// A chunk of the queries' attributes from one on, split; 0 where there are none.
    __device__ void split_queries(std::int32_t first, int to) const {
        auto* const slots = &space.queries[to][0][0][0];
#pragma unroll
        for (int i = 0; i < kSteps * kParts * kLanes / kThreads; ++i) {
            const int slot = i * kThreads + static_cast<int>(threadIdx.x), at = slot % kLanes;
            const int query = slot / kLanes % kParts * 8 + at / 4;
            const std::int32_t attribute = first + slot / (kLanes * kParts) * 8 + at % 4;
            const float* const from = search.query_values + attribute * search.queries + first_query + query;
            float one = query < used && attribute < search.dims ? from[0] : 0.0F;
            float other = query < used && attribute + 4 < search.dims ? from[4 * search.queries] : 0.0F;
            if constexpr (metric == Metric::euclidean)
                if (attribute < search.dims) one -= centre[attribute], other -= centre[attribute + 4];
            uint4 bits;
            split(one, bits.x, bits.z);
            split(other, bits.y, bits.w);
            slots[slot] = bits;
        }
    }

    /// 8 attributes of the lane's points, four neighbouring ones being of four lanes; 0 where there are none.
    __device__ void load(Values& values, std::int32_t attribute, std::int64_t tile) const {
        const std::int64_t point = tile + warp * kLanes + lane / 4;
        const std::int32_t own = attribute + static_cast<std::int32_t>(lane % 4);
        const float* from = search.point_values + own * search.points + point;
#pragma unroll
        for (int half = 0; half < 2; ++half, from += 4 * search.points)
#pragma unroll
            for (int i = 0; i < kOwn; ++i)
                values[half][i] = own + half * 4 < search.dims && point + i * 8 < end ? from[i * 8] : 0.0F;
    }

    /// Where the values are read that are multiplied next: further attributes, or the next tile's first ones.
    struct Next {
        std::int32_t attribute;
        std::int64_t tile;
    };

    /// Adds 16 attributes' products to the sums by way of sums of their own, which are short enough to stay accurate.
    /// Values are read again as soon as they are split.
    __device__ void multiply(Products& products, float (&norms)[kOwn], Values (&values)[2], int buffer,
                             std::int32_t attribute, int first_step, const Next& next) const {
        Products part;
#pragma unroll
        for (int step = 0; step < 2; ++step) {
            std::uint32_t high[2][4], low[2][4];
            const float* const centres = centre + attribute + step * 8 + lane % 4;
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int i = 0; i < kOwn; ++i) {
                    const float given = values[step][half][i];
                    const float value = metric == Metric::euclidean ? given - centres[half * 4] : given;
                    split(value, high[i / 2][i % 2 + half * 2], low[i / 2][i % 2 + half * 2]);
                    norms[i] += value * value;
                }
            load(values[step], next.attribute + step * 8, next.tile);
#pragma unroll
            for (int n = 0; n < kParts; ++n) {
                const uint4 query = space.queries[buffer][first_step + step][n][lane];
#pragma unroll
                for (int m = 0; m < 2; ++m) {
                    device::multiply_tf32(part.sums[m][n], high[m], query.x, query.y);
                    device::multiply_tf32(part.sums[m][n], high[m], query.z, query.w);
                    device::multiply_tf32(part.sums[m][n], low[m], query.x, query.y);
                }
            }
        }
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int n = 0; n < kParts; ++n)
#pragma unroll
                for (int c = 0; c < 4; ++c) products.sums[m][n][c] += part.sums[m][n][c];
    }

    /// What orders points by distance to a query, as near as it may be; before every number where nothing is known.
    [[nodiscard]] __device__ float value_of_point(float product, float norm, float share) const {
        constexpr float kAlways = -std::numeric_limits<float>::infinity();
        float value;
        if constexpr (metric == Metric::cosine)
            value = norm == 0 ? 0.0F : norm >= kLeastSquare && norm < 0x1p100F ? -product / std::sqrt(norm) : kAlways;
        else
            value = norm - 2 * product - share * norm;
        return std::fabs(value) < std::numeric_limits<float>::infinity() ? value : kAlways;
    }

    __device__ void write_values(const Products& products, float (&norms)[kOwn]) const {
        const auto share = static_cast<float>(square_error(search.dims));
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            norms[i] += __shfl_xor_sync(kAll, norms[i], 1);
            norms[i] += __shfl_xor_sync(kAll, norms[i], 2);
        }
#pragma unroll
        for (int n = 0; n < kParts; ++n)
#pragma unroll
            for (int column = 0; column < 2; ++column) {
                float* const to = row(n * 8 + static_cast<int>(lane % 4) * 2 + column) + warp * kLanes + lane / 4;
#pragma unroll
                for (int i = 0; i < kOwn; ++i)
                    to[i * 8] = value_of_point(products.sums[i / 2][n][i % 2 * 2 + column], norms[i], share);
            }
    }

    __device__ void select(std::int64_t tile) const {
        const auto count = static_cast<int>(min(end - tile, std::int64_t{kTilePoints}));
        for (int q = static_cast<int>(warp); q < used; q += kWarps)
            list_of(q).template take<kTilePoints / kLanes>(row(q), count, tile);
    }

    /// Tile after tile. The next attributes are on their way while these are multiplied, beyond a tile's end the next
    /// tile's.
    __device__ void run() const {
        Values values[2];
        int buffer = 0;
        if (begin < end) load(values[0], 0, begin), load(values[1], 8, begin), split_queries(0, 0);
        for (std::int64_t tile = begin; tile < end; tile += kTilePoints) {
            Products products;
            float norms[kOwn] = {};
            for (std::int32_t first = 0; first < search.dims; first += kChunk, buffer ^= 1) {
                __syncthreads();
                const bool ends = first + kChunk >= search.dims;
                if (!ends || tile + kTilePoints < end) split_queries(ends ? 0 : first + kChunk, buffer ^ 1);
                const std::int32_t chunk_end = min(first + kChunk, search.dims);
#pragma unroll 1
                for (std::int32_t a = first; a < chunk_end; a += kStepAttributes) {
                    const bool last = a + kStepAttributes >= search.dims;
                    const Next next{last ? 0 : a + kStepAttributes, last ? tile + kTilePoints : tile};
                    multiply(products, norms, values, buffer, a, (a - first) / 8, next);
                }
            }
            __syncthreads();  // nobody reads the values of the tile before any more
            write_values(products, norms);
            __syncthreads();
            select(tile);
        }
    }
};

/// The most that a block of any of the kernels has.
constexpr std::size_t shared_by_block(std::int64_t k) {
    const std::int32_t kept = kept_for(k);
    return std::max(screen_bytes(kept) + sizeof(ScreenSpace), settle_bytes(kept) + std::size_t{16} * 1024);
}

/// Leaves a list per slice and query; the first thread empties the list of queries that are given up.
template <Metric metric>
__global__ void __launch_bounds__(kThreads, 2)
    screen_few(FewSearch search, const float* centre, std::int32_t* given_up) {
    const std::int64_t group = blockIdx.x % search.groups, slice = blockIdx.x / search.groups;
    if (blockIdx.x == 0 && threadIdx.x == 0) *given_up = 0;
    const Screen<metric> screen{search,
                                centre,
                                device::shared<ScreenSpace>(),
                                group * kScreened,
                                slice * search.share,
                                min((slice + 1) * search.share, search.points),
                                static_cast<int>(min(search.queries - group * kScreened, std::int64_t{kScreened})),
                                threadIdx.x / kLanes,
                                threadIdx.x % kLanes};
    for (int q = static_cast<int>(screen.warp); q < screen.used; q += kWarps) screen.list_of(q).clear();
    screen.run();
    for (int q = static_cast<int>(screen.warp); q < screen.used; q += kWarps) {
        std::uint64_t* const to = search.lists + (slice * search.queries + screen.first_query + q) * search.length;
        for (int j = static_cast<int>(screen.lane); j < search.length; j += kLanes) to[j] = screen.list_of(q).list[j];
    }
}

/// Direct distances of a list's points, whose attributes lie all over memory: all threads of the block copy 64 of each
/// point, while those before are added up, a thread for each point. The query comes behind the points.
template <Metric metric>
struct DirectDistances {
    const FewSearch& search;
    std::int64_t query;
    const std::uint64_t* listed;  ///< search.length of them
    float* attributes;            ///< twice kChunk x (length + 1)

    __device__ void copy(std::int32_t first, int buffer) const {
        const int items = search.length + 1;
        for (int i = static_cast<int>(threadIdx.x); i < kChunk * items; i += kMergeThreads) {
            const std::int32_t attribute = first + i / items, item = i % items;
            const float* from = search.query_values;
            bool is_there = attribute < search.dims;
            if (item == search.length) {
                if (is_there) from += attribute * search.queries + query;
            } else {
                is_there = is_there && listed[item] != kEmptyEntry;
                if (is_there) from = search.point_values + attribute * search.points + index_of_entry(listed[item]);
            }
            device::copy_ahead(&attributes[buffer * kChunk * items + i], from, is_there);
        }
    }

    /// The entry of the point of this thread's number; threads beyond the list have none.
    __device__ std::uint64_t compute() const {
        const int items = search.length + 1, own = static_cast<int>(threadIdx.x);
        distance::Accumulator<metric, Missing::none> sum{};
        int buffer = 0;
        if (search.dims > 0) copy(0, 0);
        for (std::int32_t first = 0; first < search.dims; first += kChunk, buffer ^= 1) {
            device::wait_for_copies();
            __syncthreads();
            if (first + kChunk < search.dims) copy(first + kChunk, buffer ^ 1);
            if (own >= search.length) continue;
            const float* const values = attributes + buffer * kChunk * items;
            const int here = min(search.dims - first, kChunk);
#pragma unroll 8
            for (int a = 0; a < here; ++a) sum.add(values[a * items + search.length], values[a * items + own]);
        }
        if (own >= search.length || listed[own] == kEmptyEntry) return kEmptyEntry;
        return entry_of(key_of(sum.result(search.dims)), static_cast<std::uint32_t>(listed[own]));
    }
};

/// The squared norm of a query, by a warp; of euclidean distances about the centre.
template <Metric metric>
__device__ double square_of(const FewSearch& search, const float* centre, std::int64_t query, unsigned lane) {
    double sum = 0;
    for (auto a = static_cast<std::int32_t>(lane); a < search.dims; a += kLanes) {
        const float given = search.query_values[a * search.queries + query];
        const auto value = static_cast<double>(metric == Metric::euclidean ? given - centre[a] : given);
        sum += value * value;
    }
#pragma unroll
    for (int stride = kLanes / 2; stride > 0; stride /= 2) sum += __shfl_xor_sync(kAll, sum, stride);
    return sum;
}

/// Whether no point outside of a list is as near as the k-th of its points; `last` is the list's last entry.
template <Metric metric>
__device__ bool is_certain(const FewSearch& search, std::uint64_t last, std::uint64_t kth, double square) {
    if (last == kEmptyEntry) return true;  // there is none outside
    const float value = value_of(key_of_entry(last)), distance = value_of(key_of_entry(kth));
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (!(std::fabs(value) < kInfinity) || !(distance < kInfinity)) return false;
    const float sum = metric == Metric::cosine ? 0.0F : largest_up_to<true>(distance);
    return surely_farther<metric>(static_cast<double>(value), square, static_cast<double>(sum),
                                  static_cast<double>(distance), search.dims);
}

/// A block per query merges the lists of its slices and sorts their points by direct distances. Where these are surely
/// the nearest, they vote; else the query is left to the direct search.
template <Metric metric>
__global__ void __launch_bounds__(kMergeThreads)
    settle_few(FewSearch search, const float* centre, Problem problem, Buffers buffers, std::int32_t* given_up) {
    auto& votes = device::shared<VoteSpace>();
    auto& sorted = device::shared<std::uint64_t[kLongestKept], struct Sorted>();
    auto& square = device::shared<double, struct Square>();
    const unsigned lane = threadIdx.x % kLanes;
    const int warp = static_cast<int>(threadIdx.x) / kLanes, lists = search.length / kLanes;
    const std::int64_t query = blockIdx.x;
    const std::uint64_t* const listed = merge_slices(search, query);
    auto* const behind = reinterpret_cast<float*>(device::dynamic_shared<std::byte>() + merge_bytes(search.length));
    __syncthreads();
    std::uint64_t entries[1] = {DirectDistances<metric>{search, query, listed, behind}.compute()};
    if (warp < lists) {
        sort(entries, lane);
        sorted[threadIdx.x] = entries[0];
    } else if (warp == kMergeWarps - 1) {
        const double sum = square_of<metric>(search, centre, query, lane);
        if (lane == 0) square = sum;
    }
    __syncthreads();
    if (warp != 0) return;
    for (int other = 1; other < lists; ++other) {
        // The list so far fills the parts before, and what it pushes out goes behind.
        const std::uint64_t entry = sorted[other * kLanes + static_cast<int>(lane)];
        sorted[other * kLanes + static_cast<int>(lane)] = kEmptyEntry;
        __syncwarp();
        merge_sorted(sorted, (other + 1) * kLanes, entry, lane);
        __syncwarp();
    }
    const auto k = static_cast<int>(problem.k);
    if (is_certain<metric>(search, listed[search.length - 1], sorted[k - 1], square))
        vote_by_warp(problem, buffers, sorted, votes, query, lane);
    else if (lane == 0)
        given_up[1 + atomicAdd(given_up, 1)] = static_cast<std::int32_t>(query);
}

/// Cuts the search of those given up for as many as they are: `search.slices` are for one group. Returns whether tiles
/// are wide.
__device__ inline bool cut_for_given_up(FewSearch& search) {
    const std::int64_t groups = max(divided_up(search.searched(), kGroup), std::int64_t{1});
    const bool wide = is_wide(search.points, search.slices, groups);
    const PointSlices cut(search.points, search.slices / groups, wide ? kWideTile : kThreads);
    search.groups = groups, search.share = cut.share, search.slices = cut.count;
    return wide;
}

/// Launched for wide tiles and others where there may be both; one of them has nothing to do.
template <Metric metric, int each, int per_thread>
__global__ void __launch_bounds__(kThreads, blocks_per_sm(each))
    search_given_up(FewSearch search, Problem problem, Buffers buffers) {
    if (each > 1 && cut_for_given_up(search) != (per_thread > 1)) return;
    if (blockIdx.x >= search.groups * search.slices) return;
    search_slice<metric, Missing::none, each, per_thread>(search, distance::AllNumeric(), problem, buffers);
}

/// Where there is one slice its blocks have voted.
__global__ void __launch_bounds__(kMergeThreads) vote_of_given_up(FewSearch search, Problem problem, Buffers buffers) {
    if (search.queries > 1) static_cast<void>(cut_for_given_up(search));
    if (search.slices > 1) vote_of_slices(search, problem, buffers);
}

}  // namespace
}  // namespace espalier::knn::few
