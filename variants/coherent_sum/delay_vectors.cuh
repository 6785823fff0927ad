#pragma once

#include <cstddef>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/coherent_sum/source_tiles.cuh"

/// Finds, for a block of sources and four neighbouring receivers, the different vectors of differences between the
/// delays to the four, and which source has which.
namespace espalier::coherent_sum {
namespace {

inline constexpr int kMembers = 4;          ///< receivers of a group
inline constexpr int kVectorsOfGroup = 64;  ///< different ones that the tables have room for
inline constexpr int kSubSumWords = 992;    ///< of a chunk, per warp: sub-sums
inline constexpr int kLongestDifference = 511;
inline constexpr int kGroupsOfTile = kColumns / kMembers;
inline constexpr int kGroupingThreads = kGroupsOfTile * kLanes;

/// Four receivers as a block of sources sees them.
struct alignas(16) Group {
    std::int32_t least[kMembers];   ///< delays of the block's sources
    std::int32_t length[kMembers];  ///< the largest less the least
    std::int32_t vectors;           ///< different vectors of differences; 0: not shared
    std::int32_t words;             ///< of their sub-sums together
    std::int32_t unused[2];
};

/// A vector of differences: where in the four segments its sub-sums begin, the least base delay of its sources, and
/// where in the group's sub-sums they lie.
struct alignas(16) Vector {
    std::uint16_t at[kMembers];
    std::uint16_t to, words;
    std::uint16_t unused[2];
};

/// Of a slab, in this order: blocks x groups, blocks x groups x kVectorsOfGroup, and for every source the bytes from
/// the group's first sub-sum to its own, blocks x groups x sources of a block.
struct Tables {
    Group* groups;
    Vector* vectors;
    std::uint16_t* offsets;
};

__host__ __device__ constexpr std::int64_t groups_of(const Problem& problem) {
    return (problem.receivers + kMembers - 1) / kMembers;
}

inline std::size_t table_bytes(const Problem& problem, int sources) {
    return static_cast<std::size_t>(groups_of(problem)) * (sizeof(Group) + kVectorsOfGroup * sizeof(Vector) +
                                                           static_cast<std::size_t>(sources) * sizeof(std::uint16_t));
}

inline Tables tables_at(std::byte* memory, const Problem& problem, int blocks) {
    const std::int64_t groups = blocks * groups_of(problem);
    auto* const first = reinterpret_cast<Group*>(memory);
    auto* const vectors = reinterpret_cast<Vector*>(first + groups);
    return {first, vectors, reinterpret_cast<std::uint16_t*>(vectors + groups * kVectorsOfGroup)};
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

/// What a warp finds out about a group: its lanes have every 32nd source of the block.
template <class T>
struct Grouping {
    static constexpr int kPerLane = T::kSources / kLanes;
    std::int32_t base[kPerLane];  ///< delays to the first of the four
    std::uint32_t keys[kPerLane];
    Group group = {};

    /// Reads the delays. Returns whether they can be shared at all.
    __device__ bool load(const std::int32_t (&tile)[T::kSources][kColumns + 1], int first_column) {
        const int lane = lane_of(threadIdx.x);
        std::int32_t least[kMembers], largest[kMembers];
        bool can = true;
#pragma unroll
        for (int j = 0; j < kPerLane; ++j) {
            std::int32_t delays[kMembers];
#pragma unroll
            for (int m = 0; m < kMembers; ++m) {
                delays[m] = tile[lane + j * kLanes][first_column + m];
                least[m] = j == 0 ? delays[m] : min(least[m], delays[m]);
                largest[m] = j == 0 ? delays[m] : max(largest[m], delays[m]);
            }
            can = can && can_be_packed(delays);
            base[j] = delays[0];
            keys[j] = packed(delays);
        }
#pragma unroll
        for (int m = 0; m < kMembers; ++m) {
            group.least[m] = __reduce_min_sync(kWholeWarp, least[m]);
            group.length[m] = __reduce_max_sync(kWholeWarp, largest[m]) - group.least[m];
            can = can && group.length[m] <= kLongestRange;
        }
        return __all_sync(kWholeWarp, can) != 0;
    }

    /// Finds the vectors, one after another: that of the first source that has none yet, and all sources that share it.
    /// Gives up, with no vectors, where building them would not pay or not fit.
    __device__ void share(Vector* vectors, std::uint16_t* offsets) {
        constexpr int kRoom = min_of(kSubSumWords * T::kWarps, kLongestRange);
        // Built with four reads and a write, they save three reads of four.
        constexpr int kWorthIt = (kMembers - 1) * T::kSources * T::kSamples / (kMembers + 1);
        const int lane = lane_of(threadIdx.x);
        std::uint32_t waiting = (1U << kPerLane) - 1;
        int count = 0, words = 0;
        for (std::uint32_t lanes; (lanes = __ballot_sync(kWholeWarp, waiting != 0)) != 0; ++count) {
            std::uint32_t own = 0;
#pragma unroll
            for (int j = kPerLane - 1; j >= 0; --j)
                if (waiting >> j & 1U) own = keys[j];
            const std::uint32_t key = __shfl_sync(kWholeWarp, own, __ffs(static_cast<int>(lanes)) - 1);
            std::uint32_t same = 0;
            std::int32_t least = kFarAway, largest = -1;
#pragma unroll
            for (int j = 0; j < kPerLane; ++j)
                if (keys[j] == key) {
                    same |= 1U << j;
                    least = min(least, base[j]);
                    largest = max(largest, base[j]);
                }
            waiting &= ~same;
            least = __reduce_min_sync(kWholeWarp, least);
            const int length = __reduce_max_sync(kWholeWarp, largest) - least + T::kSamples;
            if (count == kVectorsOfGroup || words + length > min_of(kRoom, kWorthIt)) return;
#pragma unroll
            for (int j = 0; j < kPerLane; ++j)
                if (same >> j & 1U)
                    offsets[lane + j * kLanes] =
                        static_cast<std::uint16_t>((words + base[j] - least) * static_cast<int>(sizeof(float)));
            if (lane == 0) vectors[count] = vector_of(key, least, words, length);
            words += length;
        }
        group.vectors = count;
        group.words = words;
    }

private:
    static constexpr std::int32_t kFarAway = 0x7FFFFFFF;
    static constexpr __host__ __device__ int min_of(int a, int b) { return a < b ? a : b; }

    __device__ Vector vector_of(std::uint32_t key, std::int32_t least, int to, int words) const {
        Vector vector = {};
#pragma unroll
        for (int m = 0; m < kMembers; ++m) {
            const std::int32_t delay = least + (m == 0 ? 0 : difference(key, m));
            vector.at[m] = static_cast<std::uint16_t>(delay - group.least[m]);
        }
        vector.to = static_cast<std::uint16_t>(to);
        vector.words = static_cast<std::uint16_t>(words);
        return vector;
    }
};

template <class T>
__global__ void group_delays(Problem problem, const std::int32_t* delays, Tables tables, Slab slab) {
    auto& tile = device::shared<std::int32_t[T::kSources][kColumns + 1]>();
    const std::int64_t block = blockIdx.x;
    load_delays(tile, problem, delays, (slab.first_block + block) * T::kSources, std::int64_t{blockIdx.y} * kColumns);
    __syncthreads();

    const int warp = warp_of(threadIdx.x);
    const std::int64_t group = std::int64_t{blockIdx.y} * kGroupsOfTile + warp;
    if (group >= groups_of(problem)) return;
    const std::int64_t at = block * groups_of(problem) + group;
    Grouping<T> grouping;
    if (grouping.load(tile, warp * kMembers))
        grouping.share(tables.vectors + at * kVectorsOfGroup, tables.offsets + at * T::kSources);
    if (lane_of(threadIdx.x) == 0) tables.groups[at] = grouping.group;
}

}  // namespace
}  // namespace espalier::coherent_sum
