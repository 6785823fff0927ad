// As source_tiles, but four neighbouring receivers are added with one read of shared memory. What a source takes from
// them, apart from one shift in time, is given by the three differences between its delays to them, and sources that
// are near each other have few different ones: 17 of 128 sources of a cube 50 m apart, receivers 40 m apart. A block
// builds the sum of the four traces once for each vector of differences in shared memory, and each source adds its own.
// So that a block's sources are near each other, all are ordered first, by their delays to a few distant receivers.
//
// Where the vectors of four receivers are too many to pay, each source adds the four from the traces themselves, and
// where delays are so far apart that the traces do not fit, from global memory: any delays are summed.
//
// Whichever way, the order of additions is ((a + b) + (c + d)) for each four and these in order, so that it is no
// matter which sources meet in a block: receivers / 4 + 2 roundings at most on each term's way into the sum, where the
// plain loop has receivers - 1. With u = 2^-24 and S the sum of absolute values the error is below (receivers / 4 + 2)
// u S, to first order, and the result differs from the plain loop's by at most (5 / 4 receivers + 1) u S. The tolerance
// asks for 64 u S, as of all variants, which counts on roundings of either sign.

#include "device/kernel.hpp"
#include "variants/coherent_sum/delay_vectors.cuh"
#include "variants/coherent_sum/receiver_fours.cuh"
#include "variants/coherent_sum/source_order.cuh"
#include "variants/coherent_sum/source_tiles.cuh"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

using namespace device;

constexpr int kGroups = 8;       ///< of a chunk, at most
constexpr int kTimesOfTile = 4;  ///< of a lane; with 2 the sums of 32 sources spill

using Large = Tile<256, kTimesOfTile>;  ///< one block of a multiprocessor
using Small = Tile<128, kTimesOfTile>;  ///< two

/// Groups that are staged together, as many as fit. One that does not fit is alone and `staged` false.
struct Chunk {
    Group groups[kGroups];
    std::int64_t first;
    int count, staged;
    int starts[kGroups];  ///< of the groups, in words
};

/// In turn a chunk is planned (k + 2), copied (k + 1), built (k) and added (k - 1): one barrier for all.
template <class T>
struct Shared {
    float words[3][kRoomPerWarp * T::kWarps];
    Chunk chunks[4];
};

/// What a block has of the tables.
struct BlockTables {
    const Group* groups;
    const std::byte* details;
    const std::int32_t* words;
    std::int64_t count;  ///< of groups
};

/// Plans chunk after chunk. By one warp, of which lane i looks at the i-th group.
class Planner {
public:
    __device__ explicit Planner(const BlockTables& tables) : tables_(tables), words_(load()) {}

    /// The groups are there after the next `wait_for_copies`.
    template <class T>
    __device__ void plan(Chunk& chunk) {
        const int lane = lane_of(threadIdx.x);
        int end = words_;
#pragma unroll
        for (unsigned offset = 1; offset < kGroups; offset *= 2) {
            const int before = __shfl_up_sync(kWholeWarp, end, offset);
            if (lane >= static_cast<int>(offset)) end += before;
        }
        const bool fits = lane < kGroups && end <= kRoomPerWarp * T::kWarps;
        const int fitting = __popc(__ballot_sync(kWholeWarp, fits));
        const int count = fitting > 0 || first_ >= tables_.count ? fitting : 1;
        if (lane < kGroups) chunk.starts[lane] = end - words_;
        if (lane == 0) {
            chunk.first = first_;
            chunk.staged = fitting > 0 ? 1 : 0;
            chunk.count = count;
        }
        constexpr int kWords = static_cast<int>(sizeof(Group)) / 16;
        if (lane < count * kWords)
            copy_ahead(reinterpret_cast<uint4*>(chunk.groups) + lane,
                       reinterpret_cast<const uint4*>(tables_.groups + first_) + lane);
        first_ += count;
        words_ = load();
    }

private:
    static_assert(kGroups * sizeof(Group) <= kLanes * 16, "a lane copies 16 bytes");
    __device__ std::int32_t load() const {
        const std::int64_t group = first_ + lane_of(threadIdx.x);
        return lane_of(threadIdx.x) < kGroups && group < tables_.count ? tables_.words[group] : kFitsNowhere;
    }

    const BlockTables& tables_;
    std::int64_t first_ = 0;
    std::int32_t words_;  ///< of the groups from `first_` on, read long before they are used
};

/// A launch may have fewer than T::kWarps, and so fewer sources in a block than the tables have room for.
__device__ int warps_of_block() { return static_cast<int>(blockDim.x) / kLanes; }

template <class T>
__device__ void copy_chunk(Shared<T>& memory, int turn, const Problem& problem, const Buffers& buffers,
                           const BlockTables& tables, std::int64_t first_sample) {
    const Chunk& chunk = memory.chunks[turn % 4];
    if (!chunk.staged) return;
    float* const words = memory.words[turn % 3];
    for (int i = warp_of(threadIdx.x); i < chunk.count * kMembers; i += warps_of_block()) {
        const Group& group = chunk.groups[i / kMembers];
        const int m = i % kMembers, at = group.at[m];
        const int end = m + 1 < kMembers ? group.at[m + 1] : group.sub_sums;
        copy_segment(words + chunk.starts[i / kMembers] + at, problem, buffers.traces, chunk.first * kMembers + i,
                     first_sample + group.least[m], end - at);
    }
    for (int g = 0; g < chunk.count; ++g)
        copy_words(words + chunk.starts[g], tables.details + (chunk.first + g) * detail_bytes(T::kSources),
                   chunk.groups[g].details);
}

/// A vector's sub-sums, by one warp.
template <class T>
__device__ void build_vector(float* group, const Vector& vector) {
    auto* const own = reinterpret_cast<std::byte*>(group + lane_of(threadIdx.x));
    const auto at = [own](unsigned words) { return reinterpret_cast<float*>(own + words * sizeof(float)); };
    const float *const a = at(vector.at[0]), *const b = at(vector.at[1]);
    const float *const c = at(vector.at[2]), *const d = at(vector.at[3]);
    float* const to = at(vector.to);
    const int words = vector.words - lane_of(threadIdx.x);
    // All reads before all writes, which the compiler could not tell apart. As many as a source has times are there in
    // any case, and mostly some of one round more.
    const bool more = T::kSamples < words;
    float built[T::kTimes + 1] = {};
#pragma unroll
    for (int t = 0; t <= T::kTimes; ++t) {
        const int i = t * kLanes;
        if (t < T::kTimes || more) built[t] = (a[i] + b[i]) + (c[i] + d[i]);
    }
#pragma unroll
    for (int t = 0; t <= T::kTimes; ++t)
        if (t < T::kTimes || more) to[t * kLanes] = built[t];
#pragma unroll 1
    for (int i = T::kSamples + kLanes; i < words; i += kLanes) to[i] = (a[i] + b[i]) + (c[i] + d[i]);
}

/// The sub-sums of a chunk's shared groups: a vector for each warp, in turn.
template <class T>
__device__ void build_chunk(Shared<T>& memory, int turn) {
    const Chunk& chunk = memory.chunks[turn % 4];
    if (!chunk.staged) return;
    const int warps = warps_of_block();
    int v = warp_of(threadIdx.x);
#pragma unroll 1
    for (int g = 0; g < chunk.count; ++g) {
        float* const group = memory.words[turn % 3] + chunk.starts[g];
        const auto* const vectors = reinterpret_cast<const Vector*>(reinterpret_cast<const std::byte*>(group) +
                                                                    T::kSources * sizeof(std::uint16_t));
        const int count = chunk.groups[g].vectors;
#pragma unroll 1
        for (; v < count; v += warps) build_vector<T>(group, vectors[v]);
        v -= count;
    }
}

/// Adds a chunk, group after group, so that every source's additions have the same order.
template <class T>
__device__ void add_chunk(typename T::Sums& sums, const Shared<T>& memory, int turn, const Problem& problem,
                          const Buffers& buffers, const std::int32_t* order, std::int64_t first_source,
                          std::int64_t first_sample) {
    const Chunk& chunk = memory.chunks[turn % 4];
    const int lane = lane_of(threadIdx.x);
    if (!chunk.staged)
        return add_four_from_global<T>(problem, buffers, order, first_source, first_sample + lane,
                                       chunk.first * kMembers, adding_to<T>(sums));
#pragma unroll 1
    for (int g = 0; g < chunk.count; ++g) {
        const Group& group = chunk.groups[g];
        const float* const words = memory.words[turn % 3] + chunk.starts[g];
        const auto* const offsets = reinterpret_cast<const std::uint16_t*>(words) + warp_of(threadIdx.x) * T::kPerWarp;
        const float* const own = words + lane;
        if (group.vectors > 0) {
            add_shifted<T>(sums, own + group.sub_sums, offsets);
        } else {
            const float* const from[kMembers] = {own + group.at[0], own + group.at[1], own + group.at[2],
                                                 own + group.at[3]};
            add_four<T>(from, offsets, adding_to<T>(sums));
        }
    }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 16 / T::kWarps)
    sum_shared(Problem problem, Buffers buffers, unsigned long long* peaks, const std::int32_t* order,
               Tables slab_tables, Slab slab) {
    auto& memory = *dynamic_shared<Shared<T>>();
    const int warp = warp_of(threadIdx.x);
    const std::int64_t block = blockIdx.x, first_sample = std::int64_t{blockIdx.y} * T::kSamples,
                       count = groups_of(problem);
    const std::int64_t first_source = ((slab.first_block + block) * warps_of_block() + warp) * T::kPerWarp;
    const BlockTables tables{slab_tables.groups + block * count,
                             slab_tables.details + block * count * detail_bytes(T::kSources),
                             slab_tables.words + block * count, count};

    typename T::Sums sums = {};
    Planner planner(tables);
    if (warp == 0) {
        planner.plan<T>(memory.chunks[0]);
        planner.plan<T>(memory.chunks[1]);
        wait_for_copies();
    }
    __syncthreads();
    copy_chunk(memory, 0, problem, buffers, tables, first_sample);
    for (int turn = 0;; ++turn) {
        wait_for_copies();
        __syncthreads();
        const bool ends = memory.chunks[turn % 4].count == 0;
        if (!ends) {
            if (warp == 0) planner.plan<T>(memory.chunks[(turn + 2) % 4]);
            copy_chunk(memory, turn + 1, problem, buffers, tables, first_sample);
            build_chunk(memory, turn);
        }
        if (turn > 0) add_chunk<T>(sums, memory, turn - 1, problem, buffers, order, first_source, first_sample);
        if (ends) break;
    }
    keep_ordered<T>(sums, problem, buffers, peaks, order, first_source, first_sample + lane_of(threadIdx.x));
}

/// The number of sources in a block with which a launch should end first, from over half of T::kSources up to these:
/// the last round of blocks costs as much as any, however few blocks it has.
template <class T>
int sources_of_block(const Problem& problem, const DeviceInfo& device) {
    // What a block does however many its sources are, counted in the work of one warp's: building, most of all.
    constexpr double kOfEveryBlock = 2.3;
    const std::int64_t tiles = (problem.samples + T::kSamples - 1) / T::kSamples;
    int best = T::kWarps;
    double least = 0;
    for (int warps = T::kWarps; warps > T::kWarps / 2; --warps) {
        const std::int64_t blocks = blocks_of(problem, warps * T::kPerWarp) * tiles;
        const std::int64_t multiprocessors = std::max(device.sm_count, 1);
        const auto rounds = static_cast<double>((blocks + multiprocessors - 1) / multiprocessors);
        const double cost = rounds * (warps + kOfEveryBlock);
        if (warps < T::kWarps && cost >= least) continue;
        best = warps;
        least = cost;
    }
    return best * T::kPerWarp;
}

/// Of the workspace, in this order: peaks, tables, the order of the sources.
template <class T>
std::size_t order_begins(const Problem& problem, const DeviceInfo& device) {
    return aligned(aligned(peak_bytes(problem)) +
                   slab_bytes(problem, sources_of_block<T>(problem, device), table_bytes(problem, T::kSources)));
}

template <class T>
void run_tiles(Context& context, const Problem& problem, const Buffers& buffers) {
    const int sources = sources_of_block<T>(problem, context.device);
    const std::int32_t* order = nullptr;
    // The sources of a single block need no order.
    if (problem.sources > sources && problem.receivers > 0) {
        const Ordering ordering =
            ordering_at(context.workspace.data() + order_begins<T>(problem, context.device), problem);
        order_sources(context, problem, buffers.delays, ordering);
        order = ordering.order;
    }
    sum_slabs(context, problem, buffers, sources, [&](Slab slab, std::byte* memory, unsigned long long* peaks) {
        const auto blocks = static_cast<unsigned>(slab.blocks);
        const Tables tables = tables_at(memory, problem, T::kSources, slab.blocks);
        const auto columns = static_cast<unsigned>((problem.receivers + kColumns - 1) / kColumns);
        if (columns > 0)
            launch(group_delays<T>, dim3(blocks, columns), dim3(kGroupingThreads), 0, context.stream, problem,
                   buffers.delays, order, sources, tables, slab);
        const auto tiles = static_cast<unsigned>((problem.samples + T::kSamples - 1) / T::kSamples);
        launch(sum_shared<T>, dim3(blocks, tiles), dim3(static_cast<unsigned>(sources / T::kPerWarp * kLanes)),
               sizeof(Shared<T>), context.stream, problem, buffers, peaks, order, tables, slab);
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (configuration["sources"] == 256) run_tiles<Large>(context, problem, buffers);
    if (configuration["sources"] == 128) run_tiles<Small>(context, problem, buffers);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    const std::size_t bytes = configuration["sources"] == 256 ? sizeof(Shared<Large>) : sizeof(Shared<Small>);
    if (bytes > device.shared_per_block_optin)
        return Support::no("traces and sub-sums need " + std::to_string(bytes) +
                           " bytes of shared memory, a block has " + std::to_string(device.shared_per_block_optin));
    return tiles_fit(problem, kLanes * kTimesOfTile, device);
}

}  // namespace

Variant<Problem> shared_subsums() {
    return {.role = Role::modern,
            .summary = "source_tiles with the sums of four receivers built once for all sources that share them",
            .source = "",
            .limits = "compute capability 8.0; 229 or 115 KB of shared memory per block; samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"sources", {128, 256}}},
            .supports = supports,
            .workspace =
                [](const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
                    const std::size_t begins = configuration["sources"] == 256 ? order_begins<Large>(problem, device)
                                                                               : order_begins<Small>(problem, device);
                    return begins + ordering_bytes(problem);
                },
            .run = run};
}

}  // namespace espalier::coherent_sum
