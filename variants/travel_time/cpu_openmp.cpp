// Sources over threads: each writes rows of its own, and the few kilobytes of coordinates stay in every
// core's cache.

#include <cmath>

#include "kernels/core/variant.hpp"
#include "kernels/problems/travel_time.hpp"

namespace espalier::travel_time {
namespace {

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const Model& model = buffers.model;
#pragma omp parallel for schedule(static) num_threads(context.device.threads)
    for (std::int64_t source = 0; source < problem.sources(); ++source) {
        const Position at = position_of(problem, model, source);
        std::int32_t* delays = buffers.delays + source * problem.receivers;
        for (std::int64_t r = 0; r < problem.receivers; ++r) {
            const double samples = std::sqrt(squared_distance(at, buffers.receivers + 3 * r)) * model.samples_per_metre;
            delays[r] = delay_of(samples, problem.phases, model.phase_samples);
        }
    }
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.role = Role::modern,
            .summary = "sources over threads",
            .source = "",
            .tolerance = {},
            .space = {},
            .supports = [](const Problem& problem, const Configuration&,
                           const DeviceInfo&) { return needs_a_phase(problem); },
            .run = run};
}

}  // namespace espalier::travel_time
