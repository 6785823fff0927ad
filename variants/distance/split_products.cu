// Distances of single precision by tensor cores, which multiply halves. Every value is split into two of them, h + l,
// and of the four products of two values three are added in single precision: l h, h l and h h (Ootomo and Yokota
// 2022). They make |x|^2 + |y|^2 - 2 xy of centred items, where what cancels is computed again as in `expanded_tile`,
// or the cosine xy / (|x| |y|). Items are scaled by powers of two, so that all three go to one sum.
//
// What xy errs by, in units of 2^-24 |x| |y|, at worst, where all products have one sign:
// - The split: 8. A value's low half is off by up to 2^-23 of the value, and l l, which is left out, is up to 2^-22.
//   Those are of any sign: they add up only where all attributes have the same digits.
// - The sums of 64 attributes: about 6. Tensor cores truncate: an H100 does so 17 times when it adds 16 products to a
//   sum, two bits beyond the sum's own (Khattak and Mikaitis 2025), and to the same side. That would add up with the
//   number of attributes, so it ends after 64. The small products l h and h l come first, while there is nothing that
//   they could be truncated beside: four additions are left.
// - The totals of these sums, which are rounded as everywhere: one rounding for 64 attributes.
// A direct sum of d terms is allowed 8 + sqrt(d). Of random numbers it all makes about half of that at most, with sums
// truncated as described.
//
// Both sets' tiles come from the second-level cache: those of 192 points need least of its rate, those of 64 are more
// blocks where there is little to do.

#include <limits>
#include <string>

#include "device/block_copy.hpp"
#include "device/first_products.hpp"
#include "device/kernel.hpp"
#include "device/swizzled_products.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/distance/split_sets.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kWarpRows = 16;   ///< points of a warp's tile
constexpr int kGroupRows = 64;  ///< of a warpgroup's
constexpr int kStepSlices = 2;  ///< whose products make a sum: 64 attributes
constexpr int kSliceSteps = 2;  ///< of 16 attributes
constexpr int kVector = 4;      ///< queries that a lane writes at once
constexpr int kOwnQueries = kTileQueries / 4;
constexpr std::size_t kAlignment = 1024;   ///< of swizzled rows
constexpr std::int32_t kTilesAcross = 12;  ///< that run at a time, of about 132
constexpr float kLeft = 0.25F;             ///< of the norms: what cancels to less is computed again
constexpr unsigned kFewAgain = 64;         ///< of a warp's 2,048 distances
constexpr std::int64_t kLeastDims = 16;

using Direct = Accumulator<Metric::euclidean, Missing::none>;

/// A slice of a tile of either set, in shared memory.
template <int rows>
struct Slot {
    std::byte points[rows * kRowBytes], queries[kTileQueries * kRowBytes];
};

/// How a block works: a warpgroup for every 64 points of its tile, and as many slots as there is room for.
template <int rows>
struct Block {
    static constexpr int kGroups = rows / kGroupRows;
    static constexpr int kWarps = kGroups * 4, kThreads = kWarps * kLanes;
    static constexpr int kAtOnce = kGroups == 1 ? 2 : 1;  ///< on a multiprocessor
    static constexpr int kSlots = kGroups == 1 ? 4 : kGroups == 2 ? 7 : 5;
    static constexpr std::size_t kBytes = kAlignment + kSlots * sizeof(Slot<rows>);
};

/// Numbers of a tile of queries and of one of points.
struct TilePlace {
    std::int32_t of_queries, of_points;
};

/// Tiles of 128 queries x as many points, fewer than 2^31. Blocks that run at the same time have a part of the matrix
/// that is about square: what they read of both sets is least, and stays in the second-level cache.
struct SplitTiles {
    std::int32_t across, down;

    [[nodiscard]] __host__ __device__ std::int32_t count() const { return across * down; }
    [[nodiscard]] __device__ TilePlace at(std::int32_t tile) const {
        const std::int32_t most = min(kTilesAcross, across), first = tile / (most * down) * most;
        const std::int32_t rest = tile % (most * down), width = min(most, across - first);
        return {first + rest % width, rest / width};
    }
};

using Halves = std::uint32_t[4];

/// sums = the products of a warp's 16 points and 128 queries, of 64 attributes or of 32.
template <int slices, int rows>
__device__ __forceinline__ void multiply_step(ProductSums& sums, const Slot<rows>* const (&slots)[slices]) {
    constexpr int kSteps = slices * kSliceSteps;
    constexpr int kHigh = 0, kLow = kSliceSteps;  // parts of a row
    const auto read = [&](Halves& halves, int step, int part) {
        load_rows(halves, slots[step / kSliceSteps]->points, part + step % kSliceSteps, threadIdx.y, threadIdx.x);
    };
    const auto queries_of = [&](int step) { return slots[step / kSliceSteps]->queries; };
    Halves high[kSteps], low[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) read(low[step], step, kLow);
    begin_products();
    first_products(sums, low[0], queries_of(0), kHigh);
#pragma unroll
    for (int step = 1; step < kSteps; ++step)
        add_products(sums, low[step], queries_of(step), kHigh + step % kSliceSteps);
    // What multiplies must stay in its registers until products are there, and of three warpgroups each thread has 168.
    if constexpr (rows == 3 * kGroupRows) end_products(sums);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) read(high[step], step, kHigh);
    begin_products();
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
        add_products(sums, high[step], queries_of(step), kLow + step % kSliceSteps);
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
        add_products(sums, high[step], queries_of(step), kHigh + step % kSliceSteps);
    end_products(sums);
}

/// Where a lane's distances are: of two points, of four queries in each 16.
struct Place {
    std::int64_t first_query, first_point;
    unsigned lane, warp;

    [[nodiscard]] __device__ std::int64_t point(int half) const {
        return first_point + warp * kWarpRows + lane / 4 + half * 8;
    }
    /// Of 32, from 0 to 31.
    [[nodiscard]] __device__ std::int64_t query(int own) const {
        return first_query + own / kVector * 16 + lane % 4 * kVector + own % kVector;
    }
};

/// The distances that `again` has a bit for, of the lane's queries and `p`, one after another.
__device__ void compute_one_by_one(const Place& place, std::int64_t p, const SplitSet& queries, const SplitSet& points,
                                   std::int64_t dims, std::uint32_t again, float* result) {
    if (p >= points.count) return;
    for (; again != 0; again &= again - 1) {
        const std::int64_t q = place.query(__ffs(static_cast<int>(again)) - 1);
        if (q >= queries.count) continue;
        Direct sum{};
#pragma unroll 4
        for (std::int64_t a = 0; a < dims; ++a)
            sum.add(queries.values[a * queries.count + q], points.values[a * points.count + p]);
        result[p * queries.count + q] = sum.result(dims);
    }
}

/// All distances of a warp, of eight points at a time; every lane has each 32nd query.
__device__ void compute_all(const Place& place, const SplitSet& queries, const SplitSet& points, std::int64_t dims,
                            float* result) {
    constexpr int kQueries = kTileQueries / kLanes, kPoints = 8;
    const auto query = [&](int i) { return place.first_query + i * kLanes + place.lane; };
    for (int first = 0; first < kWarpRows; first += kPoints) {
        const auto point = [&](int j) { return place.first_point + place.warp * kWarpRows + first + j; };
        Direct sums[kPoints][kQueries] = {};
        for (std::int64_t a = 0; a < dims; ++a) {
            float q[kQueries], p[kPoints];
#pragma unroll
            for (int i = 0; i < kQueries; ++i)
                q[i] = queries.values[a * queries.count + min(query(i), queries.count - 1)];
#pragma unroll
            for (int j = 0; j < kPoints; ++j) p[j] = points.values[a * points.count + min(point(j), points.count - 1)];
#pragma unroll
            for (int j = 0; j < kPoints; ++j)
#pragma unroll
                for (int i = 0; i < kQueries; ++i) sums[j][i].add(q[i], p[j]);
        }
#pragma unroll
        for (int j = 0; j < kPoints; ++j)
#pragma unroll
            for (int i = 0; i < kQueries; ++i)
                if (query(i) < queries.count && point(j) < points.count)
                    result[point(j) * queries.count + query(i)] = sums[j][i].result(dims);
    }
}

__device__ __forceinline__ void read_four(float (&values)[kVector], const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    values[0] = four.x, values[1] = four.y, values[2] = four.z, values[3] = four.w;
}

/// A lane's products become its distances. Returns which of them have to be computed again, a bit each; beyond the
/// sets, too.
template <Metric metric>
__device__ __forceinline__ void finish(ProductSums& totals, const Place& place, const SplitSet& queries,
                                       const SplitSet& points, std::uint32_t (&again)[2]) {
    const float point_factors[] = {points.factors[place.point(0)], points.factors[place.point(1)]};
    float query_factors[kVector], query_norms[kVector] = {}, point_norms[2] = {};
    if constexpr (metric == Metric::euclidean)
        point_norms[0] = points.norms[place.point(0)], point_norms[1] = points.norms[place.point(1)];
#pragma unroll
    for (int own = 0; own < kOwnQueries; ++own) {
        const std::int64_t q = place.query(own);
        if (own % kVector == 0) {
            read_four(query_factors, queries.factors + q);
            if constexpr (metric == Metric::euclidean) read_four(query_norms, queries.norms + q);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float& value = totals[own / 2][half * 2 + own % 2];
            const float product = value * point_factors[half] * query_factors[own % kVector];
            if constexpr (metric == Metric::cosine) {
                const float distance = 1 - product;
                value = distance < 0 ? 0.0F : distance;  // NaN stays
            } else {
                const float both = query_norms[own % kVector] + point_norms[half], square = both - 2 * product;
                // Written so that infinities and NaN do not pass.
                const bool is_good = square >= kLeft * both && both <= std::numeric_limits<float>::max();
                if (!is_good) again[half] |= 1U << own;
                value = std::sqrt(square);
            }
        }
    }
}

__device__ __forceinline__ void store(const ProductSums& totals, const Place& place, std::int64_t queries,
                                      std::int64_t points, bool vector_stores, float* result) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (place.point(half) >= points) continue;
#pragma unroll
        for (int own = 0; own < kOwnQueries; own += kVector) {
            const std::int64_t q = place.query(own);
            float* const to = result + place.point(half) * queries + q;
            const float* const first = &totals[own / 2][half * 2];
            const float* const second = &totals[own / 2 + 1][half * 2];
            if (vector_stores && q < queries) {  // then there are four
                *reinterpret_cast<float4*>(to) = make_float4(first[0], first[1], second[0], second[1]);
            } else {
#pragma unroll
                for (int v = 0; v < kVector; ++v)
                    if (q + v < queries) to[v] = v < 2 ? first[v] : second[v - 2];
            }
        }
    }
}

/// What a block multiplies: `slices` slices of a tile of either set.
struct Multiplied {
    SplitSet queries, points;
    std::int64_t dims;
    std::int32_t slices;
};

/// The slices of a block's tiles, one after another, on their way through shared memory. All threads go along.
template <int rows>
struct Slices {
    static constexpr int kSlots = Block<rows>::kSlots;
    static constexpr int kPointBytes = sizeof(Slot<rows>::points), kQueryBytes = sizeof(Slot<rows>::queries);

    const Multiplied& of;
    SplitTiles tiles;
    Slot<rows>* slots;
    Arrivals (&arrivals)[kSlots][2];
    std::int32_t tile = 0, left = 0;             ///< what is copied next: the block's tile, and so many of its slices
    std::int32_t of_points = 0, of_queries = 0;  ///< their numbers

    /// Starts the first copies.
    __device__ void begin() {
        if (threadIdx.y == 0 && threadIdx.x == 0)
            for (auto& pair : arrivals)
                for (Arrivals& each : pair) begin_block_copies(each);
        __syncthreads();
        begin_tile(static_cast<std::int32_t>(blockIdx.x));
        for (int number = 0; number < kSlots; ++number) copy(number);
    }

    /// Starts the copy of the next slice, by its number.
    __device__ void copy(std::int32_t number) {
        if (tile >= tiles.count()) return;
        const unsigned thread = threadIdx.y * kLanes + threadIdx.x;
        auto& pair = arrivals[number % kSlots];
        copy_block(at(number)->points, of.points.tiles + std::int64_t{of_points} * kPointBytes, kPointBytes, pair[0],
                   thread, Block<rows>::kThreads);
        copy_block(at(number)->queries, of.queries.tiles + std::int64_t{of_queries} * kQueryBytes, kQueryBytes, pair[1],
                   thread, Block<rows>::kThreads);
        ++of_points, ++of_queries;
        if (--left == 0) begin_tile(tile + static_cast<std::int32_t>(gridDim.x));
    }

    /// A barrier must follow.
    __device__ void wait_for(std::int32_t of_number) const {
        for (Arrivals& each : arrivals[of_number % kSlots]) wait_for_block_copy(each, of_number / kSlots);
    }

    /// Where a slice is, once it is there.
    [[nodiscard]] __device__ Slot<rows>* at(std::int32_t of_number) const { return slots + of_number % kSlots; }

private:
    __device__ void begin_tile(std::int32_t next) {
        tile = next, left = of.slices;
        if (tile >= tiles.count()) return;
        const TilePlace place = tiles.at(tile);
        of_points = place.of_points * of.slices, of_queries = place.of_queries * of.slices;
    }
};

/// A tile's products. `number` is that of its first slice, and becomes that of the next tile's.
template <int rows>
__device__ __forceinline__ void multiply_tile(ProductSums& totals, Slices<rows>& slices, std::int32_t& number) {
    const std::int32_t last = kStepSlices - slices.of.slices % kStepSlices;  // slices of a tile's last step
    std::int32_t before = number == 0 ? 0 : last;                            // of the step before
    for (const std::int32_t end = number + slices.of.slices; number < end; number += kStepSlices) {
        const bool is_whole = number + 1 < end;
        slices.wait_for(number);
        if (is_whole) slices.wait_for(number + 1);
        // One barrier: what is copied next goes where nobody reads any more.
        __syncthreads();
        for (; before > 0; --before) slices.copy(number - before + Block<rows>::kSlots);
        before = kStepSlices;
        ProductSums sums;
        if (is_whole)
            multiply_step<2, rows>(sums, {slices.at(number), slices.at(number + 1)});
        else
            multiply_step<1, rows>(sums, {slices.at(number)});
#pragma unroll
        for (int n = 0; n < 16; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i) totals[n][i] += sums[n][i];
    }
    number -= slices.of.slices % kStepSlices;
}

/// A block has one tile after another: the next one's slices are on their way while distances are written.
template <Metric metric, int rows>
__global__ void __launch_bounds__(Block<rows>::kThreads, Block<rows>::kAtOnce)
    multiply_split_sets(Multiplied of, SplitTiles tiles, bool vector_stores, float* result) {
    auto* const storage = dynamic_shared<std::byte>();
    Slices<rows> slices{
        of, tiles, reinterpret_cast<Slot<rows>*>(storage + (-reinterpret_cast<std::uintptr_t>(storage)) % kAlignment),
        shared<Arrivals[Block<rows>::kSlots][2]>()};
    slices.begin();
    std::int32_t number = 0;
    for (auto tile = static_cast<std::int32_t>(blockIdx.x); tile < tiles.count();
         tile += static_cast<std::int32_t>(gridDim.x)) {
        ProductSums totals = {};
        multiply_tile(totals, slices, number);
        const TilePlace at = tiles.at(tile);
        const Place place{std::int64_t{at.of_queries} * kTileQueries, std::int64_t{at.of_points} * rows, threadIdx.x,
                          threadIdx.y};
        std::uint32_t again[2] = {};
        finish<metric>(totals, place, of.queries, of.points, again);
        const auto how_many = static_cast<unsigned>(__popc(again[0]) + __popc(again[1]));
        if (metric == Metric::euclidean && __reduce_add_sync(kAll, how_many) > kFewAgain) {
            compute_all(place, of.queries, of.points, of.dims, result);
            continue;
        }
        store(totals, place, of.queries.count, of.points.count, vector_stores, result);
        if constexpr (metric == Metric::euclidean)
            for (int half = 0; half < 2; ++half)
                compute_one_by_one(place, place.point(half), of.queries, of.points, of.dims, again[half], result);
    }
}

/// Where things are in the workspace, in bytes from its start.
struct SplitLayout {
    std::int64_t queries, points;  ///< of whole tiles
    std::int32_t slices;
    std::size_t bytes = 0;  ///< first: the others take from it
    std::size_t centre, query_tiles, point_tiles, query_norms, point_norms, query_factors, point_factors;

    SplitLayout(const Problem& problem, std::int64_t rows)
        : queries(divided_up(problem.queries, kTileQueries) * kTileQueries),
          points(divided_up(problem.points, rows) * rows),
          slices(static_cast<std::int32_t>(divided_up(problem.dims, kSliceAttributes))),
          centre(take(problem.dims * 4)),
          query_tiles(take(queries * slices * kRowBytes)),
          point_tiles(take(points * slices * kRowBytes)),
          query_norms(take(queries * 4)),
          point_norms(take(points * 4)),
          query_factors(take(queries * 4)),
          point_factors(take(points * 4)) {}

private:
    std::size_t take(std::int64_t wanted) {
        return std::exchange(bytes, bytes + (static_cast<std::size_t>(wanted) + 511) / 512 * 512);
    }
};

std::size_t block_bytes(std::int64_t rows) {
    return rows == 64 ? Block<64>::kBytes : rows == 128 ? Block<128>::kBytes : Block<192>::kBytes;
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for matrices of halves, this is " + std::to_string(device.sm));
    if ((problem.metric != Metric::euclidean && problem.metric != Metric::cosine) || problem.missing != Missing::none)
        return Support::no("multiplies: euclidean and cosine distances without missing values only");
    if (problem.dims < kLeastDims)
        return Support::no("below 16 attributes the matrix takes longer to write than to compute either way");
    if (problem.dims > std::numeric_limits<std::int32_t>::max())
        return Support::no("more than 2,147,483,647 attributes");
    const std::int64_t rows = configuration["points"];
    if (block_bytes(rows) > device.shared_per_block_optin)
        return Support::no("tiles of " + std::to_string(rows) + " points need " + std::to_string(block_bytes(rows)) +
                           " bytes of shared memory per block, the device has " +
                           std::to_string(device.shared_per_block_optin));
    if (divided_up(problem.queries, kTileQueries) * divided_up(problem.points, rows) >
        std::numeric_limits<std::int32_t>::max() / 2)
        return Support::no("more than 1,073,741,823 tiles: they are numbered in 32 bits");
    return Support::yes();
}

template <Metric metric, int rows>
void launch_all(Context& context, const Problem& problem, const Buffers& buffers) {
    const SplitLayout layout(problem, rows);
    std::byte* const memory = context.workspace.data();
    const auto at = [&](std::size_t offset) { return reinterpret_cast<float*>(memory + offset); };
    const SplitSet queries{buffers.query_values,        problem.queries,        layout.queries,          kTileQueries,
                           memory + layout.query_tiles, at(layout.query_norms), at(layout.query_factors)};
    const SplitSet points{buffers.point_values,        problem.points,         layout.points,           rows,
                          memory + layout.point_tiles, at(layout.point_norms), at(layout.point_factors)};
    const dim3 preparing(kLanes, kRowsAtOnce);
    if constexpr (metric == Metric::euclidean)
        launch(find_centre, dim3(static_cast<unsigned>(divided_up(problem.dims, kRowsAtOnce))), preparing, 0,
               context.stream, buffers.point_values, problem.points, problem.dims, at(layout.centre));
    launch(split_sets<metric>, dim3(static_cast<unsigned>((layout.queries + layout.points) / kLanes)), preparing, 0,
           context.stream, queries, points, problem.dims, std::int64_t{layout.slices}, at(layout.centre));
    const SplitTiles tiles{static_cast<std::int32_t>(layout.queries / kTileQueries),
                           static_cast<std::int32_t>(layout.points / rows)};
    const std::int32_t at_once = std::max(context.device.sm_count, 1) * Block<rows>::kAtOnce;
    const bool vector_stores =
        problem.queries % kVector == 0 && reinterpret_cast<std::uintptr_t>(buffers.result) % sizeof(float4) == 0;
    launch(multiply_split_sets<metric, rows>, dim3(static_cast<unsigned>(std::min(tiles.count(), at_once))),
           dim3(kLanes, Block<rows>::kWarps), Block<rows>::kBytes, context.stream,
           Multiplied{queries, points, problem.dims, layout.slices}, tiles, vector_stores, buffers.result);
}

template <int rows>
void launch_metric(Context& context, const Problem& problem, const Buffers& buffers) {
    if (problem.metric == Metric::cosine)
        launch_all<Metric::cosine, rows>(context, problem, buffers);
    else
        launch_all<Metric::euclidean, rows>(context, problem, buffers);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.distances() == 0) return;
    switch (configuration["points"]) {
        case 64: return launch_metric<64>(context, problem, buffers);
        case 128: return launch_metric<128>(context, problem, buffers);
        default: return launch_metric<192>(context, problem, buffers);
    }
}

}  // namespace

Variant<Problem> split_products() {
    return {.role = Role::modern,
            .summary = "three products of split halves on tensor cores for each of single precision",
            .source = "after Ootomo and Yokota 2022",
            .limits = "euclidean or cosine, no missing values, 16 attributes or more, compute capability 8.0",
            .tolerance = {.absolute = 1e-18,
                          .relative = 0x1p-22,
                          .reason =
                              "of the norms' sum a quarter is left at least: four times the roundings of a direct sum"},
            .rounds = "attributes are centred on a mean, or norms inverted",
            .space = {{"points", {64, 128, 192}}},
            .supports = supports,
            .workspace = [](const Problem& problem, const Configuration& configuration,
                            const DeviceInfo&) { return SplitLayout(problem, configuration["points"]).bytes; },
            .run = run};
}

}  // namespace espalier::distance
