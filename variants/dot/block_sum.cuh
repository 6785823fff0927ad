#pragma once

#include <algorithm>
#include <cstdint>

#include "device/kernel.hpp"
#include "kernels/problems/dot.hpp"

namespace espalier::dot {

inline constexpr int kThreads = 256;

/// The calling thread's share of the products: every (gridDim.x * blockDim.x)-th, so that a warp reads
/// consecutive elements. Chains of kChain additions in single precision, added up in double precision:
/// cheap even where double precision is slow, and the error does not grow with the number of elements.
__device__ inline double sum_of_products(const float* a, const float* b, std::int64_t elements) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    double sum = 0;
    while (i < elements) {
        float chain = 0;
        for (int link = 0; link < kChain && i < elements; ++link, i += stride) chain += a[i] * b[i];
        sum += static_cast<double>(chain);
    }
    return sum;
}

/// The sum of one number per thread of a block of `threads`, as a tree in shared memory. Thread 0 gets it.
template <int threads = kThreads>
__device__ double block_sum(double value) {
    auto& sums = device::shared<double[threads]>();
    sums[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

/// Blocks of the grid: `per_sm` for each multiprocessor, but none without work.
inline unsigned blocks_for(const Problem& problem, const DeviceInfo& device, int per_sm) {
    const std::int64_t needed = (problem.elements + kThreads - 1) / kThreads;
    return static_cast<unsigned>(std::min<std::int64_t>(needed, std::int64_t{std::max(1, device.sm_count)} * per_sm));
}

}  // namespace espalier::dot
