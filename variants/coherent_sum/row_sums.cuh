#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "device/bulk_copy.hpp"
#include "device/copy_ahead.hpp"
#include "device/kernel.hpp"
#include "variants/coherent_sum/receiver_fours.cuh"
#include "variants/coherent_sum/row_segments.cuh"
#include "variants/coherent_sum/source_order.cuh"
#include "variants/coherent_sum/source_tiles.cuh"
#include "variants/coherent_sum/vector_rows.cuh"
#include "variants/coherent_sum/window.cuh"

/// Coherent sums from rows of sub-sums in device memory (vector_rows.cuh). Some warps of each block have the parts of
/// the rows that the block's sources need copied to shared memory while the others add those copied before, each source
/// its own. So that a block's sources are near each other, all are ordered first, by their delays to a few distant
/// receivers.
///
/// Where the vectors of four receivers are too many, each source adds the four from the traces themselves, and where
/// delays are so far apart that the traces do not fit, from global memory: any delays are summed.
///
/// What a warp has of the sums, and how it adds to them, is a class `Sums`:
/// - `T`, what a block has room for, copying warps included, and what a word of a row is;
/// - `kCopyingWarps` of a block copy: a warp starts a copy in some 90 cycles, and what is copied must be there when
///   the others have added what was copied before;
/// - `Unit`, a kernel's argument, makes words of sub-sums; `of` enqueues what it needs to know, in `kBytes` of memory;
/// - `add_shifted` from rows and `adding` for `add_four`, `end_chunk` after at most kGroups groups, `keep` at the end.
namespace espalier::coherent_sum {
namespace {

using namespace device;

inline constexpr int kGroups = 8;      ///< of a chunk, at most
inline constexpr int kSegments = 256;  ///< of a chunk, at most

/// Groups that are in shared memory together, as many as fit. One that does not fit is alone and `staged` false.
struct Chunk {
    Group groups[kGroups];
    std::int64_t first;
    int count, staged;
    int bytes;                  ///< of rows and offsets
    unsigned of_traces;         ///< a bit for each group that has traces in place of rows
    int starts[kGroups];        ///< of the groups, in words
    int segments[kGroups + 1];  ///< the first of each in the chunk's list, and its end
};

/// In turn a chunk is planned (k + 3), its segments are listed (k + 2), copied (k + 1) and added (k): one barrier for
/// all.
template <class Word>
struct Shared {
    Word words[2][kRoom];
    Segment segments[2][kSegments];
    Chunk chunks[4];
    Arrivals arrivals[2];
};

/// What a block has of the tables.
struct BlockTables {
    const Segment* segments;
    const Group* groups;
    const std::uint16_t* offsets;
    const GroupSize* sizes;
    std::int64_t count;  ///< of groups
};

/// Plans chunk after chunk. By one warp, of which lane i looks at the i-th group.
template <class T>
class Planner {
public:
    __device__ explicit Planner(const BlockTables& tables) : tables_(tables), size_(load()) {}

    /// The groups are there after the next `wait_for_copies`.
    __device__ void plan(Chunk& chunk) {
        const int lane = lane_of(threadIdx.x);
        int end = size_.words, last = size_.segments;
#pragma unroll
        for (unsigned offset = 1; offset < kGroups; offset *= 2) {
            const int words = __shfl_up_sync(kWholeWarp, end, offset);
            const int segments = __shfl_up_sync(kWholeWarp, last, offset);
            if (lane >= static_cast<int>(offset)) {
                end += words;
                last += segments;
            }
        }
        const bool fits = lane < kGroups && end <= kRoom && last <= kSegments;
        const int fitting = __popc(__ballot_sync(kWholeWarp, fits));
        const int count = fitting > 0 || first_ >= tables_.count ? fitting : 1;
        const unsigned of_traces = __ballot_sync(kWholeWarp, lane < fitting && size_.segments == 0);
        const int copied = size_.segments == 0 ? kMembers * Grouping<T>::kOffsetWords : size_.words;
        const int words = __reduce_add_sync(kWholeWarp, lane < fitting ? copied : 0);
        if (lane < kGroups) {
            chunk.starts[lane] = end - size_.words;
            chunk.segments[lane + 1] = last;
        }
        if (lane == 0) {
            chunk.first = first_;
            chunk.count = count;
            chunk.staged = fitting > 0 ? 1 : 0;
            chunk.bytes = words * static_cast<int>(sizeof(float));
            chunk.of_traces = of_traces;
            chunk.segments[0] = 0;
        }
        constexpr int kWords = static_cast<int>(sizeof(Group)) / 16;
        if (lane < count * kWords)
            copy_ahead(reinterpret_cast<uint4*>(chunk.groups) + lane,
                       reinterpret_cast<const uint4*>(tables_.groups + first_) + lane);
        first_ += count;
        size_ = load();
    }

private:
    static_assert(kGroups * sizeof(Group) <= kLanes * 16, "a lane copies 16 bytes");
    [[nodiscard]] __device__ GroupSize load() const {
        const std::int64_t group = first_ + lane_of(threadIdx.x);
        return lane_of(threadIdx.x) < kGroups && group < tables_.count ? tables_.sizes[group]
                                                                       : GroupSize{kFitsNowhere, 0};
    }

    const BlockTables& tables_;
    std::int64_t first_ = 0;
    GroupSize size_;  ///< of the groups from `first_` on, read long before they are used
};

/// The last warps of a block copy. A launch may have fewer of the others than there could be, and so fewer sources in a
/// block than the tables have room for.
template <class Sums>
__device__ int adding_warps() {
    return static_cast<int>(blockDim.x) / kLanes - Sums::kCopyingWarps;
}

/// The segments of a chunk's rows. By one warp.
template <class Word>
__device__ void list_segments(Shared<Word>& memory, int chunk_index, const BlockTables& tables) {
    const Chunk& chunk = memory.chunks[chunk_index % 4];
    if (!chunk.staged) return;
    Segment* const list = memory.segments[chunk_index % 2];
    for (int g = 0; g < chunk.count; ++g) {
        const Segment* const from = tables.segments + (chunk.first + g) * kSegmentsOfGroup;
        const int first = chunk.segments[g], count = chunk.segments[g + 1] - first;
        for (int s = lane_of(threadIdx.x); s < count; s += kLanes) copy_ahead(list + first + s, from + s);
    }
}

/// The rows, of which the block's times begin at `rows`, and the offsets of a chunk. By the warps that copy, of which
/// this is the `part`-th.
template <class Sums, class Word>
__device__ void copy_rows(Shared<Word>& memory, int chunk_index, int part, const Word* rows,
                          const BlockTables& tables) {
    constexpr int kCopyingWarps = Sums::kCopyingWarps;
    const Chunk& chunk = memory.chunks[chunk_index % 4];
    Arrivals& arrivals = memory.arrivals[chunk_index % 2];
    Word* const words = memory.words[chunk_index % 2];
    const int lane = lane_of(threadIdx.x);
    // Traces were copied, and everything was read, where rows come now.
    before_bulk_copies();
    if (part == 0 && lane == 0) expect(arrivals, chunk.bytes);
    if (!chunk.staged) return;
    if (part == 0 && lane < chunk.count)
        copy_bulk(words + chunk.starts[lane], tables.offsets + (chunk.first + lane) * kMembers * Sums::T::kSources,
                  chunk.groups[lane].details * 16, arrivals);
    const Segment* const list = memory.segments[chunk_index % 2];
    const int count = chunk.segments[chunk.count];
    int group = 0;
    for (int i = lane * kCopyingWarps + part; i < count; i += kLanes * kCopyingWarps) {
        while (chunk.segments[group + 1] <= i) ++group;
        copy_bulk(words + chunk.starts[group] + list[i].to, rows + list[i].from,
                  list[i].words * static_cast<int>(sizeof(Word)), arrivals);
    }
}

/// A part of a trace, zeros beyond its end. By one warp.
__device__ void copy_trace(float* to, const Segment& segment, const float* traces, std::int64_t first_sample) {
    const std::int64_t following = segment.following - first_sample;
    const float* const from = following > 0 ? traces + segment.from + first_sample : traces;
    for (int i = lane_of(threadIdx.x); i < segment.words; i += kLanes)
        copy_ahead(to + i, from + (i < following ? i : 0), i < following);
}

/// The parts of traces of a chunk, which the warps that add share out among them.
template <class Sums, class Word>
__device__ void copy_traces(Shared<Word>& memory, int chunk_index, const Buffers& buffers, const BlockTables& tables,
                            std::int64_t first_sample) {
    const Chunk& chunk = memory.chunks[chunk_index % 4];
    int member = warp_of(threadIdx.x);
    for (unsigned left = chunk.of_traces; left != 0; left &= left - 1) {
        const int g = __ffs(static_cast<int>(left)) - 1;
        for (; member < kMembers; member += adding_warps<Sums>()) {
            const Segment segment = tables.segments[(chunk.first + g) * kSegmentsOfGroup + member];
            Word* const to = memory.words[chunk_index % 2] + chunk.starts[g] + segment.to;
            copy_trace(reinterpret_cast<float*>(to), segment, buffers.traces, first_sample);
        }
        member -= kMembers;
    }
}

/// Adds a chunk, group after group, so that every source's additions have the same order.
template <class Sums, class Word>
__device__ void add_chunk(Sums& sums, const Shared<Word>& memory, int chunk_index, const Problem& problem,
                          const Buffers& buffers, const std::int32_t* order, std::int64_t first_source,
                          std::int64_t first_sample) {
    using T = typename Sums::T;
    const Chunk& chunk = memory.chunks[chunk_index % 4];
    const int lane = lane_of(threadIdx.x);
    if (!chunk.staged) {
        add_four_from_global<T>(problem, buffers, order, first_source, first_sample + lane, chunk.first * kMembers,
                                sums.adding());
        return sums.end_chunk();
    }
#pragma unroll 1
    for (int g = 0; g < chunk.count; ++g) {
        const Group& group = chunk.groups[g];
        const Word* const words = memory.words[chunk_index % 2] + chunk.starts[g];
        const auto* const offsets = reinterpret_cast<const std::uint16_t*>(words) + warp_of(threadIdx.x) * T::kPerWarp;
        const Word* const own = words + lane;
        if (group.rows != 0) {
            sums.add_shifted(own + group.at[0], offsets);
        } else {
            const auto* const samples = reinterpret_cast<const float*>(own);
            const float* const from[kMembers] = {samples + group.at[0], samples + group.at[1], samples + group.at[2],
                                                 samples + group.at[3]};
            add_four<T>(from, offsets, sums.adding());
        }
    }
    sums.end_chunk();
}

template <class Sums>
__global__ void __launch_bounds__(Sums::T::kThreads, 1)
    sum_rows(Problem problem, Buffers buffers, unsigned long long* peaks, const std::int32_t* order,
             const typename Sums::T::Word* rows, GroupTables slab_tables, Slab slab, std::int64_t first_of_window,
             typename Sums::Unit unit) {
    using T = typename Sums::T;
    constexpr int kCopyingWarps = Sums::kCopyingWarps;
    auto& memory = *dynamic_shared<Shared<typename T::Word>>();
    const int warp = warp_of(threadIdx.x);
    const std::int64_t block = blockIdx.x, in_window = std::int64_t{blockIdx.y} * T::kSamples,
                       first_sample = first_of_window + in_window, count = groups_of(problem);
    const std::int64_t first_source = ((slab.first_block + block) * adding_warps<Sums>() + warp) * T::kPerWarp;
    const BlockTables tables{
        slab_tables.segments + block * count * kSegmentsOfGroup, slab_tables.groups + block * count,
        slab_tables.offsets + block * count * kMembers * T::kSources, slab_tables.sizes + block * count, count};
    if (threadIdx.x == 0)
        for (Arrivals& arrivals : memory.arrivals) begin_rounds(arrivals, 1);

    const int copying = warp - adding_warps<Sums>();  // which of those that copy, if not negative
    Sums sums(unit);
    Planner<T> planner(tables);
    // In the first turns there is nothing to list, to copy or to add yet.
    for (int turn = 0;; ++turn) {
        wait_for_copies();
        if (turn >= 3) wait_for_round(memory.arrivals[(turn - 3) % 2], (turn - 3) / 2);
        __syncthreads();
        if (turn >= 3 && memory.chunks[(turn - 3) % 4].count == 0) break;
        if (copying < 0) {
            if (turn >= 2) copy_traces<Sums>(memory, turn - 2, buffers, tables, first_sample);
            if (turn >= 3) add_chunk(sums, memory, turn - 3, problem, buffers, order, first_source, first_sample);
        } else {
            if (turn >= 2) copy_rows<Sums>(memory, turn - 2, copying, rows + in_window, tables);
            if (copying == kCopyingWarps - 1) planner.plan(memory.chunks[turn % 4]);
            if (copying == kCopyingWarps - 2 && turn >= 1) list_segments(memory, turn - 1, tables);
        }
    }
    if (copying < 0) sums.keep(problem, buffers, peaks, order, first_source, first_sample + lane_of(threadIdx.x));
}

inline std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// How a problem is cut: the sources of a block, and the times of a window.
struct Cut {
    int sources;
    std::int64_t window;
};

/// The number of sources in a block with which all end first, from half of the warps' that there is room for up: the
/// last round of blocks costs as much as any, however few blocks it has.
template <class Sums>
int sources_of_block(const Problem& problem, std::int64_t multiprocessors) {
    // What a block does however many its sources are, counted in the work of one warp's: copying, most of all.
    constexpr double kOfEveryBlock = 1.4;
    using T = typename Sums::T;
    constexpr int kMostAdding = T::kWarps - Sums::kCopyingWarps;
    const std::int64_t tiles = divided_up(problem.samples, T::kSamples);
    int best = kMostAdding;
    double least = 0;
    for (int warps = kMostAdding; warps > kMostAdding / 2; --warps) {
        const std::int64_t rounds = divided_up(blocks_of(problem, warps * T::kPerWarp) * tiles, multiprocessors);
        const double cost = static_cast<double>(rounds) * (warps + kOfEveryBlock);
        if (warps < kMostAdding && cost >= least) continue;
        best = warps;
        least = cost;
    }
    return best * T::kPerWarp;
}

/// A window is as long as there is room for its rows, but if it is not the only one, of whole rounds of blocks.
template <class Sums>
Cut cut(const Problem& problem, const DeviceInfo& device) {
    using T = typename Sums::T;
    const std::int64_t multiprocessors = std::max(device.sm_count, 1);
    const int sources = sources_of_block<Sums>(problem, multiprocessors);
    const std::int64_t tiles = std::max<std::int64_t>(divided_up(problem.samples, T::kSamples), 1);
    const std::int64_t room = std::max<std::int64_t>(longest_window(problem, device) / T::kSamples, 1);
    if (tiles <= room) return {sources, tiles * T::kSamples};
    const std::int64_t blocks = std::clamp<std::int64_t>(blocks_of(problem, sources), 1, kBlocksAtOnce);
    const std::int64_t rounds = std::max<std::int64_t>(room * blocks / multiprocessors, 1);
    const std::int64_t whole = rounds * multiprocessors / blocks;
    return {sources, std::clamp<std::int64_t>(whole, 1, room) * T::kSamples};
}

/// Of the workspace: where each part begins, after peaks and tables.
struct Layout {
    std::size_t order, unit, rows, end;
};

template <class Sums>
Layout layout(const Problem& problem, const Cut& cut, const DeviceInfo& device) {
    const std::size_t tables = slab_bytes(problem, cut.sources, group_bytes(problem, Sums::T::kSources));
    const std::size_t order = aligned(aligned(peak_bytes(problem)) + tables);
    const std::size_t unit = aligned(order + ordering_bytes(problem));
    const std::size_t rows = aligned(unit + Sums::Unit::kBytes);
    return {order, unit, rows, rows + rows_bytes(problem, cut.window, device)};
}

template <class Sums>
void sum_by_rows(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    using T = typename Sums::T;
    using Shared = Shared<typename T::Word>;
    if (problem.sources == 0) return;
    const Cut slabs = cut<Sums>(problem, context.device);
    const int sources = slabs.sources;
    const std::int64_t window = slabs.window;
    const Layout parts = layout<Sums>(problem, slabs, context.device);
    const auto rows = rows_at<typename T::Word>(context.workspace.data() + parts.rows, problem);
    const std::int64_t words = window - T::kSamples + T::kRowWords;  // of a row, beyond the range of delays
    const auto unit = Sums::Unit::of(context, problem, buffers.traces, context.workspace.data() + parts.unit);
    const std::int32_t* order = nullptr;
    // The sources of a single block need no order.
    if (problem.receivers > 0 && problem.sources > sources) {
        const Ordering ordering = ordering_at(context.workspace.data() + parts.order, problem);
        order_sources(context, problem, buffers.delays, ordering);
        order = ordering.order;
    }
    if (problem.receivers > 0) place_all_rows(context, problem, buffers.delays, words, rows);
    sum_slabs(context, problem, buffers, sources, [&](Slab slab, std::byte* memory, unsigned long long* peaks) {
        const auto blocks = static_cast<unsigned>(slab.blocks);
        const GroupTables tables = group_tables_at(memory, problem, T::kSources, slab.blocks);
        const auto columns = static_cast<unsigned>(divided_up(problem.receivers, kColumns));
        if (columns > 0)
            launch(group_delays<T>, dim3(blocks, columns), dim3(kGroupThreads), sizeof(GroupingMemory<T>),
                   context.stream, problem, buffers.delays, order, sources, rows.vectors, tables, slab);
        for (std::int64_t first = 0; first < problem.samples; first += window) {
            if (columns > 0) build_all_rows(context, problem, buffers.traces, first, words, rows, unit);
            const auto tiles =
                static_cast<unsigned>(divided_up(std::min(window, problem.samples - first), T::kSamples));
            launch(sum_rows<Sums>, dim3(blocks, tiles),
                   dim3(static_cast<unsigned>((sources / T::kPerWarp + Sums::kCopyingWarps) * kLanes)), sizeof(Shared),
                   context.stream, problem, buffers, peaks, order, rows.rows, tables, slab, first, unit);
        }
    });
}

template <class Sums>
std::size_t workspace_by_rows(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    return layout<Sums>(problem, cut<Sums>(problem, device), device).end;
}

/// Whether a device can sum by rows, and a problem has room in its grid.
template <class Sums>
Support sums_by_rows(const Problem& problem, const DeviceInfo& device) {
    constexpr std::size_t kBytes = sizeof(Shared<typename Sums::T::Word>);
    if (kBytes > device.shared_per_block_optin)
        return Support::no("the sub-sums need " + std::to_string(kBytes) + " bytes of shared memory, a block has " +
                           std::to_string(device.shared_per_block_optin));
    if (device.sm < 90) return Support::no("bulk copies to shared memory need compute capability 9.0");
    return fits_the_grid(problem, Sums::T::kSamples);
}

}  // namespace
}  // namespace espalier::coherent_sum
