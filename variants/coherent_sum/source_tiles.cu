// A block sums 128 neighbouring sources at 128 times, which it keeps in registers. It stages the part of each
// receiver's trace that they need in shared memory, as many receivers at a time as fit, while it adds those staged
// before. What binds times_per_thread is lines of L1, two for each addition of a warp; here it is one read of shared
// memory. The receivers are added in order: the sums are bit for bit those of the plain loops.

#include "device/kernel.hpp"
#include "variants/coherent_sum/source_tiles.cuh"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

using namespace device;

constexpr int kStagedReceivers = 16;  ///< at once, at most
constexpr int kStagedWords = 992;     ///< per warp and buffer: three blocks of eight warps have room

/// The delays of a block's sources at one receiver.
struct Range {
    std::int32_t least = 0, length = 0;  ///< samples; length is the largest less the least
};

/// Of a slab: `ranges` of its blocks x receivers, and for every source the bytes from the least delay to its own,
/// blocks x receivers x sources of a block.
struct Tables {
    Range* ranges;
    std::uint16_t* offsets;
};

std::size_t table_bytes(const Problem& problem, int sources) {
    const auto receivers = static_cast<std::size_t>(problem.receivers);
    return receivers * (sizeof(Range) + static_cast<std::size_t>(sources) * sizeof(std::uint16_t));
}

template <int sources>
__global__ void relate_delays(Problem problem, const std::int32_t* delays, Tables tables, Slab slab) {
    auto& tile = shared<std::int32_t[sources][kColumns + 1]>();
    const std::int64_t block = blockIdx.x, first_receiver = std::int64_t{blockIdx.y} * kColumns;
    load_delays(tile, problem, delays, (slab.first_block + block) * sources, first_receiver);
    __syncthreads();

    const int lane = lane_of(threadIdx.x);
    for (int column = warp_of(threadIdx.x); column < kColumns; column += static_cast<int>(blockDim.x) / kLanes) {
        if (first_receiver + column >= problem.receivers) return;
        std::int32_t least = tile[lane][column], largest = least;
        for (int s = lane; s < sources; s += kLanes) {
            least = min(least, tile[s][column]);
            largest = max(largest, tile[s][column]);
        }
        least = __reduce_min_sync(kWholeWarp, least);
        largest = __reduce_max_sync(kWholeWarp, largest);
        const std::int64_t at = block * problem.receivers + first_receiver + column;
        if (lane == 0) tables.ranges[at] = {least, largest - least};
        // A length that 16 bits do not reach makes the receiver one that is not staged.
        for (int s = lane; s < sources; s += kLanes)
            tables.offsets[at * sources + s] =
                static_cast<std::uint16_t>(static_cast<unsigned>(tile[s][column] - least) * sizeof(float));
    }
}

/// Receivers that are staged together, of which lane i knows the i-th: what it copies and where to. A receiver that
/// does not fit is alone and `staged` false.
struct Chunk {
    std::int64_t first = 0;
    int count = 0;
    bool staged = true;
    int least = 0, length = 0, start = 0;
};

/// The ranges of the receivers from `first` on, one per lane.
__device__ Range load_range(const Problem& problem, const Range* ranges, std::int64_t first) {
    const std::int64_t receiver = first + lane_of(threadIdx.x);
    return receiver < problem.receivers ? ranges[receiver] : Range{};
}

/// As many of the receivers from `first` on as have room for their range and the block's samples.
template <class T>
__device__ Chunk plan_chunk(const Problem& problem, const Range& range, std::int64_t first) {
    constexpr int kRoom = std::min(kStagedWords * T::kWarps, kLongestRange);
    const int lane = lane_of(threadIdx.x);
    Chunk chunk{.first = first, .least = range.least};
    chunk.length = min(range.length, kRoom) + T::kSamples;
    int end = chunk.length;
    for (unsigned offset = 1; offset < kStagedReceivers; offset *= 2) {
        const int before = __shfl_up_sync(kWholeWarp, end, offset);
        if (lane >= static_cast<int>(offset)) end += before;
    }
    chunk.start = end - chunk.length;
    const bool fits = lane < kStagedReceivers && first + lane < problem.receivers && end <= kRoom;
    chunk.count = __popc(__ballot_sync(kWholeWarp, fits));
    chunk.staged = chunk.count > 0;
    if (!chunk.staged && first < problem.receivers) chunk.count = 1;
    return chunk;
}

template <class T>
__device__ void copy_chunk(const Problem& problem, const Buffers& buffers, const std::uint16_t* offsets,
                           const Chunk& chunk, std::int64_t first_sample, float* segments, std::uint16_t* to_offsets) {
    if (!chunk.staged) return;
    for (int i = warp_of(threadIdx.x); i < chunk.count; i += T::kWarps)
        copy_segment(segments + __shfl_sync(kWholeWarp, chunk.start, i), problem, buffers.traces, chunk.first + i,
                     first_sample + __shfl_sync(kWholeWarp, chunk.least, i), __shfl_sync(kWholeWarp, chunk.length, i));
    constexpr int kWords = T::kSources * static_cast<int>(sizeof(std::uint16_t)) / 16;
    copy_words(to_offsets, offsets + chunk.first * T::kSources, chunk.count * kWords);
}

template <class T>
struct Shared {
    float segments[2][kStagedWords * T::kWarps];
    std::uint16_t offsets[2][kStagedReceivers][T::kSources];
};

template <class T>
__global__ void __launch_bounds__(T::kThreads, 16 / T::kWarps)
    sum_tiles(Problem problem, Buffers buffers, unsigned long long* peaks, Tables tables, Slab slab) {
    auto& memory = *dynamic_shared<Shared<T>>();
    const int warp = warp_of(threadIdx.x), lane = lane_of(threadIdx.x);
    const std::int64_t block = blockIdx.x, first_sample = std::int64_t{blockIdx.y} * T::kSamples;
    const std::int64_t first_source = (slab.first_block + block) * T::kSources + warp * T::kPerWarp;
    const Range* const ranges = tables.ranges + block * problem.receivers;
    const std::uint16_t* const offsets = tables.offsets + block * problem.receivers * T::kSources;

    typename T::Sums sums = {};
    Chunk chunk = plan_chunk<T>(problem, load_range(problem, ranges, 0), 0);
    Range ahead = load_range(problem, ranges, chunk.count);
    copy_chunk<T>(problem, buffers, offsets, chunk, first_sample, memory.segments[0], memory.offsets[0][0]);
    for (int buffer = 0; chunk.count > 0; buffer ^= 1) {
        wait_for_copies();
        // One barrier: what is copied next goes where nobody reads any more.
        __syncthreads();
        const Chunk next = plan_chunk<T>(problem, ahead, chunk.first + chunk.count);
        copy_chunk<T>(problem, buffers, offsets, next, first_sample, memory.segments[buffer ^ 1],
                      memory.offsets[buffer ^ 1][0]);
        ahead = load_range(problem, ranges, next.first + next.count);
        if (chunk.staged) {
#pragma unroll 1
            for (int i = 0; i < chunk.count; ++i)
                add_shifted<T>(sums, memory.segments[buffer] + __shfl_sync(kWholeWarp, chunk.start, i) + lane,
                               memory.offsets[buffer][i] + warp * T::kPerWarp);
        } else {
            add_from_global<T>(sums, problem, buffers, first_source, first_sample + lane, chunk.first);
        }
        chunk = next;
    }
    keep_tile<T>(sums, problem, buffers, peaks, first_source, first_sample + lane,
                 [](std::int64_t source) { return source; });
}

template <int sources, int times>
void run_tiles(Context& context, const Problem& problem, const Buffers& buffers) {
    using T = Tile<sources, times>;
    sum_slabs(context, problem, buffers, sources, [&](Slab slab, std::byte* memory, unsigned long long* peaks) {
        const auto blocks = static_cast<unsigned>(slab.blocks);
        // Offsets first: they are copied 16 bytes at a time.
        auto* const offsets = reinterpret_cast<std::uint16_t*>(memory);
        const Tables tables{reinterpret_cast<Range*>(offsets + slab.blocks * problem.receivers * sources), offsets};
        const auto columns = static_cast<unsigned>((problem.receivers + kColumns - 1) / kColumns);
        if (columns > 0)
            launch(relate_delays<sources>, dim3(blocks, columns), dim3(256), 0, context.stream, problem, buffers.delays,
                   tables, slab);
        const auto tiles = static_cast<unsigned>((problem.samples + T::kSamples - 1) / T::kSamples);
        launch(sum_tiles<T>, dim3(blocks, tiles), dim3(T::kThreads), sizeof(Shared<T>), context.stream, problem,
               buffers, peaks, tables, slab);
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int times = configuration["times"];
    if (configuration["sources"] == 128) {
        if (times == 4) run_tiles<128, 4>(context, problem, buffers);
        if (times == 2) run_tiles<128, 2>(context, problem, buffers);
        if (times == 8) run_tiles<128, 8>(context, problem, buffers);
    } else {
        if (times == 4) run_tiles<64, 4>(context, problem, buffers);
        if (times == 2) run_tiles<64, 2>(context, problem, buffers);
        if (times == 8) run_tiles<64, 8>(context, problem, buffers);
    }
}

}  // namespace

Variant<Problem> source_tiles() {
    return {.role = Role::modern,
            .summary = "many sources x many times in registers, the traces they share staged in shared memory",
            .source = "",
            .limits = "compute capability 8.0; samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"sources", {128, 64}}, {"times", {4, 2, 8}}},
            .supports =
                [](const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
                    return tiles_fit(problem, kLanes * configuration["times"], device);
                },
            .workspace =
                [](const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
                    const int sources = configuration["sources"];
                    return aligned(peak_bytes(problem)) + slab_bytes(problem, sources, table_bytes(problem, sources));
                },
            .run = run};
}

}  // namespace espalier::coherent_sum
