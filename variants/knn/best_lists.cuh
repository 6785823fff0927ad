#pragma once

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/order.hpp"

/// Sorted lists of entries (order.hpp: key and index in 64 bits) that a warp merges 32 others into.
namespace espalier::knn {
namespace {

using smallest_k::entry_of;
using smallest_k::exchange;
using smallest_k::kAll;
using smallest_k::kEmptyEntry;
using smallest_k::key_of;
using smallest_k::key_of_entry;
using smallest_k::kLanes;
using smallest_k::merge_bitonic;
using smallest_k::value_of;

inline constexpr int kThreads = 256;  ///< of a block
inline constexpr int kBlockWarps = kThreads / kLanes;
inline constexpr int kBuffer = kLanes;  ///< candidates that wait per query: what a warp sorts at once

/// Sorts any bitonic sequences of 32 entries, each a register. Several at once, because a single one is a chain of
/// shuffles that wait for each other.
template <int count>
__device__ void merge_bitonic(std::uint64_t (&entries)[count], unsigned lane) {
#pragma unroll
    for (int stride = kLanes / 2; stride > 0; stride /= 2)
#pragma unroll
        for (int e = 0; e < count; ++e) entries[e] = exchange(entries[e], stride, (lane & stride) == 0);
}

/// Sorts 32 entries in each register.
template <int count>
__device__ void sort(std::uint64_t (&entries)[count], unsigned lane) {
#pragma unroll
    for (int size = 2; size <= kLanes; size *= 2)
#pragma unroll
        for (int stride = size / 2; stride > 0; stride /= 2)
#pragma unroll
            for (int e = 0; e < count; ++e)
                entries[e] = exchange(entries[e], stride, ((lane & stride) == 0) == ((lane & size) == 0));
}

/// Merges 32 sorted entries into a sorted list of a multiple of 32. Lane l reads and writes the list's entries l,
/// l + 32, ...: what other lanes are to see of it needs a __syncwarp.
__device__ inline void merge_sorted(std::uint64_t* list, int length, std::uint64_t carried, unsigned lane) {
    for (int first = 0; first < length; first += kLanes) {
        const std::uint64_t own = list[first + static_cast<int>(lane)];
        // All of this part stays in front of what is carried: nothing to do here.
        if (__shfl_sync(kAll, own, kLanes - 1) < __shfl_sync(kAll, carried, 0)) continue;
        const std::uint64_t reversed = __shfl_xor_sync(kAll, carried, kLanes - 1);
        list[first + static_cast<int>(lane)] = merge_bitonic(std::min(own, reversed), lane);
        if (first + kLanes < length) carried = merge_bitonic(std::max(own, reversed), lane);
    }
}

/// The lists of the block's queries and what waits for them.
///
/// `Limits` tells candidates from others, per query: it is to `open`, to `follow` the k-th
/// entry of the list and the last one, or to `close`. What candidates are `ranked` by it makes of what is offered.
template <class Limits>
struct Lists {
    static constexpr int queries = Limits::kQueries;
    Limits& limits;
    std::int32_t (&waiting)[queries];            ///< candidates in the buffer, or more if there were too many
    std::uint64_t (&buffers)[queries][kBuffer];  ///< as they were offered
    std::uint64_t* lists;                        ///< queries x length
    std::int32_t k, length;

    /// Puts a candidate into the buffer, in the order of the threads. Returns whether there was room.
    __device__ bool offer(int query, float value, std::uint32_t index) const {
        const int place = atomicAdd(&waiting[query], 1);
        if (place >= kBuffer) return false;
        buffers[query][place] = static_cast<std::uint64_t>(__float_as_uint(value)) << 32 | index;
        return true;
    }

    /// For all threads of the block; a barrier must follow. Queries from `used` on take no candidate.
    __device__ void clear(std::int64_t used, unsigned thread) const {
        for (int i = static_cast<int>(thread); i < queries * length; i += kThreads) lists[i] = kEmptyEntry;
        for (int q = static_cast<int>(thread); q < queries; q += kThreads) {
            waiting[q] = 0;
            if (q < used)
                limits.open(q);
            else
                limits.close(q);
        }
    }

    /// Merges the candidates of all queries that have at least `least`. A warp has every eighth query, some of them
    /// at once.
    __device__ void merge(int least, unsigned warp, unsigned lane) const {
        for (int first = static_cast<int>(warp); first < queries; first += kAtOnce * kBlockWarps) {
            int counts[kAtOnce];
            bool any = false;
#pragma unroll
            for (int e = 0; e < kAtOnce; ++e) {
                counts[e] = min(waiting[first + e * kBlockWarps], kBuffer);
                any = any || counts[e] >= least;
            }
            if (any) merge_some(first, counts, least, lane);
        }
        __syncwarp();
        // The limits take longer than a merge: a lane for each query.
        const int query = static_cast<int>(warp + lane * kBlockWarps);
        if (query < queries && waiting[query] >= least) {
            waiting[query] = 0;
            limits.follow(query, lists[query * length + k - 1], lists[query * length + length - 1]);
        }
    }

private:
    static constexpr int kAtOnce = 4;

    __device__ static std::uint64_t entry_of_raw(std::uint64_t raw) {
        const float value = Limits::ranked(__uint_as_float(static_cast<std::uint32_t>(raw >> 32)));
        return entry_of(key_of(value), static_cast<std::uint32_t>(raw));
    }

    __device__ void merge_some(int first, const int (&counts)[kAtOnce], int least, unsigned lane) const {
        std::uint64_t entries[kAtOnce];
#pragma unroll
        for (int e = 0; e < kAtOnce; ++e)
            entries[e] = static_cast<int>(lane) < counts[e] && counts[e] >= least
                             ? entry_of_raw(buffers[first + e * kBlockWarps][lane])
                             : kEmptyEntry;
        sort(entries, lane);
        if (length == kLanes) {
#pragma unroll
            for (int e = 0; e < kAtOnce; ++e) {
                const std::uint64_t reversed = __shfl_xor_sync(kAll, entries[e], kLanes - 1);
                entries[e] = min(lists[(first + e * kBlockWarps) * kLanes + static_cast<int>(lane)], reversed);
            }
            merge_bitonic(entries, lane);
#pragma unroll
            for (int e = 0; e < kAtOnce; ++e)
                lists[(first + e * kBlockWarps) * kLanes + static_cast<int>(lane)] = entries[e];
        } else {
#pragma unroll
            for (int e = 0; e < kAtOnce; ++e)
                if (counts[e] >= least)
                    merge_sorted(lists + (first + e * kBlockWarps) * length, length, entries[e], lane);
        }
    }
};

}  // namespace
}  // namespace espalier::knn
