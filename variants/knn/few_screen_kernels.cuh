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

inline constexpr int kTilePoints = kScreenThreads;       ///< a warp has 32 of them
inline constexpr int kParts = kScreened / 8;             ///< of the queries, 8 in a matrix
inline constexpr int kSteps = kChunk / kStepAttributes;  ///< in a chunk of the queries
inline constexpr int kOwn = 4;                           ///< neighbouring points of a lane

/// The bfloat16 numbers nearest to two numbers, and those nearest to what they leave, which is exact.
__device__ inline void split(float first, float second, std::uint32_t& high, std::uint32_t& low) {
    high = device::bfloats_of(first, second);
    low = device::bfloats_of(first - __uint_as_float(high << 16), second - __uint_as_float(high & 0xFFFF0000));
}

/// A block per attribute: the median of some points, about which euclidean distances have less to lose. Behind the
/// attributes it is 0.
__global__ void __launch_bounds__(kThreads)
    find_centre(const float* values, std::int64_t points, std::int32_t dims, float* centre) {
    const auto attribute = static_cast<std::int32_t>(blockIdx.x);
    const float median = attribute < dims ? middle_of(values + attribute * points, points).median : 0.0F;
    if (threadIdx.x == 0) centre[attribute] = median;
}

/// A block's shared memory beside the dynamic part.
struct ScreenSpace {
    /// Attributes of the queries, behind them the centre's; rows are as long as keeps lanes to different banks.
    float copied[kChunk][kScreened + 8];
    uint4 queries[kSteps][kParts][kLanes];  ///< what a lane multiplies by: its numbers' nearest, then what these leave
    Waiting waiting[kScreenWarps];
};
static_assert(sizeof(ScreenSpace) == kScreenSpaceBytes);

/// A block at work: 32 queries past a slice of the points.
template <Metric metric>
struct Screen {
    const FewSearch& search;
    const float* centre;
    ScreenSpace& space;
    std::int64_t first_query, begin, end;
    int used, stages;
    bool is_aligned;
    unsigned warp, lane;

    struct Products {
        float sums[2][kParts][4] = {};  ///< of two matrices of 16 points
    };
    /// 16 attributes of four points: of each point those that a lane has of a matrix, every fourth.
    using Values = float[4][kOwn];

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
        return {lists + query * search.length, space.waiting[warp], search.length, search.k, lane};
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

    /// A chunk of the queries' attributes from one on and of the centre's, without waiting; 0 where there are none.
    __device__ void copy_queries(std::int32_t first) const {
        const auto copy = [&](int a, int column, const float* from, bool is_there) {
            is_there = is_there && first + a < search.dims;
            device::copy_ahead(&space.copied[a][column], is_there ? from : search.query_values, is_there);
        };
#pragma unroll
        for (int i = 0; i < kChunk * kScreened / kScreenThreads; ++i) {
            const int slot = i * kScreenThreads + static_cast<int>(threadIdx.x);
            const int a = slot / kScreened, q = slot % kScreened;
            copy(a, q, search.query_values + (first + a) * search.queries + first_query + q, q < used);
        }
        if (metric == Metric::euclidean && threadIdx.x < kChunk)
            copy(static_cast<int>(threadIdx.x), kScreened, centre + first + threadIdx.x, true);
    }

    /// Splits what was copied, four numbers a thread.
    __device__ void split_queries() const {
        static_assert(kSteps * kParts * kLanes == kScreenThreads);
        const int step = static_cast<int>(warp) / kParts, part = static_cast<int>(warp) % kParts;
        const auto* const rows = space.copied + step * kStepAttributes + lane % 4;
        const int query = part * 8 + static_cast<int>(lane) / 4;
        float values[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            values[j] = rows[4 * j][query];
            if (metric == Metric::euclidean) values[j] -= rows[4 * j][kScreened];
        }
        uint4 bits;
        split(values[0], values[1], bits.x, bits.z);
        split(values[2], values[3], bits.y, bits.w);
        space.queries[step][part][lane] = bits;
    }

    /// Where a lane begins to copy a tile. Where all rows are aligned it has four points of every fourth attribute,
    /// else one of each.
    [[nodiscard]] __device__ Copies copies_of(std::int64_t tile, int stage) const {
        const std::int32_t attribute = is_aligned ? static_cast<std::int32_t>(lane) / 8 : 0;
        const std::int64_t point = tile + warp * kLanes + (is_aligned ? lane % 8 * 4 : lane);
        return {search.point_values + attribute * search.points + point, attribute, tile, point < end, stage};
    }

    /// Copies a step's attributes of the warp's points, without waiting, and goes on to the next step; 0 where there
    /// are none.
    template <int every>
    __device__ void copy_step(Copies& at) const {
        const int four = every == 4 ? static_cast<int>(lane) % 8 : static_cast<int>(lane) / 4;
#pragma unroll
        for (int a = 0; a < kStepAttributes; a += every, at.from += every * search.points) {
            const bool is_there = at.are_points && at.attribute + a < search.dims;
            const float* const from = is_there ? at.from : search.point_values;
            const int row = every == 4 ? a + static_cast<int>(lane) / 8 : a;
            float* const to = stage_at(at.stage) + place_of(row, four);
            if constexpr (every == 4)
                device::copy_four_ahead(to, from, is_there);
            else
                device::copy_ahead(to + lane % 4, from, is_there);
        }
    }
    __device__ void copy_points(Copies& at) const {
        if (is_aligned)
            copy_step<4>(at);
        else
            copy_step<1>(at);
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

    /// Adds 16 attributes' products to the sums by way of sums of their own, which are short enough to stay accurate.
    __device__ void multiply(Products& products, float (&norms)[kOwn], const Values& values, std::int32_t attribute,
                             int step) const {
        Products part;
        std::uint32_t high[2][4], low[2][4];
        const float* const centres = centre + attribute + lane % 4;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int i = 0; i < kOwn; ++i) {
                float pair[2];
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    const float given = values[half * 2 + j][i];
                    pair[j] = metric == Metric::euclidean ? given - centres[half * 8 + j * 4] : given;
                    norms[i] += pair[j] * pair[j];
                }
                split(pair[0], pair[1], high[i / 2][i % 2 + half * 2], low[i / 2][i % 2 + half * 2]);
            }
#pragma unroll
        for (int n = 0; n < kParts; ++n) {
            const uint4 query = space.queries[step][n][lane];
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                device::multiply_bfloats(part.sums[m][n], high[m], query.x, query.y);
                device::multiply_bfloats(part.sums[m][n], high[m], query.z, query.w);
                device::multiply_bfloats(part.sums[m][n], low[m], query.x, query.y);
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

    /// Of the queries of even or of odd number, which a warp has one each of.
    __device__ void write_values(const Products& products, const float (&norms)[kOwn], int odd) const {
        const auto share = static_cast<float>(square_error(search.dims));
#pragma unroll
        for (int n = 0; n < kParts; ++n) {
            float values[kOwn];
#pragma unroll
            for (int i = 0; i < kOwn; ++i) {
                const auto& sums = products.sums[i / 2][n];
                values[i] = value_of_point(odd ? sums[i % 2 * 2 + 1] : sums[i % 2 * 2], norms[i], share);
            }
            float* const to = row(n * 4 + static_cast<int>(lane) % 4) + warp * kLanes + lane / 4 * kOwn;
            *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
        }
    }

    __device__ void select(const Products& products, float (&norms)[kOwn], std::int64_t tile) const {
        const auto count = static_cast<int>(min(end - tile, std::int64_t{kTilePoints}));
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
            norms[i] += __shfl_xor_sync(kAll, norms[i], 1);
            norms[i] += __shfl_xor_sync(kAll, norms[i], 2);
        }
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
            const int query = static_cast<int>(warp) * 2 + odd;
            __syncthreads();  // nobody reads the values before any more
            write_values(products, norms, odd);
            __syncthreads();
            if (query < used)
                list_of(query).template take<kTilePoints / kLanes>(row(static_cast<int>(warp)), count, tile);
        }
    }

    /// Tile after tile; the next stages are on their way while one is multiplied, beyond a tile's end the next tile's.
    /// The queries of one chunk are split once.
    __device__ void run() const {
        Copies copies = copies_of(begin, 0);
        copy_queries(0);  // in the first stage's group
        for (int s = 0; s + 1 < stages; ++s) copy_points(copies);
        int stage = 0;
        bool is_first = true;
        for (std::int64_t tile = begin; tile < end; tile += kTilePoints) {
            Products products;
            float norms[kOwn] = {};
            for (std::int32_t first = 0; first < search.dims; first += kChunk) {
                if (is_first || search.dims > kChunk) {
                    wait_for_queries(first, is_first);
                    __syncthreads();  // everybody's copies are there, and nobody multiplies by the chunk before
                    split_queries();
                    __syncthreads();
                    const bool ends = first + kChunk >= search.dims;
                    if (search.dims > kChunk && (!ends || tile + kTilePoints < end))
                        copy_queries(ends ? 0 : first + kChunk);
                    is_first = false;
                }
                const std::int32_t chunk_end = min(first + kChunk, search.dims);
#pragma unroll 1
                for (std::int32_t a = first; a < chunk_end; a += kStepAttributes) {
                    wait_for_stage();
                    __syncwarp();  // of all lanes; and nobody reads the stage that is copied to
                    copy_points(copies);
                    Values values;
                    read(values, stage);
                    stage = stage + 1 == stages ? 0 : stage + 1;
                    multiply(products, norms, values, a, (a - first) / kStepAttributes);
                }
            }
            select(products, norms, tile);
        }
        device::wait_for_copies();
    }

private:
    /// The queries were copied in the group of the first step of the chunk before, which is old enough unless it was
    /// the only one.
    __device__ void wait_for_queries(std::int32_t first, bool is_first) const {
        const std::int32_t last_chunk = (search.dims - 1) / kChunk * kChunk;
        const bool after_one_step = first == 0 && !is_first && search.dims - last_chunk <= kStepAttributes;
        if (after_one_step)
            device::wait_for_copies();
        else
            wait_for_stage();
    }
};

/// Leaves a list per slice and query; the first threads empty the list of queries that are given up, and say that no
/// part of any was measured.
template <Metric metric>
__global__ void __launch_bounds__(kScreenThreads, 1)
    screen_few(FewSearch search, const float* centre, int stages, std::int32_t* given_up, std::int32_t* measured) {
    const std::int64_t group = blockIdx.x % search.groups, slice = blockIdx.x / search.groups;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) *given_up = 0;
        if (threadIdx.x < search.queries) measured[threadIdx.x] = 0;
    }
    const Screen<metric> screen{
        search,
        centre,
        device::shared<ScreenSpace>(),
        group * kScreened,
        slice * search.share,
        min((slice + 1) * search.share, search.points),
        static_cast<int>(min(search.queries - group * kScreened, std::int64_t{kScreened})),
        stages,
        search.points % 4 == 0 && reinterpret_cast<std::uintptr_t>(search.point_values) % 16 == 0,
        threadIdx.x / kLanes,
        threadIdx.x % kLanes};
    // A warp's queries are its own.
    const int first = static_cast<int>(screen.warp) * 2, behind = min(first + 2, screen.used);
    for (int q = first; q < behind; ++q) screen.list_of(q).clear();
    screen.run();
    for (int q = first; q < behind; ++q) {
        std::uint64_t* const to = search.lists + (slice * search.queries + screen.first_query + q) * search.length;
        for (int j = static_cast<int>(screen.lane); j < search.length; j += kLanes) to[j] = screen.list_of(q).list[j];
    }
}

}  // namespace
}  // namespace espalier::knn::few
