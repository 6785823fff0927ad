#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/copy_ahead.hpp"
#include "device/half_tiles.hpp"
#include "device/kernel.hpp"
#include "variants/knn/few_kernels.cuh"
#include "variants/knn/few_screening.hpp"
#include "variants/knn/middles.cuh"

/// The screen of `few_screened`: products by tensor cores, and lists of what may be nearest.
namespace espalier::knn::few {
namespace {

inline constexpr int kTilePoints = kScreenThreads;  ///< a warp has 32 of them
inline constexpr int kParts = kScreened / 8;        ///< of the queries, 8 in a matrix
inline constexpr int kOwn = 4;                      ///< neighbouring points of a lane

/// The bfloat16 numbers nearest to two numbers, and those nearest to what they leave, which is exact.
__device__ inline void split(float first, float second, std::uint32_t& high, std::uint32_t& low) {
    high = device::bfloats_of(first, second);
    low = device::bfloats_of(first - __uint_as_float(high << 16), second - __uint_as_float(high & 0xFFFF0000));
}

/// A block per attribute, those of whole steps: the median of some points, about which euclidean distances have less to
/// lose, and the queries' numbers less it, split as lanes multiply by them; behind the attributes all are 0. The first
/// block empties the list of queries that are given up, and says that nothing was reported or measured of any.
template <Metric metric>
__global__ void __launch_bounds__(kThreads)
    prepare_few(FewSearch search, float* centre, SplitNumbers* queries, SharedBound* bounds, std::int32_t* given_up,
                std::int32_t* measured) {
    const auto attribute = static_cast<std::int32_t>(blockIdx.x), own = static_cast<std::int32_t>(threadIdx.x);
    if (attribute == 0) {
        if (own == 0) *given_up = 0;
        if (own < search.queries) measured[own] = 0, bounds[own] = SharedBound{0, 0};
    }
    const std::int32_t step = attribute / kStepAttributes, steps = divided_up(search.dims, kStepAttributes);
    if (step >= steps) return;
    const bool is_there = attribute < search.dims;
    float median = 0;
    if (metric == Metric::euclidean && is_there)
        median = middle_of(search.point_values + attribute * search.points, search.points).median;
    if (own == 0) centre[attribute] = median;
    const int place = attribute % 4, pair = attribute % kStepAttributes / 4;
    for (std::int32_t q = own; q < search.groups * kScreened; q += kThreads) {
        const float value =
            is_there && q < search.queries ? search.query_values[attribute * search.queries + q] - median : 0.0F;
        std::uint32_t high, low;
        split(value, 0, high, low);
        const std::int32_t part = (q / kScreened * steps + step) * kParts + q % kScreened / 8;
        SplitNumbers& to = queries[part * kLanes + q % 8 * 4 + place];
        to.nearest[pair] = static_cast<std::uint16_t>(high);
        to.rest[pair] = static_cast<std::uint16_t>(low);
    }
}

/// What a warp has of one of its queries beside the list, in shared memory.
struct Selection {
    Waiting waiting;
    int held;             ///< candidates that wait
    std::uint32_t limit;  ///< what belongs on the list is below it
};
static_assert(sizeof(Selection) * kScreened == kSelectionBytes);

/// A block at work: 32 queries past a slice of the points, whose rows begin at multiples of 16 bytes if `is_aligned`.
template <Metric metric, bool is_aligned>
struct Screen {
    const FewSearch& search;
    const float* centre;
    const uint4* queries;   ///< a lane's numbers of the first step: their nearest, then what these leave
    Selection* selections;  ///< of each query
    SharedBound* bounds;    ///< of each query
    std::int64_t first_query, begin, end;
    int used, stages;
    unsigned warp, lane;

    struct Products {
        float sums[2][kParts][4] = {};  ///< of two matrices of 16 points
    };
    /// 16 attributes of four points: of each point those that a lane has of a matrix, every fourth.
    using Values = float[4][kOwn];
    static constexpr float kUnknown = std::numeric_limits<float>::infinity();

    /// Where a lane's copies are, and the stage that they go to.
    struct Copies {
        const float* from;
        std::int32_t attribute;
        std::int64_t tile;
        bool are_points;
        int stage;
    };

    [[nodiscard]] __device__ static float* row(int place) {
        return device::dynamic_shared<float>() + place * kRowStride;
    }
    [[nodiscard]] __device__ SliceList list_of(int query) const {
        auto* const lists = device::dynamic_shared<std::uint64_t>() + kRowBytes / 8;
        return {lists + query * search.length, selections[query].waiting, search.length, search.k, lane};
    }
    /// One of the warp's stages.
    [[nodiscard]] __device__ float* stage_at(int stage) const {
        auto* const first = device::dynamic_shared<std::byte>() + kRowBytes + list_bytes(search.length);
        return reinterpret_cast<float*>(first) + (static_cast<int>(warp) * stages + stage) * kStageFloats;
    }
    /// Where a stage has four points of an attribute: such that lanes that read together meet no bank twice.
    [[nodiscard]] __device__ static int place_of(int attribute, int four) {
        return attribute * kLanes + (four ^ attribute % 4 * 2) * 4;
    }

    /// Where a lane begins to copy a tile: four points of every fourth attribute if rows are aligned, else one of each.
    [[nodiscard]] __device__ Copies copies_of(std::int64_t tile, int stage) const {
        const std::int32_t attribute = is_aligned ? static_cast<std::int32_t>(lane) / 8 : 0;
        const std::int64_t point = tile + warp * kLanes + (is_aligned ? lane % 8 * 4 : lane);
        return {search.point_values + attribute * search.points + point, attribute, tile, point < end, stage};
    }

    /// Copies a step's attributes of the warp's points, without waiting, and goes on to the next step; 0 where there
    /// are none.
    __device__ void copy_points(Copies& at) const {
        constexpr int every = is_aligned ? 4 : 1;
        const int four = is_aligned ? static_cast<int>(lane) % 8 : static_cast<int>(lane) / 4;
#pragma unroll
        for (int a = 0; a < kStepAttributes; a += every, at.from += every * search.points) {
            const bool is_there = at.are_points && at.attribute + a < search.dims;
            const int row = is_aligned ? a + static_cast<int>(lane) / 8 : a;
            float* const to = stage_at(at.stage) + place_of(row, four);
            if constexpr (is_aligned)
                device::copy_four_ahead(to, at.from, is_there);
            else
                device::copy_ahead(to + lane % 4, at.from, is_there);
        }
        device::end_group_of_copies();
        at.stage = at.stage + 1 == stages ? 0 : at.stage + 1;
        at.attribute += kStepAttributes;
        if (at.attribute >= divided_up(search.dims, kStepAttributes) * kStepAttributes)
            at = copies_of(at.tile + kTilePoints, at.stage);
    }

    /// Until the oldest stage is there: all groups of copies but those of the stages behind it.
    __device__ void wait_for_stage() const {
        if (stages == 2)
            device::wait_for_copies();
        else
            device::wait_for_copies_but<kMostStages - 2>();
    }

    __device__ void read(Values& values, int stage) const {
        const float* const from = stage_at(stage);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int a = static_cast<int>(lane) % 4 + 4 * j;
            const float4 four = *reinterpret_cast<const float4*>(from + place_of(a, static_cast<int>(lane) / 4));
            values[j][0] = four.x, values[j][1] = four.y, values[j][2] = four.z, values[j][3] = four.w;
        }
    }

    /// What a lane multiplies by of each part of the queries.
    using Queries = uint4[kParts];
    __device__ void read(Queries& of_step, std::int32_t attribute) const {
        const uint4* const from = queries + attribute / kStepAttributes * kParts * kLanes;
#pragma unroll
        for (int n = 0; n < kParts; ++n) of_step[n] = from[n * kLanes];
    }

    /// Adds 16 attributes' products to the sums by way of sums of their own, which are short enough to stay accurate.
    __device__ void multiply(Products& products, float (&norms)[kOwn], const Values& values, const Queries& of_step,
                             std::int32_t attribute) const {
        const float* const centres = centre + attribute + lane % 4;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
            std::uint32_t high[4], low[4];
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int i = 2 * m; i < 2 * m + 2; ++i) {
                    float pair[2];
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        const float given = values[half * 2 + j][i];
                        pair[j] = metric == Metric::euclidean ? given - centres[half * 8 + j * 4] : given;
                        norms[i] += pair[j] * pair[j];
                    }
                    split(pair[0], pair[1], high[i % 2 + half * 2], low[i % 2 + half * 2]);
                }
            float part[kParts][4] = {};
#pragma unroll
            for (int n = 0; n < kParts; ++n) {
                device::multiply_bfloats(part[n], high, of_step[n].x, of_step[n].y);
                device::multiply_bfloats(part[n], high, of_step[n].z, of_step[n].w);
                device::multiply_bfloats(part[n], low, of_step[n].x, of_step[n].y);
            }
#pragma unroll
            for (int n = 0; n < kParts; ++n)
#pragma unroll
                for (int c = 0; c < 4; ++c) products.sums[m][n][c] += part[n][c];
        }
    }

    /// What a point's products with the queries are scaled by.
    [[nodiscard]] __device__ static float scale_of(float norm) {
        if constexpr (metric == Metric::euclidean) return 2;
        return norm == 0 ? 0.0F : norm >= kLeastSquare && norm < 0x1p100F ? 1 / std::sqrt(norm) : kUnknown;
    }

    /// What orders points by distance to a query, as near as it may be; before every number where nothing is known.
    [[nodiscard]] __device__ float value_of_point(float product, float norm, float scale, float share) const {
        float value = -scale * product;
        if constexpr (metric == Metric::euclidean) value = norm + value - share * norm;
        return std::fabs(value) < kUnknown ? value : -kUnknown;
    }

    /// Of the queries of even or of odd number, which a warp has one each of.
    __device__ void write_values(const Products& products, const float (&norms)[kOwn], const float (&scales)[kOwn],
                                 int odd) const {
        const auto share = static_cast<float>(square_error(search.dims));
#pragma unroll
        for (int n = 0; n < kParts; ++n) {
            float values[kOwn];
#pragma unroll
            for (int i = 0; i < kOwn; ++i) {
                const auto& sums = products.sums[i / 2][n];
                values[i] = value_of_point(odd ? sums[i % 2 * 2 + 1] : sums[i % 2 * 2], norms[i], scales[i], share);
            }
            float* const to = row(n * 4 + static_cast<int>(lane) % 4) + warp * kLanes + lane / 4 * kOwn;
            *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
        }
    }

    /// Tells the other slices of one of the warp's queries what so many of this one's points do not exceed.
    __device__ void report(int query) const {
        if (lane != 0) return;
        const std::int32_t rank = reported_rank(search.length, search.slices);
        atomicMax(&bounds[query].key, key_of_entry(list_of(query).list[rank - 1]));
        __threadfence();  // the key must be visible before it counts
        atomicAdd(&bounds[query].reports, 1);
    }

    /// What belongs on a query's list is below it: `known`, or what the slices have reported once all have. A fence
    /// empties the first-level cache, so that nobody asks again.
    [[nodiscard]] __device__ std::uint32_t limit_of(int query, std::uint32_t known) const {
        if (known != kEmptyKey || search.share <= kTilePoints) return known;
        if (lane == 0) {
            const volatile SharedBound& bound = bounds[query];
            if (bound.reports == search.slices) {
                __threadfence();
                known = max(bound.key, bound.key + 1);
            }
        }
        return __shfl_sync(kAll, known, 0);
    }

    /// Takes what a tile has for one of the warp's queries, whose values are in the warp's row.
    __device__ void take(int query, int count, std::int64_t tile) const {
        Selection& kept = selections[query];
        const std::uint32_t limit = limit_of(query, kept.limit);
        int held = kept.held;
        list_of(query).template hold<kTilePoints / kLanes>(row(static_cast<int>(warp)), count, tile, limit, held);
        __syncwarp();  // everybody has read what is kept
        if (lane == 0) kept.held = held, kept.limit = limit;
        __syncwarp();
        if (tile == begin && search.share > kTilePoints) report(query);
    }

    __device__ void select(const Products& products, float (&norms)[kOwn], std::int64_t tile) const {
        const auto count = static_cast<int>(min(end - tile, std::int64_t{kTilePoints}));
        float scales[kOwn];
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            norms[i] += __shfl_xor_sync(kAll, norms[i], 1);
            norms[i] += __shfl_xor_sync(kAll, norms[i], 2);
            scales[i] = scale_of(norms[i]);
        }
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
            __syncthreads();  // nobody reads the values before any more
            write_values(products, norms, scales, odd);
            __syncthreads();
            if (const int query = static_cast<int>(warp) * 2 + odd; query < used) take(query, count, tile);
        }
    }

    /// Tile after tile; the next stages are on their way while one is multiplied, beyond a tile's end the next tile's.
    /// Warps wait for each other at a tile's end alone: what a lane multiplies by is in the first-level cache.
    __device__ void run() const {
        Copies copies = copies_of(begin, 0);
        for (int s = 0; s + 1 < stages; ++s) copy_points(copies);
        int stage = 0;
        for (std::int64_t tile = begin; tile < end; tile += kTilePoints) {
            Products products;
            float norms[kOwn] = {};
#pragma unroll 1
            for (std::int32_t a = 0; a < search.dims; a += kStepAttributes) {
                wait_for_stage();
                __syncwarp();  // of all lanes; and nobody reads the stage that is copied to
                copy_points(copies);
                Queries of_step;
                read(of_step, a);
                Values values;
                read(values, stage);
                stage = stage + 1 == stages ? 0 : stage + 1;
                multiply(products, norms, values, of_step, a);
            }
            select(products, norms, tile);
        }
        device::wait_for_copies();
    }
};

/// Leaves a list per slice and query.
template <Metric metric, bool is_aligned>
__global__ void __launch_bounds__(kScreenThreads, 1)
    screen_few(FewSearch search, const float* centre, const SplitNumbers* queries, SharedBound* bounds, int stages) {
    const std::int64_t group = blockIdx.x % search.groups, slice = blockIdx.x / search.groups;
    const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
    const std::int64_t steps = divided_up(search.dims, kStepAttributes);
    auto& selections = device::shared<Selection[kScreened], struct Selections>();
    const Screen<metric, is_aligned> screen{
        search,
        centre,
        reinterpret_cast<const uint4*>(queries) + group * steps * kParts * kLanes + lane,
        selections,
        bounds + group * kScreened,
        group * kScreened,
        slice * search.share,
        min((slice + 1) * search.share, search.points),
        static_cast<int>(min(search.queries - group * kScreened, std::int64_t{kScreened})),
        stages,
        warp,
        lane};
    // A warp's queries are its own.
    const int first = static_cast<int>(warp) * 2, behind = min(first + 2, screen.used);
    for (int q = first; q < behind; ++q) {
        if (lane == 0) selections[q].held = 0, selections[q].limit = kEmptyKey;
        screen.list_of(q).clear();
    }
    screen.run();
    for (int q = first; q < behind; ++q) {
        if (selections[q].held > 0) screen.list_of(q).merge(selections[q].held);
        std::uint64_t* const to = search.lists + (slice * search.queries + screen.first_query + q) * search.length;
        for (int j = static_cast<int>(lane); j < search.length; j += kLanes) to[j] = screen.list_of(q).list[j];
    }
}

}  // namespace
}  // namespace espalier::knn::few
