#pragma once

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/smallest_k/order.hpp"

/// Sorted lists of entries (order.hpp: key and index in 64 bits) that a warp merges 32 others into.
namespace espalier::knn {
namespace {

inline constexpr int kLanes = 32;
inline constexpr unsigned kAllLanes = 0xFFFFFFFF;

/// Keeps the smaller or the larger of two lanes' entries.
__device__ inline std::uint64_t exchange(std::uint64_t entry, int stride, bool keep_smaller) {
    const std::uint64_t other = __shfl_xor_sync(kAllLanes, entry, stride);
    return (other < entry) == keep_smaller ? other : entry;
}

/// Sorts any bitonic sequences of 32 entries, each a register. Several at once, because a single one is a chain of
/// shuffles that wait for each other.
template <int count>
__device__ void merge_bitonic(std::uint64_t (&entries)[count], unsigned lane) {
#pragma unroll
    for (int stride = kLanes / 2; stride > 0; stride /= 2)
#pragma unroll
        for (int e = 0; e < count; ++e) entries[e] = exchange(entries[e], stride, (lane & stride) == 0);
}
__device__ inline std::uint64_t merge_bitonic(std::uint64_t entry, unsigned lane) {
    std::uint64_t one[1] = {entry};
    merge_bitonic(one, lane);
    return one[0];
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
        if (__shfl_sync(kAllLanes, own, kLanes - 1) < __shfl_sync(kAllLanes, carried, 0)) continue;
        const std::uint64_t reversed = __shfl_xor_sync(kAllLanes, carried, kLanes - 1);
        list[first + static_cast<int>(lane)] = merge_bitonic(std::min(own, reversed), lane);
        if (first + kLanes < length) carried = merge_bitonic(std::max(own, reversed), lane);
    }
}

}  // namespace
}  // namespace espalier::knn
