#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"

/// A bitonic network in a warp's registers, several elements to a lane, in which runs are merged from both ends, so
/// that none ever descends. Of 32-bit numbers it takes half the shuffles and a third of the instructions of 64 bits:
/// what is sorted packs as much of a key as the place of its element leaves.
namespace espalier::smallest_k {
namespace {

template <class T>
__device__ void put_in_order(T& first, T& second) {
    const T smaller = std::min(first, second);
    second = std::max(first, second), first = smaller;
}

template <class T>
__device__ T smaller_or_larger(T own, T other, bool smaller) {
    return smaller ? std::min(own, other) : std::max(own, other);
}

/// Sorts every bitonic run of `size` places, which lie within a lane.
template <class T, int registers>
__device__ void merge_in_lane(T (&elements)[registers], int size) {
#pragma unroll
    for (int stride = size / 2; stride > 0; stride /= 2)
#pragma unroll
        for (int r = 0; r < registers; ++r)
            if ((r & stride) == 0) put_in_order(elements[r], elements[r | stride]);
}

/// Compares the places of `lanes` neighbouring lanes from both ends; the first half of them keeps the smaller ones.
template <class T, int registers>
__device__ void compare_halves(T (&elements)[registers], int lanes, unsigned lane) {
    const bool first_half = (lane & (lanes / 2)) == 0;
    // Both of a pair of registers are sent before either is replaced.
#pragma unroll
    for (int r = 0; r < (registers + 1) / 2; ++r) {
        const int mirror = registers - 1 - r;
        const T other = __shfl_xor_sync(kAll, elements[mirror], lanes - 1);
        if (mirror != r) {
            const T mirrored = __shfl_xor_sync(kAll, elements[r], lanes - 1);
            elements[mirror] = smaller_or_larger(elements[mirror], mirrored, first_half);
        }
        elements[r] = smaller_or_larger(elements[r], other, first_half);
    }
}

/// Places ascend after. Place p is register p % registers of lane p / registers; every `places` / registers
/// neighbouring lanes sort a list of their own. Merges of several lanes' places are the same code for any number of
/// lanes: of 32 registers each, unrolled, it would not fit the instruction cache, and warps would wait for it.
template <int places, class T, int registers>
__device__ void sort_in_registers(T (&elements)[registers], unsigned lane) {
    [[maybe_unused]] constexpr int kUnrolled = registers < 32 ? std::bit_width(unsigned{kLanes}) : 1;
#pragma unroll
    for (int size = 2; size <= registers; size *= 2) {
#pragma unroll
        for (int r = 0; r < registers; ++r)
            if ((r & (size / 2)) == 0) put_in_order(elements[r], elements[r ^ (size - 1)]);
        merge_in_lane(elements, size / 2);
    }
#pragma unroll kUnrolled
    for (int lanes = 2; lanes <= places / registers; lanes *= 2) {
        compare_halves(elements, lanes, lane);
#pragma unroll kUnrolled
        for (int stride = lanes / 4; stride > 0; stride /= 2) {
            const bool lower = (lane & stride) == 0;
#pragma unroll
            for (int r = 0; r < registers; ++r)
                elements[r] = smaller_or_larger(elements[r], __shfl_xor_sync(kAll, elements[r], stride), lower);
        }
        merge_in_lane(elements, registers);
    }
}

}  // namespace
}  // namespace espalier::smallest_k
