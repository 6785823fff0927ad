#pragma once

#include <cstdint>

#include "device/kernel.hpp"
#include "variants/coherent_sum/source_tiles.cuh"

/// What the variants share that add four neighbouring receivers at once, always as ((a + b) + (c + d)).
namespace espalier::coherent_sum {
namespace {

inline constexpr int kMembers = 4;  ///< receivers of a group
inline constexpr int kGroupsOfTile = kColumns / kMembers;
inline constexpr int kLongestDifference = 511;         ///< of two delays, so that three fit a word
inline constexpr std::int32_t kFitsNowhere = 1 << 26;  ///< words

__host__ __device__ constexpr std::int64_t groups_of(const Problem& problem) {
    return (problem.receivers + kMembers - 1) / kMembers;
}

/// The source at a place in `order`, or in the problem's own order if there is none. The last one again beyond it.
__device__ inline std::int64_t source_at(const Problem& problem, const std::int32_t* order, std::int64_t place) {
    const std::int64_t existing = min(place, problem.sources - 1);
    return order != nullptr ? order[existing] : existing;
}

/// Three differences in one word, if they are small enough.
__device__ inline bool can_be_packed(const std::int32_t (&delays)[kMembers]) {
    bool can = true;
#pragma unroll
    for (int m = 1; m < kMembers; ++m) {
        const std::int32_t difference = delays[m] - delays[0];
        can = can && difference >= -kLongestDifference && difference <= kLongestDifference;
    }
    return can;
}
__device__ inline std::uint32_t packed(const std::int32_t (&delays)[kMembers]) {
    std::uint32_t key = 0;
#pragma unroll
    for (int m = 1; m < kMembers; ++m)
        key = key << 10 | static_cast<std::uint32_t>(delays[m] - delays[0] + kLongestDifference);
    return key;
}
__device__ inline std::int32_t difference(std::uint32_t key, int member) {
    return static_cast<std::int32_t>(key >> (10 * (kMembers - 1 - member)) & 1023U) - kLongestDifference;
}

/// Calls `add(source, sum_of)` for each of the warp's sources, `sum_of(i)` being the sum of the samples of four
/// receivers at the lane's i-th time, 32 after the one before. The samples are at the source's offsets, in bytes, from
/// those at `from`, which are the lane's.
template <class T, class Add>
__device__ void add_four(const float* const (&from)[kMembers], const std::uint16_t* offsets, const Add& add) {
#pragma unroll
    for (int first = 0; first < T::kPerWarp; first += 4) {
        uint2 fours[kMembers];
#pragma unroll
        for (int m = 0; m < kMembers; ++m)
            fours[m] = *reinterpret_cast<const uint2*>(offsets + m * T::kSources + first);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float* at[kMembers];
#pragma unroll
            for (int m = 0; m < kMembers; ++m) {
                const std::uint32_t pair = i < 2 ? fours[m].x : fours[m].y;
                const std::uint32_t offset = i % 2 == 0 ? pair & 0xFFFFU : pair >> 16;
                at[m] = reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(from[m]) + offset);
            }
            add(first + i, [&](int time) {
                const int k = time * kLanes;
                return (at[0][k] + at[1][k]) + (at[2][k] + at[3][k]);
            });
        }
    }
}

/// `add_four` straight from the traces: the delays are too far apart for shared memory.
template <class T, class Add>
__device__ void add_four_from_global(const Problem& problem, const Buffers& buffers, const std::int32_t* order,
                                     std::int64_t first_source, std::int64_t first_sample, std::int64_t first_receiver,
                                     const Add& add) {
    // Times past the window take the last one's samples, which are there to be read; a receiver past the last adds 0.
    constexpr int kTimes = T::kSamples / kLanes;
    int later[kTimes];
#pragma unroll
    for (int t = 0; t < kTimes; ++t)
        later[t] = static_cast<int>(min(std::int64_t{t * kLanes}, problem.samples - 1 - first_sample));
    const auto existing = static_cast<int>(min(problem.receivers - first_receiver, std::int64_t{kMembers}));
    const float* const first_trace = buffers.traces + first_receiver * problem.trace_samples() + first_sample;
#pragma unroll
    for (int s = 0; s < T::kPerWarp; ++s) {
        const std::int32_t* const delays =
            buffers.delays + source_at(problem, order, first_source + s) * problem.receivers + first_receiver;
        const float* traces[kMembers];
#pragma unroll
        for (int m = 0; m < kMembers; ++m) {
            const int receiver = min(m, existing - 1);
            traces[m] = first_trace + receiver * problem.trace_samples() + delays[receiver];
        }
        add(s, [&](int time) {
            const auto value = [&](int m) { return m < existing ? traces[m][later[time]] : 0.0F; };
            return (value(0) + value(1)) + (value(2) + value(3));
        });
    }
}

/// What `add_four` calls where sums are single precision.
template <class T>
__device__ auto adding_to(typename T::Sums& sums) {
    return [&sums](int source, const auto& sum_of) {
#pragma unroll
        for (int t = 0; t < T::kTimes; ++t) sums[source][t] += sum_of(t);
    };
}

/// keep_tile of sources in an order.
template <class T>
__device__ void keep_ordered(const typename T::Sums& sums, const Problem& problem, const Buffers& buffers,
                             unsigned long long* peaks, const std::int32_t* order, std::int64_t first_source,
                             std::int64_t first_sample) {
    const auto at = [&](std::int64_t place) { return source_at(problem, order, place); };
    keep_tile<T>(sums, problem, buffers, peaks, first_source, first_sample, at);
}

}  // namespace
}  // namespace espalier::coherent_sum
