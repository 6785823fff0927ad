#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/block_copy.hpp"
#include "device/kernel.hpp"
#include "device/swizzled_products.hpp"
#include "variants/knn/screened_sets.cuh"

/// The least lower bound of every group of neighbouring points, for every query, on tensor cores: of a tile's products
/// nothing is kept but the largest of each group, the point that has it, and the next largest. No product is held
/// against anything, so that no branch and no order of the data matters.
namespace espalier::knn {
namespace {

inline constexpr int kWarpQueries = kScreenTile / kBlockWarps;

/// Points of a part. Smaller parts are more instructions for the screening and fewer distances for the search.
template <int group>
inline constexpr int kPart = group == 8 ? 2 : 4;

/// Of a group the largest value, p - m / 2 (screened_bound.hpp), with its part's number in the last bits, and the
/// largest of the other parts.
struct alignas(8) GroupTop {
    float best, second;
};

/// The tops of all groups for `count` queries from `first` on, a multiple of a tile.
struct GroupScreen {
    const QueryImage* queries;
    const PointImage* points;
    std::int64_t first, count, slices;
    Images images;
    std::int32_t spans, groups;  ///< groups of all spans
    GroupTop* tops;              ///< whole tiles of queries x groups

    [[nodiscard]] __device__ std::int64_t query_tiles() const { return divided_up(count, kScreenTile); }
};

/// The first point of the group at a place of a query's tops. Those of a lane lie together.
template <int group>
__device__ constexpr std::int64_t first_point_of(std::int32_t place) {
    if constexpr (group == kLanePoints)
        return place / 16 * kSpan + place % 4 * kScreenTile + place / 4 % 4 * kLanePoints;
    else
        return std::int64_t{place} * group;
}

/// Images of points that are on their way or in use. Where queries go to registers, their images come first into the
/// places of the last ones.
constexpr int stages_of(int steps) { return steps > 0 ? 4 : 2; }

/// Dynamic shared memory: images from a multiple of 1,024 bytes on.
inline constexpr std::size_t kImageAlignment = 1024;
static_assert(sizeof(PointImage) % kImageAlignment == 0 && sizeof(QueryImage) % kImageAlignment == 0);

constexpr std::size_t group_bytes(const Images& images) {
    const bool in_registers = images.chunks <= 2;
    return kImageAlignment + (in_registers ? stages_of(1) : stages_of(0)) * sizeof(PointImage) +
           (in_registers ? 0 : static_cast<std::size_t>(images.chunks) * sizeof(QueryImage));
}

using QueryParts = std::uint32_t[4];

/// The sums begin at -m / 2.
__device__ __forceinline__ void begin_sums(device::ProductSums& sums, const float (&norms)[kScreenTile],
                                           unsigned lane) {
#pragma unroll
    for (int i = 0; i < kLanePoints; i += 4) {
        const float4 four = *reinterpret_cast<const float4*>(&norms[norm_place(static_cast<int>(lane) % 4, i)]);
        const int n = i / 2;
        sums[n][0] = sums[n][2] = four.x, sums[n][1] = sums[n][3] = four.y;
        sums[n + 1][0] = sums[n + 1][2] = four.z, sums[n + 1][1] = sums[n + 1][3] = four.w;
    }
}

__device__ __forceinline__ void take(GroupTop& top, float value) {
    top.second = fmaxf(top.second, fminf(top.best, value));
    top.best = fmaxf(top.best, value);
}
__device__ __forceinline__ void merge(GroupTop& top, const GroupTop& other) {
    top.second = fmaxf(fmaxf(top.second, other.second), fminf(top.best, other.best));
    top.best = fmaxf(top.best, other.best);
}

/// The value with the number of one of `parts` in its last bits, which changes it by less than 2^-18 of it.
template <int parts>
__device__ __forceinline__ float with_part(float value, int number) {
    constexpr auto kBits = static_cast<unsigned>(parts - 1);
    return __uint_as_float((__float_as_uint(value) & ~kBits) | static_cast<unsigned>(number));
}

/// The tops of a lane's points of a tile, of the rows g and g + 8 of its warp.
template <int group>
class LaneTops {
public:
    /// After the products of tile `tile` of a span. Writes them where a sector is full.
    __device__ __forceinline__ void add(const device::ProductSums& sums, int tile, GroupTop* to, std::int32_t groups,
                                        unsigned lane) {
        const int q = static_cast<int>(lane % 4);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const auto sum = [&](int i) { return sums[i / 2][half * 2 + i % 2]; };
            GroupTop tops[kGroups];
#pragma unroll
            for (int g = 0; g < kGroups; ++g)
#pragma unroll
                for (int part = 0; part < kParts; ++part) {
                    const int first = g * kOwn + part * kPart<group>;
                    float value = sum(first);
#pragma unroll
                    for (int i = 1; i < kPart<group>; ++i) value = fmaxf(value, sum(first + i));
                    value = with_part<kParts>(value, part);
                    if (part == 0)
                        tops[g] = {value, -std::numeric_limits<float>::infinity()};
                    else
                        take(tops[g], value);
                }
            GroupTop* const row = to + std::int64_t{half} * 8 * groups;
            if constexpr (group == kScreenTile) {
                const auto part = static_cast<int>(__float_as_uint(tops[0].best) & (kParts - 1));
                tops[0].best = with_part<4 * kParts>(tops[0].best, q * kParts + part);
#pragma unroll
                for (int lanes = 1; lanes < 4; lanes *= 2)
                    merge(tops[0],
                          {__shfl_xor_sync(kAll, tops[0].best, lanes), __shfl_xor_sync(kAll, tops[0].second, lanes)});
                if (tile == q) held_[half][0] = tops[0];
                if (tile + 1 == kSpanTiles) row[q] = held_[half][0];
            } else if constexpr (group == kLanePoints) {
#pragma unroll
                for (int t = 0; t + 1 < kSpanTiles; ++t) held_[half][t] = held_[half][t + 1];
                held_[half][kSpanTiles - 1] = tops[0];
                if (tile + 1 == kSpanTiles) write(row + q * kSpanTiles, held_[half]);
            } else {
                write(row + (tile * 4 + q) * kGroups, tops);
            }
        }
    }

private:
    static constexpr int kOwn = std::min(group, kLanePoints), kGroups = kLanePoints / kOwn;
    static constexpr int kParts = kOwn / kPart<group>;
    static constexpr int kHeld = group == kScreenTile ? 1 : kSpanTiles;

    __device__ static void write(GroupTop* to, const GroupTop (&tops)[4]) {
        float4* const fours = reinterpret_cast<float4*>(to);
        fours[0] = {tops[0].best, tops[0].second, tops[1].best, tops[1].second};
        fours[1] = {tops[2].best, tops[2].second, tops[3].best, tops[3].second};
    }

    GroupTop held_[2][kHeld];
};

/// A block has a tile of queries and a slice of the spans. `steps` of 16 attributes, or up to `steps` if that is 8:
/// then the queries stay in registers. 0: more.
// Long: results are of this very text; copies, products and tops are one pipeline with one barrier a step.
template <int steps, int group>
__global__ void __launch_bounds__(kThreads, 2) bound_groups(GroupScreen screen) {
    constexpr int kTogether = Images::tiles_together(steps), kStages = stages_of(steps);
    constexpr int kSteps = steps > 0 && steps < kChunkSteps ? steps : kChunkSteps;  // of an image and a tile
    auto* const storage = device::dynamic_shared<std::byte>();
    auto* const stages =
        reinterpret_cast<PointImage*>(storage + (-reinterpret_cast<std::uintptr_t>(storage)) % kImageAlignment);
    auto& copies = device::shared<device::Arrivals[kStages + 1]>();
    const unsigned lane = threadIdx.x, warp = threadIdx.y, thread = warp * kLanes + lane;

    const std::int64_t query_tile = blockIdx.x % screen.query_tiles(), slice = blockIdx.x / screen.query_tiles();
    const std::int32_t chunks = steps > 0 ? (steps + kChunkSteps - 1) / kChunkSteps : screen.images.chunks;
    const auto begin = static_cast<std::int32_t>(slice * screen.spans / screen.slices) * kSpanTiles;
    const auto end = static_cast<std::int32_t>((slice + 1) * screen.spans / screen.slices) * kSpanTiles;
    const std::int32_t images = (end - begin) / kTogether * chunks;
    const PointImage* const points = screen.points + begin / kTogether * chunks;
    const auto copy = [&](std::int32_t image) {
        if (image < images)
            device::copy_block(&stages[image % kStages], points + image, sizeof(PointImage), copies[image % kStages],
                               thread, kThreads);
    };
    if (thread == 0)
        for (device::Arrivals& each : copies) device::begin_block_copies(each);
    __syncthreads();
    auto* const queries = reinterpret_cast<QueryImage*>(stages + (steps > 0 ? 2 : kStages));
    device::copy_block(queries, screen.queries + (screen.first / kScreenTile + query_tile) * chunks,
                       chunks * static_cast<int>(sizeof(QueryImage)), copies[kStages], thread, kThreads);
    constexpr int kFirst = steps > 0 ? 2 : kStages - 1;  // images before the queries are read
    for (std::int32_t image = 0; image < kFirst; ++image) copy(image);
    device::wait_for_block_copy(copies[kStages], 0);
    __syncthreads();

    QueryParts kept[steps > 0 ? steps : kChunkSteps];
    if constexpr (steps > 0) {
#pragma unroll
        for (int step = 0; step < steps; ++step)
            device::load_rows(kept[step], queries[step / kChunkSteps].rows, step % kChunkSteps, warp, lane);
        __syncthreads();
        for (std::int32_t image = kFirst; image < kStages - 1; ++image) copy(image);
    }
    GroupTop* to = screen.tops + (query_tile * kScreenTile + warp * kWarpQueries + lane / 4) * screen.groups +
                   begin * (kScreenTile / group);
    LaneTops<group> tops;
    std::int32_t image = 0;
    for (std::int32_t tile = begin; tile < end; tile += kTogether) {
        device::ProductSums sums;
#pragma unroll
        for (std::int32_t chunk = 0; chunk < chunks; ++chunk, ++image) {
            device::wait_for_block_copy(copies[image % kStages], image / kStages);
            // One barrier: what is copied next goes where nobody reads any more.
            __syncthreads();
            copy(image + kStages - 1);
            const PointImage& own = stages[image % kStages];
            if constexpr (steps == 0)
#pragma unroll
                for (int step = 0; step < kChunkSteps; ++step)
                    device::load_rows(kept[step], queries[chunk].rows, step, warp, lane);
#pragma unroll 1
            for (int of = 0; of < kTogether; ++of) {
                if (chunk == 0) begin_sums(sums, own.norms[of], lane);
                device::begin_products();
#pragma unroll
                for (int step = 0; step < kSteps; ++step)
                    device::add_products(sums, kept[(steps > 0 ? chunk * kChunkSteps : 0) + step], own.rows,
                                         of * kSteps + step);
                device::end_products(sums);
                if (chunk + 1 == chunks) tops.add(sums, tile % kSpanTiles + of, to, screen.groups, lane);
            }
        }
        if ((tile + kTogether) % kSpanTiles == 0) to += kSpan / group;
    }
}

}  // namespace
}  // namespace espalier::knn
