#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "device/copy_ahead.hpp"
#include "device/kernel.hpp"
#include "variants/knn/few_kernels.cuh"
#include "variants/knn/few_screening.hpp"
#include "variants/knn/fused_kernels.cuh"

/// What follows the screen of `few_screened`: direct distances of what is on the lists, and the search for the queries
/// that it gives up.
namespace espalier::knn::few {
namespace {

constexpr std::size_t settle_bytes(std::int32_t kept) {
    return merge_bytes(kept) + std::size_t{2} * kDirectChunk * (kLanes + 1) * sizeof(float);
}

/// The most that a block of any of the kernels has.
inline std::size_t shared_by_block(std::int64_t k, const DeviceInfo& device) {
    const std::int32_t kept = kept_for(k);
    const int stages = stages_for(kept, device.shared_per_block_optin);
    return std::max(screen_bytes(kept, stages) + kSelectionBytes, settle_bytes(kept) + std::size_t{16} * 1024);
}

/// Direct distances of 32 points of a list, whose attributes lie all over memory: all threads of the block copy 128 of
/// each point, while those before are added up, a thread for each point. The query comes behind the points.
template <Metric metric>
struct DirectDistances {
    static constexpr int kItems = kLanes + 1;

    const FewSearch& search;
    std::int64_t query;
    const std::uint64_t* listed;  ///< 32 of them
    float* attributes;            ///< 2 x kDirectChunk x kItems

    __device__ void copy(std::int32_t first, int buffer) const {
        for (int i = static_cast<int>(threadIdx.x); i < kDirectChunk * kItems; i += kMergeThreads) {
            const std::int32_t attribute = first + i / kItems, item = i % kItems;
            const float* from = search.query_values;
            bool is_there = attribute < search.dims;
            if (item == kLanes) {
                if (is_there) from += attribute * search.queries + query;
            } else {
                is_there = is_there && listed[item] != kEmptyEntry;
                if (is_there) from = search.point_values + attribute * search.points + index_of_entry(listed[item]);
            }
            device::copy_ahead(&attributes[buffer * kDirectChunk * kItems + i], from, is_there);
        }
    }

    /// The entry of the point of this thread's number; threads beyond 32 have none.
    __device__ std::uint64_t compute() const {
        const int own = static_cast<int>(threadIdx.x);
        distance::Accumulator<metric, Missing::none> sum{};
        int buffer = 0;
        if (search.dims > 0) copy(0, 0);
        for (std::int32_t first = 0; first < search.dims; first += kDirectChunk, buffer ^= 1) {
            device::wait_for_copies();
            __syncthreads();
            if (first + kDirectChunk < search.dims) copy(first + kDirectChunk, buffer ^ 1);
            if (own >= kLanes) continue;
            const float* const values = attributes + buffer * kDirectChunk * kItems;
            const int here = min(search.dims - first, kDirectChunk);
#pragma unroll 8
            for (int a = 0; a < here; ++a) sum.add(values[a * kItems + kLanes], values[a * kItems + own]);
        }
        if (own >= kLanes || listed[own] == kEmptyEntry) return kEmptyEntry;
        return entry_of(key_of(sum.result(search.dims)), static_cast<std::uint32_t>(listed[own]));
    }
};

/// The squared norm of a query, by a warp; of euclidean distances about the centre.
template <Metric metric>
__device__ double square_of(const FewSearch& search, const float* centre, std::int64_t query, unsigned lane) {
    double sum = 0;
    for (auto a = static_cast<std::int32_t>(lane); a < search.dims; a += kLanes) {
        const float given = search.query_values[a * search.queries + query];
        const auto value = static_cast<double>(metric == Metric::euclidean ? given - centre[a] : given);
        sum += value * value;
    }
#pragma unroll
    for (int stride = kLanes / 2; stride > 0; stride /= 2) sum += __shfl_xor_sync(kAll, sum, stride);
    return sum;
}

/// Whether no point outside of a list is as near as the k-th of its points; `last` is the list's last entry.
template <Metric metric>
__device__ bool is_certain(const FewSearch& search, std::uint64_t last, std::uint64_t kth, double square) {
    if (last == kEmptyEntry) return true;  // there is none outside
    const float value = value_of(key_of_entry(last)), distance = value_of(key_of_entry(kth));
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (!(std::fabs(value) < kInfinity) || !(distance < kInfinity)) return false;
    const float sum = metric == Metric::cosine ? 0.0F : largest_up_to<true>(distance);
    return surely_farther<metric>(static_cast<double>(value), square, static_cast<double>(sum),
                                  static_cast<double>(distance), search.dims);
}

/// Where the blocks of a query's parts leave what they measure, `length` entries a query, and how many have.
struct Measured {
    std::uint64_t* entries;
    std::int32_t* parts;

    /// Whether this block is the query's last one: then all entries are there for it. All its threads call it, the
    /// first 32 with their entries.
    [[nodiscard]] __device__ bool is_last(std::int64_t query, int part, int all, std::uint64_t entry) const {
        auto& last = device::shared<bool, Measured>();
        if (threadIdx.x < kLanes) {
            entries[(query * all + part) * kLanes + threadIdx.x] = entry;
            __threadfence();  // it must be visible before the part counts
            __syncwarp();
            if (threadIdx.x == 0) last = atomicAdd(&parts[query], 1) == all - 1;
        }
        __syncthreads();
        __threadfence();
        return last;
    }
};

/// A block per query and 32 points of its list. Each merges the lists of the query's slices and measures its points;
/// the last one sorts all by direct distances. Where these are surely the nearest, they vote; else the query is left to
/// the direct search.
template <Metric metric>
__global__ void __launch_bounds__(kMergeThreads)
    settle_few(FewSearch search, const float* centre, Problem problem, Buffers buffers, Measured measured,
               std::int32_t* given_up) {
    auto& votes = device::shared<VoteSpace>();
    auto& sorted = device::shared<std::uint64_t[kLongestKept], struct Sorted>();
    auto& square = device::shared<double, struct Square>();
    const unsigned lane = threadIdx.x % kLanes;
    const int warp = static_cast<int>(threadIdx.x) / kLanes, lists = search.length / kLanes;
    const std::int64_t query = blockIdx.x / lists;
    const int part = static_cast<int>(blockIdx.x) % lists;
    const std::uint64_t* const listed = merge_slices(search, query);
    auto* const behind = reinterpret_cast<float*>(device::dynamic_shared<std::byte>() + merge_bytes(search.length));
    __syncthreads();
    const std::uint64_t own = DirectDistances<metric>{search, query, listed + part * kLanes, behind}.compute();
    if (!measured.is_last(query, part, lists, own)) return;
    if (warp < lists) {
        std::uint64_t entries[1] = {measured.entries[query * search.length + threadIdx.x]};
        sort(entries, lane);
        sorted[threadIdx.x] = entries[0];
    } else if (warp == kMergeWarps - 1) {
        const double sum = square_of<metric>(search, centre, query, lane);
        if (lane == 0) square = sum;
    }
    __syncthreads();
    if (warp != 0) return;
    for (int other = 1; other < lists; ++other) {
        // The list so far fills the parts before, and what it pushes out goes behind.
        const std::uint64_t entry = sorted[other * kLanes + static_cast<int>(lane)];
        sorted[other * kLanes + static_cast<int>(lane)] = kEmptyEntry;
        __syncwarp();
        merge_sorted(sorted, (other + 1) * kLanes, entry, lane);
        __syncwarp();
    }
    const auto k = static_cast<int>(problem.k);
    if (is_certain<metric>(search, listed[search.length - 1], sorted[k - 1], square))
        vote_by_warp(problem, buffers, sorted, votes, query, lane);
    else if (lane == 0)
        given_up[1 + atomicAdd(given_up, 1)] = static_cast<std::int32_t>(query);
}

/// Whether a block has room for a large group of those given up.
inline bool may_be_large(std::int32_t length, const DeviceInfo& device) {
    const std::size_t bytes = shared_bytes<kLargeGroup, 4>(length) + sizeof(BlockSpace<kLargeGroup>);
    return bytes <= device.shared_per_block_optin;
}

/// Cuts the search of those given up for as many as they are: `search.slices` are for one group of 8.
__device__ inline GivenUpCut cut_for_given_up(FewSearch& search, bool may_be_large) {
    const GivenUpCut cut = cut_of_given_up(search.searched(), search.points, search.slices, may_be_large);
    const PointSlices slices(search.points, cut.slices / cut.groups, std::int64_t{kThreads} * cut.per_thread);
    search.groups = cut.groups, search.share = slices.share, search.slices = slices.count;
    return cut;
}

/// Launched for every cut that there may be; all but one of them have nothing to do.
template <Metric metric, int each, int per_thread>
__global__ void __launch_bounds__(kThreads, blocks_per_sm(each))
    search_given_up(FewSearch search, Problem problem, Buffers buffers, bool may_be_large) {
    if (each > 1) {
        const GivenUpCut cut = cut_for_given_up(search, may_be_large);
        if (cut.each != each || cut.per_thread != per_thread) return;
    }
    if (blockIdx.x >= search.groups * search.slices) return;
    search_slice<metric, Missing::none, each, per_thread>(search, distance::AllNumeric(), problem, buffers);
}

/// Where there is one slice its blocks have voted.
__global__ void __launch_bounds__(kMergeThreads)
    vote_of_given_up(FewSearch search, Problem problem, Buffers buffers, bool may_be_large) {
    if (search.queries > 1) static_cast<void>(cut_for_given_up(search, may_be_large));
    if (search.slices > 1) vote_of_slices(search, problem, buffers);
}

}  // namespace
}  // namespace espalier::knn::few
