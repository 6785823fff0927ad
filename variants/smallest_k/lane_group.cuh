#pragma once

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"

/// A warp or a part of it as the group of threads that row_cut.cuh asks.
namespace espalier::smallest_k {
namespace {

/// 2^n neighbouring lanes; all groups of a warp stay together.
template <int size>
struct LaneGroup {
    static constexpr int kSize = size;

    __device__ int rank() const { return static_cast<int>(threadIdx.x) % size; }
    __device__ bool any(bool open) const { return __any_sync(kAll, open) != 0; }

    __device__ int sum(int value) const {
        if constexpr (size == kLanes) {
            return __reduce_add_sync(kAll, value);
        } else {
#pragma unroll
            for (int stride = size / 2; stride > 0; stride /= 2) value += __shfl_xor_sync(kAll, value, stride);
            return value;
        }
    }
    __device__ std::uint32_t least(std::uint32_t value) const {
        if constexpr (size == kLanes) {
            return __reduce_min_sync(kAll, value);
        } else {
#pragma unroll
            for (int stride = size / 2; stride > 0; stride /= 2)
                value = std::min(value, __shfl_xor_sync(kAll, value, stride));
            return value;
        }
    }
    __device__ void extremes(std::uint32_t& least_of, std::uint32_t& most_of) const {
        least_of = least(least_of), most_of = ~least(~most_of);
    }

    __device__ int before(int value, int& total) const {
        int up_to = value;
#pragma unroll
        for (int stride = 1; stride < size; stride *= 2) {
            const int other = __shfl_up_sync(kAll, up_to, stride, size);
            if (rank() >= stride) up_to += other;
        }
        total = __shfl_sync(kAll, up_to, size - 1, size);
        return up_to - value;
    }
};

}  // namespace
}  // namespace espalier::smallest_k
