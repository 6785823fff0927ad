#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "variants/knn/escalation_cells.cuh"
#include "variants/knn/threshold_products.cuh"

/// Tiles of the cells' points and queries, centred at the cell's own centre, in halves, and their products. Queries of
/// a cell meet its points only. What becomes of a product, and how the tiles lie, is as in the first screening.
namespace espalier::knn::escalation {
namespace {

using threshold::Candidate, threshold::kTileAttributes, threshold::kTileGroups, threshold::kTilePoints,
    threshold::kTileSteps, threshold::kWarpQueries, threshold::PointTile, threshold::Products, threshold::Queue;

static_assert(kTilePoints == kCellItems);

/// 64 attributes of a tile of a cell's queries.
struct alignas(16) CellQueries {
    std::byte rows[kCellItems * kTileAttributes * 2];
};

/// What the tiles are made of, and where they go.
struct CellTiles {
    Escalation of;
    std::int32_t slices;
    float kept;  ///< the share of the squared norms that bounds keep
    CellQueries* queries;
    PointTile* points;
    float* query_norms;  ///< by place; NaN: none, or no bounds
    float* query_rows;   ///< by place, as given

    template <bool is_points>
    [[nodiscard]] __device__ std::byte* rows_of(std::int32_t tile, std::int32_t slice) const {
        const std::int64_t at = std::int64_t{tile} * slices + slice;
        return is_points ? points[at].rows : queries[at].rows;
    }
};

/// Two neighbouring attributes of an item from its cell's centre, scaled.
struct FromCentre {
    const float *row, *centre;  ///< null: there is no item
    float inverse, centre_inverse, scale;
    bool by_norms;

    [[nodiscard]] __device__ float2 at(std::int32_t attribute) const {
        const float2 own = *reinterpret_cast<const float2*>(row + attribute);
        const float2 other = *reinterpret_cast<const float2*>(centre + attribute);
        if (by_norms)
            return {(own.x * inverse - other.x * centre_inverse) * scale,
                    (own.y * inverse - other.y * centre_inverse) * scale};
        return {(own.x - other.x) * scale, (own.y - other.y) * scale};
    }
};

/// A warp's item: at a place of the cells' tiles, of a set whose rows and inverse norms lie as those of `Items`.
template <bool is_points>
__device__ FromCentre item_from_centre(const Escalation& of, const Cell& cell, std::int32_t item) {
    const std::int64_t stride = row_stride(of.dims);
    FromCentre from{(is_points ? of.point_rows : of.query_rows) + item * stride,
                    of.query_rows + cell.centre * stride,
                    1,
                    1,
                    power_of_two(cell.scale_exponent()),
                    of.inverse != nullptr};
    if (from.by_norms) {
        from.inverse = of.inverse[is_points ? of.all_queries + item : item];
        from.centre_inverse = of.inverse[cell.centre];
    }
    return from;
}

/// A warp per place writes an item's halves and norm, of queries their row as it is given, too. A lane has two of a
/// slice's attributes.
template <bool is_points>
__global__ void __launch_bounds__(kThreads) write_cell_tiles(CellTiles to) {
    const Escalation& of = to.of;
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t places = (is_points ? of.state->point_tiles : of.state->query_tiles) * kCellItems;
    const std::int64_t stride = row_stride(of.dims);
    for (auto place = static_cast<std::int32_t>(blockIdx.x * kBlockWarps + threadIdx.y); place < places;
         place += static_cast<std::int32_t>(gridDim.x) * kBlockWarps) {
        const std::int32_t tile = place / kCellItems, in_tile = place % kCellItems;
        const Cell& cell = of.cells[is_points ? of.point_tile_cells[tile] : of.query_tile_cells[tile]];
        const std::int32_t first = (is_points ? cell.first_point_tile : cell.first_query_tile) * kCellItems;
        const bool is_there = place - first < (is_points ? cell.points : cell.queries);
        const std::int32_t item = is_there ? (is_points ? of.point_items : of.query_items)[place] : -1;
        const FromCentre from = item_from_centre<is_points>(of, cell, is_there ? item : 0);
        const int row = is_points ? row_of_point(in_tile) : in_tile;
        float norm = 0;
        for (std::int32_t slice = 0; slice < to.slices; ++slice) {
            const std::int32_t attribute = slice * kTileAttributes + lane * 2;
            const bool is_known = is_there && attribute < stride;
            const float2 two = is_known ? from.at(attribute) : float2{0, 0};
            const bool fits = std::fabs(two.x) <= kLargestKept && std::fabs(two.y) <= kLargestKept;
            norm += fits ? two.x * two.x + two.y * two.y : std::numeric_limits<float>::quiet_NaN();
            const std::uint32_t halves =
                fits ? device::half_of(two.x) | std::uint32_t{device::half_of(two.y)} << 16 : 0;
            *reinterpret_cast<std::uint32_t*>(to.rows_of<is_points>(tile, slice) +
                                              device::swizzled_place(row, lane / 4) + lane % 4 * 4) = halves;
            if constexpr (!is_points)
                if (is_known)
                    *reinterpret_cast<float2*>(to.query_rows + place * stride + attribute) =
                        *reinterpret_cast<const float2*>(from.row + attribute);
        }
#pragma unroll
        for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) norm += __shfl_xor_sync(kAll, norm, lanes);
        norm *= to.kept;
        if (lane != 0) continue;
        if constexpr (is_points) {
            to.points[std::int64_t{tile} * to.slices].norms[norm_of_point(in_tile)] = !is_there         ? kNoPoint
                                                                                      : is_finite(norm) ? -norm / 2
                                                                                                        : kAlways;
        } else {
            to.query_norms[place] = is_there && is_finite(norm) ? norm : std::numeric_limits<float>::quiet_NaN();
            if (!is_there) of.query_items[place] = -1;
        }
    }
}

inline constexpr int kCellWarps = kCellItems / kWarpQueries, kCellStages = 3;

struct alignas(16) CellStage {
    PointTile points;
    std::byte rest[threshold::kTileAlignment - sizeof(PointTile) % threshold::kTileAlignment];
    CellQueries queries;
};
static_assert(sizeof(CellStage) % threshold::kTileAlignment == 0);

constexpr std::size_t cell_product_bytes() {
    return threshold::kTileAlignment + kCellStages * sizeof(CellStage) + kCellWarps * sizeof(Queue);
}

/// What the products are given; `products` is for the receivers, of places instead of queries.
struct CellProducts {
    Products products;
    const State* state;
    const Cell* cells;
    const std::int32_t* query_tile_cells;
    const CellQueries* queries;
    std::int32_t slices, most_tiles;  ///< of a cell's points at most so many, evenly, if that is not 0
};

/// Of how many tiles of a cell a sample takes one.
__device__ inline std::int32_t sample_step(const Cell& cell, std::int32_t most_tiles) {
    return most_tiles == 0 ? 1 : std::max((cell.point_tiles + most_tiles - 1) / most_tiles, 1);
}

/// The copies of a tile of queries and a cut of its cell's points, a slice of both at a time: images.
struct CellImages {
    const CellProducts& of;
    CellStage* stages;
    device::Arrivals (&arrivals)[kCellStages][2];
    const CellQueries* queries;
    const PointTile* points;               ///< of the cell
    std::int32_t begin, end, step, first;  ///< sampled tiles of the cell; number of the first image

    [[nodiscard]] __device__ std::int32_t count() const { return (end - begin) * of.slices; }
    __device__ void copy(std::int32_t image, unsigned thread) const {
        if (image >= count()) return;
        const std::int32_t slice = image % of.slices, tile = (begin + image / of.slices) * step;
        const int place = (first + image) % kCellStages;
        device::copy_block(&stages[place].points, points + std::int64_t{tile} * of.slices + slice, sizeof(PointTile),
                           arrivals[place][0], thread, kCellWarps * kLanes);
        device::copy_block(&stages[place].queries, queries + slice, sizeof(CellQueries), arrivals[place][1], thread,
                           kCellWarps * kLanes);
    }
    /// Waits for an image, if there is one; a barrier must follow.
    __device__ void wait(std::int32_t image) const {
        if (image >= count()) return;
        const int number = first + image;
        for (device::Arrivals& each : arrivals[number % kCellStages])
            device::wait_for_block_copy(each, number / kCellStages);
    }
    [[nodiscard]] __device__ const CellStage& stage(std::int32_t image) const {
        return stages[(first + image) % kCellStages];
    }
};

/// Blocks take tiles of the cells' queries, each against a cut of its cell's points, or of a sample of them.
template <class Receiver>
__global__ void __launch_bounds__(kCellWarps* kLanes, 2) multiply_cells(CellProducts given) {
    auto* const storage = device::dynamic_shared<std::byte>();
    auto* const stages = reinterpret_cast<CellStage*>(storage + (-reinterpret_cast<std::uintptr_t>(storage)) %
                                                                    threshold::kTileAlignment);
    auto& arrivals = device::shared<device::Arrivals[kCellStages][2]>();
    const unsigned lane = threadIdx.x, warp = threadIdx.y, thread = warp * kLanes + lane;
    Queue& queue = reinterpret_cast<Queue*>(stages + kCellStages)[warp];
    const std::int32_t query_tiles = given.state->query_tiles, blocks = static_cast<std::int32_t>(gridDim.x);
    if (query_tiles == 0) return;
    const std::int32_t cuts = std::clamp((2 * blocks + query_tiles - 1) / query_tiles, 1, 64);
    if (thread == 0)
        for (auto& pair : arrivals)
            for (device::Arrivals& each : pair) device::begin_block_copies(each);
    std::int32_t first = 0;
    for (auto item = static_cast<std::int32_t>(blockIdx.x); item < query_tiles * cuts; item += blocks) {
        const std::int32_t query_tile = item / cuts, cut = item % cuts;
        const Cell& cell = given.cells[given.query_tile_cells[query_tile]];
        const std::int32_t step = sample_step(cell, given.most_tiles), tiles = (cell.point_tiles + step - 1) / step;
        const CellImages images{given,
                                stages,
                                arrivals,
                                given.queries + std::int64_t{query_tile} * given.slices,
                                given.products.points + std::int64_t{cell.first_point_tile} * given.slices,
                                static_cast<std::int32_t>(std::int64_t{cut} * tiles / cuts),
                                static_cast<std::int32_t>(std::int64_t{cut + 1} * tiles / cuts),
                                step,
                                first};
        __syncthreads();  // nobody reads what the last tile was made of
        for (std::int32_t image = 0; image < kCellStages - 1; ++image) images.copy(image, thread);
        Receiver receiver{given.products, std::int64_t{query_tile} * kCellItems + warp * kWarpQueries + lane / 4, lane};
        receiver.begin(queue);
        images.wait(0);
        __syncthreads();
        std::int32_t image = 0;
        for (std::int32_t tile = images.begin; tile < images.end; ++tile) {
            device::ProductSums sums;
            threshold::begin_sums(sums, images.stage(image).points.norms, lane);
            for (std::int32_t slice = 0; slice < given.slices; ++slice, ++image) {
                const CellStage& own = images.stage(image);
                device::begin_products();
#pragma unroll
                for (int step_of = 0; step_of < kTileSteps; ++step_of)
                    device::add_products_of_rows(sums, own.queries.rows, warp, own.points.rows, step_of);
                device::go_on_with_products();
                images.wait(image + 1);
                // One barrier: everybody sees the next image, and what is copied goes where nobody reads any more.
                __syncthreads();
                images.copy(image + kCellStages - 1, thread);
            }
            device::await_products(sums);
            // Of a sample the number in it, of all points that of the tile.
            receiver.take(sums, given.most_tiles > 0 ? tile : cell.first_point_tile + tile, queue);
        }
        receiver.end(queue);
        first += images.count();
    }
}

/// What halves are off by in squares of a cell's scaled attributes, and what leaves single precision's range as
/// `name_candidates` changes the scale.
constexpr double cell_error(std::int64_t dims) { return absolute_error(dims) + 0x1p-30; }

/// A warp per place: what were places of the cells' tiles become points, and values and norms, less their errors, those
/// of the one scale that `search_candidates` knows.
__global__ void __launch_bounds__(kThreads) name_candidates(Escalation of, Products products, float* query_norms) {
    for (auto place = static_cast<std::int32_t>(blockIdx.x * kBlockWarps + threadIdx.y); place < of.state->query_places;
         place += static_cast<std::int32_t>(gridDim.x) * kBlockWarps) {
        const Cell& cell = of.cells[of.query_tile_cells[place / kCellItems]];
        const float by = power_of_two((of.metric == Metric::cosine ? 14 : 0) - cell.scale_exponent());
        const std::int32_t count = min(products.counts[place], products.room);
        Candidate* const candidates = products.candidates + std::int64_t{place} * products.room;
        for (auto i = static_cast<std::int32_t>(threadIdx.x); i < count; i += kLanes) {
            const auto [value, at] = candidates[i];
            candidates[i] = {value < kAlways / 2 ? value * by * by : value, of.point_items[at]};
        }
        if (threadIdx.x == 0)
            query_norms[place] = static_cast<float>((static_cast<double>(query_norms[place]) - cell_error(of.dims)) *
                                                    static_cast<double>(by) * static_cast<double>(by));
    }
}

/// Queries that the cells' products left go to the direct search.
__global__ void __launch_bounds__(kThreads) collect_left(Escalation of, const std::int32_t* left) {
    for (auto i = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x); i < of.state->by_cell.unlisted;
         i += static_cast<std::int32_t>(gridDim.x) * kThreads) {
        if (left[i] < 0) continue;
        of.leave(left[i]);
        atomicAdd(&of.state->counts.by_cell, -1);
    }
}

/// Samples of the cells' points: for `threshold::find_floors`.
struct CellSample {
    static constexpr bool kIsWhole = false;
    Escalation of;
    std::int32_t most_tiles;

    [[nodiscard]] __device__ const Cell& cell_of(std::int64_t place) const {
        return of.cells[of.query_tile_cells[place / kCellItems]];
    }
    [[nodiscard]] __device__ std::int32_t groups_of(std::int64_t place) const {
        const Cell& cell = cell_of(place);
        const std::int32_t step = sample_step(cell, most_tiles);
        return (cell.point_tiles + step - 1) / step * kTileGroups;
    }
    [[nodiscard]] __device__ std::int32_t point_of(std::int64_t place, std::int32_t group,
                                                   std::int32_t in_group) const {
        const Cell& cell = cell_of(place);
        const std::int32_t tile = cell.first_point_tile + group / kTileGroups * sample_step(cell, most_tiles);
        return of.point_items[tile * kTilePoints + group % kTileGroups * threshold::kSampleGroup + in_group];
    }
    [[nodiscard]] __device__ float limit(std::int64_t place, float found) const {
        const float before = of.limits[of.query_items[place] - of.first];
        return found < before ? found : before;
    }
    __device__ void none(std::int64_t) const {}
    /// As `threshold::floor_of`, by the cell's own scale.
    template <Metric metric>
    [[nodiscard]] __device__ float floor(const threshold::Exact& exact, std::int64_t place, float norm,
                                         float limit) const {
        const double scale = static_cast<double>(power_of_two(cell_of(place).scale_exponent())), terms = exact.dims;
        double most;  // squared distance
        if constexpr (metric == Metric::cosine)
            most = 2 * (static_cast<double>(limit) + threshold::unit_error(exact.dims));
        else
            most = (static_cast<double>(largest_up_to<true>(limit)) + terms * 0x1p-148) / (1 - (terms + 4) * 0x1p-24);
        const double floor = (static_cast<double>(norm) - cell_error(exact.dims) - most * scale * scale) / 2;
        return static_cast<float>(floor - std::fabs(floor) * 0x1p-22);
    }
};

}  // namespace
}  // namespace espalier::knn::escalation
