#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/fused_kernels.cuh"
#include "variants/knn/threshold_products.cuh"

/// Direct distances of chosen points, a warp per query: of the best of a sample, which give the query its threshold,
/// and of the candidates that reach it.
namespace espalier::knn::threshold {
namespace {

/// What both kernels are given: `count` queries from `first` on, or as many of those listed.
struct Exact {
    const float *query_rows, *point_rows;  ///< item-major, `row_stride` apart
    const float* query_norms;
    Listed listed;
    std::int64_t first, count;
    std::int64_t first_row, rows;  ///< the query that `found` begins with, and its rows
    std::int32_t dims, k, groups, every, room;
    double absolute;  ///< error of the bounds, in scaled squares
    const float* tops;
    float* floors;
    const std::int32_t* counts;
    const Candidate* candidates;
    FoundLists found;
    Findings* findings;
    std::int32_t* left;  ///< queries for the direct search

    /// Whether there is a query at a place from `first` on.
    [[nodiscard]] __device__ bool has(std::int64_t place) const {
        return place < count && first + place < listed.searched(first + count);
    }
};

/// Stands for more candidates than find room, however many.
inline constexpr std::int32_t kTooMany = std::numeric_limits<std::int32_t>::max();

/// Of a list of k: in whole warps.
constexpr int list_length(int k) { return (k + kLanes - 1) / kLanes * kLanes; }

/// A warp's scratch memory.
struct WarpMemory {
    alignas(16) float rows[kLanes + 1][kLanes + 4];  ///< 32 attributes of as many points, and of the query
    std::int32_t bins[256];
    std::int32_t points[2 * kLanes];  ///< that wait for their distances
};

/// The key of the k-th largest of `count` values, by digits of eight bits; 0 if there are fewer. `value_at` has a
/// value for each place; the smallest float is none.
template <class ValueAt>
__device__ std::uint32_t kth_largest_key(std::int32_t (&bins)[256], int count, int k, unsigned lane,
                                         const ValueAt& value_at) {
    constexpr int kAtOnce = 4;  // values on their way
    std::uint32_t prefix = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        for (int i = static_cast<int>(lane); i < 256; i += kLanes) bins[i] = 0;
        __syncwarp();
        for (int first = static_cast<int>(lane); first < count; first += kAtOnce * kLanes) {
            std::uint32_t keys[kAtOnce];
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) keys[i] = key_of(value_at(min(first + i * kLanes, count - 1)));
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i)
                if (first + i * kLanes < count && (shift == 24 || (keys[i] ^ prefix) >> (shift + 8) == 0))
                    atomicAdd(&bins[keys[i] >> shift & 255], 1);
        }
        __syncwarp();
        // A lane has eight bins, the first lane those of the largest digits.
        const int top = 255 - static_cast<int>(lane) * 8;
        int own = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) own += bins[top - i];
        int up_to = own;
#pragma unroll
        for (int lanes = 1; lanes < kLanes; lanes *= 2) {
            const int other = __shfl_up_sync(kAll, up_to, static_cast<unsigned>(lanes));
            if (static_cast<int>(lane) >= lanes) up_to += other;
        }
        const unsigned reaching = __ballot_sync(kAll, up_to >= k);
        if (reaching == 0) return 0;
        const int holder = __ffs(static_cast<int>(reaching)) - 1;
        int above = up_to - own, digit = top;
        while (digit > top - 7 && above + bins[digit] < k) above += bins[digit--];
        prefix |= static_cast<std::uint32_t>(__shfl_sync(kAll, digit, holder)) << shift;
        k -= __shfl_sync(kAll, above, holder);
        __syncwarp();
    }
    return prefix;
}

/// The distances of one query to points of its warp's choice, 32 at a time: their rows come through shared memory, so
/// that they are read as they lie, and each lane adds up its own in the order of the attributes. The next attributes
/// are on their way meanwhile, of all points at once: a warp that waited for each would wait for most of its time.
template <Metric metric>
struct QueryDistances {
    const Exact& exact;
    WarpMemory& memory;
    std::int64_t query;
    unsigned lane;

    /// Of the first `count` points that wait, at least one; NaN for lanes beyond.
    __device__ float compute(int count) const {
        distance::Accumulator<metric, Missing::none> sum{};
        const bool is_own = static_cast<int>(lane) < count;
        const std::int32_t own = memory.points[is_own ? lane : 0];
        const float* const row = memory.rows[is_own ? lane : 0];
        Part part{};
        if (exact.dims > 0) read(part, own, count, 0);
        for (std::int32_t first = 0; first < exact.dims; first += kLanes) {
            __syncwarp();
            write(part, count);
            __syncwarp();
            if (first + kLanes < exact.dims) read(part, own, count, first + kLanes);
            add(sum, row, min(exact.dims - first, kLanes));
        }
        return is_own ? sum.result(exact.dims) : std::numeric_limits<float>::quiet_NaN();
    }

private:
    static constexpr int kTogether = 4, kPieces = kLanes / kTogether;  ///< attributes of a lane, lanes of a point
    /// A lane's attribute of the query's 32, and four neighbouring ones of every fourth point.
    struct Part {
        float query;
        float4 points[kPieces];
    };
    /// From attribute `first` on; the last ones again for lanes beyond them.
    __device__ void read(Part& part, std::int32_t own, int count, std::int32_t first) const {
        const auto stride = static_cast<std::int32_t>(row_stride(exact.dims)), at = static_cast<std::int32_t>(lane);
        part.query = exact.query_rows[query * stride + min(first + at, exact.dims - 1)];
        const float* const from = exact.point_rows + min(first + at % kPieces * kTogether, stride - kTogether);
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            const std::int32_t point = __shfl_sync(kAll, own, i * kTogether + at / kPieces);
            if (i * kTogether < count)
                part.points[i] = *reinterpret_cast<const float4*>(from + std::int64_t{point} * stride);
        }
    }
    __device__ void write(const Part& part, int count) const {
        memory.rows[kLanes][lane] = part.query;
#pragma unroll
        for (int i = 0; i < kPieces; ++i)
            if (i * kTogether < count)
                *reinterpret_cast<float4*>(
                    &memory.rows[i * kTogether + static_cast<int>(lane) / kPieces][lane % kPieces * kTogether]) =
                    part.points[i];
    }
    /// The first `here` attributes of the lane's row.
    __device__ void add(distance::Accumulator<metric, Missing::none>& sum, const float* row, int here) const {
        const float* const of_query = memory.rows[kLanes];
        if (here < kLanes) {
            for (int a = 0; a < here; ++a) sum.add(of_query[a], row[a]);
            return;
        }
#pragma unroll
        for (int a = 0; a < kLanes; a += kTogether) {
            const float4 x = *reinterpret_cast<const float4*>(of_query + a);
            const float4 y = *reinterpret_cast<const float4*>(row + a);
            sum.add(x.x, y.x), sum.add(x.y, y.y), sum.add(x.z, y.z), sum.add(x.w, y.w);
        }
    }
};

/// Every point that a query's direct distance of `distance` or less can belong to has this value or more.
template <Metric metric>
__device__ float floor_of(const Exact& exact, float norm, float distance) {
    if (!is_finite(distance)) return -std::numeric_limits<float>::infinity();
    const double scale = static_cast<double>(scale_of(*exact.findings, metric)), terms = exact.dims;
    double most;  // scaled squared distance
    if constexpr (metric == Metric::cosine) {
        most = 2 * (static_cast<double>(distance) + unit_error(exact.dims)) * scale * scale;
    } else {
        const auto sum = static_cast<double>(largest_up_to<true>(distance));
        most = (sum + terms * 0x1p-148) / (1 - (terms + 4) * 0x1p-24) * scale * scale;
    }
    const double floor = (static_cast<double>(norm) - exact.absolute - most) / 2;
    return static_cast<float>(floor - std::fabs(floor) * 0x1p-22);
}

/// A warp's list of the k nearest of the candidates it has seen.
template <Metric metric>
struct CandidateList {
    const Exact& exact;
    WarpMemory& memory;
    QueryDistances<metric> distances;
    unsigned lane;
    int length, waiting = 0;
    std::uint64_t* list;  ///< in the launch's shared memory

    __device__ CandidateList(const Exact& of, WarpMemory& scratch, std::int64_t query, unsigned own_lane)
        : exact(of),
          memory(scratch),
          distances{of, scratch, query, own_lane},
          lane(own_lane),
          length(list_length(of.k)),
          list(device::dynamic_shared<std::uint64_t>() + threadIdx.y * static_cast<unsigned>(length)) {
        for (int j = static_cast<int>(lane); j < length; j += kLanes) list[j] = kEmptyEntry;
        __syncwarp();
    }
    /// Computes a lane's point's distance, if it wants one, as soon as there are 32.
    __device__ void add(std::int32_t point, bool wanted) {
        const unsigned all = __ballot_sync(kAll, wanted);
        if (wanted) memory.points[waiting + __popc(all & ((1U << lane) - 1))] = point;
        waiting += __popc(all);
        __syncwarp();
        if (waiting >= kLanes) merge();
    }
    __device__ void finish() {
        if (waiting > 0) merge();
    }
    /// The k-th distance so far; infinite if there are fewer.
    [[nodiscard]] __device__ float limit() const {
        const std::uint64_t kth = list[exact.k - 1];
        return kth == kEmptyEntry ? std::numeric_limits<float>::infinity() : value_of(key_of_entry(kth));
    }

private:
    __device__ void merge() {
        const int count = min(waiting, kLanes);
        const float distance = distances.compute(count);
        std::uint64_t entries[1] = {static_cast<int>(lane) < count
                                        ? entry_of(key_of(distance), static_cast<std::uint32_t>(memory.points[lane]))
                                        : kEmptyEntry};
        const std::uint64_t kth = list[exact.k - 1];
        waiting -= count;
        __syncwarp();  // everybody has read them when others write
        if (static_cast<int>(lane) < waiting) memory.points[lane] = memory.points[kLanes + lane];
        if (__any_sync(kAll, entries[0] < kth)) {
            sort(entries, lane);
            merge_sorted(list, length, entries[0], lane);
        }
        __syncwarp();
    }
};

/// A value that at least k places reach, and not many more: the k-th largest of what the lanes have most of.
template <int each, class ValueAt>
__device__ std::uint32_t reached_key(int count, int k, unsigned lane, const ValueAt& value_at) {
    std::uint32_t largest[each] = {};
#pragma unroll 4
    for (int i = static_cast<int>(lane); i < count; i += kLanes) {
        std::uint32_t key = key_of(value_at(i));
#pragma unroll
        for (std::uint32_t& at : largest) {
            const std::uint32_t less = min(at, key);
            at = max(at, key), key = less;
        }
    }
    std::uint32_t found = 0;
#pragma unroll 1
    for (std::uint32_t bit = 0x80000000U; bit != 0; bit >>= 1) {
        int above = 0;
#pragma unroll
        for (int i = 0; i < each; ++i) above += __popc(__ballot_sync(kAll, largest[i] >= (found | bit)));
        if (above >= k) found |= bit;
    }
    return found;
}

/// Samples of all points. Of a query of which more than `most` points are to be candidates none is: its count says so
/// already.
struct WholeSample {
    static constexpr bool kIsWhole = true;
    std::int32_t groups, every, most;
    float* limits;         ///< of all queries here, if anybody asks for them
    std::int32_t* counts;  ///< of candidates

    [[nodiscard]] __device__ std::int32_t groups_of(std::int64_t) const { return groups; }
    [[nodiscard]] __device__ std::int32_t point_of(std::int64_t, std::int32_t group, std::int32_t in_group) const {
        return group / kTileGroups * every * kTilePoints + group % kTileGroups * kSampleGroup + in_group;
    }
    /// What the query's threshold becomes of what was found.
    [[nodiscard]] __device__ float limit(std::int64_t place, float found) const {
        if (limits != nullptr && threadIdx.x == 0) limits[place] = found;
        return found;
    }
    __device__ void none(std::int64_t place) const {
        if (limits != nullptr) limits[place] = std::numeric_limits<float>::infinity();
    }
    template <Metric metric>
    [[nodiscard]] __device__ float floor(const Exact& exact, std::int64_t, float norm, float limit) const {
        return floor_of<metric>(exact, norm, limit);
    }
};

/// A warp per query computes the distances of the points that look nearest in a sample, k or some more, and from the
/// k-th of them the floor; for `exact.count` places or as many as there are on the list.
template <Metric metric, class Sample>
__global__ void __launch_bounds__(kThreads, 3) find_floors(Exact exact, Sample sample) {
    auto& memory = device::shared<WarpMemory[kBlockWarps]>()[threadIdx.y];
    const unsigned lane = threadIdx.x;
    const std::int64_t all = exact.listed.searched(divided_up(exact.count, kTileQueries) * kTileQueries);
    for (std::int64_t place = std::int64_t{blockIdx.x} * kBlockWarps + threadIdx.y; place < all;
         place += std::int64_t{gridDim.x} * kBlockWarps) {
        // A tile's places beyond the queries, too: no value reaches an infinite floor.
        const float norm = exact.has(place) ? exact.query_norms[exact.first + place] : NAN;
        if (norm != norm) {
            if (lane == 0) exact.floors[place] = std::numeric_limits<float>::infinity(), sample.none(place);
            continue;
        }
        const float* const tops = exact.tops + place * exact.groups;
        const std::int32_t groups = sample.groups_of(place);
        const auto value_at = [&](int i) { return tops[i]; };
        const std::uint32_t kth = exact.k <= 16   ? reached_key<2>(groups, exact.k, lane, value_at)
                                  : exact.k <= 64 ? reached_key<4>(groups, exact.k, lane, value_at)
                                                  : kth_largest_key(memory.bins, groups, exact.k, lane, value_at);
        CandidateList<metric> list(exact, memory, exact.first + place, lane);
        int left = 2 * exact.k;  // of equal values all of the sample may look nearest
        for (std::int32_t first = 0; first < groups && left > 0; first += kLanes) {
            const std::int32_t group = first + static_cast<std::int32_t>(lane);
            const float top = group < groups ? tops[group] : kNoPoint;
            const bool wanted = top > kNoPoint / 2 && key_of(top) >= kth;
            list.add(wanted ? sample.point_of(place, group, static_cast<std::int32_t>(__float_as_uint(top) & 7U)) : 0,
                     wanted);
            left -= __popc(__ballot_sync(kAll, wanted));
        }
        list.finish();
        const float limit = sample.limit(place, list.limit());
        float floor = sample.template floor<metric>(exact, place, norm, limit);
        if constexpr (Sample::kIsWhole) {
            std::int32_t reaching = 0;
            for (auto i = static_cast<std::int32_t>(lane); i < groups; i += kLanes)
                reaching += tops[i] >= floor ? 1 : 0;
#pragma unroll
            for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) reaching += __shfl_xor_sync(kAll, reaching, lanes);
            if (std::int64_t{reaching} * sample.every > sample.most) {
                floor = std::numeric_limits<float>::infinity();
                if (lane == 0) sample.counts[place] = kTooMany;
            }
        }
        if (lane == 0) exact.floors[place] = floor;
        __syncwarp();
    }
}

/// A warp per query writes its k nearest points, or lists it for the direct search.
template <Metric metric>
__global__ void __launch_bounds__(kThreads, 3) search_candidates(Exact exact) {
    auto& memory = device::shared<WarpMemory[kBlockWarps]>()[threadIdx.y];
    const unsigned lane = threadIdx.x;
    const std::int64_t place = std::int64_t{blockIdx.x} * kBlockWarps + threadIdx.y;
    if (!exact.has(place)) return;
    const std::int64_t query = exact.first + place, given = exact.listed.query_at(query);
    const float norm = exact.query_norms[query];
    const std::int32_t count = exact.counts[place];
    if (norm != norm || count > exact.room) {
        if (lane == 0) exact.left[atomicAdd(&exact.findings->unlisted, 1)] = static_cast<std::int32_t>(given);
        return;
    }
    const Candidate* const candidates = exact.candidates + place * exact.room;
    CandidateList<metric> list(exact, memory, query, lane);
    const auto bounded = [](float value) { return value < kAlways / 2 ? value : kNoPoint; };
    const std::uint32_t kth =
        kth_largest_key(memory.bins, count, exact.k, lane, [&](int i) { return bounded(candidates[i].value); });
    const auto add_those = [&](const auto& wanted) {
        const int last = count - 1;
        Candidate next = count > 0 ? candidates[min(static_cast<int>(lane), last)] : Candidate{0, 0};
        for (int i = static_cast<int>(lane); i - static_cast<int>(lane) < count; i += kLanes) {
            const Candidate own = next;
            next = candidates[min(i + kLanes, last)];
            list.add(own.point, i < count && wanted(own.value));
        }
        list.finish();
    };
    // Those that look nearest tell which of the others may matter.
    add_those([&](float value) { return key_of(bounded(value)) >= kth; });
    const float floor = floor_of<metric>(exact, norm, list.limit());
    add_those([&](float value) { return key_of(bounded(value)) < kth && value >= floor; });
    for (int j = static_cast<int>(lane); j < exact.k; j += kLanes) {
        const std::int64_t to = j * exact.rows + given - exact.first_row;
        exact.found.distances[to] = value_of(key_of_entry(list.list[j]));
        exact.found.indices[to] = smallest_k::index_of_entry(list.list[j]);
    }
}

}  // namespace
}  // namespace espalier::knn::threshold
