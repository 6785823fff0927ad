#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "variants/knn/best_lists.cuh"
#include "variants/knn/fused_search.hpp"
#include "variants/knn/screened_bound.hpp"

/// Where an attribute's values lie, of a sample of the points: what is far out does not move it.
namespace espalier::knn {
namespace {

/// The largest scaled attribute that is kept as it is; what is beyond it counts as far out.
inline constexpr float kLargestKept = 32768.0F;
inline constexpr int kSpreadExponent = 2;  ///< of the spread of the data when scaled

/// The power of two that scales data whose attributes spread by so much at most.
__device__ inline float scale_of_spread(std::uint32_t bits_of_spread) {
    return power_of_two(scale_exponent(bits_of_spread) + kSpreadExponent - 14);
}

__device__ inline bool is_finite(float value) { return value - value == 0; }

struct Middle {
    float median, spread;
};

/// The place of a thread's value in a sample: one of its share, which place differs, so that no period of the data
/// meets the sample's.
__device__ inline std::int64_t sampled_place(int thread, std::int64_t count) {
    const std::int64_t share = divided_up(count, kThreads);
    return thread * share + static_cast<std::int64_t>(static_cast<std::uint32_t>(thread) * 2654435769U >> 8) % share;
}

/// The median of up to 256 values, and what 96% of them keep within about it; of a sparse attribute what all of them
/// do. Each of the block's threads has a value and counts those before it: one barrier, where sorting takes dozens.
__device__ inline Middle middle_of(const float* row, std::int64_t count) {
    auto& values = device::shared<float[kThreads], struct SampledValues>();
    auto& sorted = device::shared<float[kThreads], struct SortedValues>();
    const auto own = static_cast<int>(threadIdx.x);
    float value = std::numeric_limits<float>::infinity();
    if (const std::int64_t at = count > 0 ? sampled_place(own, count) : 0; at < count) value = row[at];
    if (!is_finite(value)) value = std::numeric_limits<float>::infinity();
    values[own] = value;
    const int finite = __syncthreads_count(is_finite(value));
    int rank = 0;
#pragma unroll 8
    for (int i = 0; i < kThreads; ++i) rank += values[i] < value || (values[i] == value && i < own) ? 1 : 0;
    sorted[rank] = value;
    __syncthreads();
    if (finite == 0) return {0, 0};
    const int margin = finite / 50;
    const float median = sorted[finite / 2];
    float spread = std::max(median - sorted[margin], sorted[finite - 1 - margin] - median);
    if (spread == 0) spread = std::max(median - sorted[0], sorted[finite - 1] - median);
    return {median, spread};
}

}  // namespace
}  // namespace espalier::knn
