// |x - y|^2 as |x|^2 + |y|^2 - 2 xy: one multiply-add for each term, where `register_tile` has a subtraction as well.
// What that form is known for, that distances between items far from the origin cancel, is met twice. Both sets are
// centred first, on the mean of 32 points, and what still cancels to less than a quarter of the norms is computed
// again, term by term: by its own thread where such distances are few, else by the warp for its whole part of the tile.
// Two items at the same place are 0 apart, and infinities and NaN come out as of the direct sum.
//
// A first kernel writes centred copies whose rows end at whole tiles, so that the second copies 16 bytes at a time to
// shared memory, without looking for ends.

#include <limits>

#include "device/copy_ahead.hpp"
#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/distance/register_tile.cuh"
#include "variants/distance/tiles.cuh"

namespace espalier::distance {
namespace {

using namespace device;

constexpr int kEach = 8;              ///< distances per thread and side
constexpr int kTile = kSide * kEach;  ///< distances per block and side
constexpr int kWarp = 32;
constexpr int kRowsAtOnce = 8;      ///< of attributes, by the first kernel
constexpr float kLeft = 0.25F;      ///< of the norms: what cancels to less is computed again
constexpr unsigned kFewAgain = 64;  ///< of a warp's 2,048 distances
constexpr std::int64_t kLeastDims = 16;
constexpr unsigned kAll = 0xFFFFFFFFU;

using Direct = Accumulator<Metric::euclidean, Missing::none>;

/// A set as the caller has it, and its centred copy: `padded` items to a row, the last of them 0, and their squared
/// norms.
struct Set {
    const float* values;
    std::int64_t count, padded;
    float *centred, *norms;
};

constexpr std::int64_t padded(std::int64_t count) { return (count + kTile - 1) / kTile * kTile; }

/// A block per 32 items, of the queries first. Each warp has a row of them, and the centre of the row's attribute from
/// a point per lane: any centre would do, a near one makes norms small.
__global__ void __launch_bounds__(kWarp* kRowsAtOnce) centre_sets(Set queries, Set points, std::int64_t dims) {
    auto& parts = shared<float[kRowsAtOnce][kWarp]>();
    const std::int64_t of_queries = queries.padded / kWarp, block = blockIdx.x;
    const bool is_query = block < of_queries;
    // Chosen one by one: a reference to one of two arguments is a copy of both in local memory.
    const Set set{is_query ? queries.values : points.values, is_query ? queries.count : points.count,
                  is_query ? queries.padded : points.padded, is_query ? queries.centred : points.centred,
                  is_query ? queries.norms : points.norms};
    const std::int64_t item = (is_query ? block : block - of_queries) * kWarp + threadIdx.x;
    const std::int64_t sample = threadIdx.x * points.count / kWarp;
    float norm = 0;
    for (std::int64_t a = threadIdx.y; a < dims; a += kRowsAtOnce) {
        float centre = points.values[a * points.count + sample];
#pragma unroll
        for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) centre += __shfl_xor_sync(kAll, centre, lanes);
        centre /= kWarp;
        if (centre - centre != 0) centre = 0;  // not finite
        const float value = item < set.count ? set.values[a * set.count + item] - centre : 0.0F;
        set.centred[a * set.padded + item] = value;
        norm += value * value;
    }
    parts[threadIdx.y][threadIdx.x] = norm;
    __syncthreads();
    if (threadIdx.y != 0) return;
    float sum = 0;
#pragma unroll
    for (int row = 0; row < kRowsAtOnce; ++row) sum += parts[row][threadIdx.x];
    set.norms[item] = sum;
}

/// kDepth attributes of a tile's items, without waiting.
__device__ void copy_slice(float (&tile)[kDepth][kTile], const Set& set, std::int64_t first_item,
                           std::int64_t attribute, std::int64_t dims, unsigned thread) {
    const unsigned row = thread / kWarp, piece = thread % kWarp * kVector;
    static_assert(kSide * kSide == kDepth * kWarp && kTile == kWarp * kVector);
    if (attribute + row < dims)
        copy_ahead(&tile[row][piece], set.centred + (attribute + row) * set.padded + first_item + piece);
}

/// Where a thread's distances are: the items of the tile that its value (i, j) belongs to.
struct Place {
    std::int64_t first_query, first_point;
    unsigned x, y;

    [[nodiscard]] __device__ std::int64_t query(int i) const { return first_query + item_of(x, i); }
    [[nodiscard]] __device__ std::int64_t point(int j) const { return first_point + item_of(y, j); }
};

/// Writes `distance(i, j)` for each distance of a thread that there is.
template <class Distance>
__device__ __forceinline__ void store_tile(const Place& place, std::int64_t queries, std::int64_t points,
                                           bool vector_stores, float* result, Distance distance) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        if (place.point(j) >= points) continue;
#pragma unroll
        for (int i = 0; i < kEach; i += kVector) {
            float* const to = result + place.point(j) * queries + place.query(i);
            float four[kVector];
#pragma unroll
            for (int v = 0; v < kVector; ++v) four[v] = distance(i + v, j);
            if (vector_stores && place.query(i) + kVector <= queries) {
                *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
            } else {
#pragma unroll
                for (int v = 0; v < kVector; ++v)
                    if (place.query(i + v) < queries) to[v] = four[v];
            }
        }
    }
}

/// The distances that `again` has a bit for, 8 for each point from `first` on, one after another.
__device__ void compute_one_by_one(const Place& place, const Set& queries, const Set& points, std::int64_t dims,
                                   int first, std::uint32_t again, float* result) {
    for (; again != 0; again &= again - 1) {
        const int bit = __ffs(static_cast<int>(again)) - 1;
        const std::int64_t q = place.query(bit % kEach), p = place.point(first + bit / kEach);
        Direct sum{};
#pragma unroll 4
        for (std::int64_t a = 0; a < dims; ++a)
            sum.add(queries.values[a * queries.count + q], points.values[a * points.count + p]);
        result[p * queries.count + q] = sum.result(dims);
    }
}

/// All of a thread's distances, of four points at a time, from what the caches have of the tile. 8 x 8 sums and their
/// addresses do not fit the registers.
__device__ void compute_all(const Place& place, const Set& queries, const Set& points, std::int64_t dims,
                            float* result) {
    for (int first = 0; first < kEach; first += kVector) {
        Direct sums[kVector][kEach] = {};
        for (std::int64_t a = 0; a < dims; ++a) {
            float q[kEach], p[kVector];
#pragma unroll
            for (int i = 0; i < kEach; ++i)
                q[i] = queries.values[a * queries.count + min(place.query(i), queries.count - 1)];
#pragma unroll
            for (int j = 0; j < kVector; ++j)
                p[j] = points.values[a * points.count + min(place.point(first + j), points.count - 1)];
#pragma unroll
            for (int j = 0; j < kVector; ++j)
#pragma unroll
                for (int i = 0; i < kEach; ++i) sums[j][i].add(q[i], p[j]);
        }
#pragma unroll
        for (int j = 0; j < kVector; ++j)
#pragma unroll
            for (int i = 0; i < kEach; ++i)
                if (place.query(i) < queries.count && place.point(first + j) < points.count)
                    result[place.point(first + j) * queries.count + place.query(i)] = sums[j][i].result(dims);
    }
}

__global__ void __launch_bounds__(kSide* kSide, 2)
    expanded_distances(Set queries, Set points, std::int64_t dims, Tiles tiles, bool vector_stores, float* result) {
    using Buffer = float[2][kDepth][kTile];
    auto& query_tile = shared<Buffer, struct QueryTile>();
    auto& point_tile = shared<Buffer, struct PointTile>();
    const unsigned thread = threadIdx.y * kSide + threadIdx.x;
    const Place place{tiles.first_query(blockIdx.x), tiles.first_point(blockIdx.x), threadIdx.x, threadIdx.y};
    const auto copy = [&](std::int64_t attribute, int buffer) {
        copy_slice(query_tile[buffer], queries, place.first_query, attribute, dims, thread);
        copy_slice(point_tile[buffer], points, place.first_point, attribute, dims, thread);
    };

    float products[kEach][kEach] = {};
    copy(0, 0);
    int buffer = 0;
    for (std::int64_t first = 0; first < dims; first += kDepth, buffer ^= 1) {
        wait_for_copies();
        __syncthreads();  // who is a step ahead writes the other buffer, which nobody reads any more
        copy(first + kDepth, buffer ^ 1);
        const auto step = [&](int a) {
            float q[kEach], p[kEach];
            read_row(q, query_tile[buffer][a], place.x);
            read_row(p, point_tile[buffer][a], place.y);
#pragma unroll
            for (int j = 0; j < kEach; ++j)
#pragma unroll
                for (int i = 0; i < kEach; ++i) products[j][i] += q[i] * p[j];
        };
        if (first + kDepth <= dims) {
#pragma unroll
            for (int a = 0; a < kDepth; ++a) step(a);
        } else {
            for (int a = 0; a < dims - first; ++a) step(a);
        }
    }

    float norms[kEach];
    read_row(norms, queries.norms + place.first_query, place.x);
    std::uint32_t again[2] = {};  // a bit per distance
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
        const float norm = points.norms[place.point(j)];
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const float both = norms[i] + norm, square = both - 2 * products[j][i];
            // Written so that infinities and NaN do not pass.
            const bool is_good = square >= kLeft * both && both <= std::numeric_limits<float>::max();
            if (!is_good && place.query(i) < queries.count && place.point(j) < points.count)
                again[j / kVector] |= 1U << (j % kVector * kEach + i);
            products[j][i] = std::sqrt(square);
        }
    }
    const unsigned how_many = __reduce_add_sync(kAll, static_cast<unsigned>(__popc(again[0]) + __popc(again[1])));
    if (how_many > kFewAgain) return compute_all(place, queries, points, dims, result);
    store_tile(place, queries.count, points.count, vector_stores, result, [&](int i, int j) { return products[j][i]; });
#pragma unroll
    for (int half = 0; half < 2; ++half)
        compute_one_by_one(place, queries, points, dims, half * kVector, again[half], result);
}

/// Where the copies and norms are in the workspace.
struct Layout {
    std::size_t query_norms, points, point_norms, bytes;

    explicit Layout(const Problem& problem) {
        const auto queries = static_cast<std::size_t>(padded(problem.queries));
        const auto others = static_cast<std::size_t>(padded(problem.points));
        const auto dims = static_cast<std::size_t>(problem.dims);
        query_norms = queries * dims * sizeof(float);
        points = query_norms + queries * sizeof(float);
        point_norms = points + others * dims * sizeof(float);
        bytes = point_norms + others * sizeof(float);
    }
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (device.sm < 80) return Support::no("needs compute capability 8.0, this is " + std::to_string(device.sm));
    if (problem.metric != Metric::euclidean || problem.missing != Missing::none)
        return Support::no("expands squares: euclidean distances without missing values only");
    if (problem.dims < kLeastDims)
        return Support::no("below 16 attributes the matrix takes longer to write than to compute either way");
    return Tiles(problem, kTile, kTile).fit_a_grid();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.distances() == 0) return;
    const Layout layout(problem);
    std::byte* const memory = context.workspace.data();
    const auto at = [&](std::size_t offset) { return reinterpret_cast<float*>(memory + offset); };
    const Set queries{buffers.query_values, problem.queries, padded(problem.queries), at(0), at(layout.query_norms)};
    const Set points{buffers.point_values, problem.points, padded(problem.points), at(layout.points),
                     at(layout.point_norms)};
    launch(centre_sets, dim3(static_cast<unsigned>((queries.padded + points.padded) / kWarp)), dim3(kWarp, kRowsAtOnce),
           0, context.stream, queries, points, problem.dims);
    const Tiles tiles(problem, kTile, kTile);
    const bool vector_stores =
        problem.queries % kVector == 0 && reinterpret_cast<std::uintptr_t>(buffers.result) % sizeof(float4) == 0;
    launch(expanded_distances, dim3(static_cast<unsigned>(tiles.count())), dim3(kSide, kSide), 0, context.stream,
           queries, points, problem.dims, tiles, vector_stores, buffers.result);
}

}  // namespace

Variant<Problem> expanded_tile() {
    return {.role = Role::modern,
            .summary = "the expanded square in tiles of 128 x 128; what cancels is computed again",
            .source = "after Volkov and Demmel 2008",
            .limits = "euclidean, no missing values, 16 attributes or more, compute capability 8.0",
            .tolerance = {.absolute = 1e-18,
                          .relative = 0x1p-22,
                          .reason =
                              "of the norms' sum a quarter is left at least: four times the roundings of a direct sum"},
            .rounds = "attributes are centred on a mean",
            .supports = supports,
            .workspace = [](const Problem& problem, const Configuration&,
                            const DeviceInfo&) { return Layout(problem).bytes; },
            .run = run};
}

}  // namespace espalier::distance
