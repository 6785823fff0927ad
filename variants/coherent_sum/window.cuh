#pragma once

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/coherent_sum.hpp"

/// What the kernels with one thread per time sample share: the grid, and keeping the sum or the maximum.
namespace espalier::coherent_sum {

/// Orders as (sum, earlier sample): the sum as an unsigned number of the same order in the high half, the
/// complement of the sample in the low half, so that one 64-bit atomic maximum finds both.
__device__ inline unsigned long long peak_key(float sum, std::uint32_t sample) {
    const std::uint32_t bits = __float_as_uint(sum + 0.0F);  // + 0: -0 and 0 are the same sum
    const std::uint32_t ordered = bits & 0x80000000U ? ~bits : bits | 0x80000000U;
    return static_cast<unsigned long long>(ordered) << 32 | (0xFFFFFFFFU - sample);
}

/// Stores the sum of (source, sample), or folds it into the source's peak. All threads of the warp call it;
/// those with `inside` false take part in the shuffles only.
__device__ inline void keep(const Problem& problem, const Buffers& buffers, unsigned long long* peaks,
                            std::int64_t source, std::int64_t sample, float sum, bool inside) {
    if (problem.output == Coherence::sums) {
        if (inside) buffers.sums[source * problem.samples + sample] = sum;
        return;
    }
    unsigned long long key = inside ? peak_key(sum, static_cast<std::uint32_t>(sample)) : 0;
    for (int offset = 16; offset > 0; offset /= 2) {
        const unsigned long long other = __shfl_down_sync(0xFFFFFFFFU, key, static_cast<unsigned>(offset));
        key = other > key ? other : key;
    }
    // One atomic per warp: blocks of one source meet only in its one peak.
    if (threadIdx.x % 32 == 0) atomicMax(peaks + source, key);
}

static __global__ void unpack_peaks(const unsigned long long* peaks, std::int64_t sources, float* maximum,
                                    std::int32_t* sample) {
    const std::int64_t source = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (source >= sources) return;
    const auto ordered = static_cast<std::uint32_t>(peaks[source] >> 32);
    maximum[source] = __uint_as_float(ordered & 0x80000000U ? ordered & 0x7FFFFFFFU : ~ordered);
    // No key at all, in an empty window: by the family's contract no sample.
    sample[source] =
        peaks[source] == 0 ? -1 : static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(peaks[source]));
    if (peaks[source] == 0) maximum[source] = 0;
}

/// The sum over receivers for the time that `trace` points at in the first receiver's trace.
__device__ inline float sum_over_receivers(const Problem& problem, const float* trace, const std::int32_t* delays) {
    float sum = 0;
    for (std::int64_t r = 0; r < problem.receivers; ++r, trace += problem.trace_samples()) sum += trace[delays[r]];
    return sum;
}

inline std::size_t peak_bytes(const Problem& problem) {
    return problem.output == Coherence::maximum ? static_cast<std::size_t>(problem.sources) * sizeof(unsigned long long)
                                                : 0;
}

inline Support fits_the_grid(const Problem& problem, int block) {
    if (problem.sources > 2147483647) return Support::no("more than 2^31 - 1 sources exceed the grid's x limit");
    if (problem.samples > 65535LL * block)
        return Support::no("more than 65,535 blocks of samples exceed the grid's y limit");
    return Support::yes();
}

/// Launches `kernel(problem, buffers, peaks)` with one thread per sample of a window and one row of blocks
/// per source. Sources vary fastest: the blocks in flight then read the same part of all traces.
template <class Kernel>
void sum_window(Context& context, const Problem& problem, const Buffers& buffers, int block, std::size_t shared_bytes,
                Kernel kernel) {
    if (problem.sources == 0) return;
    auto* peaks = reinterpret_cast<unsigned long long*>(context.workspace.data());
    if (problem.output == Coherence::maximum) device::fill(peaks, 0, peak_bytes(problem), context.stream);
    if (problem.samples > 0) {
        const dim3 grid(static_cast<unsigned>(problem.sources),
                        static_cast<unsigned>((problem.samples + block - 1) / block));
        device::launch(kernel, grid, dim3(static_cast<unsigned>(block)), shared_bytes, context.stream, problem, buffers,
                       peaks);
    }
    if (problem.output == Coherence::maximum)
        device::launch(unpack_peaks, dim3(static_cast<unsigned>((problem.sources + 255) / 256)), dim3(256), 0,
                       context.stream, peaks, problem.sources, buffers.maximum, buffers.maximum_sample);
}

}  // namespace espalier::coherent_sum
