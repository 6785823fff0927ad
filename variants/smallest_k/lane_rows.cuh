#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/row_cut.cuh"

/// Row-major rows in the registers of a warp or a part of one: the group of threads that row_cut.cuh asks, and which
/// kernel holds a row.
namespace espalier::smallest_k {
namespace {

constexpr int kWarps = 4;  ///< per block; they have nothing to do with each other

/// What differs with k: parts of the row per wanted element, elements that may be left to sort, the list's registers.
struct Small {  // k <= 8
    static constexpr int kMost = 8, kSlack = 3, kCapacity = 16;
};
struct Medium {  // k <= 32
    static constexpr int kMost = 32, kSlack = 10, kCapacity = 64;
};
struct Large {  // k <= 128
    static constexpr int kMost = 128, kSlack = 24, kCapacity = 256;
};

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

/// A kernel whose rows have so many lanes, and the most columns and k that it takes.
template <class T = float>
struct LaneKernel {
    int lanes, columns, k;
    void (*kernel)(Problem, bool, const T*, T*, std::int32_t*);
};

/// The first that fits.
template <class T>
const LaneKernel<T>* find_kernel(std::span<const LaneKernel<T>> kernels, const Problem& problem, int lanes) {
    for (const LaneKernel<T>& kernel : kernels)
        if (kernel.lanes == lanes && problem.columns <= kernel.columns && problem.k <= kernel.k) return &kernel;
    return nullptr;
}

std::int64_t blocks_of(const Problem& problem, int lanes) {
    const std::int64_t rows = kWarps * kLanes / lanes;
    return (problem.rows + rows - 1) / rows;
}

template <class T>
Support supports_lanes(std::span<const LaneKernel<T>> kernels, const Problem& problem, int lanes) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (!find_kernel(kernels, problem, lanes)) {
        int columns = 0, k = 0;
        for (const LaneKernel<T>& kernel : kernels)
            if (kernel.lanes == lanes) columns = std::max(columns, kernel.columns), k = std::max(k, kernel.k);
        return Support::no(std::to_string(lanes) + " lanes hold rows of up to " + std::to_string(columns) +
                           " columns and lists of up to " + std::to_string(k));
    }
    if (blocks_of(problem, lanes) > 2147483647) return Support::no("more than 2,147,483,647 blocks exceed the grid");
    return Support::yes();
}

template <class T>
void run_lanes(std::span<const LaneKernel<T>> kernels, Context& context, const Problem& problem, const Buffers& buffers,
               int lanes) {
    if (problem.results() == 0) return;
    const T* const keys = keys_of<T>(buffers);
    launch(find_kernel(kernels, problem, lanes)->kernel, dim3(static_cast<unsigned>(blocks_of(problem, lanes))),
           dim3(kLanes, kWarps), 0, context.stream, problem, has_aligned_rows(keys, problem.columns), keys,
           values_of<T>(buffers), buffers.indices);
}

}  // namespace
}  // namespace espalier::smallest_k
