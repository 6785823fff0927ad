// A thread per receiver, which walks along its trace and adds each sample to the sum of its time with an atomic: what
// source S rejects. Neighbouring threads read different traces, and all receivers of a source meet in one sum at a
// time. Where only the maximum is wanted, the sums of as many sources as fit a quarter of a GiB are kept before a
// second kernel looks for the largest.

#include <algorithm>

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

constexpr std::int64_t kMostSums = (std::int64_t{256} << 20) / 4;  ///< kept at a time

/// `sums` has a row for each of the sources from `first` on.
__global__ void add_receiver_per_thread(Problem problem, Buffers buffers, std::int64_t first, float* sums) {
    const std::int64_t row = blockIdx.x, receiver = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    if (receiver >= problem.receivers) return;
    const std::int32_t delay = buffers.delays[(first + row) * problem.receivers + receiver];
    const float* const shifted = buffers.traces + receiver * problem.trace_samples() + delay;
    for (std::int64_t sample = 0; sample < problem.samples; ++sample)
        atomicAdd(sums + row * problem.samples + sample, shifted[sample]);
}

__global__ void find_peaks(Problem problem, Buffers buffers, std::int64_t first, const float* sums,
                           unsigned long long* peaks) {
    const std::int64_t row = blockIdx.x;
    const std::int64_t sample = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = sample < problem.samples;
    keep(problem, buffers, peaks, first + row, sample, inside ? sums[row * problem.samples + sample] : 0, inside);
}

/// Sources whose sums are kept at a time.
std::int64_t sources_at_once(const Problem& problem) {
    const std::int64_t most = kMostSums / std::max<std::int64_t>(problem.samples, 1);
    return std::min(std::max<std::int64_t>(most, 1), problem.sources);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.output == Coherence::sums) return 0;
    return peak_bytes(problem) + static_cast<std::size_t>(sources_at_once(problem) * problem.samples) * sizeof(float);
}

void add_receivers(Context& context, const Problem& problem, const Buffers& buffers, int block, std::int64_t first,
                   std::int64_t sources, float* sums) {
    device::fill(sums, 0, static_cast<std::size_t>(sources * problem.samples) * sizeof(float), context.stream);
    if (problem.receivers == 0) return;
    const dim3 grid(static_cast<unsigned>(sources), static_cast<unsigned>((problem.receivers + block - 1) / block));
    device::launch(add_receiver_per_thread, grid, dim3(static_cast<unsigned>(block)), 0, context.stream, problem,
                   buffers, first, sums);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    constexpr int kBlock = 256;
    if (problem.sources == 0) return;
    const int block = configuration["block"];
    if (problem.output == Coherence::sums) {
        if (problem.samples > 0) add_receivers(context, problem, buffers, block, 0, problem.sources, buffers.sums);
        return;
    }
    auto* const peaks = reinterpret_cast<unsigned long long*>(context.workspace.data());
    auto* const sums = reinterpret_cast<float*>(context.workspace.data() + peak_bytes(problem));
    device::fill(peaks, 0, peak_bytes(problem), context.stream);
    const std::int64_t step = sources_at_once(problem);
    for (std::int64_t first = 0; problem.samples > 0 && first < problem.sources; first += step) {
        const std::int64_t sources = std::min(step, problem.sources - first);
        add_receivers(context, problem, buffers, block, first, sources, sums);
        const dim3 grid(static_cast<unsigned>(sources), static_cast<unsigned>((problem.samples + kBlock - 1) / kBlock));
        device::launch(find_peaks, grid, dim3(kBlock), 0, context.stream, problem, buffers, first, sums, peaks);
    }
    device::launch(unpack_peaks, dim3(static_cast<unsigned>((problem.sources + 255) / 256)), dim3(256), 0,
                   context.stream, peaks, problem.sources, buffers.maximum, buffers.maximum_sample);
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.receivers > 65535LL * configuration["block"])
        return Support::no("more than 65,535 blocks of receivers exceed the grid's y limit");
    return fits_the_grid(problem, 256);
}

}  // namespace

Variant<Problem> receiver_atomics() {
    return {.role = Role::documented,
            .summary = "one thread per receiver, all of them add to one sum with atomics",
            .source = "S",
            .limits = "sources < 2^31, samples and receivers <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .nondeterminism = "receivers add to one float in the order in which they come",
            .space = {{"block", {256, 64}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::coherent_sum
