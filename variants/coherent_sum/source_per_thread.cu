// A thread per trial source, which walks over the times of the window: what source S rejects for one thread per time.
// Neighbouring threads hold delays that lie a row of receivers apart, and shift a trace differently, so that a warp's
// load touches as many sectors as it has sources; and a window has far fewer sources than times. `slices` cuts the
// window for more threads, each still of one source; 1 is the source's.

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

__global__ void sum_source_per_thread(Problem problem, Buffers buffers, unsigned long long* peaks,
                                      std::int64_t samples_per_slice) {
    const std::int64_t source = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (source >= problem.sources) return;
    const std::int64_t begin = blockIdx.y * samples_per_slice;
    const std::int64_t end = begin + samples_per_slice < problem.samples ? begin + samples_per_slice : problem.samples;
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    unsigned long long peak = 0;
    for (std::int64_t sample = begin; sample < end; ++sample) {
        const float sum = sum_over_receivers(problem, buffers.traces + sample, delays);
        if (problem.output == Coherence::sums) {
            buffers.sums[source * problem.samples + sample] = sum;
        } else {
            const unsigned long long key = peak_key(sum, static_cast<std::uint32_t>(sample));
            peak = key > peak ? key : peak;
        }
    }
    if (problem.output == Coherence::maximum && begin < end) atomicMax(peaks + source, peak);
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.sources > 2147483647) return Support::no("more than 2^31 - 1 sources exceed the grid's x limit");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.sources == 0) return;
    auto* peaks = reinterpret_cast<unsigned long long*>(context.workspace.data());
    if (problem.output == Coherence::maximum) device::fill(peaks, 0, peak_bytes(problem), context.stream);
    const int block = configuration["block"], slices = configuration["slices"];
    if (problem.samples > 0)
        device::launch(
            sum_source_per_thread,
            dim3(static_cast<unsigned>((problem.sources + block - 1) / block), static_cast<unsigned>(slices)),
            dim3(static_cast<unsigned>(block)), 0, context.stream, problem, buffers, peaks,
            (problem.samples + slices - 1) / slices);
    if (problem.output == Coherence::maximum)
        device::launch(unpack_peaks, dim3(static_cast<unsigned>((problem.sources + 255) / 256)), dim3(256), 0,
                       context.stream, peaks, problem.sources, buffers.maximum, buffers.maximum_sample);
}

}  // namespace

Variant<Problem> source_per_thread() {
    return {.role = Role::documented,
            .summary = "one thread per trial source: neighbouring threads read far apart",
            .source = "S",
            .limits = "sources < 2^31",
            .tolerance = kSinglePrecision,
            .space = {{"block", {256, 64}}, {"slices", {1, 128}}},
            .supports = supports,
            .workspace = [](const Problem& problem, const Configuration&,
                            const DeviceInfo&) { return peak_bytes(problem); },
            .run = run};
}

}  // namespace espalier::coherent_sum
