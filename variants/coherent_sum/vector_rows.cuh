#pragma once

#include <cstddef>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/coherent_sum/receiver_fours.cuh"
#include "variants/coherent_sum/source_tiles.cuh"

/// Finds, for each four neighbouring receivers, the different vectors of differences between the delays to the four
/// that any source has, and sums the four traces once for each: a row of sub-sums in device memory, for a window of
/// times.
///
/// The vectors are kept in a hash table. Where they lie in it, and which groups find room for their rows, differs from
/// run to run; what is computed from rows must be the same without them.
namespace espalier::coherent_sum {
namespace {

inline constexpr int kSlotBits = 9;
inline constexpr int kSlots = 1 << kSlotBits;  ///< of a group's hash table
inline constexpr int kMostProbes = 32;         ///< slots tried before the group is given up
inline constexpr int kGroupThreads = kGroupsOfTile * kLanes;
inline constexpr int kSourcesOfTile = 128;
inline constexpr int kSourcesOfFinder = 2048;  ///< of a block that looks for vectors, at least
inline constexpr int kFinders = 1024;          ///< blocks of a tile of receivers, at most
inline constexpr int kBuildersOfGroup = 4;     ///< blocks
inline constexpr int kAlignment = 8;           ///< words: where rows, and parts of them in shared memory, begin
inline constexpr std::int32_t kLatest = 0x7FFFFFFF;
inline constexpr std::size_t kShareOfMemory = 64;      ///< rows take no more of the device's than one part of so many
inline constexpr std::int64_t kExpectedVectors = 128;  ///< of a group, in the mean

/// Of each vector the range of the delays to the first of the four. The least is kept as `kLatest` less it, the largest
/// as one more: all zero is no delay at all.
struct Ranges {
    std::int32_t earliest[kSlots], latest[kSlots];

    [[nodiscard]] __device__ std::int32_t least(int slot) const { return kLatest - earliest[slot]; }
    [[nodiscard]] __device__ std::int32_t length(int slot) const { return latest[slot] - 1 - least(slot); }
};

/// The different vectors of some sources. A slot whose key is zero is free.
struct Found {
    std::uint32_t keys[kSlots];
    Ranges ranges;
};

template <class T>
__host__ __device__ constexpr T rounded(T words) {
    return (words + kAlignment - 1) / kAlignment * kAlignment;
}

/// Those of all sources. A row begins with the sum for the least delay.
struct Vectors {
    Found found;
    std::int32_t rows[kSlots];  ///< where each begins, in words
    std::int32_t given_up;      ///< not zero: the vectors are too many, or there is no room for rows
    std::int32_t unused[3];
};

/// The packed differences, and never zero.
__device__ inline std::uint32_t key_of(const std::int32_t (&delays)[kMembers]) { return packed(delays) + 1; }

__device__ inline int first_slot(std::uint32_t key) { return static_cast<int>(key * 2654435769U >> (32 - kSlotBits)); }

/// The slot of a key, taken for it if it has none; kSlots if none is free where it is looked for.
__device__ inline int take_slot(std::uint32_t* keys, std::uint32_t key) {
    int slot = first_slot(key);
    for (int probe = 0; probe < kMostProbes; ++probe, slot = (slot + 1) % kSlots) {
        const std::uint32_t before = atomicCAS(keys + slot, 0U, key);
        if (before == 0 || before == key) return slot;
    }
    return kSlots;
}

__device__ inline void widen(Ranges& ranges, int slot, std::int32_t earliest, std::int32_t latest) {
    atomicMax(ranges.earliest + slot, earliest);
    atomicMax(ranges.latest + slot, latest);
}

/// By one warp.
template <class T>
__device__ void clear(T& cleared) {
    auto* const words = reinterpret_cast<uint4*>(&cleared);
    for (int i = lane_of(threadIdx.x); i < static_cast<int>(sizeof(T) / sizeof(*words)); i += kLanes) words[i] = {};
}

/// A row of a tile of delays as a group sees it. Receivers that do not exist have the first one's delay.
__device__ inline void delays_of_group(std::int32_t (&delays)[kMembers], const std::int32_t* row, int existing) {
#pragma unroll
    for (int m = 0; m < kMembers; ++m) delays[m] = row[m < existing ? m : 0];
}

__device__ inline int existing_members(const Problem& problem, std::int64_t group) {
    return static_cast<int>(min(problem.receivers - group * kMembers, std::int64_t{kMembers}));
}

/// Lists the slots that are used, in order, by one warp.
template <class IsUsed>
__device__ int list_slots(std::uint16_t* list, const IsUsed& is_used) {
    const int lane = lane_of(threadIdx.x);
    int count = 0;
    for (int first = 0; first < kSlots; first += kLanes) {
        const bool used = is_used(first + lane);
        const unsigned lanes = __ballot_sync(kWholeWarp, used);
        if (used) list[count + __popc(lanes & ((1U << lane) - 1))] = static_cast<std::uint16_t>(first + lane);
        count += __popc(lanes);
    }
    __syncwarp();
    return count;
}

struct Finder {
    Found found[kGroupsOfTile];
    std::uint16_t slots[kGroupsOfTile][kSlots];
    std::int32_t delays[kSourcesOfTile][kColumns + 1];
};

/// A warp's rows of a tile of delays, on their way: the next are loaded while the last are looked at. Rows past the
/// last source are the last one again, columns past the last receiver that one's.
class TileLoader {
public:
    __device__ TileLoader(const Problem& problem, const std::int32_t* delays, std::int64_t first_receiver,
                          std::int64_t first_source)
        : step_(problem.receivers * kGroupsOfTile),
          last_(delays + (problem.sources - 1) * problem.receivers +
                min(first_receiver + lane_of(threadIdx.x), problem.receivers - 1)),
          next_(last_ - (problem.sources - 1 - first_source - warp_of(threadIdx.x)) * problem.receivers) {}

    __device__ void load() {
#pragma unroll
        for (int i = 0; i < kRows; ++i, next_ += step_) rows_[i] = *(next_ < last_ ? next_ : last_);
    }
    __device__ void store(std::int32_t (&tile)[kSourcesOfTile][kColumns + 1]) const {
#pragma unroll
        for (int i = 0; i < kRows; ++i) tile[warp_of(threadIdx.x) + i * kGroupsOfTile][lane_of(threadIdx.x)] = rows_[i];
    }

private:
    static constexpr int kRows = kSourcesOfTile / kGroupsOfTile;
    std::int64_t step_;
    const std::int32_t *last_, *next_;
    std::int32_t rows_[kRows];
};

/// The vectors of a tile's sources, by one warp. Returns false if there are too many.
__device__ inline bool take_vectors(Found& found, const std::int32_t (&tile)[kSourcesOfTile][kColumns + 1], int column,
                                    int existing) {
    constexpr int kPerLane = kSourcesOfTile / kLanes;
    bool can = true;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
        std::int32_t own[kMembers];
        delays_of_group(own, tile[lane_of(threadIdx.x) + j * kLanes] + column, existing);
        const bool fits = can_be_packed(own) && own[0] < kLatest;
        const int slot = fits ? take_slot(found.keys, key_of(own)) : kSlots;
        if (slot < kSlots) widen(found.ranges, slot, kLatest - own[0], own[0] + 1);
        can = can && slot < kSlots;
    }
    return __all_sync(kWholeWarp, can) != 0;
}

/// A tile of receivers, a group for each warp; `sources` of the sources for each block.
static __global__ void __launch_bounds__(kGroupThreads)
    find_vectors(Problem problem, const std::int32_t* delays, std::int64_t sources, Vectors* vectors) {
    auto& memory = *device::dynamic_shared<Finder>();
    const int warp = warp_of(threadIdx.x), lane = lane_of(threadIdx.x);
    const std::int64_t group = std::int64_t{blockIdx.x} * kGroupsOfTile + warp;
    const int existing = existing_members(problem, group);
    Found& found = memory.found[warp];
    clear(found);

    bool gave_up = existing <= 0;
    const std::int64_t begin = blockIdx.y * sources, end = min(begin + sources, problem.sources);
    TileLoader loader(problem, delays, std::int64_t{blockIdx.x} * kColumns, begin);
    loader.load();
    for (std::int64_t first = begin; first < end; first += kSourcesOfTile) {
        __syncthreads();
        loader.store(memory.delays);
        __syncthreads();
        if (first + kSourcesOfTile < end) loader.load();
        if (!gave_up) gave_up = !take_vectors(found, memory.delays, warp * kMembers, existing);
    }
    if (existing <= 0) return;
    __syncwarp();  // the votes order no memory
    Vectors& all = vectors[group];
    // What the table of all is asked takes long to answer: hardly more often than there are vectors.
    const std::uint16_t* const slots = memory.slots[warp];
    const int count = gave_up ? 0 : list_slots(memory.slots[warp], [&](int slot) { return found.keys[slot] != 0; });
    for (int i = lane; i < count && !gave_up; i += kLanes) {
        const int slot = slots[i], to = take_slot(all.found.keys, found.keys[slot]);
        if (to < kSlots) widen(all.found.ranges, to, found.ranges.earliest[slot], found.ranges.latest[slot]);
        gave_up = to == kSlots;
    }
    if (gave_up) atomicExch(&all.given_up, 1);
}

/// Finds room for the rows of a group, one for each warp, of `window` times each beyond the range of delays.
static __global__ void __launch_bounds__(kGroupThreads)
    place_rows(Problem problem, std::int32_t window, unsigned long long room, Vectors* vectors,
               unsigned long long* used) {
    constexpr int kPerLane = kSlots / kLanes;
    const int lane = lane_of(threadIdx.x);
    const std::int64_t group = std::int64_t{blockIdx.x} * kGroupsOfTile + warp_of(threadIdx.x);
    if (group >= groups_of(problem)) return;
    Vectors& own = vectors[group];
    if (own.given_up != 0) return;
    const auto words_of = [&](int slot) {
        return own.found.keys[slot] == 0
                   ? 0ULL
                   : rounded(static_cast<unsigned long long>(own.found.ranges.length(slot)) + window);
    };
    unsigned long long words = 0;
    for (int i = 0; i < kPerLane; ++i) words += words_of(lane * kPerLane + i);
    unsigned long long end = words;
#pragma unroll
    for (unsigned offset = 1; offset < kLanes; offset *= 2) {
        const unsigned long long before = __shfl_up_sync(kWholeWarp, end, offset);
        if (lane >= static_cast<int>(offset)) end += before;
    }
    unsigned long long start = 0;
    if (lane == kLanes - 1) start = atomicAdd(used, end);
    start = __shfl_sync(kWholeWarp, start, kLanes - 1);
    const bool fits = start + __shfl_sync(kWholeWarp, end, kLanes - 1) <= room;
    if (!fits && lane == 0) own.given_up = 1;
    start += end - words;
    for (int i = 0; i < kPerLane && fits; ++i) {
        own.rows[lane * kPerLane + i] = static_cast<std::int32_t>(start);
        start += words_of(lane * kPerLane + i);
    }
}

/// Sums the traces of the four, as ((a + b) + (c + d)), for a row at a time. `Unit` makes words of sums: `word` of one
/// and of that `kApart` times 32 samples later.
template <class Unit>
class RowBuilder {
public:
    using Word = typename Unit::Word;

    __device__ RowBuilder(const Problem& problem, const float* traces, std::int64_t group, std::int64_t first_sample,
                          const Unit& unit)
        : samples_(problem.trace_samples() - first_sample), existing_(existing_members(problem, group)), unit_(unit) {
#pragma unroll
        for (int m = 0; m < kMembers; ++m)
            traces_[m] = traces + (group * kMembers + m) * problem.trace_samples() + first_sample;
    }

    /// By one warp. Zeros past the ends of the traces.
    __device__ void build(Word* row, std::uint32_t key, std::int32_t least, std::int32_t words) const {
        const float* from[kMembers];
        std::int32_t latest = least, delays[kMembers];
#pragma unroll
        for (int m = 0; m < kMembers; ++m) {
            delays[m] = least + (m == 0 ? 0 : difference(key - 1, m));
            latest = max(latest, delays[m]);
            from[m] = traces_[m] + delays[m];
        }
        const std::int32_t sums = words + kApart * kLanes;
        const auto whole =
            existing_ < kMembers ? 0 : static_cast<std::int32_t>(min(samples_ - latest, std::int64_t{sums}));
        const auto sum_at = [&](int i) {
            const auto value = [&](int m) { return m < existing_ && i < samples_ - delays[m] ? from[m][i] : 0.0F; };
            return (value(0) + value(1)) + (value(2) + value(3));
        };
        int i = lane_of(threadIdx.x);
        // Sums whose words wait for a later one, the earliest first.
        float waiting[kApart + 1];
#pragma unroll
        for (int k = 0; k < kApart; ++k, i += kLanes) waiting[k] = sum_at(i);
        const float *a = from[0] + i, *b = from[1] + i, *c = from[2] + i, *d = from[3] + i;
        for (; i + (kAhead - 1) * kLanes < whole; i += kAhead * kLanes) {
            // All loads before all stores, which the compiler could not tell apart.
            float ahead[kApart + kAhead];
#pragma unroll
            for (int k = 0; k < kApart; ++k) ahead[k] = waiting[k];
#pragma unroll
            for (int k = 0; k < kAhead; ++k)
                ahead[kApart + k] = (a[k * kLanes] + b[k * kLanes]) + (c[k * kLanes] + d[k * kLanes]);
#pragma unroll
            for (int k = 0; k < kAhead; ++k) row[i + (k - kApart) * kLanes] = unit_.word(ahead[k], ahead[k + kApart]);
#pragma unroll
            for (int k = 0; k < kApart; ++k) waiting[k] = ahead[kAhead + k];
            a += kAhead * kLanes, b += kAhead * kLanes, c += kAhead * kLanes, d += kAhead * kLanes;
        }
        for (; i < sums; i += kLanes) {
            waiting[kApart] = sum_at(i);
            row[i - kApart * kLanes] = unit_.word(waiting[0], waiting[kApart]);
#pragma unroll
            for (int k = 0; k < kApart; ++k) waiting[k] = waiting[k + 1];
        }
    }

private:
    static constexpr int kAhead = 4, kApart = Unit::kApart;
    const float* traces_[kMembers];  ///< from the window's first sample on
    std::int64_t samples_;           ///< that they have from there on
    int existing_;
    Unit unit_;
};

template <class Unit>
__global__ void __launch_bounds__(kGroupThreads)
    build_rows(Problem problem, const float* traces, std::int64_t first_sample, std::int32_t window,
               const Vectors* vectors, typename Unit::Word* rows, Unit unit) {
    constexpr int kBuilders = kBuildersOfGroup * kGroupsOfTile, kPerWarp = kSlots / kBuilders;
    static_assert(kPerWarp <= kLanes);
    const Vectors& own = vectors[blockIdx.x];
    if (own.given_up != 0) return;
    const RowBuilder<Unit> builder(problem, traces, blockIdx.x, first_sample, unit.loaded());
    // Lane i knows the warp's i-th slot.
    const int lane = lane_of(threadIdx.x), warp = static_cast<int>(blockIdx.y) * kGroupsOfTile + warp_of(threadIdx.x);
    const int slot = min(lane, kPerWarp - 1) * kBuilders + warp;
    const std::uint32_t key = own.found.keys[slot];
    const std::int32_t least = own.found.ranges.least(slot), row = own.rows[slot];
    const std::int32_t words = rounded(own.found.ranges.length(slot) + window);
    unsigned left = __ballot_sync(kWholeWarp, lane < kPerWarp && key != 0);
    for (; left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        builder.build(rows + __shfl_sync(kWholeWarp, row, from), __shfl_sync(kWholeWarp, key, from),
                      __shfl_sync(kWholeWarp, least, from), __shfl_sync(kWholeWarp, words, from));
    }
}

/// In the workspace.
template <class Word>
struct Rows {
    Vectors* vectors;          ///< of each group
    unsigned long long* used;  ///< words
    Word* rows;
};

/// Vectors that there is room for, all in all.
inline std::int64_t expected_vectors(const Problem& problem) {
    return std::max<std::int64_t>(groups_of(problem) * std::min(kExpectedVectors, problem.sources), 1);
}

inline std::int64_t most_row_words(const DeviceInfo& device) {
    constexpr std::int64_t kPlaces = std::int64_t{1} << 31;  ///< that Vectors::rows can say
    return std::min(static_cast<std::int64_t>(device.memory_bytes / (kShareOfMemory * sizeof(float))), kPlaces);
}

/// How many times a window may have for that, none if there is no such window.
inline std::int64_t longest_window(const Problem& problem, const DeviceInfo& device) {
    return std::max<std::int64_t>(most_row_words(device) / expected_vectors(problem) - problem.span - kAlignment, 0);
}

/// How many words of rows there is room for.
inline std::int64_t row_words(const Problem& problem, std::int64_t window, const DeviceInfo& device) {
    return std::min(expected_vectors(problem) * (window + problem.span + kAlignment), most_row_words(device));
}

inline std::size_t vectors_bytes(const Problem& problem) {
    return aligned(static_cast<std::size_t>(groups_of(problem)) * sizeof(Vectors) + sizeof(unsigned long long));
}

inline std::size_t rows_bytes(const Problem& problem, std::int64_t window, const DeviceInfo& device) {
    return vectors_bytes(problem) + static_cast<std::size_t>(row_words(problem, window, device)) * sizeof(float);
}

template <class Word>
Rows<Word> rows_at(std::byte* memory, const Problem& problem) {
    static_assert(sizeof(Word) == sizeof(float));
    auto* const vectors = reinterpret_cast<Vectors*>(memory);
    return {vectors, reinterpret_cast<unsigned long long*>(vectors + groups_of(problem)),
            reinterpret_cast<Word*>(memory + vectors_bytes(problem))};
}

/// Enqueues what finds the vectors and room for their rows. Needs a source and a receiver.
template <class Word>
void place_all_rows(Context& context, const Problem& problem, const std::int32_t* delays, std::int64_t window,
                    const Rows<Word>& rows) {
    const auto tiles = static_cast<unsigned>((problem.receivers + kColumns - 1) / kColumns);
    const std::int64_t each = std::max<std::int64_t>(kSourcesOfFinder, (problem.sources + kFinders - 1) / kFinders);
    const auto finders = static_cast<unsigned>((problem.sources + each - 1) / each);
    device::fill(rows.vectors, 0, vectors_bytes(problem), context.stream);
    device::launch(find_vectors, dim3(tiles, finders), dim3(kGroupThreads), sizeof(Finder), context.stream, problem,
                   delays, each, rows.vectors);
    device::launch(
        place_rows, dim3(tiles), dim3(kGroupThreads), 0, context.stream, problem, static_cast<std::int32_t>(window),
        static_cast<unsigned long long>(row_words(problem, window, context.device)), rows.vectors, rows.used);
}

/// Enqueues what fills the rows for the window from `first_sample` on.
template <class Unit>
void build_all_rows(Context& context, const Problem& problem, const float* traces, std::int64_t first_sample,
                    std::int64_t window, const Rows<typename Unit::Word>& rows, const Unit& unit) {
    device::launch(build_rows<Unit>, dim3(static_cast<unsigned>(groups_of(problem)), kBuildersOfGroup),
                   dim3(kGroupThreads), 0, context.stream, problem, traces, first_sample,
                   static_cast<std::int32_t>(window), rows.vectors, rows.rows, unit);
}

}  // namespace
}  // namespace espalier::coherent_sum
