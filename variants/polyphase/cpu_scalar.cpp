// The definition, copy after copy (linear interpolation; compare the delays of source S, which are whole samples).

#include <algorithm>

#include "kernels/core/variant.hpp"
#include "kernels/problems/polyphase.hpp"

namespace espalier::polyphase {
namespace {

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    for (std::int64_t r = 0; r < problem.receivers; ++r)
        for (std::int64_t p = 0; p < problem.phases; ++p) {
            const float* trace = buffers.traces + r * problem.samples;
            float* copy = buffers.copies + (r * problem.phases + p) * problem.pitch();
            for (std::int64_t k = 0; k < problem.samples; ++k)
                copy[k] = interpolated(trace[k], trace[std::min(k + 1, problem.samples - 1)], p, problem.phases);
            std::fill(copy + problem.samples, copy + problem.pitch(), 0.0F);
        }
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "copy after copy",
            .source = "",
            .tolerance = kInterpolated,
            .space = {},
            .supports = [](const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); },
            .run = run};
}

}  // namespace espalier::polyphase
