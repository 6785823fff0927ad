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
#include "variants/knn/dealt_points.cuh"
#include "variants/knn/fused_search.hpp"
#include "variants/knn/middles.cuh"
#include "variants/knn/screened_bound.hpp"

/// Both sets as tensor cores want them, of any number of attributes: centred at medians (for cosine: unit vectors),
/// scaled, in halves, in tiles that lie in device memory as in shared memory. What is far out of the data does not
/// spoil the scale: its rows hold zeros where it does not fit, and it is marked.
namespace espalier::knn::threshold {
namespace {

inline constexpr int kTileQueries = 256, kTilePoints = 128;
inline constexpr int kTileAttributes = 64;  ///< of a row in shared memory: 128 bytes
inline constexpr int kTileSteps = kTileAttributes / kStep;

/// By how much half the squared distance of unit vectors, as they are rounded before they become halves, may be above
/// the cosine distance that single precision computes term by term: the vectors' norms are off by (dims / 2 + 4) units
/// of 2^-24 each, a difference of at most 2 counts them four times in all, and the distance's own sums, roots and
/// quotient make up the rest.
constexpr double unit_error(std::int64_t dims) { return static_cast<double>(4 * dims + 34) * 0x1p-24; }

/// What is found out about the data on the way.
struct Findings {
    std::int32_t unlisted;  ///< queries whose candidates found no room, or that have no bounds
    std::uint32_t spread;   ///< bits of the largest spread of an attribute
};

/// 64 attributes of a tile.
struct alignas(16) QueryTile {
    std::byte rows[kTileQueries * kTileAttributes * 2];
};
struct alignas(16) PointTile {
    std::byte rows[kTilePoints * kTileAttributes * 2];
    float norms[kTilePoints];  ///< with the first attributes only: -m / 2 (screened_bound.hpp)
};

/// A set as it is given, attribute-major.
struct GivenSet {
    const float* values;
    std::int64_t count;
};

/// The queries that are searched for, where it is not all of them: a list that comes about on the device. Kernels are
/// launched for as many as there may be, and end at once where there are none. So few of them are left to the direct
/// search: it deals a query's points over the device, where here they are one warp's.
struct Listed {
    const std::int32_t *queries, *count;  ///< null: all
    std::int32_t few;

    [[nodiscard]] __device__ std::int64_t searched(std::int64_t all) const {
        return count == nullptr ? all : *count > few ? *count : 0;
    }
    /// The query at a place of the list.
    [[nodiscard]] __device__ std::int64_t query_at(std::int64_t place) const {
        return queries == nullptr ? place : queries[place];
    }
};

/// Floats between the rows of an item-major set.
constexpr std::int64_t row_stride(std::int64_t dims) { return divided_up(dims, 4) * 4; }

/// The power of two that scales the data.
__device__ inline float scale_of(const Findings& findings, Metric metric) {
    return metric == Metric::cosine ? 0x1p14F : scale_of_spread(findings.spread);
}

/// A block per attribute: their medians are the centre.
__global__ void __launch_bounds__(kThreads)
    find_medians(GivenSet points, Listed listed, float* centre, Findings* findings) {
    if (listed.searched(1) == 0) return;
    const Middle middle = middle_of(points.values + blockIdx.x * points.count, points.count);
    if (threadIdx.x != 0) return;
    centre[blockIdx.x] = middle.median;
    if (is_finite(middle.spread)) atomicMax(&findings->spread, __float_as_uint(middle.spread));
}

/// 1 / |x| of every item, 0 of zeros. A thread per item, queries first.
__global__ void __launch_bounds__(kThreads)
    find_inverse_norms(GivenSet queries, GivenSet points, std::int32_t dims, float* inverse) {
    const std::int64_t item = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (item >= queries.count + points.count) return;
    const bool is_point = item >= queries.count;
    const GivenSet set = is_point ? points : queries;
    const float* const values = set.values + (is_point ? item - queries.count : item);
    float sum = 0;
#pragma unroll 8
    for (std::int32_t a = 0; a < dims; ++a) {
        const float value = values[a * set.count];
        sum += value * value;
    }
    // Squares that leave the range of single precision say nothing of the norm.
    const bool is_known = is_finite(sum) && sum > 0x1p-90F;
    inverse[item] = sum == 0 ? 0.0F : is_known ? 1 / std::sqrt(sum) : std::numeric_limits<float>::quiet_NaN();
}

/// What `prepare_halves` is given: `query_blocks` blocks for the queries, and the points' after them.
struct HalvesOf {
    GivenSet queries, points;
    Listed listed;
    std::int32_t query_blocks, dims, slices;  ///< slices of 64 attributes
    float kept;                               ///< the share of the squared norms that bounds keep
    Metric metric;
    const float* centre;   ///< of euclidean distances
    const float* inverse;  ///< of cosine distances
    const Findings* findings;
    QueryTile* query_tiles;
    PointTile* point_tiles;
    float* query_norms;
    float *query_rows, *point_rows;  ///< as they are given, but item-major

    /// `item` is a query's number as it is given, or a point's after all of them.
    [[nodiscard]] __device__ float scaled(float given, std::int32_t attribute, std::int64_t item, float scale) const {
        return metric == Metric::cosine ? given * inverse[item] * scale : (given - centre[attribute]) * scale;
    }
};

/// 64 attributes of 64 items of a set on their way from attribute-major to rows.
constexpr int kPreparedItems = 64;
struct PreparedPart {
    const HalvesOf& of;
    float (&values)[kPreparedItems][kTileAttributes + 1];
    bool is_points;
    std::int64_t first_item, count, tile;
    std::int32_t first_attribute;
    int in_tile;  ///< place of the first item
    float scale;

    [[nodiscard]] __device__ float scaled(int item, std::int32_t attribute) const {
        const std::int64_t at = first_item + item;
        if (at >= count || attribute >= of.dims) return 0;
        return of.scaled(values[item][attribute - first_attribute], attribute,
                         is_points ? of.queries.count + at : of.listed.query_at(at), scale);
    }
    __device__ void write_rows() const {
        float* const rows = is_points ? of.point_rows : of.query_rows;
        for (int i = static_cast<int>(threadIdx.x); i < kPreparedItems * kTileAttributes / 4; i += kThreads) {
            const int item = i / (kTileAttributes / 4), a = i % (kTileAttributes / 4) * 4;
            if (first_item + item >= count || first_attribute + a >= of.dims) continue;
            const float* const from = &values[item][a];
            *reinterpret_cast<float4*>(rows + (first_item + item) * row_stride(of.dims) + first_attribute + a) = {
                from[0], from[1], from[2], from[3]};
        }
    }
    __device__ void write_halves() const {
        const std::int64_t place = tile * of.slices + first_attribute / kTileAttributes;
        std::byte* const rows = is_points ? of.point_tiles[place].rows : of.query_tiles[place].rows;
        constexpr int kPieces = kTileAttributes / 8;  // of 16 bytes
        for (int i = static_cast<int>(threadIdx.x); i < kPreparedItems * kPieces; i += kThreads) {
            const int item = i / kPieces, piece = i % kPieces;
            std::uint32_t halves[4];
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const float value = scaled(item, first_attribute + piece * 8 + e);
                const std::uint32_t half = device::half_of(std::fabs(value) <= kLargestKept ? value : 0.0F);
                halves[e / 2] = e % 2 == 0 ? half : halves[e / 2] | half << 16;
            }
            const int row = in_tile + item;
            *reinterpret_cast<uint4*>(rows + device::swizzled_place(is_points ? row_of_point(row) : row, piece)) = {
                halves[0], halves[1], halves[2], halves[3]};
        }
    }
};

/// Rows of halves, rows as they are, and the part of the squared norms that bounds keep; a query without bounds has a
/// norm of NaN. Beyond the sets rows are 0. 64 items per block, of which a thread reads 16 attributes of a slice.
// Long: what is read for the next slice stays in registers while this one is written.
__global__ void __launch_bounds__(kThreads, 4) prepare_halves(HalvesOf of) {
    constexpr int kGroups = kThreads / kPreparedItems, kEach = kTileAttributes / kGroups;
    auto& values = device::shared<float[kPreparedItems][kTileAttributes + 1]>();
    auto& sums = device::shared<float[kGroups][kPreparedItems]>();
    const auto block = static_cast<std::int32_t>(blockIdx.x);
    const bool is_points = block >= of.query_blocks;
    const GivenSet set = is_points ? of.points : of.queries;
    const int own = static_cast<int>(threadIdx.x) % kPreparedItems,
              group = static_cast<int>(threadIdx.x) / kPreparedItems;
    const std::int64_t first = std::int64_t{block - (is_points ? of.query_blocks : 0)} * kPreparedItems,
                       at = first + own;
    const int tile_items = is_points ? kTilePoints : kTileQueries;
    const std::int64_t searched = of.listed.searched(of.queries.count), count = is_points ? set.count : searched;
    if (is_points ? searched == 0 : first >= divided_up(searched, kTileQueries) * kTileQueries) return;
    const std::int64_t item = is_points || at >= count ? at : of.listed.query_at(at);
    const float scale = scale_of(*of.findings, of.metric);
    float given[kEach];
    const auto read = [&](std::int32_t slice) {
        const std::int32_t attribute = slice * kTileAttributes + group * kEach;
#pragma unroll
        for (int e = 0; e < kEach; ++e)
            given[e] = at < count && attribute + e < of.dims ? set.values[(attribute + e) * set.count + item] : 0.0F;
    };
    float sum = 0;
    read(0);
    for (std::int32_t slice = 0; slice < of.slices; ++slice) {
        const PreparedPart part{of,
                                values,
                                is_points,
                                first,
                                count,
                                first / tile_items,
                                slice * kTileAttributes,
                                static_cast<int>(first % tile_items),
                                scale};
        __syncthreads();
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            values[own][group * kEach + e] = given[e];
            const float value = part.scaled(own, part.first_attribute + group * kEach + e);
            sum += std::fabs(value) <= kLargestKept ? value * value : std::numeric_limits<float>::quiet_NaN();
        }
        read(slice + 1);  // on its way while these are written
        __syncthreads();
        part.write_rows();
        part.write_halves();
    }
    sums[group][own] = sum;
    __syncthreads();
    if (group != 0) return;
    float norm = 0;
    for (int g = 0; g < kGroups; ++g) norm += sums[g][own];
    norm *= of.kept;
    const std::int64_t tile = first / tile_items;
    const int in_tile = static_cast<int>(first % tile_items) + own;
    // A zero's cosine distance is 1, as if it were perpendicular to everything.
    if (of.metric == Metric::cosine && norm == 0) norm = is_points ? of.kept * scale * scale : NAN;
    if (is_points)
        of.point_tiles[tile * of.slices].norms[norm_of_point(in_tile)] = at >= count       ? kNoPoint
                                                                         : is_finite(norm) ? -norm / 2
                                                                                           : kAlways;
    else
        of.query_norms[at] = is_finite(norm) ? norm : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace
}  // namespace espalier::knn::threshold
