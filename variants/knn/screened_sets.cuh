#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/half.hpp"
#include "device/half_tiles.hpp"
#include "device/kernel.hpp"
#include "device/swizzled_products.hpp"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/dealt_points.cuh"
#include "variants/knn/fused_search.hpp"
#include "variants/knn/middles.cuh"
#include "variants/knn/screened_bound.hpp"

/// Both sets as tensor cores want them: centred at medians, scaled, in halves, and laid out in device memory as tiles
/// of them lie in shared memory, so that a copy of a tile is one of consecutive bytes. What is far out of the data does
/// not spoil the scale: its rows hold zeros where it does not fit, and it is marked. The attributes that vary most are
/// in two halves each, as far as that costs no instruction: time stamps beside small numbers, and tables of a few
/// columns.
namespace espalier::knn {
namespace {

inline constexpr int kScreenTile = 128;  ///< queries and points
inline constexpr int kChunk = 64;        ///< attributes of a row in shared memory: 128 bytes
inline constexpr int kPieces = 8;        ///< of 16 bytes in such a row
inline constexpr int kChunkBytes = kScreenTile * kChunk * 2;
inline constexpr int kChunkSteps = kChunk / kStep;
inline constexpr int kSpanTiles = 4;                    ///< tiles of points that go together
inline constexpr int kSpan = kSpanTiles * kScreenTile;  ///< points

/// What is found out about the data on the way.
struct Findings {
    std::int32_t uncertified;                          ///< queries
    std::uint32_t finished;                            ///< attributes whose middles are known
    std::uint32_t spread;                              ///< bits of the largest spread of an attribute
    std::uint32_t slack;                               ///< bits of the most that is kept back of a point's squared norm
    std::int32_t attributes_in_two[kMostInTwoHalves];  ///< as many as `in_two_halves` says
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

/// A set as it is given, attribute-major.
struct Set {
    const float* values;
    std::int64_t count;
};

/// Ranks attributes by their spreads, of equal ones the first before.
__device__ inline void rank_spreads(const float* spreads, std::int32_t dims, Findings& findings) {
    const std::int32_t wanted = in_two_halves(dims);
    for (auto own = static_cast<std::int32_t>(threadIdx.x); own < dims; own += kThreads) {
        const float spread = spreads[own];
        std::int32_t rank = 0;
#pragma unroll 4
        for (std::int32_t a = 0; a < dims; ++a)
            rank += spreads[a] > spread || (spreads[a] == spread && a < own) ? 1 : 0;
        if (rank < wanted) findings.attributes_in_two[rank] = own;
        if (rank == 0) findings.spread = __float_as_uint(spread);
    }
}

/// A block per attribute; the last one ranks them.
__global__ void __launch_bounds__(kThreads)
    find_middles(Set points, float* centre, float* spreads, Findings* findings) {
    auto& is_last = device::shared<bool>();
    const Middle middle = middle_of(points.values + blockIdx.x * points.count, points.count);
    if (threadIdx.x == 0) {
        centre[blockIdx.x] = middle.median;
        spreads[blockIdx.x] = is_finite(middle.spread) ? middle.spread : 0.0F;
        __threadfence();  // they must be visible before the block counts as finished
        is_last = atomicAdd(&findings->finished, 1U) + 1 == gridDim.x;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    rank_spreads(spreads, static_cast<std::int32_t>(gridDim.x), *findings);
}

/// What `prepare` is given: `query_blocks` blocks for the queries, and the points' after them.
struct Preparation {
    Set queries, points;
    std::int32_t query_blocks, dims;
    Images images;
    float kept, more;  ///< the share of the squared norms that bounds keep; how much more of attributes in two halves
    const float* centre;
    Findings* findings;
    QueryImage* query_images;
    PointImage* point_images;
    float *query_norms, *query_slacks;  ///< what bounds keep of the squared norms, and what not
    float* point_rows;                  ///< the points as they are given, but item-major
};

/// Floats between the rows of an item-major set.
constexpr std::int32_t row_stride(std::int64_t dims) { return static_cast<std::int32_t>(divided_up(dims, 4) * 4); }

/// Where a point is.
struct PointPlace {
    std::int64_t tile;
    int row, norm;

    __device__ explicit PointPlace(std::int64_t point) {
        const int in_tile = static_cast<int>(point % kScreenTile);
        tile = point / kScreenTile;
        row = row_of_point(in_tile);
        norm = norm_of_point(in_tile);
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

__device__ inline RowImage image_of_query(const Preparation& of, std::int64_t query) {
    QueryImage* const image = of.query_images + query / kScreenTile * of.images.chunks;
    return {image->rows, sizeof(QueryImage), static_cast<int>(query % kScreenTile), 0};
}
__device__ inline RowImage image_of_point(const Preparation& of, std::int64_t point) {
    const PointPlace place(point);
    PointImage* const image = of.point_images + place.tile / of.images.together * of.images.chunks;
    return {image->rows, sizeof(PointImage), place.row,
            static_cast<int>(place.tile % of.images.together) * 2 * of.images.steps};
}

inline constexpr int kPreparedItems = 64, kPreparers = kThreads / kPreparedItems;  ///< of a block, and threads of each
inline constexpr int kEach = kChunk / kPreparers;                                  ///< attributes of a thread

/// An item whose row becomes one of halves.
struct PreparedItem {
    const Preparation& of;
    Set set;
    bool is_points;
    std::int64_t at;
    float scale;
    float sum = 0, sum_of_two = 0;  ///< of squares; of attributes in two halves

    [[nodiscard]] __device__ float scaled(float given, std::int32_t attribute) const {
        return (given - of.centre[attribute]) * scale;
    }
    __device__ static bool fits(float value) { return std::fabs(value) <= kLargestKept; }

    /// Attributes from `first` on, as they are given and as they are multiplied; 0 where there are none.
    __device__ void read(float (&given)[kEach], float (&values)[kEach], std::int32_t first) {
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            const bool is_there = at < set.count && first + e < of.dims;
            given[e] = is_there ? set.values[(first + e) * set.count + at] : 0.0F;
            const float value = is_there ? scaled(given[e], first + e) : 0.0F;
            values[e] = fits(value) ? value : 0.0F;
            sum += fits(value) ? value * value : std::numeric_limits<float>::quiet_NaN();
        }
    }

    /// Behind the attributes come, of those in two halves, a query's second half and its first, a point's first one and
    /// its second.
    __device__ void read_second_halves(float (&values)[kEach], std::int32_t first) {
        const std::int32_t places = 2 * in_two_halves(of.dims);
        if (first + kEach <= of.dims || first >= of.dims + places || at >= set.count) return;
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            const std::int32_t place = first + e - of.dims;
            if (place < 0 || place >= places) continue;
            const std::int32_t attribute = of.findings->attributes_in_two[place / 2];
            const float value = scaled(set.values[attribute * set.count + at], attribute);
            if (!fits(value)) continue;
            const float half = device::float_of_half(device::half_of(value));
            values[e] = (place % 2 == 0) == is_points ? half : value - half;
            if (place % 2 == 0) sum_of_two += value * value;
        }
    }

    /// As it is given, in a row of its own.
    __device__ void write_given(const float (&given)[kEach], std::int32_t first) const {
        if (at >= set.count) return;
        float* const to = of.point_rows + at * row_stride(of.dims) + first;
#pragma unroll
        for (int e = 0; e < kEach; e += 4)
            if (first + e < of.dims)
                *reinterpret_cast<float4*>(to + e) = {given[e], given[e + 1], given[e + 2], given[e + 3]};
    }

    /// `all` and `two` are the sums of all its threads. Whatever does not fit, or is not finite, has no bounds.
    __device__ void write_norms(float all, float two) const {
        const float norm = all * of.kept + two * of.more;
        if (!is_points) {
            of.query_norms[at] = norm, of.query_slacks[at] = all - norm;
            return;
        }
        const PointPlace place(at);
        const bool is_there = at < set.count;
        PointImage* const image = of.point_images + place.tile / of.images.together * of.images.chunks;
        image->norms[place.tile % of.images.together][place.norm] = !is_there         ? kNoPoint
                                                                    : is_finite(norm) ? -norm / 2
                                                                                      : kAlways;
        const unsigned most = __reduce_max_sync(kAll, is_there && is_finite(norm) ? __float_as_uint(all - norm) : 0U);
        if (threadIdx.x % kLanes == 0 && most != 0) atomicMax(&of.findings->slack, most);
    }
};

/// Rows of halves and norms, a query's that has no bounds being NaN. Beyond the sets rows are 0, and points far away.
__global__ void __launch_bounds__(kThreads) prepare(Preparation of) {
    constexpr int kPadded = kChunk + 8;  // 16 more bytes: rows meet in banks less often
    struct alignas(16) Tile {
        std::uint32_t words[kPreparedItems][kPadded / 2];
    };
    auto& tile = device::shared<Tile>();
    auto& sums = device::shared<float2[kPreparers][kPreparedItems]>();
    const auto block = static_cast<std::int32_t>(blockIdx.x);
    const bool is_points = block >= of.query_blocks;
    const int own = static_cast<int>(threadIdx.x) % kPreparedItems;
    const int group = static_cast<int>(threadIdx.x) / kPreparedItems;
    const std::int64_t first = std::int64_t{block - (is_points ? of.query_blocks : 0)} * kPreparedItems;
    PreparedItem item{of, is_points ? of.points : of.queries, is_points, first + own,
                      scale_of_spread(of.findings->spread)};
    for (std::int32_t chunk = 0; chunk < of.images.chunks; ++chunk) {
        const std::int32_t attribute = chunk * kChunk + group * kEach;
        float given[kEach], values[kEach];
        item.read(given, values, attribute);
        if (is_points) item.write_given(given, attribute);
        item.read_second_halves(values, attribute);
#pragma unroll
        for (int e = 0; e < kEach; e += 2)
            tile.words[own][(group * kEach + e) / 2] =
                device::half_of(values[e]) | std::uint32_t{device::half_of(values[e + 1])} << 16;
        __syncthreads();
        const int pieces = min(of.images.steps, kChunkSteps) * 2;
        for (int i = static_cast<int>(threadIdx.x); i < kPreparedItems * kPieces; i += kThreads) {
            const int row = i / kPieces, piece = i % kPieces;
            const RowImage image = is_points ? image_of_point(of, first + row) : image_of_query(of, first + row);
            if (piece < pieces)
                *image.piece(chunk, piece) = *reinterpret_cast<const uint4*>(&tile.words[row][piece * 4]);
        }
        __syncthreads();
    }
    sums[group][own] = {item.sum, item.sum_of_two};
    __syncthreads();
    if (group != 0) return;
    float all = 0, two = 0;
    for (const auto& of_group : sums) all += of_group[own].x, two += of_group[own].y;
    item.write_norms(all, two);
}

}  // namespace
}  // namespace espalier::knn
