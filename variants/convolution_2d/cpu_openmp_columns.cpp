// The plain loops with the parallel loop placed inside, on the columns of each row: threads meet after
// every row, and two of them share the cache lines where their parts of a row touch. Source C 1.2, which
// shows what the wrong place costs.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_scalar_kernel.hpp"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

template <class Kernel>
void team_per_row(const Problem& problem, const Buffers& buffers, const Kernel& kernel, int threads) {
    for (std::int64_t y = 0; y < problem.height; ++y)
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int share = 0; share < threads; ++share)
            RowWalker(problem, buffers.image, buffers.result, kernel)
                .template pixels<1>(y, problem.width * share / threads, problem.width * (share + 1) / threads);
}

template <class Kernel>
void team_per_image(const Problem& problem, const Buffers& buffers, const Kernel& kernel, int threads) {
#pragma omp parallel num_threads(threads)
    {
        RowWalker walker(problem, buffers.image, buffers.result, kernel);
        for (std::int64_t y = 0; y < problem.height; ++y)
#pragma omp for schedule(static)
            for (int share = 0; share < threads; ++share)
                walker.template pixels<1>(y, problem.width * share / threads, problem.width * (share + 1) / threads);
    }
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    with_scalar_kernel(problem, *buffers.filter, [&](const auto& kernel) {
        if (configuration["team_per_row"])
            team_per_row(problem, buffers, kernel, context.device.threads);
        else
            team_per_image(problem, buffers, kernel, context.device.threads);
    });
}

}  // namespace

Variant<Problem> cpu_openmp_columns() {
    return {.summary = "the plain loops, OpenMP over the columns of each row",
            .source = "C 1.2",
            .tolerance = kFractionTolerance,
            // 1: the threads are called together for every row, as written in the source. 0: once for the
            // image, with a barrier after every row.
            .space = {{"team_per_row", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
