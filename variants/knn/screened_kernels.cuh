#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/copy_ahead.hpp"
#include "device/half_tiles.hpp"
#include "device/kernel.hpp"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/fused_search.hpp"
#include "variants/knn/screened_bound.hpp"

/// Screening on tensor cores: every query's list of the points with the least lower bounds.
namespace espalier::knn {
namespace {

inline constexpr int kScreenTile = 128;  ///< queries and points
inline constexpr int kChunk = 64;        ///< attributes in shared memory: rows of 128 bytes
inline constexpr int kPieces = 8;        ///< of 16 bytes in such a row
inline constexpr int kChunkBytes = kScreenTile * kChunk * 2;
inline constexpr int kWarpQueries = 32, kWarpPoints = 64;  ///< of the 8 warps, 4 x 2
inline constexpr int kQueryParts = kWarpQueries / 16, kPointParts = kWarpPoints / 8;

/// What is found out about the data on the way.
struct Findings {
    std::int32_t uncertified;  ///< queries
    std::uint32_t largest;     ///< bits of the largest centred attribute
    std::uint32_t norm;        ///< bits of the largest squared norm of a point, scaled, less what is kept back
    std::uint32_t unbounded;   ///< whether a point has an attribute that is not finite
};

__device__ inline bool is_finite(float value) { return value - value == 0; }

/// A block per attribute: the mean of up to 4,096 points. Any centre would do; a good one makes norms small.
__global__ void __launch_bounds__(kThreads) find_centre(std::int64_t points, const float* values, float* centre) {
    constexpr std::int64_t kMost = 4096;
    auto& sums = device::shared<float[kBlockWarps]>();
    const std::int64_t stride = std::max<std::int64_t>(points / kMost, 1);
    const float* const row = values + blockIdx.x * points;
    float sum = 0;
    for (std::int64_t i = threadIdx.x; i * stride < points; i += kThreads)
        if (const float value = row[i * stride]; is_finite(value)) sum += value;
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(kAll, sum, lanes);
    if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float total = 0;
    for (int w = 0; w < kBlockWarps; ++w) total += sums[w];
    total /= static_cast<float>(divided_up(points, stride));
    centre[blockIdx.x] = is_finite(total) ? total : 0.0F;
}

/// Four items per thread of every gridDim.y-th attribute.
__global__ void __launch_bounds__(kThreads)
    find_extremes(std::int64_t count, std::int32_t dims, bool of_points, const float* values, const float* centre,
                  Findings* findings) {
    constexpr int kEach = 4;
    auto& largest = device::shared<unsigned>();
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    unsigned own = 0;
    bool unbounded = false;
    for (std::int32_t a = static_cast<std::int32_t>(blockIdx.y); a < dims; a += static_cast<std::int32_t>(gridDim.y))
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
            const std::int64_t i = (std::int64_t{blockIdx.x} * kEach + e) * kThreads + threadIdx.x;
            const float value = i < count ? std::fabs(values[a * count + i] - centre[a]) : 0.0F;
            if (is_finite(value))
                own = std::max(own, __float_as_uint(value));
            else
                unbounded = true;
        }
    own = __reduce_max_sync(kAll, own);
    if (threadIdx.x % kLanes == 0) atomicMax(&largest, own);
    if (unbounded && of_points) atomicMax(&findings->unbounded, 1U);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&findings->largest, largest);
}

__device__ inline float scale_of(const Findings& findings) { return power_of_two(scale_exponent(findings.largest)); }

/// An attribute-major set as rows of halves, and the part of the squared norms that bounds keep, times `norm_factor`.
/// A row that is not finite has a norm of NaN. Beyond the set rows are 0, and norms `otherwise`. 64 items per block.
__global__ void __launch_bounds__(kThreads)
    prepare_set(std::int64_t count, std::int32_t dims, std::int32_t width, float norm_factor, float otherwise,
                const float* values, const float* centre, Findings* findings, std::uint16_t* rows, float* norms) {
    constexpr int kItems = 64, kGroups = kThreads / kItems, kEach = kChunk / kGroups;
    constexpr int kPadded = kChunk + 8;  // 16 more bytes: rows meet in banks less often
    struct alignas(16) Tile {
        std::uint32_t words[kItems][kPadded / 2];
    };
    auto& tile = device::shared<Tile>();
    auto& sums = device::shared<float[kGroups][kItems]>();
    const int item = static_cast<int>(threadIdx.x) % kItems, group = static_cast<int>(threadIdx.x) / kItems;
    const std::int64_t first = std::int64_t{blockIdx.x} * kItems, at = first + item;
    const float scale = scale_of(*findings);
    float sum = 0;
    for (std::int32_t chunk = 0; chunk < width; chunk += kChunk) {
#pragma unroll
        for (int e = 0; e < kEach; e += 2) {
            std::uint32_t word = 0;
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const std::int32_t a = chunk + group * kEach + e + i;
                if (at >= count || a >= dims) continue;
                const float value = (values[a * count + at] - centre[a]) * scale;
                sum += value * value;
                word |= std::uint32_t{device::half_of(value)} << (16 * i);
            }
            tile.words[item][(group * kEach + e) / 2] = word;
        }
        __syncthreads();
        const int pieces = min(width - chunk, kChunk) / 8;
        for (int i = static_cast<int>(threadIdx.x); i < kItems * kPieces; i += kThreads) {
            const int row = i / kPieces, piece = i % kPieces;
            if (piece < pieces)
                *reinterpret_cast<uint4*>(rows + (first + row) * width + chunk + piece * 8) =
                    *reinterpret_cast<const uint4*>(&tile.words[row][piece * 4]);
        }
        __syncthreads();
    }
    sums[group][item] = sum;
    __syncthreads();
    if (group != 0) return;
    float norm = 0;
    for (int g = 0; g < kGroups; ++g) norm += sums[g][item];
    norm = is_finite(norm) ? norm * norm_factor : std::numeric_limits<float>::quiet_NaN();
    norms[at] = at < count ? norm : otherwise;
    // Those of points are halved and negated.
    const float of_point = at < count && norm < 0 ? -2 * norm : 0.0F;
    const unsigned most = __reduce_max_sync(kAll, __float_as_uint(of_point));
    if (threadIdx.x % kLanes == 0 && most != 0) atomicMax(&findings->norm, most);
}

/// No negated value that was thrown away is below this.
__device__ inline float least_discarded(std::uint64_t kth, std::uint64_t last, float margin) {
    float least = std::numeric_limits<float>::infinity();
    if (last != kEmptyEntry) least = value_of(key_of_entry(last));
    if (kth != kEmptyEntry) least = std::min(least, value_of(key_of_entry(kth)) + margin);
    return least;
}

/// What may still matter: values above `floors`. That is above the list's last entry, and not so far below the k-th one
/// that it is behind it whatever the errors were: `margins`.
template <int queries>
struct Floors {
    static constexpr int kQueries = queries;
    float floors[queries], margins[queries];

    __device__ static float ranked(float value) { return -value; }
    __device__ void open(int query) { floors[query] = -std::numeric_limits<float>::infinity(); }
    __device__ void follow(int query, std::uint64_t kth, std::uint64_t last) {
        floors[query] = -least_discarded(kth, last, margins[query]);
    }
    __device__ void close(int query) { floors[query] = std::numeric_limits<float>::infinity(); }
};

using ScreenLists = Lists<Floors<kScreenTile>>;

/// `query_rows` and the norms are of all queries, rounded up to whole tiles; a search is for `count` from `first` on, a
/// multiple of a tile. An entry's key is that of the negated value: half the lower bound less the query's norm.
struct Screen {
    const std::uint16_t* query_rows;
    const std::uint16_t* point_rows;
    const float* point_norms;
    const float* query_norms;
    std::int64_t first, count, slices;
    std::int32_t width, length, k;
    float margin;  ///< of the sum of two squared norms
    Walk walk;
    std::uint64_t* lists;  ///< per slice, query tile and query of it, `length` each
    const Findings* findings;

    [[nodiscard]] __device__ std::int64_t query_tiles() const { return divided_up(count, kScreenTile); }
    [[nodiscard]] __device__ float margin_of(std::int64_t query) const {
        return margin * (query_norms[query] + __uint_as_float(findings->norm));
    }
    [[nodiscard]] __device__ std::int32_t chunks() const { return (width + kChunk - 1) / kChunk; }
};

/// The place of 16 bytes of a row, so that eight rows' are in different banks.
__device__ inline int place_of(int row, int piece) { return row * kChunk * 2 + ((piece ^ (row & 7)) * 16); }

/// A chunk of a tile's rows to shared memory, by all threads.
__device__ inline void copy_chunk(std::byte* to, const std::uint16_t* rows, std::int32_t width, std::int32_t chunk,
                                  unsigned thread) {
    const int pieces = min(width - chunk * kChunk, kChunk) / 8;
#pragma unroll
    for (int i = 0; i < kScreenTile * kPieces / kThreads; ++i) {
        const int at = static_cast<int>(thread) + i * kThreads, row = at / kPieces, piece = at % kPieces;
        if (piece < pieces)
            device::copy_ahead(to + place_of(row, piece),
                               rows + std::int64_t{row} * width + chunk * kChunk + piece * 8);
    }
}

using WarpSums = float[kQueryParts][kPointParts][4];

/// Adds 16 attributes' products.
__device__ __forceinline__ void add_products(WarpSums& sums, const std::byte* queries, const std::byte* points,
                                             int step, unsigned warp, unsigned lane) {
    const int row = static_cast<int>(lane);
    const int first_query = static_cast<int>(warp / 2) * kWarpQueries;
    const int first_point = static_cast<int>(warp % 2) * kWarpPoints;
    std::uint32_t a[kQueryParts][4];
#pragma unroll
    for (int m = 0; m < kQueryParts; ++m)
        device::load_matrices(a[m], queries + place_of(first_query + m * 16 + row % 16, 2 * step + row / 16));
#pragma unroll
    for (int n = 0; n < kPointParts; n += 2) {
        std::uint32_t b[4];
        device::load_matrices(b,
                              points + place_of(first_point + n * 8 + row / 16 * 8 + row % 8, 2 * step + row / 8 % 2));
#pragma unroll
        for (int m = 0; m < kQueryParts; ++m) {
            device::multiply_halves(sums[m][n], a[m], b[0], b[1]);
            device::multiply_halves(sums[m][n + 1], a[m], b[2], b[3]);
        }
    }
}

/// How the values of a query that are above the floor come to the buffer: chosen one after the other, or in a branch
/// for each, which is faster where there are many, but takes registers away from the loop around it.
enum class Offering { chosen, branches };

/// Puts values above the floors into the buffers. Returns whether one found no room. A lane has 4 queries' values of 16
/// points; `taken` has a bit for each that is in a buffer already.
template <Offering offering>
__device__ __forceinline__ bool offer_values(const ScreenLists& lists, const WarpSums& sums, std::int64_t first_point,
                                             std::uint32_t (&taken)[kQueryParts], unsigned warp, unsigned lane) {
    constexpr int kPoints = kPointParts * 2;
    const auto point = static_cast<std::uint32_t>(first_point) + warp % 2 * kWarpPoints + lane % 4 * 2;
    bool left = false;
#pragma unroll
    for (int m = 0; m < kQueryParts; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int query =
                static_cast<int>(warp / 2) * kWarpQueries + m * 16 + half * 8 + static_cast<int>(lane / 4);
            const float floor = lists.limits.floors[query];
            bool any = false;
#pragma unroll
            for (int n = 0; n < kPoints; ++n) any = any || sums[m][n / 2][half * 2 + n % 2] > floor;
            if (!any) continue;
            const auto offer = [&](float value, int n) {
                const bool has_room = lists.offer(query, value, point + static_cast<std::uint32_t>(n / 2 * 8 + n % 2));
                if (has_room)
                    taken[m] |= 1U << (half * kPoints + n);
                else
                    left = true;
                return has_room;
            };
            if constexpr (offering == Offering::branches) {
#pragma unroll
                for (int n = 0; n < kPoints; ++n) {
                    const float value = sums[m][n / 2][half * 2 + n % 2];
                    if (value > floor && (taken[m] >> (half * kPoints + n) & 1) == 0) offer(value, n);
                }
            } else {
                unsigned candidates = 0;
#pragma unroll
                for (int n = 0; n < kPoints; ++n)
                    if (sums[m][n / 2][half * 2 + n % 2] > floor) candidates |= 1U << n;
                candidates &= ~(taken[m] >> (half * kPoints));
                while (candidates != 0) {
                    const int chosen = __ffs(static_cast<int>(candidates)) - 1;
                    candidates &= candidates - 1;
                    float value = sums[m][0][half * 2];
#pragma unroll
                    for (int n = 1; n < kPoints; ++n)
                        if (n == chosen) value = sums[m][n / 2][half * 2 + n % 2];
                    if (!offer(value, chosen)) break;
                }
            }
        }
    return left;
}

/// Bytes of dynamic shared memory: the queries' chunks, two of points, and the buffers.
constexpr std::size_t screen_bytes(std::int64_t dims) {
    return static_cast<std::size_t>(std::max<std::int64_t>(divided_up(dims, kChunk), 1) + 2) * kChunkBytes +
           std::size_t{kScreenTile} * kBuffer * sizeof(std::uint64_t);
}

template <Offering offering>
__global__ void __launch_bounds__(kThreads, 2) screen_tiles(Screen screen) {
    struct alignas(16) Norms {
        float values[2][kScreenTile];
    };
    auto& norms = device::shared<Norms>().values;
    auto& floors = device::shared<Floors<kScreenTile>>();
    auto& waiting = device::shared<std::int32_t[kScreenTile], struct Waiting>();
    auto* const memory = device::dynamic_shared<std::byte>();
    const std::int32_t chunks = screen.chunks();
    std::byte* const points = memory + chunks * kChunkBytes;
    auto& buffers = *reinterpret_cast<std::uint64_t(*)[kScreenTile][kBuffer]>(points + 2 * kChunkBytes);
    const unsigned lane = threadIdx.x, warp = threadIdx.y, thread = warp * kLanes + lane;
    if (screen.findings->unbounded != 0) return;

    const std::int64_t query_tile = blockIdx.x % screen.query_tiles(), slice = blockIdx.x / screen.query_tiles();
    const ScreenLists lists{floors,        waiting,
                            buffers,       screen.lists + std::int64_t{blockIdx.x} * kScreenTile * screen.length,
                            screen.length, screen.length};
    lists.clear(screen.count - query_tile * kScreenTile, thread);
    if (thread < kScreenTile)
        floors.margins[thread] = screen.margin_of(screen.first + query_tile * kScreenTile + thread);
    const auto begin = static_cast<std::int32_t>(slice * screen.walk.tiles / screen.slices);
    const auto end = static_cast<std::int32_t>((slice + 1) * screen.walk.tiles / screen.slices);
    std::int32_t tile = screen.walk.tile_at(begin);

    const auto copy_points = [&](std::int32_t of, std::int32_t chunk, int buffer, int parity) {
        const std::int64_t first = std::int64_t{of} * kScreenTile;
        copy_chunk(points + buffer * kChunkBytes, screen.point_rows + first * screen.width, screen.width, chunk,
                   thread);
        if (chunk == 0 && thread < kScreenTile / 4)
            device::copy_ahead(&norms[parity][thread * 4], screen.point_norms + first + thread * 4);
    };
    const std::uint16_t* const query_rows =
        screen.query_rows + (screen.first + query_tile * kScreenTile) * screen.width;
    for (std::int32_t chunk = 0; chunk < chunks; ++chunk)
        copy_chunk(memory + chunk * kChunkBytes, query_rows, screen.width, chunk, thread);
    if (begin < end) copy_points(tile, 0, 0, 0);

    int buffer = 0;
    for (std::int32_t position = begin; position < end; ++position) {
        const int parity = (position - begin) % 2;
        const std::int32_t next_tile = screen.walk.after(tile);
        WarpSums sums;
        for (std::int32_t chunk = 0; chunk < chunks; ++chunk, buffer ^= 1) {
            device::wait_for_copies();
            // One barrier: what is copied next goes where nobody reads any more.
            __syncthreads();
            const bool ends = chunk + 1 == chunks;
            if (!ends || position + 1 < end)
                copy_points(ends ? next_tile : tile, ends ? 0 : chunk + 1, buffer ^ 1, parity ^ (ends ? 1 : 0));
            if (chunk == 0) {
#pragma unroll
                for (int n = 0; n < kPointParts; ++n) {
                    const float2 two = *reinterpret_cast<const float2*>(
                        &norms[parity][warp % 2 * kWarpPoints + static_cast<unsigned>(n) * 8 + lane % 4 * 2]);
#pragma unroll
                    for (int m = 0; m < kQueryParts; ++m)
                        sums[m][n][0] = sums[m][n][2] = two.x, sums[m][n][1] = sums[m][n][3] = two.y;
                }
            }
            const int steps = min(screen.width - chunk * kChunk, kChunk) / kStep;
            const std::byte* const chunk_of_queries = memory + chunk * kChunkBytes;
            const std::byte* const chunk_of_points = points + buffer * kChunkBytes;
            if (steps == kChunk / kStep) {
#pragma unroll
                for (int step = 0; step < kChunk / kStep; ++step)
                    add_products(sums, chunk_of_queries, chunk_of_points, step, warp, lane);
            } else {
#pragma unroll 1
                for (int step = 0; step < steps; ++step)
                    add_products(sums, chunk_of_queries, chunk_of_points, step, warp, lane);
            }
        }
        std::uint32_t taken[kQueryParts] = {};
        const std::int64_t first_point = std::int64_t{tile} * kScreenTile;
        while (__syncthreads_or(offer_values<offering>(lists, sums, first_point, taken, warp, lane))) {
            lists.merge(kBuffer / 2, warp, lane);
            __syncthreads();
        }
        tile = next_tile;
    }
    __syncthreads();
    lists.merge(1, warp, lane);
}

}  // namespace
}  // namespace espalier::knn
