// The definition as two nested loops per source: for each time the sum over all receivers (source S).
// Walks the traces across, one cache line per addition: the slow, plain way, and the CPU's baseline.

#include "kernels/core/variant.hpp"
#include "kernels/problems/coherent_sum.hpp"
#include "variants/coherent_sum/tolerance.hpp"

namespace espalier::coherent_sum {
namespace {

float sum_at(const Problem& problem, const Buffers& buffers, std::int64_t source, std::int64_t k) {
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    float sum = 0;
    for (std::int64_t r = 0; r < problem.receivers; ++r)
        sum += buffers.traces[r * problem.trace_samples() + k + delays[r]];
    return sum;
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    for (std::int64_t source = 0; source < problem.sources; ++source) {
        std::int64_t best = -1;
        float largest = 0;
        for (std::int64_t k = 0; k < problem.samples; ++k) {
            const float sum = sum_at(problem, buffers, source, k);
            if (problem.output == Coherence::sums) buffers.sums[source * problem.samples + k] = sum;
            if (best < 0 || sum > largest) {
                largest = sum;
                best = k;
            }
        }
        if (problem.output == Coherence::maximum) {
            buffers.maximum[source] = largest;
            buffers.maximum_sample[source] = static_cast<std::int32_t>(best);
        }
    }
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "per source and time, the sum over all receivers",
            .source = "S",
            .tolerance = kSinglePrecision,
            .space = {},
            .supports = [](const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); },
            .run = run};
}

}  // namespace espalier::coherent_sum
