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
#include "kernels/core/variant.hpp"
#include "kernels/problems/distance.hpp"

/// Both sets as tensor cores want them without losing single precision: every value is the sum of two halves, and they
/// lie in device memory as in shared memory.
namespace espalier::distance {
namespace {

inline constexpr int kLanes = 32;
inline constexpr int kTileQueries = 128;     ///< columns of a tile
inline constexpr int kSliceAttributes = 32;  ///< of a row of 128 bytes: first the high halves, then the low ones
inline constexpr int kRowBytes = 128;
inline constexpr int kChunk = 16;  ///< attributes that a thread splits at once: whole sectors of 32 bytes
inline constexpr int kChunkPieces = kChunk / 8, kSliceChunks = kSliceAttributes / kChunk;
inline constexpr int kLowPiece = kSliceAttributes / 8;
inline constexpr int kRowsAtOnce = 8;        ///< of attributes, by a block that prepares
inline constexpr int kSampleEach = 4;        ///< points of a lane's that a centre is the mean of
inline constexpr int kLargestExponent = 14;  ///< of a scaled item: its halves end at 65,504
inline constexpr unsigned kAll = 0xFFFFFFFFU;

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A set as the caller has it, and what becomes of it. Of tiles and of what there is per item there are whole ones.
struct SplitSet {
    const float* values;
    std::int64_t count;
    std::int64_t padded;  ///< items of all tiles
    std::int64_t rows;    ///< items of a tile
    std::byte* tiles;     ///< by tile and slice of attributes
    float* norms;         ///< squared
    float* factors;       ///< what products of split items are multiplied by

    [[nodiscard]] __device__ std::int64_t slice_bytes() const { return rows * kRowBytes; }
};

/// Where the row of a query is in its tile. A lane's sums are of columns 8 n + 2 t and the next (`ProductSums`): dealt
/// like this those of two n are of four queries, one after another.
__device__ constexpr int row_of_query(int in_tile) {
    return in_tile / 16 * 16 + in_tile % 4 / 2 * 8 + in_tile % 16 / 4 * 2 + in_tile % 2;
}

/// A warp per attribute has the mean of up to 128 points' values. Any centre would do, a near one makes norms small.
__global__ void __launch_bounds__(kLanes* kRowsAtOnce)
    find_centre(const float* points, std::int64_t count, std::int64_t dims, float* centre) {
    const std::int64_t attribute = std::int64_t{blockIdx.x} * kRowsAtOnce + threadIdx.y;
    if (attribute >= dims) return;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kSampleEach; ++i)
        sum += points[attribute * count + (i * kLanes + threadIdx.x) * count / (kLanes * kSampleEach)];
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(kAll, sum, lanes);
    sum /= kLanes * kSampleEach;
    if (threadIdx.x == 0) centre[attribute] = sum - sum == 0 ? sum : 0.0F;  // 0 if it is not finite
}

/// 16 attributes of an item, scaled, as the sums of two halves each: the nearest half, and what that leaves, rounded.
struct SplitChunk {
    std::uint32_t high[kChunk / 2] = {}, low[kChunk / 2] = {};

    __device__ void set(int place, float scaled) {
        const std::uint16_t nearest = device::half_of(scaled);
        const std::uint16_t rest = device::half_of(scaled - device::float_of_half(nearest));
        high[place / 2] |= std::uint32_t{nearest} << (place % 2 * 16);
        low[place / 2] |= std::uint32_t{rest} << (place % 2 * 16);
    }

    /// As `chunk` of a row of a slice.
    __device__ void store(std::byte* slice, int row, int chunk) const {
        const auto piece = [](const std::uint32_t* words) { return uint4{words[0], words[1], words[2], words[3]}; };
#pragma unroll
        for (int i = 0; i < kChunkPieces; ++i) {
            const int at = chunk * kChunkPieces + i;
            *reinterpret_cast<uint4*>(slice + device::swizzled_place(row, at)) = piece(high + i * 4);
            *reinterpret_cast<uint4*>(slice + device::swizzled_place(row, kLowPiece + at)) = piece(low + i * 4);
        }
    }
};

/// A power of two by which an item's values are multiplied, and its inverse. The largest one becomes 2^14 at least and
/// below 2^15, where halves end at 65,504 and their low ones at 2^-24; an item below 2^-112 stays smaller.
struct Scale {
    float factor, inverse;

    explicit __device__ Scale(float largest) {
        const int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - kExponentBias;
        const int by = min(kLargestExponent - exponent, kExponentBias - 1);
        factor = __uint_as_float(static_cast<unsigned>(kExponentBias + by) << 23);
        inverse = __uint_as_float(static_cast<unsigned>(kExponentBias - by) << 23);
    }

private:
    static constexpr int kExponentBias = 127;
};

/// An item on its way: its values, centred if its set is.
template <Metric metric>
struct GivenItem {
    const float *values, *centre;
    std::int64_t stride, dims;
    bool is_there;

    [[nodiscard]] __device__ float operator[](std::int64_t attribute) const {
        if (!is_there || attribute >= dims) return 0;
        const float value = values[attribute * stride];
        return metric == Metric::cosine ? value : value - centre[attribute];
    }
};

/// What is known of an item from its scaled squared norm: of euclidean distances the norm, and the inverse scale, of
/// cosine distances the inverse norm. Infinite or NaN where a value is.
template <Metric metric>
__device__ void store_norm(const SplitSet& set, std::int64_t item, float square, const Scale& scale, bool is_finite) {
    const float norm = is_finite ? square * scale.inverse * scale.inverse : std::numeric_limits<float>::quiet_NaN();
    if constexpr (metric == Metric::cosine) {
        // What squares to 0 counts as a vector of zeros, 1 from everything.
        set.factors[item] = norm == 0 ? 0.0F : norm != norm ? norm : 1 / std::sqrt(square);
    } else {
        set.norms[item] = norm;
        set.factors[item] = scale.inverse;
    }
}

/// A block per 32 items, of the queries first. Each warp has every eighth attribute of them when it looks for the
/// largest, then every eighth chunk.
template <Metric metric>
__global__ void __launch_bounds__(kLanes* kRowsAtOnce)
    split_sets(SplitSet queries, SplitSet points, std::int64_t dims, std::int64_t slices, const float* centre) {
    auto& parts = device::shared<float[kRowsAtOnce][kLanes]>();
    const std::int64_t of_queries = queries.padded / kLanes, block = blockIdx.x;
    const bool is_query = block < of_queries;
    // Chosen one by one: a reference to one of two arguments is a copy of both in local memory.
    const SplitSet set{is_query ? queries.values : points.values,  is_query ? queries.count : points.count,
                       is_query ? queries.padded : points.padded,  is_query ? queries.rows : points.rows,
                       is_query ? queries.tiles : points.tiles,    is_query ? queries.norms : points.norms,
                       is_query ? queries.factors : points.factors};
    const unsigned lane = threadIdx.x, warp = threadIdx.y;
    const std::int64_t item = (is_query ? block : block - of_queries) * kLanes + lane;
    const GivenItem<metric> given{set.values + item, centre, set.count, dims, item < set.count};

    float largest = 0;
#pragma unroll 8
    for (std::int64_t a = warp; a < dims; a += kRowsAtOnce) {
        const float value = given[a];
        largest = value - value == 0 ? std::max(largest, std::fabs(value)) : std::numeric_limits<float>::infinity();
    }
    parts[warp][lane] = largest;
    __syncthreads();
#pragma unroll
    for (const auto& part : parts) largest = std::max(largest, part[lane]);
    __syncthreads();  // the parts are written again

    const bool is_finite = largest <= std::numeric_limits<float>::max();
    const Scale scale(is_finite ? largest : 1.0F);
    const int in_tile = static_cast<int>(item % set.rows);
    const int row = is_query ? row_of_query(in_tile) : in_tile;
    std::byte* const tile = set.tiles + item / set.rows * slices * set.slice_bytes();
    float square = 0;
    for (std::int64_t chunk = warp; chunk < slices * kSliceChunks; chunk += kRowsAtOnce) {
        SplitChunk split;
        float of_chunk = 0;
#pragma unroll
        for (int i = 0; i < kChunk; ++i) {
            const float scaled = is_finite ? given[chunk * kChunk + i] * scale.factor : 0.0F;
            split.set(i, scaled);
            of_chunk += scaled * scaled;
        }
        square += of_chunk;
        split.store(tile + chunk / kSliceChunks * set.slice_bytes(), row, static_cast<int>(chunk % kSliceChunks));
    }
    parts[warp][lane] = square;
    __syncthreads();
    if (warp != 0) return;
    square = 0;
#pragma unroll
    for (const auto& part : parts) square += part[lane];
    store_norm<metric>(set, item, square, scale, is_finite);
}

}  // namespace
}  // namespace espalier::distance
