#pragma once

#include "device/kernel.hpp"
#include "kernels/problems/distance.hpp"

/// A tile of distances in the registers of 16 x 16 threads: which of its items a thread has, and a step of one
/// attribute.
namespace espalier::distance {
namespace {

inline constexpr int kSide = 16;   ///< threads along each side of a block
inline constexpr int kDepth = 8;   ///< attributes per step
inline constexpr int kVector = 4;  ///< items that a thread reads at once

/// Item of the tile that value `i` of a thread belongs to: runs of four, so that a warp's vector reads
/// cover consecutive words without bank conflicts.
__device__ constexpr int item_of(unsigned thread, int i) {
    return i / kVector * kSide * kVector + static_cast<int>(thread) * kVector + i % kVector;
}

template <int per_thread>
__device__ void read_row(float (&values)[per_thread], const float* row, unsigned thread) {
#pragma unroll
    for (int i = 0; i < per_thread; i += kVector) {
        const float4 four = *reinterpret_cast<const float4*>(row + item_of(thread, i));
        values[i] = four.x, values[i + 1] = four.y, values[i + 2] = four.z, values[i + 3] = four.w;
    }
}

template <class Sum, int per_thread>
__device__ __forceinline__ void add_terms(Sum (&sums)[per_thread][per_thread], const float (&q)[per_thread],
                                          const float (&p)[per_thread], AttributeType type) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
#pragma unroll
        for (int i = 0; i < per_thread; ++i) sums[j][i].add(q[i], p[j], type);
}

}  // namespace
}  // namespace espalier::distance
