#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "variants/distance/accumulator.hpp"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/fused_kernels.cuh"
#include "variants/knn/group_bounds.cuh"

/// The direct distances of the points whose bounds let them be neighbours, a warp per query.
namespace espalier::knn {
namespace {

inline constexpr int kMostWanted = 128;
using Direct = distance::Accumulator<Metric::euclidean, Missing::none>;

struct GroupSearch {
    GroupScreen screen;
    const float* query_values;  ///< attribute-major
    const float* point_rows;    ///< item-major, `row_stride` apart
    const float *query_norms, *query_slacks;
    std::int64_t queries, points;
    std::int64_t most_visited;  ///< points
    std::int32_t dims, k;
    float most_kept_back;  ///< the largest share of an attribute's square
    double absolute;       ///< error of the bounds
    FoundLists found;
    Findings* findings;
    std::int32_t* listed;

    /// How far below `reached` a value may be whose point is no farther than all that reach it: what is kept back of
    /// both norms. A point at a distance of D has |y|^2 <= 2 |x|^2 + 2 D^2, and what is kept back of it is in
    /// proportion; no point has more than the one with most.
    [[nodiscard]] __device__ float margin_of(float norm, float slack, float reached) const {
        const float near = fmaxf(norm - 2 * reached, 0.0F);
        const float by_distance = 2.05F * (slack + most_kept_back * (near + 6.2F * slack));
        const float other = fminf(by_distance, __uint_as_float(findings->slack));
        const float rounding = static_cast<float>(2 * dims + 32) * 0x1p-23F;
        return 1.02F * (slack + other) + rounding * (near + 2 * (slack + other)) + static_cast<float>(absolute);
    }
};

/// The k-th largest of the warp's keys, of which a lane has `count`.
template <int count>
__device__ std::uint32_t kth_largest(const std::uint32_t (&keys)[count], int k) {
    std::uint32_t found = 0;
#pragma unroll 4
    for (std::uint32_t bit = 0x80000000U; bit != 0; bit >>= 1) {
        int above = 0;
#pragma unroll
        for (int i = 0; i < count; ++i) above += __popc(__ballot_sync(kAll, keys[i] >= (found | bit)));
        if (above >= k) found |= bit;
    }
    return found;
}

/// Two neighbouring groups' tops.
struct TwoTops {
    GroupTop tops[2];
};

__device__ inline TwoTops read_tops(const GroupTop* tops, int first, int groups) {
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    if (first >= groups) return {{{kNone, kNone}, {kNone, kNone}}};
    const float4 four = *reinterpret_cast<const float4*>(tops + first);
    return {{{four.x, four.y}, {four.z, four.w}}};
}

/// A value that at least k groups reach: the k-th largest of the lanes' `count` largest ones.
template <int count>
__device__ float reached_by(const GroupTop* tops, int groups, int k, unsigned lane) {
    float largest[count];
#pragma unroll
    for (float& value : largest) value = -std::numeric_limits<float>::infinity();
#pragma unroll 4
    for (int first = static_cast<int>(lane) * 2; first < groups; first += kLanes * 2) {
        const TwoTops two = read_tops(tops, first, groups);
#pragma unroll
        for (const GroupTop& top : two.tops) {
            // Nobody knows where a point is that has no bounds.
            float value = top.best < kAlways / 2 ? top.best : -std::numeric_limits<float>::infinity();
#pragma unroll
            for (float& at : largest) {
                const float smaller = fminf(at, value);
                at = fmaxf(at, value), value = smaller;
            }
        }
    }
    std::uint32_t keys[count];
#pragma unroll
    for (int i = 0; i < count; ++i) keys[i] = key_of(largest[i]);
    return value_of(kth_largest(keys, k));
}

/// As `reached_by` with as many values per lane as make it a good bound.
__device__ inline float threshold_of(const GroupTop* tops, int groups, int k, unsigned lane) {
    if (k <= 8) return reached_by<1>(tops, groups, k, lane);
    if (k <= 32) return reached_by<2>(tops, groups, k, lane);
    if (k <= 80) return reached_by<4>(tops, groups, k, lane);
    return reached_by<8>(tops, groups, k, lane);
}

/// A warp's list of the nearest points so far, what waits to be merged into it, and points that wait for their
/// distances.
struct Nearest {
    std::uint64_t best[kMostWanted];
    std::uint64_t waiting[2 * kLanes];
    std::int32_t points[5 * kLanes];
};

/// One warp's search: its fields are the same in all lanes.
template <int group>
struct NearestSearch {
    const GroupSearch& search;
    Nearest& lists;
    const float* query;  ///< attributes in shared memory
    float limit;         ///< nothing farther matters
    unsigned lane;
    int length;  ///< of the list: k in whole warps
    int listed = 0, waiting = 0, accepted = 0, visited = 0;

    __device__ void clear() const {
        for (int j = static_cast<int>(lane); j < length; j += kLanes) lists.best[j] = kEmptyEntry;
        __syncwarp();
    }

    /// Lists of every lane's two groups from place `first` on the points that may reach the floor: those of the best
    /// part, or all of a group in which another one reaches it, too. Computes distances whenever they fill the warp.
    __device__ void list(int first, const TwoTops& two, float floor) {
        if (!__any_sync(kAll, fmaxf(two.tops[0].best, two.tops[1].best) >= floor)) return;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            constexpr auto kParts = static_cast<unsigned>(group / kPart<group>);
            const GroupTop& top = two.tops[i];
            const auto first_point = static_cast<std::int32_t>(first_point_of<group>(first + i));
            const auto part = static_cast<std::int32_t>(__float_as_uint(top.best) & (kParts - 1));
            const bool whole = top.second >= floor;
            push<kPart<group>>(first_point + part * kPart<group>, top.best >= floor && !whole);
            work(false);
            for (unsigned left = __ballot_sync(kAll, whole); left != 0; left &= left - 1) {
                // Of large groups these may be many too many.
                if (group == kScreenTile && visited > search.most_visited) break;
                const std::int32_t of = __shfl_sync(kAll, first_point, __ffs(static_cast<int>(left)) - 1);
#pragma unroll 1
                for (int own = 0; own < group; own += kLanes) {
                    const int point = own + static_cast<int>(lane);
                    push<1>(of + point, point < group);
                    work(false);
                }
            }
        }
    }

    /// Computes the distances of what is listed, as long as it fills the warp, or to the `end`.
    __device__ void work(bool end) {
        __syncwarp();
        for (bool more = true; more;) {
            more = listed >= (end ? 1 : kLanes);
            if (more) compute(min(listed, kLanes));
            if (waiting >= kLanes || (end && !more && waiting > 0)) merge(min(waiting, kLanes));
        }
    }

private:
    /// Lists `count` points of each lane that wants it.
    template <int count>
    __device__ void push(std::int32_t first, bool wanted) {
        const unsigned all = __ballot_sync(kAll, wanted);
        if (wanted) {
            std::int32_t* const to = lists.points + listed + __popc(all & ((1U << lane) - 1)) * count;
#pragma unroll
            for (int i = 0; i < count; ++i) to[i] = first + i;
        }
        listed += __popc(all) * count, visited += __popc(all) * count;
    }

    __device__ float distance_to(std::int64_t point) const {
        constexpr int kLoads = 4;  // on their way
        Direct sum{};
        const float* const row = search.point_rows + point * row_stride(search.dims);
        const auto add_four = [&](const float4& p, std::int32_t a) {
            const float4 q = *reinterpret_cast<const float4*>(query + a);
            sum.add(q.x, p.x), sum.add(q.y, p.y), sum.add(q.z, p.z), sum.add(q.w, p.w);
        };
        std::int32_t a = 0;
#pragma unroll 1
        for (; a + 4 * kLoads <= search.dims; a += 4 * kLoads) {
            float4 p[kLoads];
#pragma unroll
            for (int i = 0; i < kLoads; ++i) p[i] = *reinterpret_cast<const float4*>(row + a + 4 * i);
#pragma unroll
            for (int i = 0; i < kLoads; ++i) add_four(p[i], a + 4 * i);
        }
#pragma unroll 1
        for (; a + 4 <= search.dims; a += 4) add_four(*reinterpret_cast<const float4*>(row + a), a);
#pragma unroll 1
        for (; a < search.dims; ++a) sum.add(query[a], row[a]);
        return sum.result(search.dims);
    }

    /// The last `count` points listed.
    __device__ void compute(int count) {
        listed -= count;
        const bool has_point = static_cast<int>(lane) < count;
        const std::int64_t point = has_point ? lists.points[listed + static_cast<int>(lane)] : search.points;
        float distance = 0;
        bool near = false;
        if (point < search.points) distance = distance_to(point), near = distance <= limit;
        const unsigned all = __ballot_sync(kAll, near);
        if (near)
            lists.waiting[waiting + __popc(all & ((1U << lane) - 1))] =
                entry_of(key_of(distance), static_cast<std::uint32_t>(point));
        waiting += __popc(all), accepted += __popc(all);
        __syncwarp();
    }

    /// The last `count` that wait.
    __device__ void merge(int count) {
        __syncwarp();
        waiting -= count;
        std::uint64_t entries[1] = {static_cast<int>(lane) < count ? lists.waiting[waiting + static_cast<int>(lane)]
                                                                   : kEmptyEntry};
        sort(entries, lane);
        merge_sorted(lists.best, length, entries[0], lane);
        __syncwarp();
        if (const std::uint64_t kth = lists.best[search.k - 1]; kth != kEmptyEntry)
            limit = std::min(limit, value_of(key_of_entry(kth)));
        __syncwarp();
    }
};

/// Whether a point of p - m / 2 at most `value` is behind a neighbour of this entry, by index or distance.
__device__ inline bool surely_behind(const GroupSearch& search, float norm, float value, std::uint64_t neighbour) {
    if (neighbour == kEmptyEntry) return false;
    const double least = static_cast<double>(norm) - 2.0 * static_cast<double>(value);
    const float sum = largest_up_to<true>(value_of(key_of_entry(neighbour)));
    return surely_above(least - search.absolute, static_cast<double>(sum),
                        static_cast<double>(scale_of_spread(search.findings->spread)), search.dims);
}

/// No point whose p - m / 2 is `value` or more is farther than this: by the errors of the bounds and of the distance.
__device__ inline float farthest_of(const GroupSearch& search, float norm, float value, float margin) {
    const double most =
        static_cast<double>(norm) - 2 * static_cast<double>(value) + 2 * static_cast<double>(margin) + search.absolute;
    const auto scale = static_cast<double>(scale_of_spread(search.findings->spread));
    const double rounded = std::max(most, 0.0) / scale / scale * (1 + (search.dims + 8) * 0x1p-23);
    return static_cast<float>(std::sqrt(rounded) * (1 + 0x1p-22));
}

/// A warp per query writes its k nearest points or lists it, for the direct search.
template <int group>
__global__ void __launch_bounds__(kThreads) search_groups(GroupSearch search) {
    auto& lists = device::shared<Nearest[kBlockWarps]>()[threadIdx.y];
    const unsigned lane = threadIdx.x;
    const int own = static_cast<int>(lane);
    const std::int64_t place = std::int64_t{blockIdx.x} * kBlockWarps + threadIdx.y;
    if (place >= search.screen.count) return;
    const std::int64_t number = search.screen.first + place;
    const float norm = search.query_norms[number];
    bool certified = false;
    if (norm == norm) {
        float* const query = device::dynamic_shared<float>() + threadIdx.y * row_stride(search.dims);
        for (std::int32_t a = own; a < search.dims; a += kLanes)
            query[a] = search.query_values[a * search.queries + number];
        const int groups = search.screen.groups, k = search.k;
        const GroupTop* const tops = search.screen.tops + place * groups;
        const float reached = threshold_of(tops, groups, k, lane);
        const float margin = search.margin_of(norm, search.query_slacks[number], reached), floor = reached - margin;
        NearestSearch<group> nearest{
            search, lists, query, farthest_of(search, norm, reached, margin), lane, (k + kLanes - 1) / kLanes * kLanes};
        nearest.clear();
        for (int step = 0; step < groups && nearest.visited <= search.most_visited; step += kLanes * 2) {
            const int first = step + own * 2;
            nearest.list(first, read_tops(tops, first, groups), floor);
            nearest.work(step + kLanes * 2 >= groups);
        }
        if (nearest.visited <= search.most_visited) {
            certified = nearest.accepted >= std::min<std::int64_t>(k, search.points) &&
                        surely_behind(search, norm, floor, lists.best[k - 1]);
            if (certified)
                for (int j = own; j < k; j += kLanes) {
                    search.found.distances[j * search.screen.count + place] = value_of(key_of_entry(lists.best[j]));
                    search.found.indices[j * search.screen.count + place] = smallest_k::index_of_entry(lists.best[j]);
                }
        }
    }
    if (!certified && lane == 0)
        search.listed[atomicAdd(&search.findings->uncertified, 1)] = static_cast<std::int32_t>(number);
}

}  // namespace
}  // namespace espalier::knn
