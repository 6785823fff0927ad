#pragma once

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"

/// A bitonic network of 32-bit numbers in a warp's registers, several to a lane. 32 bits are half the shuffles and a
/// third of the instructions of 64: what is sorted packs as much of a key as the place of its element leaves.
namespace espalier::smallest_k {
namespace {

template <class T>
__device__ void put_in_order(T& first, T& second) {
    const T smaller = std::min(first, second);
    second = std::max(first, second), first = smaller;
}

/// Compares every element with the one whose place differs in the bits of `flip`; the one of the lower place, whose bit
/// `decides` is 0, becomes the smaller one. Place p is register p % registers of lane p / registers.
template <int flip, int decides, int registers>
__device__ void compare_places(std::uint32_t (&packed)[registers], unsigned lane) {
    constexpr int kInLane = flip % registers, kAcross = flip / registers;
    if constexpr (kAcross == 0) {
#pragma unroll
        for (int r = 0; r < registers; ++r)
            if ((r & decides) == 0) put_in_order(packed[r], packed[r ^ kInLane]);
    } else {
        const bool lower = (lane & (decides / registers)) == 0;
        // Both of a pair of registers are sent before either is replaced.
#pragma unroll
        for (int r = 0; r < registers; ++r) {
            const int mirror = r ^ kInLane;
            if (mirror < r) continue;
            const std::uint32_t other = __shfl_xor_sync(kAll, packed[mirror], kAcross);
            if (mirror != r) {
                const std::uint32_t mirrored = __shfl_xor_sync(kAll, packed[r], kAcross);
                packed[mirror] = lower ? std::min(packed[mirror], mirrored) : std::max(packed[mirror], mirrored);
            }
            packed[r] = lower ? std::min(packed[r], other) : std::max(packed[r], other);
        }
    }
}

template <int stride, int registers>
__device__ void merge_strides(std::uint32_t (&packed)[registers], unsigned lane) {
    if constexpr (stride > 0) {
        compare_places<stride, stride>(packed, lane);
        merge_strides<stride / 2>(packed, lane);
    }
}

/// Bitonic, runs merged from both ends, so that all ascend. Every `places` / registers neighbouring lanes sort a list
/// of their own.
template <int places, int size = 2, int registers>
__device__ void sort_packed(std::uint32_t (&packed)[registers], unsigned lane) {
    compare_places<size - 1, size / 2>(packed, lane);
    merge_strides<size / 4>(packed, lane);
    if constexpr (size < places) sort_packed<places, size * 2>(packed, lane);
}

}  // namespace
}  // namespace espalier::smallest_k
