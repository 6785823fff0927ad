// The definition: distance / velocity * sampling rate, rounded, for every source and receiver (source S).

#include <cmath>

#include "kernels/core/variant.hpp"
#include "kernels/problems/travel_time.hpp"

namespace espalier::travel_time {
namespace {

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const Model& model = buffers.model;
    for (std::int64_t source = 0; source < problem.sources(); ++source) {
        const Position at = position_of(problem, model, source);
        for (std::int64_t r = 0; r < problem.receivers; ++r) {
            const double samples = std::sqrt(squared_distance(at, buffers.receivers + 3 * r)) * model.samples_per_metre;
            buffers.delays[source * problem.receivers + r] = delay_of(samples, problem.phases, model.phase_samples);
        }
    }
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "per source and receiver, distance over velocity",
            .source = "S",
            .tolerance = {},
            .space = {},
            .supports = [](const Problem& problem, const Configuration&,
                           const DeviceInfo&) { return needs_a_phase(problem); },
            .run = run};
}

}  // namespace espalier::travel_time
