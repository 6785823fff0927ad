// Receivers over threads; the last sample apart, so that the rest is a loop that vectorises.

#include <algorithm>

#include "kernels/core/variant.hpp"
#include "kernels/problems/polyphase.hpp"

namespace espalier::polyphase {
namespace {

void copy_trace(const Problem& problem, const float* trace, float* copy, std::int64_t phase) {
    std::fill(copy + problem.samples, copy + problem.pitch(), 0.0F);
    const std::int64_t last = problem.samples - 1;
    if (last < 0) return;
    for (std::int64_t k = 0; k < last; ++k) copy[k] = interpolated(trace[k], trace[k + 1], phase, problem.phases);
    copy[last] = trace[last];
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
#pragma omp parallel for schedule(static) num_threads(context.device.threads)
    for (std::int64_t r = 0; r < problem.receivers; ++r)
        for (std::int64_t p = 0; p < problem.phases; ++p)
            copy_trace(problem, buffers.traces + r * problem.samples,
                       buffers.copies + (r * problem.phases + p) * problem.pitch(), p);
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.role = Role::modern,
            .summary = "receivers over threads, a vectorised pass per copy",
            .source = "",
            .tolerance = kInterpolated,
            .space = {},
            .supports = [](const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); },
            .run = run};
}

}  // namespace espalier::polyphase
