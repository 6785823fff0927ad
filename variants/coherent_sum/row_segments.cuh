#pragma once

#include <cstddef>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/coherent_sum/receiver_fours.cuh"
#include "variants/coherent_sum/source_tiles.cuh"
#include "variants/coherent_sum/vector_rows.cuh"

/// Says, for a block of sources and four neighbouring receivers, which parts of which rows of sub-sums the block needs
/// in shared memory, and where in them each source begins. Where there are no rows, or the parts are too many, it is
/// parts of the four traces instead.
namespace espalier::coherent_sum {
namespace {

inline constexpr int kRoom = 27648;            ///< words of a chunk: two fit a multiprocessor
inline constexpr int kSegmentsOfGroup = 128;   ///< at most
inline constexpr int kLongestOfGroup = 16383;  ///< words: what an offset of 16 bits reaches, in bytes
inline constexpr int kWordsOf16Bytes = 4;

/// A part of a row, or of a trace, as it is for the first of all times.
struct alignas(16) Segment {
    std::int64_t from;        ///< in words: of rows a multiple of kAlignment
    std::uint16_t to, words;  ///< where it is in shared memory, from the group's first word
    std::int32_t following;   ///< words that the trace has from there on
};

/// Four receivers as a block of sources sees them. In shared memory a group is its sources' offsets, in bytes from its
/// first sub-sum to a source's own, or for every member and source from the member's first sample to the source's own,
/// followed by the segments.
struct alignas(16) Group {
    std::int32_t at[kMembers];  ///< words from the group's first to its sub-sums, or to the members' segments
    std::int32_t rows;          ///< whether the segments are of rows
    std::int32_t details;       ///< 16-byte words of offsets
    std::int32_t unused[2];
};

/// What must be known of a group before there is room for the rest of it.
struct alignas(8) GroupSize {
    std::int32_t words, segments;  ///< segments of rows
};

/// Of a slab of blocks of sources, each array blocks x groups.
struct GroupTables {
    Segment* segments;  ///< x kSegmentsOfGroup
    Group* groups;
    std::uint16_t* offsets;  ///< x kMembers x sources
    GroupSize* sizes;
};

inline std::size_t group_bytes(const Problem& problem, int sources) {
    return static_cast<std::size_t>(groups_of(problem)) *
           (kSegmentsOfGroup * sizeof(Segment) + sizeof(Group) + sizeof(GroupSize) +
            static_cast<std::size_t>(kMembers * sources) * sizeof(std::uint16_t));
}

inline GroupTables group_tables_at(std::byte* memory, const Problem& problem, int sources, int blocks) {
    const std::int64_t groups = blocks * groups_of(problem);
    auto* const segments = reinterpret_cast<Segment*>(memory);
    auto* const first = reinterpret_cast<Group*>(segments + groups * kSegmentsOfGroup);
    auto* const offsets = reinterpret_cast<std::uint16_t*>(first + groups);
    return {segments, first, offsets, reinterpret_cast<GroupSize*>(offsets + groups * kMembers * sources)};
}

/// What a warp finds out about a group: its lanes have every 32nd source of the block.
template <class T>
class Grouping {
public:
    using Tile = std::int32_t[T::kSources][kColumns + 1];
    static constexpr int kOffsetWords = T::kSources / 2;  ///< of one member, of 16 bits each
    static_assert(kOffsetWords % kAlignment == 0);

    __device__ Grouping(const Problem& problem, const Tile& tile, int first_column, std::int64_t group)
        : problem_(problem), tile_(tile), column_(first_column), first_receiver_(group * kMembers) {}

    /// Returns false, with nothing of use in the group, if its rows are not worth it or there are none.
    __device__ bool take_rows(const Vectors& vectors, Ranges& ranges, std::uint16_t* list, Segment* segments,
                              std::uint16_t* offsets) {
        if (vectors.given_up != 0) return false;
        const int existing = existing_members(problem_, first_receiver_ / kMembers);
        int slots[kPerLane];
        clear(ranges);
        __syncwarp();
        // The first looks at the table leave together.
        std::uint32_t keys[kPerLane], seen[kPerLane];
#pragma unroll
        for (int j = 0; j < kPerLane; ++j) {
            std::int32_t own[kMembers];
            delays_of_group(own, row_of(j), existing);
            keys[j] = key_of(own);
            slots[j] = first_slot(keys[j]);
            seen[j] = vectors.found.keys[slots[j]];
        }
#pragma unroll
        for (int j = 0; j < kPerLane; ++j) {
            while (seen[j] != keys[j]) seen[j] = vectors.found.keys[slots[j] = (slots[j] + 1) % kSlots];
            widen(ranges, slots[j], kLatest - row_of(j)[0], row_of(j)[0] + 1);
        }
        __syncwarp();
        if (!place_segments(vectors, ranges, list, segments, kOffsetWords)) return false;
        __syncwarp();
#pragma unroll
        for (int j = 0; j < kPerLane; ++j) {
            const std::int32_t word = ranges.earliest[slots[j]] + row_of(j)[0];
            offsets[lane_of(threadIdx.x) + j * kLanes] = static_cast<std::uint16_t>(word * sizeof(float));
        }
        group_.rows = 1;
        finish(kOffsetWords, words_);
        return true;
    }

    /// The four traces, which are added one by one.
    __device__ void take_traces(Segment* segments, std::uint16_t* offsets) {
        bool fits = true;
        int words = 0;
        for (int m = 0; m < kMembers; ++m) {
            std::int32_t least = kLatest, largest = 0;
            for (int j = 0; j < kPerLane; ++j) {
                least = min(least, row_of(j)[m]);
                largest = max(largest, row_of(j)[m]);
            }
            least = __reduce_min_sync(kWholeWarp, least);
            const std::int32_t length = __reduce_max_sync(kWholeWarp, largest) - least;
            fits = fits && length <= kLongestRange;
            for (int j = 0; j < kPerLane; ++j)
                offsets[m * T::kSources + lane_of(threadIdx.x) + j * kLanes] =
                    static_cast<std::uint16_t>(static_cast<unsigned>(row_of(j)[m] - least) * sizeof(float));
            group_.at[m] = words;
            if (lane_of(threadIdx.x) == 0) segments[m] = segment_of_trace(m, least, words, length + T::kSamples);
            words += fits ? length + T::kSamples : 0;
        }
        segments_ = 0;
        finish(kMembers * kOffsetWords, fits ? words : kFitsNowhere);
    }

    [[nodiscard]] __device__ const Group& group() const { return group_; }
    [[nodiscard]] __device__ GroupSize size() const { return {words_, segments_}; }

private:
    static constexpr int kPerLane = T::kSources / kLanes;

    [[nodiscard]] __device__ const std::int32_t* row_of(int j) const {
        return tile_[lane_of(threadIdx.x) + j * kLanes] + column_;
    }

    /// A segment for each slot that has a range. Leaves in `earliest` the word where a delay of 0 would begin, from the
    /// group's first sub-sum.
    __device__ bool place_segments(const Vectors& vectors, Ranges& ranges, std::uint16_t* slots, Segment* segments,
                                   int details) {
        const int lane = lane_of(threadIdx.x);
        const int count = list_slots(slots, [&](int slot) { return ranges.latest[slot] > 0; });
        if (count > kSegmentsOfGroup) return false;
        int words = 0;
        for (int first = 0; first < count; first += kLanes) {
            const bool exists = first + lane < count;
            int slot = 0, own = 0;
            std::int32_t least = 0, begin = 0;
            if (exists) {
                slot = slots[first + lane];
                least = ranges.least(slot);
                begin = least - vectors.found.ranges.least(slot);
                own = rounded(begin % kAlignment + min(ranges.length(slot), kLongestOfGroup) + T::kRowWords);
            }
            const int shift = begin % kAlignment;
            int end = own;
#pragma unroll
            for (unsigned offset = 1; offset < kLanes; offset *= 2) {
                const int before = __shfl_up_sync(kWholeWarp, end, offset);
                if (lane >= static_cast<int>(offset)) end += before;
            }
            const int to = words + end - own;
            words += __shfl_sync(kWholeWarp, end, kLanes - 1);
            if (words > kLongestOfGroup) return false;
            if (!exists) continue;
            ranges.earliest[slot] = to + shift - least;
            segments[first + lane] = {std::int64_t{vectors.rows[slot]} + begin - shift,
                                      static_cast<std::uint16_t>(details + to), static_cast<std::uint16_t>(own), 0};
        }
        segments_ = count;
        words_ = words;
        return true;
    }

    [[nodiscard]] __device__ Segment segment_of_trace(int member, std::int32_t least, int to, int words) const {
        const std::int64_t receiver = first_receiver_ + member, samples = problem_.trace_samples();
        if (receiver >= problem_.receivers)
            return {0, static_cast<std::uint16_t>(kMembers * kOffsetWords + to), static_cast<std::uint16_t>(words), 0};
        return {receiver * samples + least, static_cast<std::uint16_t>(kMembers * kOffsetWords + to),
                static_cast<std::uint16_t>(words),
                static_cast<std::int32_t>(min(samples - least, std::int64_t{kLatest}))};
    }

    __device__ void finish(int offset_words, int words) {
        const int all = offset_words + rounded(words);
        words_ = all > kRoom ? kFitsNowhere : all;
        for (std::int32_t& at : group_.at) at += offset_words;
        group_.details = offset_words / kWordsOf16Bytes;
    }

    const Problem& problem_;
    const Tile& tile_;
    int column_;
    std::int64_t first_receiver_;
    Group group_ = {};
    int words_ = 0, segments_ = 0;
};

template <class T>
struct GroupingMemory {
    Ranges ranges[kGroupsOfTile];
    std::uint16_t slots[kGroupsOfTile][T::kSources];
    typename Grouping<T>::Tile tile;
};

/// The blocks of a slab, of `sources` sources each, a tile of receivers each. Sources come in the order of `order`, if
/// any; a block's tables have room for T::kSources, and those past its own are its last one again.
template <class T>
__global__ void __launch_bounds__(kGroupThreads)
    group_delays(Problem problem, const std::int32_t* delays, const std::int32_t* order, int sources,
                 const Vectors* vectors, GroupTables tables, Slab slab) {
    auto& memory = *device::dynamic_shared<GroupingMemory<T>>();
    const int warp = warp_of(threadIdx.x), lane = lane_of(threadIdx.x);
    const std::int64_t block = blockIdx.x, first_source = (slab.first_block + block) * sources;
    // Lane i knows the source of the warp's i-th row. All loads are before all stores, or one would wait for the other.
    constexpr int kRows = T::kSources / kGroupsOfTile;
    static_assert(kRows <= kLanes);
    const std::int64_t own = source_at(problem, order, first_source + min(warp + lane * kGroupsOfTile, sources - 1));
    const std::int32_t* const column = delays + min(std::int64_t{blockIdx.y} * kColumns + lane, problem.receivers - 1);
    std::int32_t rows[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) rows[i] = column[__shfl_sync(kWholeWarp, own, i) * problem.receivers];
#pragma unroll
    for (int i = 0; i < kRows; ++i) memory.tile[warp + i * kGroupsOfTile][lane] = rows[i];
    __syncthreads();

    const std::int64_t group = std::int64_t{blockIdx.y} * kGroupsOfTile + warp;
    if (group >= groups_of(problem)) return;
    const std::int64_t at = block * groups_of(problem) + group;
    Segment* const segments = tables.segments + at * kSegmentsOfGroup;
    std::uint16_t* const offsets = tables.offsets + at * kMembers * T::kSources;
    Grouping<T> grouping(problem, memory.tile, warp * kMembers, group);
    if (!grouping.take_rows(vectors[group], memory.ranges[warp], memory.slots[warp], segments, offsets)) {
        __syncwarp();
        grouping.take_traces(segments, offsets);
    }
    if (lane == 0) {
        tables.groups[at] = grouping.group();
        tables.sizes[at] = grouping.size();
    }
}

}  // namespace
}  // namespace espalier::coherent_sum
