// As global_cached, but a thread sums several times, a block apart, so that a delay is loaded once for all of
// them. What binds global_cached is the number of loads, of which every second one fetches a delay
// (docs/performance/coherent-sum.md, S2); loads of neighbouring threads stay neighbours.

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

template <int kTimes>
__global__ void sum_several_times(Problem problem, Buffers buffers, unsigned long long* peaks) {
    const std::int64_t source = blockIdx.x;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * blockDim.x * kTimes + threadIdx.x;
    // Times past the window take the last one's samples: reading them is in bounds and cheaper than asking each time.
    std::int64_t offsets[kTimes];
#pragma unroll
    for (int i = 0; i < kTimes; ++i) {
        const std::int64_t sample = first + static_cast<std::int64_t>(i) * blockDim.x;
        offsets[i] = sample < problem.samples ? sample : problem.samples - 1;
    }
    float sums[kTimes] = {};
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    const float* trace = buffers.traces;
    for (std::int64_t r = 0; r < problem.receivers; ++r, trace += problem.trace_samples()) {
        const float* shifted = trace + delays[r];
#pragma unroll
        for (int i = 0; i < kTimes; ++i) sums[i] += shifted[offsets[i]];
    }
#pragma unroll
    for (int i = 0; i < kTimes; ++i) {
        const std::int64_t sample = first + static_cast<std::int64_t>(i) * blockDim.x;
        keep(problem, buffers, peaks, source, sample, sums[i], sample < problem.samples);
    }
}

template <int kTimes>
void launch(Context& context, const Problem& problem, const Buffers& buffers, int block, unsigned long long* peaks) {
    const std::int64_t samples_per_block = static_cast<std::int64_t>(block) * kTimes;
    const dim3 grid(static_cast<unsigned>(problem.sources),
                    static_cast<unsigned>((problem.samples + samples_per_block - 1) / samples_per_block));
    device::launch(sum_several_times<kTimes>, grid, dim3(static_cast<unsigned>(block)), 0, context.stream, problem,
                   buffers, peaks);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.sources == 0) return;
    auto* peaks = reinterpret_cast<unsigned long long*>(context.workspace.data());
    if (problem.output == Coherence::maximum) device::fill(peaks, 0, peak_bytes(problem), context.stream);
    if (problem.samples > 0) {
        const int block = configuration["block"];
        if (configuration["times"] == 2) launch<2>(context, problem, buffers, block, peaks);
        if (configuration["times"] == 4) launch<4>(context, problem, buffers, block, peaks);
        if (configuration["times"] == 8) launch<8>(context, problem, buffers, block, peaks);
    }
    if (problem.output == Coherence::maximum)
        device::launch(unpack_peaks, dim3(static_cast<unsigned>((problem.sources + 255) / 256)), dim3(256), 0,
                       context.stream, peaks, problem.sources, buffers.maximum, buffers.maximum_sample);
}

}  // namespace

Variant<Problem> times_per_thread() {
    return {.role = Role::modern,
            .summary = "several times per thread: a delay is loaded once for all of them",
            .source = "",
            .limits = "sources < 2^31, samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"block", {128, 256}}, {"times", {4, 2, 8}}},
            .supports =
                [](const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
                    return fits_the_grid(problem, configuration["block"] * configuration["times"]);
                },
            .workspace = [](const Problem& problem, const Configuration&,
                            const DeviceInfo&) { return peak_bytes(problem); },
            .run = run};
}

}  // namespace espalier::coherent_sum
