// As source_tiles, but four neighbouring receivers are added with one read of shared memory. What a source takes from
// them, apart from one shift in time, is given by the three differences between its delays to them, and neighbouring
// sources have few different ones: 26 of 256 sources of a cube 50 m apart, receivers 40 m apart. A block builds the sum
// of the four traces once for each vector of differences in shared memory, and each source adds its own.
//
// Where the vectors are too many to pay, the four are added one by one as in source_tiles, and where delays are so far
// apart that the traces do not fit, from global memory: any delays are summed.
//
// The order of additions is ((a + b) + (c + d)) for each four and these in order: receivers / 4 + 2 roundings at most
// on each term's way into the sum, where the plain loop has receivers - 1. With u = 2^-24 and S the sum of absolute
// values the error is below (receivers / 4 + 2) u S, to first order, and the result differs from the plain loop's by at
// most (5 / 4 receivers + 1) u S. The tolerance asks for 64 u S, as of all variants, which counts on roundings of
// either sign.

#include "device/kernel.hpp"
#include "variants/coherent_sum/delay_vectors.cuh"
#include "variants/coherent_sum/source_tiles.cuh"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

using namespace device;

constexpr int kGroups = 4;          ///< of a chunk, at most
constexpr int kVectors = 128;       ///< of a chunk, at most
constexpr int kSegmentWords = 512;  ///< of a chunk, per warp: traces

/// Groups that are staged together, as many as fit. One that does not fit is alone and `staged` false.
struct Chunk {
    std::int64_t first;
    int count, staged;
    Group groups[kGroups];
    int segments[kGroups][kMembers];  ///< where the members' begin, in words
    int sub_sums[kGroups];            ///< where the group's begin
    int vectors[kGroups];             ///< the number of the group's first
};

/// By one warp, of which lane i looks at the i-th group.
template <class T>
__device__ void plan_chunk(Chunk& chunk, const Group* groups, std::int64_t count, std::int64_t first) {
    constexpr int kRoom = kSegmentWords * T::kWarps;
    const int lane = lane_of(threadIdx.x);
    const bool exists = lane < kGroups && first + lane < count;
    Group group = {};
    if (exists) group = groups[first + lane];
    int lengths[kMembers], words = 0;
#pragma unroll
    for (int m = 0; m < kMembers; ++m) {
        lengths[m] = min(group.length[m], kRoom) + T::kSamples;
        words += lengths[m];
    }
    // Up to the end of this group: segments, sub-sums and vectors.
    int ends[3] = {words, group.words, group.vectors};
#pragma unroll
    for (unsigned offset = 1; offset < kGroups; offset *= 2)
#pragma unroll
        for (int& end : ends) {
            const int before = __shfl_up_sync(kWholeWarp, end, offset);
            if (lane >= static_cast<int>(offset)) end += before;
        }
    const bool fits = exists && ends[0] <= kRoom && ends[1] <= kSubSumWords * T::kWarps && ends[2] <= kVectors;
    const int fitting = __popc(__ballot_sync(kWholeWarp, fits));
    if (lane < kGroups) {
        chunk.groups[lane] = group;
        chunk.sub_sums[lane] = ends[1] - group.words;
        chunk.vectors[lane] = ends[2] - group.vectors;
        int start = ends[0] - words;
#pragma unroll
        for (int m = 0; m < kMembers; ++m) {
            chunk.segments[lane][m] = start;
            start += lengths[m];
        }
    }
    if (lane == 0) {
        chunk.first = first;
        chunk.staged = fitting > 0 ? 1 : 0;
        chunk.count = fitting > 0 || first >= count ? fitting : 1;
    }
}

/// In turn a chunk is planned (k + 2), copied (k + 1), built (k) and added (k - 1): one barrier for all.
template <class T>
struct Shared {
    float segments[2][kSegmentWords * T::kWarps];
    float sub_sums[2][kSubSumWords * T::kWarps];
    Vector vectors[3][kVectors];
    std::uint16_t offsets[3][kGroups][T::kSources];
    Chunk chunks[4];
};

template <class T>
__device__ void copy_chunk(Shared<T>& memory, int turn, const Problem& problem, const Buffers& buffers,
                           const Vector* vectors, const std::uint16_t* offsets, std::int64_t first_sample) {
    const Chunk& chunk = memory.chunks[turn % 4];
    if (!chunk.staged) return;
    for (int i = warp_of(threadIdx.x); i < chunk.count * kMembers; i += T::kWarps) {
        const int g = i / kMembers, m = i % kMembers;
        copy_segment(memory.segments[turn % 2] + chunk.segments[g][m], problem, buffers.traces,
                     chunk.first * kMembers + i, first_sample + chunk.groups[g].least[m],
                     chunk.groups[g].length[m] + T::kSamples);
    }
    for (int g = 0; g < chunk.count; ++g) {
        const std::int64_t group = chunk.first + g;
        copy_words(memory.vectors[turn % 3] + chunk.vectors[g], vectors + group * kVectorsOfGroup,
                   chunk.groups[g].vectors);
        if (chunk.groups[g].vectors > 0)
            copy_words(memory.offsets[turn % 3][g], offsets + group * T::kSources,
                       T::kSources * static_cast<int>(sizeof(std::uint16_t)) / 16);
    }
}

/// The sub-sums of a chunk's shared groups: a vector for each warp, in turn.
template <class T>
__device__ void build_chunk(Shared<T>& memory, int turn) {
    const Chunk& chunk = memory.chunks[turn % 4];
    if (!chunk.staged) return;
    const float* const segments = memory.segments[turn % 2] + lane_of(threadIdx.x);
    for (int g = 0; g < chunk.count; ++g) {
        const int* const starts = chunk.segments[g];
        float* const group = memory.sub_sums[turn % 2] + chunk.sub_sums[g] + lane_of(threadIdx.x);
        const int before = chunk.vectors[g];
        for (int v = (warp_of(threadIdx.x) + T::kWarps - before % T::kWarps) % T::kWarps; v < chunk.groups[g].vectors;
             v += T::kWarps) {
            const Vector vector = memory.vectors[turn % 3][before + v];
            const float* const a = segments + starts[0] + vector.at[0];
            const float* const b = segments + starts[1] + vector.at[1];
            const float* const c = segments + starts[2] + vector.at[2];
            const float* const d = segments + starts[3] + vector.at[3];
            float* const to = group + vector.to;
            const int words = vector.words - lane_of(threadIdx.x);
#pragma unroll 4
            for (int i = 0; i < words; i += kLanes) to[i] = (a[i] + b[i]) + (c[i] + d[i]);
        }
    }
}

/// A group's receivers one by one, from their segments or, where these are not there, from global memory.
template <class T>
__device__ void add_members(typename T::Sums& sums, const Shared<T>& memory, int turn, int g, const Problem& problem,
                            const Buffers& buffers, std::int64_t first_source, std::int64_t first_sample) {
    const Chunk& chunk = memory.chunks[turn % 4];
#pragma unroll 1
    for (int m = 0; m < kMembers; ++m) {
        const std::int64_t receiver = (chunk.first + g) * kMembers + m;
        if (receiver >= problem.receivers) return;
        if (!chunk.staged) {
            add_from_global<T>(sums, problem, buffers, first_source, first_sample, receiver);
            continue;
        }
        const float* const segment = memory.segments[turn % 2] + chunk.segments[g][m] + lane_of(threadIdx.x);
        const int least = chunk.groups[g].least[m];
        Delays delays(problem, buffers, first_source, receiver);
#pragma unroll
        for (int s = 0; s < T::kPerWarp; ++s) {
            const float* const shifted = segment + (delays.next() - least);
#pragma unroll
            for (int t = 0; t < T::kTimes; ++t) sums[s][t] += shifted[t * kLanes];
        }
    }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 16 / T::kWarps)
    sum_shared(Problem problem, Buffers buffers, unsigned long long* peaks, Tables tables, Slab slab) {
    auto& memory = *dynamic_shared<Shared<T>>();
    const int warp = warp_of(threadIdx.x), lane = lane_of(threadIdx.x);
    const std::int64_t block = blockIdx.x, first_sample = std::int64_t{blockIdx.y} * T::kSamples,
                       count = groups_of(problem);
    const std::int64_t first_source = (slab.first_block + block) * T::kSources + warp * T::kPerWarp;
    const Group* const groups = tables.groups + block * count;
    const Vector* const vectors = tables.vectors + block * count * kVectorsOfGroup;
    const std::uint16_t* const offsets = tables.offsets + block * count * T::kSources;

    typename T::Sums sums = {};
    if (warp == 0) {
        plan_chunk<T>(memory.chunks[0], groups, count, 0);
        __syncwarp();
        plan_chunk<T>(memory.chunks[1], groups, count, memory.chunks[0].count);
    }
    __syncthreads();
    copy_chunk(memory, 0, problem, buffers, vectors, offsets, first_sample);
    for (int turn = 0;; ++turn) {
        wait_for_copies();
        __syncthreads();
        const Chunk& chunk = memory.chunks[turn % 4];
        const Chunk& built = memory.chunks[(turn + 3) % 4];
        const Chunk& next = memory.chunks[(turn + 1) % 4];
        if (chunk.count > 0) {
            copy_chunk(memory, turn + 1, problem, buffers, vectors, offsets, first_sample);
            build_chunk(memory, turn);
            for (int g = 0; g < chunk.count; ++g)
                if (!chunk.staged || chunk.groups[g].vectors == 0)
                    add_members<T>(sums, memory, turn, g, problem, buffers, first_source, first_sample + lane);
        }
        if (turn > 0 && built.staged) {
#pragma unroll 1
            for (int g = 0; g < built.count; ++g)
                if (built.groups[g].vectors > 0)
                    add_shifted<T>(sums, memory.sub_sums[(turn + 1) % 2] + built.sub_sums[g] + lane,
                                   memory.offsets[(turn + 2) % 3][g] + warp * T::kPerWarp);
        }
        if (chunk.count == 0) break;
        if (warp == 0) plan_chunk<T>(memory.chunks[(turn + 2) % 4], groups, count, next.first + next.count);
    }
    keep_tile<T>(sums, problem, buffers, peaks, first_source, first_sample + lane);
}

template <int sources, int times>
void run_tiles(Context& context, const Problem& problem, const Buffers& buffers) {
    using T = Tile<sources, times>;
    sum_slabs(context, problem, buffers, sources, [&](Slab slab, std::byte* memory, unsigned long long* peaks) {
        const auto blocks = static_cast<unsigned>(slab.blocks);
        const Tables tables = tables_at(memory, problem, slab.blocks);
        const auto columns = static_cast<unsigned>((problem.receivers + kColumns - 1) / kColumns);
        if (columns > 0)
            launch(group_delays<T>, dim3(blocks, columns), dim3(kGroupingThreads), 0, context.stream, problem,
                   buffers.delays, tables, slab);
        const auto tiles = static_cast<unsigned>((problem.samples + T::kSamples - 1) / T::kSamples);
        launch(sum_shared<T>, dim3(blocks, tiles), dim3(T::kThreads), sizeof(Shared<T>), context.stream, problem,
               buffers, peaks, tables, slab);
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int times = configuration["times"];
    if (configuration["sources"] == 256) {
        if (times == 4) run_tiles<256, 4>(context, problem, buffers);
        if (times == 2) run_tiles<256, 2>(context, problem, buffers);
    } else {
        if (times == 4) run_tiles<128, 4>(context, problem, buffers);
        if (times == 2) run_tiles<128, 2>(context, problem, buffers);
    }
}

std::size_t shared_bytes(const Configuration& configuration) {
    const bool many = configuration["sources"] == 256, long_tiles = configuration["times"] == 4;
    if (many) return long_tiles ? sizeof(Shared<Tile<256, 4>>) : sizeof(Shared<Tile<256, 2>>);
    return long_tiles ? sizeof(Shared<Tile<128, 4>>) : sizeof(Shared<Tile<128, 2>>);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (shared_bytes(configuration) > device.shared_per_block_optin)
        return Support::no("traces and sub-sums need " + std::to_string(shared_bytes(configuration)) +
                           " bytes of shared memory, a block has " + std::to_string(device.shared_per_block_optin));
    return tiles_fit(problem, kLanes * configuration["times"], device);
}

}  // namespace

Variant<Problem> shared_subsums() {
    return {.role = Role::modern,
            .summary = "source_tiles with the sums of four receivers built once for all sources that share them",
            .source = "",
            .limits = "compute capability 8.0; 59 to 206 KB of shared memory per block; samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"sources", {256, 128}}, {"times", {4, 2}}},
            .supports = supports,
            .workspace =
                [](const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
                    const int sources = configuration["sources"];
                    return aligned(peak_bytes(problem)) + slab_bytes(problem, sources, table_bytes(problem, sources));
                },
            .run = run};
}

}  // namespace espalier::coherent_sum
