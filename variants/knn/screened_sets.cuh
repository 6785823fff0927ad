#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/half_tiles.hpp"
#include "device/kernel.hpp"
#include "device/swizzled_products.hpp"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/fused_search.hpp"
#include "variants/knn/screened_bound.hpp"

/// Both sets as tensor cores want them: centred, scaled, in halves, and laid out in device memory as tiles of them lie
/// in shared memory, so that a copy of a tile is one of consecutive bytes.
namespace espalier::knn {
namespace {

inline constexpr int kScreenTile = 128;  ///< queries and points
inline constexpr int kChunk = 64;        ///< attributes of a row in shared memory: 128 bytes
inline constexpr int kPieces = 8;        ///< of 16 bytes in such a row
inline constexpr int kChunkBytes = kScreenTile * kChunk * 2;
inline constexpr int kChunkSteps = kChunk / kStep;
inline constexpr int kSpanTiles = 4;                    ///< tiles of points that go together
inline constexpr int kSpan = kSpanTiles * kScreenTile;  ///< points
inline constexpr int kLanePoints = 32;                  ///< a lane's of a tile, one after another

/// What is found out about the data on the way.
struct Findings {
    std::int32_t uncertified;  ///< queries
    std::uint32_t largest;     ///< bits of the largest centred attribute
    std::uint32_t norm;        ///< bits of the largest squared norm of a point, scaled, less what is kept back
    std::uint32_t unbounded;   ///< whether a point has an attribute that is not finite
};

/// A chunk of the rows of a tile of queries.
struct alignas(16) QueryImage {
    std::byte rows[kChunkBytes];
};

/// A chunk of the rows of a tile of points. Rows of few attributes leave room: then those of several tiles lie side by
/// side.
struct alignas(16) PointImage {
    std::byte rows[kChunkBytes];
    float norms[kSpanTiles]
               [kScreenTile];  ///< of each tile here, -m / 2 (screened_bound.hpp), in the order of the points
};

/// How many chunks a row has, and how many tiles an image.
struct Images {
    std::int32_t steps, chunks, together;

    constexpr explicit Images(std::int64_t dims)
        : steps(static_cast<std::int32_t>(std::max<std::int64_t>(divided_up(dims, kStep), 1))),
          chunks(static_cast<std::int32_t>(divided_up(steps, kChunkSteps))),
          together(tiles_together(steps)) {}

    static constexpr std::int32_t tiles_together(std::int32_t steps) {
        return steps == 1 || steps == 2 ? kChunkSteps / steps : 1;
    }
    [[nodiscard]] constexpr std::int64_t of_queries(std::int64_t tiles) const { return tiles * chunks; }
    [[nodiscard]] constexpr std::int64_t of_points(std::int64_t spans) const {
        return spans * kSpanTiles / together * chunks;
    }
};

/// Where the norm of a lane's point i is: what the lanes read at once lies together.
__device__ constexpr int norm_place(int q, int i) { return i / 4 * 16 + q * 4 + i % 4; }

/// A set as it is given, attribute-major.
struct Set {
    const float* values;
    std::int64_t count;
};

__device__ inline bool is_finite(float value) { return value - value == 0; }

/// A block per attribute: the mean of up to 1,024 points. Any centre would do; a good one makes norms small.
__global__ void __launch_bounds__(kThreads) find_centre(Set points, float* centre) {
    constexpr std::int64_t kMost = 1024;
    auto& sums = device::shared<float[kBlockWarps]>();
    const std::int64_t stride = divided_up(points.count, kMost);
    const float* const row = points.values + blockIdx.x * points.count;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kMost / kThreads; ++i) {
        const std::int64_t at = (std::int64_t{i} * kThreads + threadIdx.x) * stride;
        const float value = at < points.count ? row[at] : 0.0F;
        if (is_finite(value)) sum += value;
    }
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(kAll, sum, lanes);
    if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float total = 0;
    for (int w = 0; w < kBlockWarps; ++w) total += sums[w];
    total /= static_cast<float>(divided_up(points.count, std::max<std::int64_t>(stride, 1)));
    centre[blockIdx.x] = is_finite(total) ? total : 0.0F;
}

/// What `find_extremes` and `prepare` are given: `query_blocks` blocks for the queries, and the points' after them.
struct Preparation {
    Set queries, points;
    std::int32_t query_blocks, dims;
    Images images;
    float kept;  ///< the share of the squared norms that bounds keep
    const float* centre;
    Findings* findings;
    QueryImage* query_images;
    PointImage* point_images;
    float* query_norms;
    float* point_rows;  ///< the points as they are given, but item-major
};

/// Floats between the rows of an item-major set.
constexpr std::int32_t row_stride(std::int64_t dims) { return static_cast<std::int32_t>(divided_up(dims, 4) * 4); }

/// What stands for the value of a point beyond the last: less than any that there is.
inline constexpr float kFarAway = -0x1p126F;

inline constexpr int kExtremesEach = 4;  ///< items of a thread

/// Four items per thread of every gridDim.y-th attribute.
__global__ void __launch_bounds__(kThreads) find_extremes(Preparation of) {
    auto& largest = device::shared<unsigned>();
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    const auto block = static_cast<std::int32_t>(blockIdx.x);
    const bool is_points = block >= of.query_blocks;
    const Set set = is_points ? of.points : of.queries;
    const std::int64_t first = std::int64_t{block - (is_points ? of.query_blocks : 0)} * kExtremesEach * kThreads;
    unsigned own = 0;
    bool unbounded = false;
    for (std::int32_t a = static_cast<std::int32_t>(blockIdx.y); a < of.dims; a += static_cast<std::int32_t>(gridDim.y))
#pragma unroll
        for (int e = 0; e < kExtremesEach; ++e) {
            const std::int64_t i = first + e * kThreads + threadIdx.x;
            const float value = i < set.count ? std::fabs(set.values[a * set.count + i] - of.centre[a]) : 0.0F;
            if (is_finite(value))
                own = std::max(own, __float_as_uint(value));
            else
                unbounded = true;
        }
    own = __reduce_max_sync(kAll, own);
    if (threadIdx.x % kLanes == 0) atomicMax(&largest, own);
    if (unbounded && is_points) atomicMax(&of.findings->unbounded, 1U);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&of.findings->largest, largest);
}

__device__ inline float scale_of(const Findings& findings) { return power_of_two(scale_exponent(findings.largest)); }

/// Where a point is: a lane's sums belong to columns 8 n + 2 q and the next. Dealt like this its points are neighbours.
struct PointPlace {
    std::int64_t tile;
    int row, norm;

    __device__ explicit PointPlace(std::int64_t point) {
        const int in_tile = static_cast<int>(point % kScreenTile);
        const int q = in_tile / kLanePoints, i = in_tile % kLanePoints;
        tile = point / kScreenTile;
        row = i / 2 * 8 + q * 2 + i % 2;
        norm = norm_place(q, i);
    }
};

/// One row of a tile, wherever its set's images are.
struct RowImage {
    std::byte* rows;     ///< of the first chunk's image
    std::size_t stride;  ///< between the chunks' images, in bytes
    int row, first_piece;

    __device__ uint4* piece(std::int32_t chunk, int piece) const {
        return reinterpret_cast<uint4*>(rows + chunk * stride + device::swizzled_place(row, first_piece + piece));
    }
};

__device__ inline RowImage row_of_query(const Preparation& of, std::int64_t query) {
    QueryImage* const image = of.query_images + query / kScreenTile * of.images.chunks;
    return {image->rows, sizeof(QueryImage), static_cast<int>(query % kScreenTile), 0};
}
__device__ inline RowImage row_of_point(const Preparation& of, std::int64_t point) {
    const PointPlace place(point);
    PointImage* const image = of.point_images + place.tile / of.images.together * of.images.chunks;
    return {image->rows, sizeof(PointImage), place.row,
            static_cast<int>(place.tile % of.images.together) * 2 * of.images.steps};
}

/// Rows of halves, and the part of the squared norms that bounds keep. A query that is not finite has a norm of NaN.
/// Beyond the sets rows are 0, and points far away. 64 items per block.
// Long: results are of this very text; images, norms and rows come of one pass over the set.
__global__ void __launch_bounds__(kThreads) prepare(Preparation of) {
    constexpr int kItems = 64, kGroups = kThreads / kItems, kEach = kChunk / kGroups;
    constexpr int kPadded = kChunk + 8;  // 16 more bytes: rows meet in banks less often
    struct alignas(16) Tile {
        std::uint32_t words[kItems][kPadded / 2];
    };
    auto& tile = device::shared<Tile>();
    auto& sums = device::shared<float[kGroups][kItems]>();
    const auto block = static_cast<std::int32_t>(blockIdx.x);
    const bool is_points = block >= of.query_blocks;
    const Set set = is_points ? of.points : of.queries;
    const int item = static_cast<int>(threadIdx.x) % kItems, group = static_cast<int>(threadIdx.x) / kItems;
    const std::int64_t first = std::int64_t{block - (is_points ? of.query_blocks : 0)} * kItems, at = first + item;
    const float scale = scale_of(*of.findings);
    float sum = 0;
    for (std::int32_t chunk = 0; chunk < of.images.chunks; ++chunk) {
        const std::int32_t own = chunk * kChunk + group * kEach;
        float given[kEach], values[kEach];
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            const bool is_there = at < set.count && own + e < of.dims;
            given[e] = is_there ? set.values[(own + e) * set.count + at] : 0.0F;
            values[e] = is_there ? (given[e] - of.centre[own + e]) * scale : 0.0F;
        }
        if (is_points && at < set.count)
#pragma unroll
            for (int e = 0; e < kEach; e += 4)
                if (own + e < of.dims)
                    *reinterpret_cast<float4*>(of.point_rows + at * row_stride(of.dims) + own + e) = {
                        given[e], given[e + 1], given[e + 2], given[e + 3]};
#pragma unroll
        for (int e = 0; e < kEach; e += 2) {
            sum += values[e] * values[e];
            sum += values[e + 1] * values[e + 1];
            tile.words[item][(group * kEach + e) / 2] =
                device::half_of(values[e]) | std::uint32_t{device::half_of(values[e + 1])} << 16;
        }
        __syncthreads();
        const int pieces = min(of.images.steps, kChunkSteps) * 2;
        for (int i = static_cast<int>(threadIdx.x); i < kItems * kPieces; i += kThreads) {
            const int row = i / kPieces, piece = i % kPieces;
            const RowImage image = is_points ? row_of_point(of, first + row) : row_of_query(of, first + row);
            if (piece < pieces)
                *image.piece(chunk, piece) = *reinterpret_cast<const uint4*>(&tile.words[row][piece * 4]);
        }
        __syncthreads();
    }
    sums[group][item] = sum;
    __syncthreads();
    if (group != 0) return;
    float norm = 0;
    for (int g = 0; g < kGroups; ++g) norm += sums[g][item];
    norm *= of.kept;
    if (!is_points) {
        of.query_norms[at] = is_finite(norm) ? norm : std::numeric_limits<float>::quiet_NaN();
        return;
    }
    const PointPlace place(at);
    const bool is_there = at < set.count;
    PointImage* const image = of.point_images + place.tile / of.images.together * of.images.chunks;
    image->norms[place.tile % of.images.together][place.norm] = is_there ? -norm / 2 : kFarAway;
    const unsigned most = __reduce_max_sync(kAll, is_there && is_finite(norm) ? __float_as_uint(norm) : 0U);
    if (threadIdx.x % kLanes == 0 && most != 0) atomicMax(&of.findings->norm, most);
}

}  // namespace
}  // namespace espalier::knn
