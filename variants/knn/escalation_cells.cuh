#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "variants/knn/escalation_state.cuh"

/// Cells of the queries that a first screening had too many candidates for. Centres are some of these queries, none
/// near another as their thresholds measure it. A query belongs to the nearest centre, and a cell lists every point
/// that may be within the threshold of one of its queries, by the triangle inequality (docs/performance/knn-fused.md):
/// what a cell needs to know is in its list, and its points and queries are near its centre. Points may be in several
/// lists.
namespace espalier::knn::escalation {
namespace {

/// Queries with many candidates look as if these had found no room, for now.
__global__ void __launch_bounds__(kThreads) postpone(Escalation of) {
    const auto place = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
    if (place >= of.count) return;
    const std::int32_t count = of.counts[place];
    of.candidates[place] = count;
    of.listed[place] = kTooMany;
    if (count <= of.usual) return;
    of.counts[place] = kTooMany;
    atomicAdd(&of.state->waiting, static_cast<unsigned long long>(min(count, of.most_waiting)));
}

/// Deals what the first screening left: a query with a threshold goes on, unless there are only a few.
__global__ void __launch_bounds__(kThreads) deal_unserved(Escalation of) {
    const std::int32_t count = of.findings->unlisted;
    const bool many = count > of.few || static_cast<std::int64_t>(of.state->waiting) > of.few_waiting;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        of.state->by_cell.spread = __float_as_uint(4.0F);
        of.state->of_listed.spread = of.findings->spread;
    }
    for (auto i = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x); i < count;
         i += static_cast<std::int32_t>(gridDim.x) * kThreads) {
        const std::int32_t query = of.unserved[i];
        const float norm = of.query_norms[query];
        if (many && norm == norm && of.limits[query - of.first] < kFarthest)
            of.escalated[atomicAdd(&of.state->escalated, 1)] = query;
        else
            of.leave(query);
    }
}

/// One block: queries that may become centres, from all over the chunk, or from those that go on if that are not all.
template <bool of_all>
__global__ void __launch_bounds__(kSamples) draw_samples(Escalation of) {
    const std::int32_t all = of_all ? of.count : of.state->escalated, count = min(all, int{kSamples});
    const auto i = static_cast<std::int32_t>(threadIdx.x);
    const auto place = static_cast<std::int32_t>(std::int64_t{i} * all / max(count, 1));
    if (i < kMostCells) of.cells[i] = {};
    if (!of_all && of.state->at_once != 0) return;
    if (i < count) of.samples[i] = of_all ? of.first + place : of.escalated[place];
    if (i == 0) of.state->samples = count;
}

/// Items whose distances are wanted: rows of a set, of all of it or of those listed.
struct Items {
    const float *rows, *inverse;  ///< norms only for unit vectors
    const std::int32_t* listed;
    std::int64_t count;

    [[nodiscard]] __device__ std::int64_t item(std::int64_t place) const { return listed ? listed[place] : place; }
};

inline constexpr int kMeasured = 64, kMeasuredPart = 32;  ///< items and attributes of a tile
inline constexpr int kEach = 4;                           ///< rows and columns of a thread
using MeasuredTile = float[kMeasuredPart][kMeasured + 4];

/// 32 attributes of 64 items to shared memory.
__device__ inline void load_items(MeasuredTile& tile, const Items& items, std::int64_t first, std::int32_t attribute,
                                  std::int32_t dims) {
    const auto thread = static_cast<int>(threadIdx.x);
    const std::int64_t stride = row_stride(dims);
    const int own = thread % (kMeasuredPart / 4) * 4;
    for (int i = thread / (kMeasuredPart / 4); i < kMeasured; i += kThreads / (kMeasuredPart / 4)) {
        float4 four{0, 0, 0, 0};
        if (first + i < items.count && attribute + own < stride) {
            const std::int64_t item = items.item(first + i);
            four = *reinterpret_cast<const float4*>(items.rows + item * stride + attribute + own);
            if (items.inverse) {
                const float by = items.inverse[item];
                four = {four.x * by, four.y * by, four.z * by, four.w * by};
            }
        }
        tile[own][i] = four.x, tile[own + 1][i] = four.y, tile[own + 2][i] = four.z, tile[own + 3][i] = four.w;
    }
}

/// Direct straight-line distances, a tile of 64 x 64 at a time; a block takes a tile of rows against all columns, or
/// against some where the grid has more columns than one. Its threads have four neighbouring rows and columns each.
template <class Receiver>
__global__ void __launch_bounds__(kThreads, 2) measure(Escalation of) {
    auto& row_tile = device::shared<MeasuredTile, struct RowTile>();
    auto& column_tile = device::shared<MeasuredTile, struct ColumnTile>();
    Receiver receiver(of);
    const Items rows = receiver.rows(), columns = receiver.columns();
    if (columns.count == 0) return;
    const int x = static_cast<int>(threadIdx.x) % 16 * kEach, y = static_cast<int>(threadIdx.x) / 16 * kEach;
    for (std::int64_t row = std::int64_t{blockIdx.x} * kMeasured; row < rows.count;
         row += std::int64_t{gridDim.x} * kMeasured) {
        receiver.begin();
        for (std::int64_t column = std::int64_t{blockIdx.y} * kMeasured; column < columns.count;
             column += std::int64_t{gridDim.y} * kMeasured) {
            float sums[kEach][kEach] = {};
            for (std::int32_t attribute = 0; attribute < of.dims; attribute += kMeasuredPart) {
                __syncthreads();
                load_items(row_tile, rows, row, attribute, of.dims);
                load_items(column_tile, columns, column, attribute, of.dims);
                __syncthreads();
#pragma unroll 4
                for (int a = 0; a < kMeasuredPart; ++a) {
                    const float4 r = *reinterpret_cast<const float4*>(&row_tile[a][y]);
                    const float4 c = *reinterpret_cast<const float4*>(&column_tile[a][x]);
                    const float own[kEach] = {r.x, r.y, r.z, r.w}, other[kEach] = {c.x, c.y, c.z, c.w};
#pragma unroll
                    for (int i = 0; i < kEach; ++i)
#pragma unroll
                        for (int j = 0; j < kEach; ++j) {
                            const float difference = own[i] - other[j];
                            sums[i][j] += difference * difference;
                        }
                }
            }
#pragma unroll
            for (auto& own : sums)
#pragma unroll
                for (float& sum : own) sum = std::sqrt(sum);
            receiver.take(row, column, x, y, sums);
        }
        receiver.end(row, x, y);
    }
}

using Measured = float[kEach][kEach];

struct Receiving {
    const Escalation& of;

    [[nodiscard]] __device__ Items queries(const std::int32_t* listed, std::int32_t count) const {
        return {of.query_rows, of.inverse, listed, count};
    }
    [[nodiscard]] __device__ Items samples() const { return queries(of.samples, of.state->samples); }
};

/// The distances between samples that were just drawn.
template <bool of_all>
struct BetweenSamples : Receiving {
    __device__ explicit BetweenSamples(const Escalation& escalation) : Receiving{escalation} {}
    [[nodiscard]] __device__ Items rows() const { return samples(); }
    [[nodiscard]] __device__ Items columns() const { return !of_all && of.state->at_once != 0 ? Items{} : samples(); }
    __device__ void begin() const {}
    __device__ void take(std::int64_t row, std::int64_t column, int x, int y, const Measured& distances) const {
        for (int i = 0; i < kEach; ++i)
            for (int j = 0; j < kEach; ++j)
                of.between_samples[(row + y + i) * kSamples + column + x + j] = distances[i][j];
    }
    __device__ void end(std::int64_t, int, int) const {}
};

/// The nearer one is less.
__device__ inline std::uint64_t entry_at(float distance, std::int64_t number) {
    return entry_of(key_of(distance), static_cast<std::uint32_t>(number));
}
__device__ inline float distance_of(std::uint64_t entry) { return value_of(key_of_entry(entry)); }

/// A warp per sample adds what it says to the outlook, as if it were the centre of a cell whose queries are as near as
/// its nearest neighbour, or as queries come that are not centres themselves.
__global__ void __launch_bounds__(kThreads) weigh_cells(Escalation of) {
    const auto own = static_cast<std::int32_t>(blockIdx.x * kBlockWarps + threadIdx.y);
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t count = of.state->samples;
    if (own >= count) return;
    const float* const distances = of.between_samples + std::int64_t{own} * kSamples;
    std::uint64_t least = kEmptyEntry;  // distance and sample
    for (std::int32_t i = lane; i < count; i += kLanes)
        if (i != own) least = min(least, entry_at(distances[i], i));
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) least = min(least, __shfl_xor_sync(kAll, least, lanes));
    const float nearest = distance_of(least);
    const float reach = of.reach_of_query(of.samples[own]), apart = kApart * reach;
    const float radius = fmaxf(nearest, apart) + reach;
    std::int32_t near = 0, within = 0;
    for (std::int32_t i = lane; i < count; i += kLanes) {
        near += i == own || distances[i] <= apart ? 1 : 0;
        within += i == own || !(distances[i] > radius) ? 1 : 0;
    }
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) {
        near += __shfl_xor_sync(kAll, near, lanes);
        within += __shfl_xor_sync(kAll, within, lanes);
    }
    if (lane != 0) return;
    Outlook& outlook = of.state->outlook;
    if (least != kEmptyEntry && of.is_near(of.samples[own], of.samples[index_of_entry(least)], nearest))
        atomicAdd(&outlook.joining, 1);
    atomicAdd(&outlook.within, within);
    atomicAdd(&outlook.centres, Outlook::kShares / near);
    atomicAdd(&outlook.listed, Outlook::kShares * within / near);
}

/// Where cells pay for all queries none has candidates listed before: all go on at once.
__global__ void __launch_bounds__(kThreads) go_on_at_once(Escalation of, float* floors) {
    if (!of.cells_pay()) return;
    const auto place = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
    if (place >= of.count) return;
    floors[place] = std::numeric_limits<float>::infinity();
    of.counts[place] = kTooMany;
    if (place != 0) return;
    of.state->at_once = 1;
    of.state->counts.at_once += of.count;
}

/// One block: a sample is a centre unless one before it is, within some reaches of it. All warps find who is near whom,
/// and one goes through the samples.
__global__ void __launch_bounds__(kSamples) keep_centres(Escalation of) {
    constexpr int kWords = kSamples / kLanes, kWarps = kSamples / kLanes;
    auto& near = device::shared<std::uint32_t[kSamples][kWords]>();
    const int lane = static_cast<int>(threadIdx.x) % kLanes, warp = static_cast<int>(threadIdx.x) / kLanes;
    const std::int32_t count = of.state->samples;
    for (std::int32_t i = warp; i < count; i += kWarps) {
        const float* const distances = of.between_samples + std::int64_t{i} * kSamples;
        const float apart = kApart * of.reach_of_query(of.samples[i]);
        float own[kWords];
#pragma unroll
        for (int w = 0; w < kWords; ++w) own[w] = distances[w * kLanes + lane];
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
            const unsigned bits = __ballot_sync(kAll, own[w] <= apart);
            if (lane == 0) near[i][w] = bits;
        }
    }
    __syncthreads();
    if (warp != 0) return;
    std::uint32_t kept = 0;  // of a word's samples, by lane
    std::int32_t centres = 0;
    for (std::int32_t i = 0; i < count && centres < of.most_cells; ++i) {
        if (__any_sync(kAll, lane < kWords && (near[i][lane % kWords] & kept) != 0)) continue;
        if (lane == i / kLanes) kept |= 1U << i % kLanes;
        if (lane == 0) of.cells[centres].centre = of.samples[i];
        ++centres;
    }
    __syncwarp();
    for (std::int32_t i = lane; i < centres; i += kLanes) of.samples[i] = of.cells[i].centre;  // for the next kernels
    if (lane == 0) of.state->centres = centres;
}

/// Queries join the cell of the nearest centre, if it is near, and widen it. Others are left to the direct search.
struct Join : Receiving {
    std::uint64_t nearest[kEach];  ///< distance and centre, by row

    __device__ explicit Join(const Escalation& escalation) : Receiving{escalation} {}
    [[nodiscard]] __device__ Items rows() const { return queries(of.escalated, of.state->escalated); }
    [[nodiscard]] __device__ Items columns() const { return queries(of.samples, of.state->centres); }
    __device__ void begin() {
        for (std::uint64_t& each : nearest) each = kEmptyEntry;
    }
    __device__ void take(std::int64_t, std::int64_t column, int x, int, const Measured& distances) {
#pragma unroll
        for (int i = 0; i < kEach; ++i)
#pragma unroll
            for (int j = 0; j < kEach; ++j)
                if (column + x + j < of.state->centres)
                    nearest[i] = min(nearest[i], entry_at(distances[i][j], column + x + j));
    }
    __device__ void end(std::int64_t row, int x, int y) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
#pragma unroll
            for (int lanes = 8; lanes > 0; lanes /= 2)
                nearest[i] = min(nearest[i], __shfl_xor_sync(kAll, nearest[i], lanes));
            const std::int64_t place = row + y + i;
            if (x == 0 && place < of.state->escalated) join(place, nearest[i]);
        }
    }

private:
    __device__ void join(std::int64_t place, std::uint64_t entry) const {
        const std::int32_t query = of.escalated[place], number = index_of_entry(entry);
        const float distance = distance_of(entry);
        const bool is_near = of.is_near(query, of.samples[number], distance);
        of.cell_of[place] = is_near ? number : -1;
        if (!is_near) return of.leave(query);
        Cell& cell = of.cells[number];
        atomicAdd(&cell.queries, 1);
        atomicMax(&cell.reach, of.reach_around(distance, of.reach_of_query(query)));
    }
};

/// Which points are within the reach of which cells: masks, and how many.
struct Members : Receiving {
    std::uint32_t (&words)[kMeasured][2];
    std::int32_t (&counts)[kMeasured];

    __device__ explicit Members(const Escalation& escalation)
        : Receiving{escalation},
          words(device::shared<std::uint32_t[kMeasured][2]>()),
          counts(device::shared<std::int32_t[kMeasured]>()) {}
    [[nodiscard]] __device__ Items rows() const {
        return {of.point_rows, of.inverse ? of.inverse + of.all_queries : nullptr, nullptr, of.points};
    }
    [[nodiscard]] __device__ Items columns() const { return queries(of.samples, of.state->centres); }
    __device__ void begin() const {}
    __device__ void take(std::int64_t row, std::int64_t column, int x, int y, const Measured& distances) const {
        const auto thread = static_cast<int>(threadIdx.x);
        if (thread < kMeasured) words[thread][0] = words[thread][1] = 0, counts[thread] = 0;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
            if (column + x + j >= of.state->centres) continue;
            const Cell& cell = of.cells[column + x + j];
            const float reach = __uint_as_float(cell.reach);
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                // What is no number is nobody's neighbour, unless only its inverse norm is unknown.
                const bool within = of.metric == Metric::cosine ? !(distances[i][j] > reach) : distances[i][j] <= reach;
                if (!within || cell.queries == 0 || row + y + i >= of.points) continue;
                atomicOr(&words[y + i][(x + j) / 32], 1U << (x + j) % 32);
                atomicAdd(&counts[x + j], 1);
            }
        }
        __syncthreads();
        if (thread < kMeasured && counts[thread] > 0) atomicAdd(&of.cells[column + thread].points, counts[thread]);
        if (thread < kMeasured && row + thread < of.points)
            for (int w = 0; w < 2; ++w)
                of.masks[(row + thread) * (kMostCells / 32) + column / 32 + w] = words[thread][w];
    }
    __device__ void end(std::int64_t, int, int) const {}
};

/// One block, a thread for each cell: where their tiles are. Cells that find no room have none; those that list more
/// than a quarter of the points come last.
__global__ void __launch_bounds__(kMostCells) place_cells(Escalation of) {
    struct Tiles {
        std::int32_t queries, points;
    };
    auto& wanted = device::shared<Tiles[kMostCells]>();
    const auto own = static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t centres = of.state->centres;
    if (own < centres)
        wanted[own] = {(of.cells[own].queries + kCellItems - 1) / kCellItems,
                       (of.cells[own].points + kCellItems - 1) / kCellItems};
    __syncthreads();
    if (own == 0) {
        const auto large = static_cast<std::int32_t>(of.points / (4 * kCellItems));
        std::int32_t queries = 0, points = 0;
        for (std::int32_t place = 0; place < 2 * centres; ++place) {
            const std::int32_t i = place % centres;
            const Tiles tiles = wanted[i];
            if ((tiles.points > large) != (place >= centres)) continue;
            if (queries + tiles.queries > of.query_tiles || points + tiles.points > of.point_tiles) continue;
            Cell& cell = of.cells[i];
            cell.first_query_tile = queries, cell.query_tiles = tiles.queries;
            cell.first_point_tile = points, cell.point_tiles = tiles.points;
            queries += tiles.queries, points += tiles.points;
        }
        of.state->query_tiles = queries, of.state->point_tiles = points;
        of.state->query_places = queries * kCellItems;
    }
    __syncthreads();
    if (own >= centres) return;
    const Cell& cell = of.cells[own];
    for (std::int32_t i = 0; i < cell.query_tiles; ++i) of.query_tile_cells[cell.first_query_tile + i] = own;
    for (std::int32_t i = 0; i < cell.point_tiles; ++i) of.point_tile_cells[cell.first_point_tile + i] = own;
}

/// Queries and points to places of their cells' tiles.
__global__ void __launch_bounds__(kThreads) fill_cells(Escalation of) {
    if (of.state->centres == 0) return;
    const std::int64_t own = std::int64_t{blockIdx.x} * kThreads + threadIdx.x,
                       all = std::int64_t{gridDim.x} * kThreads;
    for (std::int64_t i = own; i < of.state->escalated; i += all) {
        const std::int32_t query = of.escalated[i], number = of.cell_of[i];
        if (number < 0) continue;
        Cell& cell = of.cells[number];
        if (cell.query_tiles == 0) {
            of.leave(query);
            continue;
        }
        of.query_items[cell.first_query_tile * kCellItems + atomicAdd(&cell.placed_queries, 1)] = query;
        atomicAdd(&of.state->counts.by_cell, 1);
    }
    const std::int32_t words = (of.state->centres + kMeasured - 1) / kMeasured * (kMeasured / 32);
    for (std::int64_t i = own; i < of.points * words; i += all) {
        const std::int64_t point = i / words;
        const auto word = static_cast<std::int32_t>(i % words);
        for (std::uint32_t left = of.masks[point * (kMostCells / 32) + word]; left != 0; left &= left - 1) {
            Cell& cell = of.cells[word * 32 + __ffs(static_cast<int>(left)) - 1];
            if (cell.query_tiles > 0)
                of.point_items[cell.first_point_tile * kCellItems + atomicAdd(&cell.placed_points, 1)] =
                    static_cast<std::int32_t>(point);
        }
    }
}

}  // namespace
}  // namespace espalier::knn::escalation
