#pragma once

#include <cstddef>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/coherent_sum/receiver_fours.cuh"
#include "variants/coherent_sum/source_tiles.cuh"

/// Finds, for a block of sources and four neighbouring receivers, the different vectors of differences between the
/// delays to the four, and which source has which.
namespace espalier::coherent_sum {
namespace {

inline constexpr int kVectorsOfGroup = 64;  ///< different ones that the tables have room for
inline constexpr int kRoomPerWarp = 1184;   ///< words of a chunk: three of two blocks' eight warps fit a multiprocessor
inline constexpr int kTrialVectors = 16;    ///< found before it is asked whether sources share them at all
inline constexpr int kGroupingThreads = kGroupsOfTile * kLanes;

/// Four receivers as a block of sources sees them, and what lies where in a chunk in shared memory, in words from the
/// group's first: its details, the members' segments, the sub-sums.
struct alignas(16) Group {
    std::int32_t least[kMembers];  ///< delays of the block's sources
    std::int32_t at[kMembers];     ///< the segments
    std::int32_t sub_sums;         ///< these, or the segments' end
    std::int32_t vectors;          ///< different vectors of differences; 0: not shared
    std::int32_t details;          ///< 16-byte words
    std::int32_t words;            ///< of all, a multiple of four; kFitsNowhere: of no use
};

/// A vector of differences: where in the four segments its sub-sums begin, and where they lie, from the group's first
/// word.
struct alignas(16) Vector {
    std::uint16_t at[kMembers];
    std::uint16_t to, words;
    std::uint16_t unused[2];
};

/// Of a slab, in this order: blocks x groups; blocks x groups x details; blocks x groups of `Group::words` alone. A
/// group's details are, if it is shared, for every source of the block the bytes from the group's first sub-sum to its
/// own, then the vectors; otherwise for every member and source the bytes from the member's first word to its own.
struct Tables {
    Group* groups;
    std::byte* details;
    std::int32_t* words;
};

__host__ __device__ constexpr int detail_bytes(int sources) {
    const int each = sources * static_cast<int>(sizeof(std::uint16_t));
    const int vectors = kVectorsOfGroup * static_cast<int>(sizeof(Vector)), others = (kMembers - 1) * each;
    return each + (vectors > others ? vectors : others);
}

inline std::size_t table_bytes(const Problem& problem, int sources) {
    return static_cast<std::size_t>(groups_of(problem)) *
           (sizeof(Group) + static_cast<std::size_t>(detail_bytes(sources)) + sizeof(std::int32_t));
}

inline Tables tables_at(std::byte* memory, const Problem& problem, int sources, int blocks) {
    const std::int64_t groups = blocks * groups_of(problem);
    auto* const first = reinterpret_cast<Group*>(memory);
    auto* const details = reinterpret_cast<std::byte*>(first + groups);
    return {first, details, reinterpret_cast<std::int32_t*>(details + groups * detail_bytes(sources))};
}

/// What a warp finds out about a group: its lanes have every 32nd source of the block.
template <class T>
struct Grouping {
    static constexpr int kPerLane = T::kSources / kLanes;
    static constexpr int kRoom = kRoomPerWarp * T::kWarps;
    using Delays = std::int32_t[T::kSources][kColumns + 1];

    Group group = {};
    std::int32_t base[kPerLane];  ///< delays to the first of the four
    std::uint32_t keys[kPerLane];
    int segments = 0;  ///< words

    /// Reads the delays. Returns whether the block can have the traces in shared memory, and sets `can_share`.
    __device__ bool load(const Delays& tile, int first_column, bool& can_share) {
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
        can_share = __all_sync(kWholeWarp, can) != 0;
        bool fits = true;
#pragma unroll
        for (int m = 0; m < kMembers; ++m) {
            group.least[m] = __reduce_min_sync(kWholeWarp, least[m]);
            const std::int32_t length = __reduce_max_sync(kWholeWarp, largest[m]) - group.least[m];
            fits = fits && length <= kLongestRange;
            group.at[m] = segments;
            segments += (fits ? length : 0) + T::kSamples;
        }
        return fits;
    }

    /// Finds the vectors, one after another: that of the first source that has none yet, and all sources that share it.
    /// Gives up, with no vectors, where building them would not pay or not fit.
    __device__ void share(std::uint16_t* offsets) {
        // Built with four reads and a write, they save three reads of four.
        constexpr int kWorthIt = (kMembers - 1) * T::kSources * T::kSamples / (kMembers + 1);
        constexpr int kMost = kWorthIt < kLongestRange ? kWorthIt : kLongestRange;
        auto* const vectors = reinterpret_cast<Vector*>(offsets + T::kSources);
        const int lane = lane_of(threadIdx.x);
        std::uint32_t waiting = (1U << kPerLane) - 1;
        int count = 0, words = 0;
        for (std::uint32_t lanes; (lanes = __ballot_sync(kWholeWarp, waiting != 0)) != 0; ++count) {
            if (count == kVectorsOfGroup || (count == kTrialVectors && served(waiting) < 2 * kTrialVectors)) return;
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
            if (words + length > kMost) return;
#pragma unroll
            for (int j = 0; j < kPerLane; ++j)
                if (same >> j & 1U)
                    offsets[lane + j * kLanes] =
                        static_cast<std::uint16_t>((words + base[j] - least) * static_cast<int>(sizeof(float)));
            if (lane == 0) vectors[count] = vector_of(key, least, words, length);
            words += length;
        }
        const int details = details_of(count), before = details * kWordsOf16Bytes;
        const int all = rounded(before + segments + words);
        if (all > kRoom) return;
        __syncwarp();
        for (int v = lane; v < count; v += kLanes) {
            for (std::uint16_t& at : vectors[v].at) at = static_cast<std::uint16_t>(at + before);
            vectors[v].to = static_cast<std::uint16_t>(vectors[v].to + before + segments);
        }
        group.vectors = count;
        place(details, all);
    }

    /// The offsets of all members, which are added one by one.
    __device__ void list(std::uint16_t* offsets, const Delays& tile, int first_column) {
        constexpr int kDetails = kMembers * T::kSources * static_cast<int>(sizeof(std::uint16_t)) / 16;
        __syncwarp();  // what share() wrote before it gave up
#pragma unroll
        for (int m = 0; m < kMembers; ++m)
            for (int s = lane_of(threadIdx.x); s < T::kSources; s += kLanes)
                offsets[m * T::kSources + s] = static_cast<std::uint16_t>((tile[s][first_column + m] - group.least[m]) *
                                                                          static_cast<int>(sizeof(float)));
        const int all = rounded(kDetails * kWordsOf16Bytes + segments);
        place(kDetails, all > kRoom ? kFitsNowhere : all);
    }

private:
    static constexpr std::int32_t kFarAway = 0x7FFFFFFF;
    static constexpr int kWordsOf16Bytes = 4;
    static __device__ int rounded(int words) { return (words + 3) / 4 * 4; }
    static __device__ int details_of(int vectors) {
        return T::kSources * static_cast<int>(sizeof(std::uint16_t)) / 16 + vectors;
    }

    /// How many of the block's sources have a vector.
    static __device__ int served(std::uint32_t waiting) {
        return T::kSources - __reduce_add_sync(kWholeWarp, __popc(waiting));
    }

    __device__ Vector vector_of(std::uint32_t key, std::int32_t least, int to, int words) const {
        Vector vector = {};
#pragma unroll
        for (int m = 0; m < kMembers; ++m) {
            const std::int32_t delay = least + (m == 0 ? 0 : difference(key, m));
            vector.at[m] = static_cast<std::uint16_t>(group.at[m] + delay - group.least[m]);
        }
        vector.to = static_cast<std::uint16_t>(to);
        vector.words = static_cast<std::uint16_t>(words);
        return vector;
    }

    __device__ void place(int details, int words) {
        for (std::int32_t& at : group.at) at += details * kWordsOf16Bytes;
        group.sub_sums = details * kWordsOf16Bytes + segments;
        group.details = details;
        group.words = words;
    }
};

/// The blocks of a slab, of `sources` sources each, a tile of receivers each. Sources come in the order of `order`, if
/// any; a block's tables have room for T::kSources, and those past its own are its last one again.
template <class T>
__global__ void group_delays(Problem problem, const std::int32_t* delays, const std::int32_t* order, int sources,
                             Tables tables, Slab slab) {
    auto& tile = device::shared<std::int32_t[T::kSources][kColumns + 1]>();
    const int warp = warp_of(threadIdx.x), lane = lane_of(threadIdx.x);
    const std::int64_t block = blockIdx.x, first_source = (slab.first_block + block) * sources;
    const std::int64_t receiver = std::int64_t{blockIdx.y} * kColumns + lane;
#pragma unroll 4
    for (int row = warp; row < T::kSources; row += kGroupsOfTile) {
        const std::int64_t source = source_at(problem, order, first_source + min(row, sources - 1));
        tile[row][lane] = receiver < problem.receivers ? delays[source * problem.receivers + receiver] : 0;
    }
    __syncthreads();

    const std::int64_t group = std::int64_t{blockIdx.y} * kGroupsOfTile + warp;
    if (group >= groups_of(problem)) return;
    const std::int64_t at = block * groups_of(problem) + group;
    auto* const offsets = reinterpret_cast<std::uint16_t*>(tables.details + at * detail_bytes(T::kSources));
    Grouping<T> grouping;
    bool can_share = false;
    if (grouping.load(tile, warp * kMembers, can_share)) {
        if (can_share) grouping.share(offsets);
        if (grouping.group.vectors == 0) grouping.list(offsets, tile, warp * kMembers);
    } else {
        grouping.group.words = kFitsNowhere;
    }
    if (lane == 0) {
        tables.groups[at] = grouping.group;
        tables.words[at] = grouping.group.words;
    }
}

}  // namespace
}  // namespace espalier::coherent_sum
