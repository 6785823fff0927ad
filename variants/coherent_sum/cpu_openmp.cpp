// Sources over threads; within a source the window is cut into tiles that stay in the L1 cache, and
// every receiver's trace is added to the tile in one contiguous, vectorisable pass (source S, CPU side).

#include <algorithm>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/coherent_sum.hpp"
#include "variants/coherent_sum/tolerance.hpp"

namespace espalier::coherent_sum {
namespace {

void sum_tile(const Problem& problem, const Buffers& buffers, std::int64_t source, std::int64_t first,
              std::int64_t count, float* tile) {
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    std::fill(tile, tile + count, 0.0F);
    for (std::int64_t r = 0; r < problem.receivers; ++r) {
        const float* trace = buffers.traces + r * problem.trace_samples() + first + delays[r];
        for (std::int64_t i = 0; i < count; ++i) tile[i] += trace[i];
    }
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const std::int64_t tile_samples = configuration["tile"];
    ThreadErrors errors;
#pragma omp parallel num_threads(context.device.threads)
    {
        std::vector<float> tile;
        errors.guard([&] { tile.resize(static_cast<std::size_t>(std::min(tile_samples, problem.samples))); });
#pragma omp for schedule(dynamic)
        for (std::int64_t source = 0; source < problem.sources; ++source)
            errors.guard([&] {
                float largest = 0;
                std::int64_t best = -1;
                for (std::int64_t first = 0; first < problem.samples; first += tile_samples) {
                    const std::int64_t count = std::min(tile_samples, problem.samples - first);
                    const bool keep = problem.output == Coherence::sums;
                    float* out = keep ? buffers.sums + source * problem.samples + first : tile.data();
                    sum_tile(problem, buffers, source, first, count, out);
                    if (keep) continue;
                    const float* peak = std::max_element(out, out + count);
                    if (best < 0 || *peak > largest) {
                        largest = *peak;
                        best = first + (peak - out);
                    }
                }
                if (problem.output == Coherence::maximum) {
                    buffers.maximum[source] = largest;
                    buffers.maximum_sample[source] = static_cast<std::int32_t>(best);
                }
            });
    }
    errors.rethrow();
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.role = Role::documented,
            .summary = "sources over threads, receivers added to a tile of the window in cache",
            .source = "S",
            .tolerance = kSinglePrecision,
            .space = {{"tile", {2048, 512, 8192}}},
            .supports = [](const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); },
            .run = run};
}

}  // namespace espalier::coherent_sum
