#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/few_search.hpp"

/// A warp's selection from a row of distances in shared memory, and merging of sorted lists.
namespace espalier::knn::few {
namespace {

using smallest_k::index_of_entry;
using smallest_k::kEmptyKey;
using smallest_k::kNanKey;

/// Candidates that wait for a merge; one more round of a warp's may come before it.
using Waiting = std::uint64_t[2 * kLanes];

/// Merges one sorted list into another, both of `length`; all lanes call it.
__device__ inline void merge_lists(std::uint64_t* list, const std::uint64_t* other, int length, int k, unsigned lane) {
    for (int first = 0; first < length; first += kLanes) {
        const std::uint64_t entry = other[first + static_cast<int>(lane)], kth = list[k - 1];
        __syncwarp();                                    // everybody has read it when others write
        if (__shfl_sync(kAll, entry, 0) >= kth) return;  // what follows is larger still
        merge_sorted(list, length, entry, lane);
        __syncwarp();
    }
}

/// A bound that at least k of the lanes' keys do not exceed, and not many more; kEmptyKey if there are fewer. It is the
/// k-th smallest of the minima of parts, one or four a lane, its last bits set: 24 counts by ballot are enough.
template <int per_lane>
__device__ std::uint32_t bound_by_minima(const std::uint32_t (&keys)[per_lane], int k) {
    constexpr int kParts = 4, kCoarse = 8;
    std::uint32_t minima[kParts];
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
        minima[part] = keys[part];
#pragma unroll
        for (int i = part + kParts; i < per_lane; i += kParts) minima[part] = min(minima[part], keys[i]);
    }
    // Where k is little, fewer and larger parts bound it more tightly.
    const int parts = k <= 24 ? 1 : kParts;
    if (parts == 1) minima[0] = min(min(minima[0], minima[1]), min(minima[2], minima[3]));
    std::uint32_t found = 0;
#pragma unroll 1
    for (int bit = 31; bit >= kCoarse; --bit) {
        const std::uint32_t probe = found | 1U << bit;
        int below = __popc(__ballot_sync(kAll, minima[0] < probe));
        if (parts > 1)
#pragma unroll
            for (int part = 1; part < kParts; ++part) below += __popc(__ballot_sync(kAll, minima[part] < probe));
        if (below < k) found = probe;
    }
    return found | ((1U << kCoarse) - 1);
}

/// The bits of the keys below a limit.
template <int per_lane>
__device__ unsigned bits_below(const std::uint32_t (&keys)[per_lane], std::uint32_t limit) {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < per_lane; ++i) bits |= keys[i] < limit ? 1U << i : 0U;
    return bits;
}

/// A query's list of the k nearest points of a slice, which a warp keeps. Tiles come in the order of their points, so
/// that of equally distant ones the earlier is in the list already.
struct SliceList {
    std::uint64_t* list;  ///< in shared memory
    Waiting& waiting;
    int length, k;
    unsigned lane;

    __device__ void clear() const {
        for (int j = static_cast<int>(lane); j < length; j += kLanes) list[j] = kEmptyEntry;
        __syncwarp();
    }

    /// Takes what comes before the k-th so far of `count` distances, those to the points from `first_point` on.
    template <int per_lane>
    __device__ void take(const float* row, int count, std::int64_t first_point) const {
        int held = 0;
        take_below<per_lane, false>(row, count, first_point, kEmptyKey, held);
    }

    /// The same of keys below `most`, but what does not fill a merge waits on: `held` so many, less than a warp's
    /// lanes.
    template <int per_lane>
    __device__ void hold(const float* row, int count, std::int64_t first_point, std::uint32_t most, int& held) const {
        take_below<per_lane, true>(row, count, first_point, most, held);
    }

    /// `count` of those that wait, at most a warp's lanes.
    __device__ void merge(int count) const {
        std::uint64_t entries[1] = {static_cast<int>(lane) < count ? waiting[lane] : kEmptyEntry};
        sort(entries, lane);
        merge_sorted(list, length, entries[0], lane);
        __syncwarp();
    }

private:
    template <int per_lane, bool holds>
    __device__ void take_below(const float* row, int count, std::int64_t first_point, std::uint32_t most,
                               int& held) const {
        constexpr int kFlood = 2 * kLanes;  // more candidates are worth a search for a bound
        std::uint32_t keys[per_lane];
#pragma unroll
        for (int i = 0; i < per_lane; ++i) {
            const int at = i * kLanes + static_cast<int>(lane);
            keys[i] = at < count ? key_of(row[at]) : kEmptyKey;
        }
        std::uint32_t limit = min(most, key_of_entry(list[k - 1]));
        unsigned own = bits_below(keys, limit);
        const int candidates = __reduce_add_sync(kAll, __popc(own));
        if (candidates == 0) return;
        if (candidates > kFlood) {
            const std::uint32_t bound = bound_by_minima(keys, k);
            if (bound < kNanKey) limit = min(limit, bound + 1), own = bits_below(keys, limit);
        }
        take_bits<holds>(row, own, limit, static_cast<std::uint32_t>(first_point), held);
    }

    /// Those whose bits are set, a row of the warp's at a time, while they are below the limit.
    template <bool holds>
    __device__ void take_bits(const float* row, unsigned own, std::uint32_t limit, std::uint32_t first_point,
                              int& count) const {
        for (unsigned left = __reduce_or_sync(kAll, own); left != 0; left &= left - 1) {
            const int i = __ffs(static_cast<int>(left)) - 1, at = i * kLanes + static_cast<int>(lane);
            const bool marked = (own >> i & 1U) != 0;
            const std::uint32_t key = marked ? key_of(row[at]) : kEmptyKey;
            const unsigned wanted = __ballot_sync(kAll, key < limit);
            if (key < limit)
                waiting[count + __popc(wanted & ((1U << lane) - 1))] =
                    entry_of(key, first_point + static_cast<std::uint32_t>(at));
            count += __popc(wanted);
            __syncwarp();
            if (count < kLanes) continue;
            merge(kLanes);
            limit = min(limit, key_of_entry(list[k - 1]));
            count -= kLanes;
            const std::uint64_t moved = waiting[kLanes + lane];
            __syncwarp();
            waiting[lane] = moved;
            __syncwarp();
        }
        if (!holds && count > 0) merge(count);
    }
};

}  // namespace
}  // namespace espalier::knn::few
