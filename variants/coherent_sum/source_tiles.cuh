#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device/copy_ahead.hpp"
#include "device/kernel.hpp"
#include "variants/coherent_sum/window.cuh"

/// What the kernels share whose blocks sum several sources at several times from traces in shared memory. Neighbours in
/// the problem's order are usually neighbours in space, so that a block's sources read nearly the same part of a trace.
namespace espalier::coherent_sum {
namespace {

inline constexpr int kLanes = 32;
inline constexpr unsigned kWholeWarp = 0xFFFFFFFFU;
inline constexpr int kSumsPerLane = 64;      ///< in registers, half of what 16 warps of a multiprocessor have
inline constexpr int kBlocksAtOnce = 512;    ///< blocks of sources whose tables are in the workspace
inline constexpr int kLongestRange = 16383;  ///< samples: what an offset of 16 bits reaches, in bytes
inline constexpr int kColumns = 32;          ///< receivers of a tile of delays

/// A block's part of the sums: `sources` neighbours at 32 x `times` samples. A lane has the sums of every 32nd sample,
/// so that a warp's loads are of neighbours whatever the delay: no two in one bank.
template <int sources, int times>
struct Tile {
    static constexpr int kSources = sources, kTimes = times;
    static constexpr int kSamples = kLanes * times;
    static constexpr int kRowWords = kSamples;  ///< of a row of sub-sums: what a tile reads at one delay
    static constexpr int kPerWarp = kSumsPerLane / times;
    static constexpr int kWarps = sources / kPerWarp;
    static constexpr int kThreads = kWarps * kLanes;
    static_assert(kPerWarp % 8 == 0, "the offsets of a warp's sources are read 8 at a time");
    using Word = float;
    using Sums = Word[kPerWarp][times];
};

/// What a slab of blocks of sources is, of all that the problem has.
struct Slab {
    std::int64_t first_block = 0;
    int blocks = 0;
};

__device__ inline int warp_of(unsigned thread) { return static_cast<int>(thread) / kLanes; }
__device__ inline int lane_of(unsigned thread) { return static_cast<int>(thread) % kLanes; }

/// The delays of a block's sources at `kColumns` receivers from the first on, read row by row. Sources beyond the last
/// are the last one again, receivers beyond the last have no delay.
template <int sources>
__device__ void load_delays(std::int32_t (&tile)[sources][kColumns + 1], const Problem& problem,
                            const std::int32_t* delays, std::int64_t first_source, std::int64_t first_receiver) {
    const std::int64_t receiver = first_receiver + lane_of(threadIdx.x);
    for (int row = warp_of(threadIdx.x); row < sources; row += static_cast<int>(blockDim.x) / kLanes) {
        const std::int64_t source = min(first_source + row, problem.sources - 1);
        tile[row][lane_of(threadIdx.x)] =
            receiver < problem.receivers ? delays[source * problem.receivers + receiver] : 0;
    }
}

/// A part of a receiver's trace to shared memory, without waiting; zeros beyond the end of the trace. By one warp.
__device__ inline void copy_segment(float* to, const Problem& problem, const float* traces, std::int64_t receiver,
                                    std::int64_t first, int length) {
    const bool exists = receiver < problem.receivers;
    const float* const trace = traces + (exists ? receiver * problem.trace_samples() : 0);
    const std::int64_t there = exists ? problem.trace_samples() - first : 0;
    for (int i = lane_of(threadIdx.x); i < length; i += kLanes)
        device::copy_ahead(to + i, i < there ? trace + first + i : trace, i < there);
}

/// Whole 16-byte words to shared memory, without waiting. By all threads of the block.
__device__ inline void copy_words(void* to, const void* from, int words) {
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
        device::copy_ahead(static_cast<uint4*>(to) + i, static_cast<const uint4*>(from) + i);
}

/// Adds to each of the warp's sources the words at its offset, in bytes, from those at `from`, which is the lane's.
template <class T>
__device__ void add_shifted(typename T::Sums& sums, const typename T::Word* from, const std::uint16_t* offsets) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(from);
#pragma unroll
    for (int first = 0; first < T::kPerWarp; first += 8) {
        // The same for all lanes: one read of shared memory for eight sources.
        const uint4 eight = *reinterpret_cast<const uint4*>(offsets + first);
        const std::uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const std::uint32_t offset = i % 2 == 0 ? pairs[i / 2] & 0xFFFFU : pairs[i / 2] >> 16;
            const auto* const shifted = reinterpret_cast<const typename T::Word*>(bytes + offset);
#pragma unroll
            for (int t = 0; t < T::kTimes; ++t) sums[first + i][t] += shifted[t * kLanes];
        }
    }
}

/// The delays of consecutive sources at one receiver. Sources beyond the last are the last one again.
class Delays {
public:
    __device__ Delays(const Problem& problem, const Buffers& buffers, std::int64_t first_source, std::int64_t receiver)
        : receivers_(problem.receivers),
          following_(problem.sources - 1 - first_source),
          at_(buffers.delays + (first_source + (following_ < 0 ? following_ : 0)) * receivers_ + receiver) {}

    __device__ std::int32_t next() {
        const std::int32_t delay = *at_;
        if (following_-- > 0) at_ += receivers_;
        return delay;
    }

private:
    std::int64_t receivers_, following_;
    const std::int32_t* at_;
};

/// Adds a receiver at which the delays are too far apart for shared memory, straight from its trace.
template <class T>
__device__ void add_from_global(typename T::Sums& sums, const Problem& problem, const Buffers& buffers,
                                std::int64_t first_source, std::int64_t first_sample, std::int64_t receiver) {
    const float* const trace = buffers.traces + receiver * problem.trace_samples();
    // Times past the window take the last one's samples, which are there to be read.
    std::int64_t samples[T::kTimes];
#pragma unroll
    for (int t = 0; t < T::kTimes; ++t) samples[t] = min(first_sample + t * kLanes, problem.samples - 1);
    Delays delays(problem, buffers, first_source, receiver);
#pragma unroll
    for (int s = 0; s < T::kPerWarp; ++s) {
        const float* const shifted = trace + delays.next();
#pragma unroll
        for (int t = 0; t < T::kTimes; ++t) sums[s][t] += shifted[samples[t]];
    }
}

/// Stores a warp's sums, or folds them into the peaks of its sources: one atomic for each. source_at(place) is the
/// source at a place in the order of the tiles.
template <class T, class SourceAt>
__device__ void keep_tile(const typename T::Sums& sums, const Problem& problem, const Buffers& buffers,
                          unsigned long long* peaks, std::int64_t first_source, std::int64_t first_sample,
                          const SourceAt& source_at) {
#pragma unroll
    for (int s = 0; s < T::kPerWarp; ++s) {
        if (first_source + s >= problem.sources) return;
        const std::int64_t source = source_at(first_source + s);
        unsigned long long key = 0;
#pragma unroll
        for (int t = 0; t < T::kTimes; ++t) {
            const std::int64_t sample = first_sample + t * kLanes;
            if (sample >= problem.samples) continue;
            if (problem.output == Coherence::sums)
                buffers.sums[source * problem.samples + sample] = sums[s][t];
            else
                key = max(key, peak_key(sums[s][t], static_cast<std::uint32_t>(sample)));
        }
        if (problem.output == Coherence::sums) continue;
        for (unsigned offset = kLanes / 2; offset > 0; offset /= 2)
            key = max(key, __shfl_down_sync(kWholeWarp, key, offset));
        if (lane_of(threadIdx.x) == 0) atomicMax(peaks + source, key);
    }
}

/// Where in the workspace things are: peaks of all sources, then tables of one slab, each `bytes_per_block`.
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

inline std::int64_t blocks_of(const Problem& problem, int sources) { return (problem.sources + sources - 1) / sources; }

inline std::size_t slab_bytes(const Problem& problem, int sources, std::size_t bytes_per_block) {
    const auto blocks = static_cast<std::size_t>(std::min<std::int64_t>(blocks_of(problem, sources), kBlocksAtOnce));
    return blocks * bytes_per_block;
}

/// Sums everything slab by slab: `sum(slab, tables, peaks)` enqueues what makes the tables and what uses them.
template <class Sum>
void sum_slabs(Context& context, const Problem& problem, const Buffers& buffers, int sources, const Sum& sum) {
    if (problem.sources == 0) return;
    auto* const peaks = reinterpret_cast<unsigned long long*>(context.workspace.data());
    std::byte* const tables = context.workspace.data() + aligned(peak_bytes(problem));
    if (problem.output == Coherence::maximum) device::fill(peaks, 0, peak_bytes(problem), context.stream);
    const std::int64_t blocks = blocks_of(problem, sources);
    for (std::int64_t first = 0; problem.samples > 0 && first < blocks; first += kBlocksAtOnce)
        sum(Slab{first, static_cast<int>(std::min<std::int64_t>(blocks - first, kBlocksAtOnce))}, tables, peaks);
    if (problem.output == Coherence::maximum)
        device::launch(unpack_peaks, dim3(static_cast<unsigned>((problem.sources + 255) / 256)), dim3(256), 0,
                       context.stream, peaks, problem.sources, buffers.maximum, buffers.maximum_sample);
}

inline Support tiles_fit(const Problem& problem, int samples_per_block, const DeviceInfo& device) {
    if (device.sm < 80) return Support::no("copies to shared memory that nobody waits for need compute capability 8.0");
    return fits_the_grid(problem, samples_per_block);
}

}  // namespace
}  // namespace espalier::coherent_sum
