#pragma once

#include <cstddef>
#include <cstdint>

#include "device/kernel.hpp"
#include "variants/coherent_sum/source_tiles.cuh"

/// Orders sources so that consecutive ones are near each other in space, from their delays alone.
///
/// Four receivers that are far apart are chosen by farthest-point sampling, where two are as far apart as their delays
/// to a few sources can differ, and one in their middle, the farthest of the four being as near to it as can be. The
/// difference between a source's delays to the first two, that to the next two and its delay to the one in the middle
/// are three coordinates; a mesh of cells is laid over them, 32 along the longest axis, and the sources are sorted by
/// their cells' places on Hilbert's curve (J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings
/// 707, 2004).
///
/// Sources of one cell come in any order, which differs from run to run: what is computed from the order must not
/// depend on how sources meet in blocks.
namespace espalier::coherent_sum {
namespace {

inline constexpr int kAxes = 3;
inline constexpr int kBitsOfAxis = 5;
inline constexpr int kCells = 1 << (kAxes * kBitsOfAxis);
inline constexpr int kChosenReceivers = 5;     ///< four far apart, one in the middle
inline constexpr int kSourcesOfDistance = 16;  ///< whose delays tell how far apart receivers are
inline constexpr int kChoosingThreads = 1024;
inline constexpr int kOrderingThreads = 256;

struct Axes {
    std::int32_t receivers[kChosenReceivers];
    std::int32_t least[kAxes], largest[kAxes];  ///< of some sources; others may lie beyond
    std::int64_t longest;                       ///< the most values that an axis has
};

/// In the workspace, `order` first: order[place] is a source.
struct Ordering {
    std::int32_t *order, *cells, *ranks;  ///< of each source: its cell, and how many of the cell came before it
    std::int32_t* starts;                 ///< of each cell: its sources, then the place of its first
    Axes* axes;
    std::int32_t *nearest, *farthest;  ///< of each receiver: how far the chosen ones are from it
};

inline std::size_t ordering_bytes(const Problem& problem) {
    return 3 * aligned(static_cast<std::size_t>(problem.sources) * sizeof(std::int32_t)) +
           kCells * sizeof(std::int32_t) + aligned(sizeof(Axes)) +
           2 * static_cast<std::size_t>(problem.receivers) * sizeof(std::int32_t);
}

inline Ordering ordering_at(std::byte* memory, const Problem& problem) {
    const std::size_t each = aligned(static_cast<std::size_t>(problem.sources) * sizeof(std::int32_t));
    const auto at = [&](int i) { return reinterpret_cast<std::int32_t*>(memory + static_cast<std::size_t>(i) * each); };
    auto* const axes = reinterpret_cast<std::byte*>(at(3) + kCells);
    auto* const nearest = reinterpret_cast<std::int32_t*>(axes + aligned(sizeof(Axes)));
    return {at(0), at(1), at(2), at(3), reinterpret_cast<Axes*>(axes), nearest, nearest + problem.receivers};
}

/// The i-th of `count` sources spread evenly over all.
__device__ inline std::int64_t spread(const Problem& problem, int i, int count) {
    return (problem.sources - 1) * i / (count - 1);
}

/// The delays of a few sources to one receiver.
struct FewDelays {
    std::int32_t of[kSourcesOfDistance];

    __device__ FewDelays(const Problem& problem, const std::int32_t* delays, std::int64_t receiver) {
#pragma unroll
        for (int i = 0; i < kSourcesOfDistance; ++i)
            of[i] = delays[spread(problem, i, kSourcesOfDistance) * problem.receivers + receiver];
    }

    /// The most by which they differ from those to another one: no more than the time between the two receivers.
    [[nodiscard]] __device__ std::int32_t distance_to(const FewDelays& other) const {
        std::int32_t most = 0;
#pragma unroll
        for (int i = 0; i < kSourcesOfDistance; ++i) most = max(most, abs(of[i] - other.of[i]));
        return most;
    }
};

__device__ inline void coordinates(std::int32_t (&at)[kAxes], const Problem& problem, const std::int32_t* delays,
                                   const Axes& axes, std::int64_t source) {
    const std::int32_t* const own = delays + source * problem.receivers;
    at[0] = own[axes.receivers[0]] - own[axes.receivers[1]];
    at[1] = own[axes.receivers[2]] - own[axes.receivers[3]];
    at[2] = own[axes.receivers[4]];
}

/// How good a choice a receiver is after `chosen` others, `distance` being that to the last of them.
__device__ inline std::int32_t merit(const Ordering& ordering, std::int64_t receiver, int chosen,
                                     std::int32_t distance) {
    // The first is the farthest from receiver 0, which itself is nobody's choice.
    if (chosen == 0) return distance;
    std::int32_t &nearest = ordering.nearest[receiver], &farthest = ordering.farthest[receiver];
    nearest = chosen == 1 ? distance : min(nearest, distance);
    farthest = chosen == 1 ? distance : max(farthest, distance);
    return chosen == kChosenReceivers - 1 ? 0x7FFFFFFF - farthest : nearest;
}

/// By one block. Of receivers equally good the first is taken.
static __global__ void __launch_bounds__(kChoosingThreads)
    choose_axes(Problem problem, const std::int32_t* delays, Ordering ordering) {
    struct Shared {
        Axes axes;
        unsigned long long best;
    };
    auto& memory = device::shared<Shared>();
    if (threadIdx.x < kAxes) {
        memory.axes.least[threadIdx.x] = 0x7FFFFFFF;
        memory.axes.largest[threadIdx.x] = -0x7FFFFFFF;
    }
    for (int chosen = 0; chosen < kChosenReceivers; ++chosen) {
        if (threadIdx.x == 0) memory.best = 0;
        __syncthreads();
        unsigned long long best = 0;
        const FewDelays last(problem, delays, chosen == 0 ? 0 : memory.axes.receivers[chosen - 1]);
        for (std::int64_t r = threadIdx.x; r < problem.receivers; r += kChoosingThreads) {
            const std::int32_t distance = FewDelays(problem, delays, r).distance_to(last);
            const auto own = static_cast<unsigned long long>(merit(ordering, r, chosen, distance));
            best = max(best, own << 32 | (0xFFFFFFFFU - static_cast<std::uint32_t>(r)));
        }
        for (unsigned offset = kLanes / 2; offset > 0; offset /= 2)
            best = max(best, __shfl_down_sync(kWholeWarp, best, offset));
        if (lane_of(threadIdx.x) == 0) atomicMax(&memory.best, best);
        __syncthreads();
        if (threadIdx.x == 0)
            memory.axes.receivers[chosen] =
                static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(memory.best));
        __syncthreads();
    }
    std::int32_t at[kAxes];
    coordinates(at, problem, delays, memory.axes, spread(problem, static_cast<int>(threadIdx.x), kChoosingThreads));
    for (int i = 0; i < kAxes; ++i) {
        const std::int32_t least = __reduce_min_sync(kWholeWarp, at[i]), largest = __reduce_max_sync(kWholeWarp, at[i]);
        if (lane_of(threadIdx.x) == 0) {
            atomicMin(&memory.axes.least[i], least);
            atomicMax(&memory.axes.largest[i], largest);
        }
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    memory.axes.longest = 0;
    for (int i = 0; i < kAxes; ++i)
        memory.axes.longest = max(memory.axes.longest, std::int64_t{memory.axes.largest[i]} - memory.axes.least[i] + 1);
    *ordering.axes = memory.axes;
}

/// The place of a cell on the curve, from its three coordinates.
__device__ inline std::int32_t place_on_curve(std::uint32_t (&at)[kAxes]) {
    constexpr std::uint32_t kHighest = 1U << (kBitsOfAxis - 1);
#pragma unroll
    for (std::uint32_t bit = kHighest; bit > 1; bit /= 2)
#pragma unroll
        for (std::uint32_t& axis : at) {
            // Either the first axis is mirrored below this bit, or it changes places with this one.
            const std::uint32_t changed = (axis & bit) != 0 ? 0 : (at[0] ^ axis) & (bit - 1);
            at[0] ^= (axis & bit) != 0 ? bit - 1 : changed;
            axis ^= changed;
        }
    at[1] ^= at[0];
    at[2] ^= at[1];
    std::uint32_t gray = 0;
#pragma unroll
    for (std::uint32_t bit = kHighest; bit > 1; bit /= 2)
        if ((at[2] & bit) != 0) gray ^= bit - 1;
    std::uint32_t place = 0;
#pragma unroll
    for (int bit = kBitsOfAxis - 1; bit >= 0; --bit)
#pragma unroll
        for (const std::uint32_t axis : at) place = place * 2 + ((axis ^ gray) >> bit & 1U);
    return static_cast<std::int32_t>(place);
}

static __global__ void count_cells(Problem problem, const std::int32_t* delays, Ordering ordering) {
    const std::int64_t source = std::int64_t{blockIdx.x} * kOrderingThreads + threadIdx.x;
    if (source >= problem.sources) return;
    const Axes& axes = *ordering.axes;
    std::int32_t at[kAxes];
    coordinates(at, problem, delays, axes, source);
    std::uint32_t cell[kAxes];
#pragma unroll
    for (int i = 0; i < kAxes; ++i) {
        const std::int64_t inside = std::int64_t{min(max(at[i], axes.least[i]), axes.largest[i])} - axes.least[i];
        cell[i] = static_cast<std::uint32_t>((inside << kBitsOfAxis) / axes.longest);
    }
    const std::int32_t place = place_on_curve(cell);
    ordering.cells[source] = place;
    ordering.ranks[source] = atomicAdd(ordering.starts + place, 1);
}

/// By one block.
static __global__ void __launch_bounds__(kChoosingThreads) find_starts(std::int32_t* starts) {
    auto& ends = device::shared<std::int32_t[kChoosingThreads / kLanes]>();
    constexpr int kPerThread = kCells / kChoosingThreads;
    const int lane = lane_of(threadIdx.x), warp = warp_of(threadIdx.x);
    // Four at a time: a warp's threads are 32 lines apart.
    auto* const own = reinterpret_cast<int4*>(starts + threadIdx.x * kPerThread);
    int4 counts[kPerThread / 4];
    std::int32_t sum = 0;
#pragma unroll
    for (int i = 0; i < kPerThread / 4; ++i) {
        counts[i] = own[i];
        sum += counts[i].x + counts[i].y + counts[i].z + counts[i].w;
    }
    std::int32_t end = sum;
#pragma unroll
    for (unsigned offset = 1; offset < kLanes; offset *= 2) {
        const std::int32_t before = __shfl_up_sync(kWholeWarp, end, offset);
        if (lane >= static_cast<int>(offset)) end += before;
    }
    if (lane == kLanes - 1) ends[warp] = end;
    __syncthreads();
    std::int32_t start = end - sum + __reduce_add_sync(kWholeWarp, lane < warp ? ends[lane] : 0);
#pragma unroll
    for (int i = 0; i < kPerThread / 4; ++i) {
        const int second = start + counts[i].x, third = second + counts[i].y, fourth = third + counts[i].z;
        own[i] = int4{start, second, third, fourth};
        start = fourth + counts[i].w;
    }
}

static __global__ void place_sources(Problem problem, Ordering ordering) {
    const std::int64_t source = std::int64_t{blockIdx.x} * kOrderingThreads + threadIdx.x;
    if (source < problem.sources)
        ordering.order[ordering.starts[ordering.cells[source]] + ordering.ranks[source]] =
            static_cast<std::int32_t>(source);
}

/// Enqueues what fills `order`. Needs a source and a receiver.
inline void order_sources(Context& context, const Problem& problem, const std::int32_t* delays,
                          const Ordering& ordering) {
    const auto blocks = static_cast<unsigned>((problem.sources + kOrderingThreads - 1) / kOrderingThreads);
    device::fill(ordering.starts, 0, kCells * sizeof(std::int32_t), context.stream);
    device::launch(choose_axes, dim3(1), dim3(kChoosingThreads), 0, context.stream, problem, delays, ordering);
    device::launch(count_cells, dim3(blocks), dim3(kOrderingThreads), 0, context.stream, problem, delays, ordering);
    device::launch(find_starts, dim3(1), dim3(kChoosingThreads), 0, context.stream, ordering.starts);
    device::launch(place_sources, dim3(blocks), dim3(kOrderingThreads), 0, context.stream, problem, ordering);
}

}  // namespace
}  // namespace espalier::coherent_sum
