#pragma once

#include <cstdint>

#include "device/kernel.hpp"

/// Bitonic networks over the lanes of a warp, one entry of `order.hpp` each.
namespace espalier::smallest_k {
namespace {

using namespace device;

inline constexpr int kLanes = 32;
inline constexpr unsigned kAll = 0xFFFFFFFF;

/// Keeps the smaller or the larger of two lanes' entries.
__device__ inline std::uint64_t exchange(std::uint64_t entry, int stride, bool keep_smaller) {
    const std::uint64_t other = __shfl_xor_sync(kAll, entry, stride);
    return (other < entry) == keep_smaller ? other : entry;
}

/// Sorts 32 entries of which the halves ascend and descend, or any bitonic sequence.
__device__ inline std::uint64_t merge_bitonic(std::uint64_t entry, unsigned lane) {
#pragma unroll
    for (int stride = kLanes / 2; stride > 0; stride /= 2) entry = exchange(entry, stride, (lane & stride) == 0);
    return entry;
}

/// Sorts the entries of every `width` neighbouring lanes.
template <int width = kLanes>
__device__ std::uint64_t sort(std::uint64_t entry, unsigned lane) {
    lane %= width;
#pragma unroll
    for (int size = 2; size <= width; size *= 2)
#pragma unroll
        for (int stride = size / 2; stride > 0; stride /= 2)
            entry = exchange(entry, stride, ((lane & stride) == 0) == ((lane & size) == 0));
    return entry;
}

}  // namespace
}  // namespace espalier::smallest_k
