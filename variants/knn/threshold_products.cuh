#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/block_copy.hpp"
#include "device/kernel.hpp"
#include "device/swizzled_products.hpp"
#include "variants/knn/threshold_sets.cuh"

/// Products of tiles on tensor cores, for rows of any length: queries and points stream through shared memory, 64
/// attributes at a time. What becomes of a tile's values (p - m / 2, screened_bound.hpp) is up to a receiver: of a
/// sample of the points the largest of every eight is kept, of all of them what reaches the query's floor.
namespace espalier::knn::threshold {
namespace {

inline constexpr int kWarpQueries = 16;
inline constexpr int kStages = 4;
inline constexpr std::size_t kTileAlignment = 1024;
inline constexpr int kSampleGroup = 8;  ///< points of which a sample keeps the nearest
inline constexpr int kTileGroups = kTilePoints / kSampleGroup;
inline constexpr int kQueue = 128;  ///< candidates of a warp on their way to device memory

/// A slice of a tile of each set, in shared memory; where the queries stay in registers, of the points alone.
struct alignas(16) PointStage {
    PointTile points;
    std::byte rest[kTileAlignment - sizeof(PointTile) % kTileAlignment];
};
struct alignas(16) BothStage : PointStage {
    QueryTile queries;
};
static_assert(sizeof(PointStage) % kTileAlignment == 0 && sizeof(BothStage) % kTileAlignment == 0);

/// How blocks work: rows of up to 128 attributes stay in registers, a block has half a tile of queries, and two blocks
/// share a multiprocessor, one at products and one at what becomes of them.
template <int kept>
struct Blocks {
    using Stage = std::conditional_t<kept == 0, BothStage, PointStage>;
    static constexpr int kWarps = kept == 0 ? kTileQueries / kWarpQueries : kTileQueries / kWarpQueries / 2;
    static constexpr int kThreads = kWarps * kLanes, kQueries = kWarps * kWarpQueries;
    static constexpr int kPerTile = kTileQueries / kQueries, kAtOnce = kPerTile;  ///< on a multiprocessor
};

/// A candidate of a query: its value and index.
struct alignas(8) Candidate {
    float value;
    std::int32_t point;
};

/// Candidates of a warp's queries that wait for room in device memory.
struct Queue {
    Candidate candidates[kQueue];
    std::uint8_t rows[kQueue];
    std::int32_t count;
};

/// What the kernels are given: whole tiles of queries from `first_tile` on against every `every`-th tile of points.
struct Products {
    const QueryTile* queries;
    const PointTile* points;
    Listed listed;
    std::int64_t first_tile;
    std::int32_t query_tiles, point_tiles, every, slices, cuts;  ///< slices of attributes, cuts of the points
    std::int32_t groups;                                         ///< of a query's sample
    float* tops;            ///< of all queries here x groups: the largest value of each, its place in the last bits
    const float* floors;    ///< of all queries here
    std::int32_t* counts;   ///< of candidates of each
    Candidate* candidates;  ///< of all queries here x room
    std::int32_t room;
};

using LaneRows = std::uint32_t[4];

/// Of eight neighbouring points the largest value, with its number in the last three bits.
struct SampleTops {
    const Products& products;
    std::int64_t query;  ///< of a lane's first row
    unsigned lane;

    __device__ void begin(Queue&) const {}
    [[nodiscard]] __device__ bool wants_any() const { return true; }
    __device__ void take(const device::ProductSums& sums, std::int32_t tile, Queue&) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float tops[kLanePoints / kSampleGroup];
#pragma unroll
            for (int g = 0; g < kLanePoints / kSampleGroup; ++g) {
                float top = kNoPoint;
#pragma unroll
                for (int i = 0; i < kSampleGroup; ++i) {
                    const int of = g * kSampleGroup + i;
                    const float value = sums[of / 2][half * 2 + of % 2];
                    const float marked =
                        __uint_as_float((__float_as_uint(value) & ~7U) | static_cast<std::uint32_t>(i));
                    top = value < kAlways / 2 ? fmaxf(top, marked) : top;
                }
                tops[g] = top;
            }
            float* const to =
                products.tops + (query + half * 8) * products.groups + tile / products.every * kTileGroups;
            *reinterpret_cast<float4*>(to + lane % 4 * 4) = {tops[0], tops[1], tops[2], tops[3]};
        }
    }
    __device__ void end(Queue&) const {}
};

/// Every value that reaches the floor of its query.
struct FloorCandidates {
    const Products& products;
    std::int64_t query;
    unsigned lane;
    float floors[2];

    __device__ void begin(Queue& queue) {
        floors[0] = products.floors[query], floors[1] = products.floors[query + 8];
        if (lane == 0) queue.count = 0;
        __syncwarp();
    }
    [[nodiscard]] __device__ bool wants_any() const {
        return fminf(floors[0], floors[1]) < std::numeric_limits<float>::infinity();
    }
    __device__ void take(const device::ProductSums& sums, std::int32_t tile, Queue& queue) const {
        constexpr int kParts = 4, kOwn = kLanePoints / kParts;
        float largest[2][kParts];
        bool any = false;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int part = 0; part < kParts; ++part) {
                float most = kNoPoint;
#pragma unroll
                for (int i = part * kOwn; i < (part + 1) * kOwn; ++i) most = fmaxf(most, sums[i / 2][half * 2 + i % 2]);
                largest[half][part] = most;
                any = any || most >= floors[half];
            }
        if (!__any_sync(kAll, any)) return;
        const std::int32_t first = tile * kTilePoints + static_cast<int>(lane % 4) * kLanePoints;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int part = 0; part < kParts; ++part)
                if (largest[half][part] >= floors[half])
#pragma unroll
                    for (int i = part * kOwn; i < (part + 1) * kOwn; ++i)
                        if (const float value = sums[i / 2][half * 2 + i % 2]; value >= floors[half])
                            push(queue, half, {value, first + i});
        __syncwarp();
        if (queue.count > kQueue / 2) flush(queue);
    }
    __device__ void end(Queue& queue) const { flush(queue); }

private:
    __device__ void push(Queue& queue, int half, const Candidate& candidate) const {
        const int place = atomicAdd(&queue.count, 1);
        if (place >= kQueue) return write(query + half * 8, candidate);
        queue.candidates[place] = candidate;
        queue.rows[place] = static_cast<std::uint8_t>(lane / 4 + half * 8);
    }
    __device__ void write(std::int64_t to, const Candidate& candidate) const {
        const std::int32_t place = atomicAdd(&products.counts[to], 1);
        if (place < products.room) products.candidates[to * products.room + place] = candidate;
    }
    __device__ void flush(Queue& queue) const {
        __syncwarp();
        const int count = min(queue.count, kQueue);
        for (int i = static_cast<int>(lane); i < count; i += kLanes)
            write(query - lane / 4 + queue.rows[i], queue.candidates[i]);
        __syncwarp();
        if (lane == 0) queue.count = 0;
        __syncwarp();
    }
};

/// The lane's part of 16 attributes of its warp's queries, from device memory, for rows that stay (`multiply_halves`
/// says how they lie). `row` is the warp's first.
__device__ __forceinline__ void fetch_rows(LaneRows& rows, const QueryTile& tile, int step, int row, unsigned lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int place = device::swizzled_place(row + static_cast<int>(lane) / 4 + i % 2 * 8, 2 * step + i / 2);
        rows[i] = *reinterpret_cast<const std::uint32_t*>(tile.rows + place + lane % 4 * 4);
    }
}

/// The sums begin at -m / 2.
__device__ __forceinline__ void begin_sums(device::ProductSums& sums, const float (&norms)[kTilePoints],
                                           unsigned lane) {
#pragma unroll
    for (int n = 0; n < kLanePoints / 2; n += 2) {
        const float4 four = *reinterpret_cast<const float4*>(&norms[n * 8 + lane % 4 * 4]);
        sums[n][0] = sums[n][2] = four.x, sums[n][1] = sums[n][3] = four.y;
        sums[n + 1][0] = sums[n + 1][2] = four.z, sums[n + 1][1] = sums[n + 1][3] = four.w;
    }
}

template <int kept>
constexpr std::size_t product_bytes() {
    return kTileAlignment + kStages * sizeof(typename Blocks<kept>::Stage) + Blocks<kept>::kWarps * sizeof(Queue);
}

/// A block has a tile of queries, or half of one, and a cut of the points' tiles. Neighbouring blocks share the
/// queries, so that they are read from the second-level cache. `steps` of 16 attributes in each slice; of `kept`
/// slices, or of any number if that is 0.
// Long: copies, products and what becomes of them are one pipeline with one barrier a step.
template <class Receiver, int steps, int kept>
__global__ void __launch_bounds__(Blocks<kept>::kThreads, Blocks<kept>::kAtOnce) multiply_tiles(Products products) {
    using Block = Blocks<kept>;
    auto* const storage = device::dynamic_shared<std::byte>();
    auto* const stages = reinterpret_cast<typename Block::Stage*>(
        storage + (-reinterpret_cast<std::uintptr_t>(storage)) % kTileAlignment);
    auto& arrivals = device::shared<device::Arrivals[kStages][2]>();
    const unsigned lane = threadIdx.x, warp = threadIdx.y, thread = warp * kLanes + lane;
    Queue& queue = reinterpret_cast<Queue*>(stages + kStages)[warp];
    const std::int32_t block = static_cast<std::int32_t>(blockIdx.x) / products.cuts;
    const std::int32_t cut = static_cast<std::int32_t>(blockIdx.x) % products.cuts;
    const std::int64_t first_query = products.first_tile * kTileQueries + std::int64_t{block} * Block::kQueries;
    if (first_query >= products.listed.searched(std::numeric_limits<std::int64_t>::max())) return;
    const std::int32_t tiles = (products.point_tiles + products.every - 1) / products.every;
    const auto begin = static_cast<std::int32_t>(std::int64_t{cut} * tiles / products.cuts);
    const auto end = static_cast<std::int32_t>(std::int64_t{cut + 1} * tiles / products.cuts);
    const std::int32_t slices = kept > 0 ? kept : products.slices, images = (end - begin) * slices;
    const QueryTile* const queries = products.queries + (products.first_tile + block / Block::kPerTile) * slices;
    const auto copy = [&](std::int32_t image) {
        if (image >= images) return;
        const std::int32_t slice = image % slices, tile = (begin + image / slices) * products.every;
        auto& stage = stages[image % kStages];
        device::copy_block(&stage.points, products.points + std::int64_t{tile} * slices + slice, sizeof(PointTile),
                           arrivals[image % kStages][0], thread, Block::kThreads);
        if constexpr (kept == 0)
            device::copy_block(&stage.queries, queries + slice, sizeof(QueryTile), arrivals[image % kStages][1], thread,
                               Block::kThreads);
    };
    const auto wait = [&](std::int32_t image) {
        if (image >= images) return;
        device::wait_for_block_copy(arrivals[image % kStages][0], image / kStages);
        if constexpr (kept == 0) device::wait_for_block_copy(arrivals[image % kStages][1], image / kStages);
    };
    Receiver receiver{products, std::int64_t{block} * Block::kQueries + warp * kWarpQueries + lane / 4, lane};
    receiver.begin(queue);
    if (thread == 0)
        for (auto& pair : arrivals)
            for (device::Arrivals& each : pair) device::begin_block_copies(each);
    if (__syncthreads_or(receiver.wants_any() ? 1 : 0) == 0) return;
    for (std::int32_t image = 0; image < kStages - 1; ++image) copy(image);

    LaneRows rows[kept > 0 ? kept * steps : 1];
    if constexpr (kept > 0)
#pragma unroll
        for (int i = 0; i < kept * steps; ++i)
            fetch_rows(rows[i], queries[i / steps], i % steps,
                       block % Block::kPerTile * Block::kQueries + static_cast<int>(warp) * kWarpQueries, lane);
    wait(0);
    __syncthreads();
    std::int32_t image = 0;
    for (std::int32_t tile = begin; tile < end; ++tile) {
        device::ProductSums sums;
        begin_sums(sums, stages[image % kStages].points.norms, lane);
#pragma unroll(kept > 0 ? kept : 1)
        for (std::int32_t slice = 0; slice < slices; ++slice, ++image) {
            const auto& own = stages[image % kStages];
            device::begin_products();
#pragma unroll
            for (int step = 0; step < steps; ++step)
                if constexpr (kept > 0)
                    device::add_products(sums, rows[slice * steps + step], own.points.rows, step);
                else
                    device::add_products_of_rows(sums, own.queries.rows, warp, own.points.rows, step);
            device::go_on_with_products();
            wait(image + 1);
            // One barrier: everybody sees the next image, and what is copied goes where nobody reads any more.
            __syncthreads();
            copy(image + kStages - 1);
        }
        device::await_products(sums);
        receiver.take(sums, tile * products.every, queue);
    }
    receiver.end(queue);
}

}  // namespace
}  // namespace espalier::knn::threshold
