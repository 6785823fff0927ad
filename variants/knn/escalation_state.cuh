#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/knn/escalation_counts.hpp"
#include "variants/knn/threshold_lists.cuh"

/// What the kernels of `screened_threshold`'s cells are given, and what they find out.
namespace espalier::knn::escalation {
namespace {

using smallest_k::index_of_entry;
using threshold::Findings, threshold::kTooMany, threshold::Listed, threshold::row_stride;

inline constexpr int kSamples = 512;       ///< queries that may become centres, a thread each
inline constexpr int kMostCells = 256;     ///< a bit each in a point's mask
inline constexpr int kCellItems = 128;     ///< points or queries of a tile
inline constexpr float kApart = 2;         ///< reaches between a query and a centre that make it one, too
inline constexpr float kCovers = 4;        ///< reaches, or what halves are blind to, between a query and its centre
inline constexpr float kFarthest = 1e18F;  ///< squares of less are single-precision numbers

struct Cell {
    std::int32_t centre;           ///< a query's number
    std::int32_t queries, points;  ///< how many
    std::int32_t first_query_tile, query_tiles, first_point_tile, point_tiles;
    std::int32_t placed_queries, placed_points;
    std::uint32_t reach;  ///< bits of the distance from the centre that its points and queries are within

    /// Of the power of two that scales it: all attributes are within 2^14 then.
    [[nodiscard]] __device__ int scale_exponent() const { return 13 - (static_cast<int>(reach >> 23) - 127); }
};

/// What a sample of a chunk's queries says of cells for all of them: sums over the sample.
struct Outlook {
    static constexpr std::int32_t kShares = 64;

    std::int32_t joining;  ///< that have another one near enough to join its cell
    std::int32_t within;   ///< pairs, the second of which a cell around the first would list
    std::int32_t centres;  ///< that would be centres, in shares
    std::int32_t listed;   ///< that cells around those would list, in shares
};

/// What the device finds out: of the call, and from `by_cell` on of a chunk of queries.
struct State {
    EscalationCounts counts;
    Findings by_cell;     ///< queries that the cells' candidates found no room for, and a spread that scales by one
    Findings of_listed;   ///< as the first screening's, of those that go back to its candidates
    std::int32_t listed;  ///< more than any count if there are any of these
    std::int32_t escalated, direct, samples, centres, query_tiles, point_tiles, query_places;
    Outlook outlook;
    unsigned long long waiting;  ///< candidates of queries with many, or as many as take as long
    std::int32_t at_once;        ///< 1: all queries of the chunk go on without products with all points
};

/// One chunk's arrays.
struct Escalation {
    State* state;
    Cell* cells;
    Metric metric;
    std::int32_t dims, few, most_cells, first, count;  ///< queries of the chunk
    std::int32_t measuring, listing;  ///< products that take as long as a distance, and as a point's way to a cell
    std::int32_t usual, room;         ///< candidates of a query that are not too many, and those that there is room for
    std::int32_t most_waiting;        ///< candidates that take as long as all points
    std::int64_t few_waiting;         ///< that are left as fast as cells are made
    const float *query_rows, *point_rows;  ///< item-major
    const float* inverse;                  ///< norms, of all queries and then of the points, for cosine distances
    std::int64_t all_queries, points;
    const float* query_norms;      ///< kept squared norms, as the first screening scales them
    const Findings* findings;      ///< of the first screening: the queries that it left, and its spread
    const float* limits;           ///< of the chunk's queries: k points have a direct distance up to it
    const std::int32_t* unserved;  ///< those queries
    std::int32_t *counts, *candidates,
        *listed;                        ///< of candidates: as a search is to see them, and all; of a search again
    std::int32_t *escalated, *cell_of;  ///< queries of the second, and their cells
    std::int32_t* direct;               ///< queries for the direct search
    std::int32_t* samples;
    float* between_samples;                 ///< kSamples x kSamples distances
    std::uint32_t* masks;                   ///< of each point: the cells that list it
    std::int32_t query_tiles, point_tiles;  ///< that there is room for
    std::int32_t *query_tile_cells, *point_tile_cells;
    std::int32_t *query_items, *point_items;  ///< by tile of a cell; -1: none

    /// Straight-line distance that points within a direct distance `limit` have at most, but for roundings.
    [[nodiscard]] __device__ float reach_of(float limit) const {
        if (metric != Metric::cosine) return limit;
        return static_cast<float>(std::sqrt(2 * (static_cast<double>(limit) + threshold::unit_error(dims)))) * 1.00001F;
    }
    [[nodiscard]] __device__ float reach_of_query(std::int32_t query) const { return reach_of(limits[query - first]); }
    /// Points nearer than this to a query are one to the first screening.
    [[nodiscard]] __device__ float blind_within(std::int32_t query) const {
        const auto share = static_cast<float>(2 * kept_back(dims));
        return std::sqrt(share * query_norms[query]) / scale_of(*findings, metric);
    }
    /// The bits of a radius that holds all points which may be within `reach` of a query `distance` from the centre.
    [[nodiscard]] __device__ std::uint32_t reach_around(float distance, float reach) const {
        const double sum = static_cast<double>(distance) + static_cast<double>(reach);
        return __float_as_uint(next_above(static_cast<float>(sum * (1 + (4 * dims + 64) * 0x1p-24) + 0x1p-40)));
    }
    /// Whether a query joins the cell of a centre at a distance. One of far greater reach would make everybody's list
    /// long: it is in no cluster.
    [[nodiscard]] __device__ bool is_near(std::int32_t query, std::int32_t centre, float distance) const {
        const float reach = reach_of_query(query);
        return distance <= kCovers * fmaxf(reach, blind_within(query)) && distance < kFarthest &&
               reach <= kCovers * fmaxf(reach_of_query(centre), blind_within(centre));
    }
    /// Whether cells of all queries take less time than products with all points, as far as the samples tell.
    [[nodiscard]] __device__ bool cells_pay() const {
        const Outlook& seen = state->outlook;
        const std::int64_t all = state->samples, shares = Outlook::kShares;
        if (all < kLanes || count <= few) return false;
        const std::int64_t tiles = (points + kCellItems - 1) / kCellItems * seen.listed / (all * shares);
        const std::int64_t cost = measuring * std::int64_t{seen.centres} + listing * std::int64_t{seen.listed} / all;
        const bool nearly_all_join = 32 * std::int64_t{seen.joining} >= 31 * all;
        const bool are_small = 4 * std::int64_t{seen.within} <= all * all;
        const bool find_room = 2 * tiles <= point_tiles && 4 * seen.centres <= 3 * most_cells * shares;
        return nearly_all_join && are_small && find_room && 4 * cost <= 3 * count * shares;
    }
    /// Leaves a query to the candidates of the first screening, or to the direct search if they found no room.
    __device__ void leave(std::int32_t query) const {
        const std::int32_t own = candidates[query - first];
        const float norm = query_norms[query];
        if (own <= room && norm == norm) {
            listed[query - first] = own;
            atomicMax(&state->listed, kTooMany);
            atomicAdd(&state->counts.listed, 1);
            return;
        }
        direct[atomicAdd(&state->direct, 1)] = query;
        atomicAdd(&state->counts.direct, 1);
    }
};

}  // namespace
}  // namespace espalier::knn::escalation
