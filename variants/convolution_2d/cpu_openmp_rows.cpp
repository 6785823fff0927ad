// The plain loops with the parallel loop placed on the rows: threads meet once per image, and each reads
// and writes a range of memory of its own. Source C 1.2.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_scalar_kernel.hpp"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = context.device.threads;
    with_scalar_kernel(problem, *buffers.filter, [&](const auto& kernel) {
        const int rows = configuration["rows_per_task"];
        if (rows == 0) return correlate_in_parallel(problem, buffers.image, buffers.result, kernel, threads);
        const std::int64_t tasks = (problem.height + rows - 1) / rows;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (std::int64_t task = 0; task < tasks; ++task)
            RowWalker(problem, buffers.image, buffers.result, kernel)
                .rows(task * rows, std::min(problem.height, (task + 1) * rows));
    });
}

}  // namespace

Variant<Problem> cpu_openmp_rows() {
    return {.summary = "the plain loops, OpenMP over rows",
            .source = "C 1.2",
            .tolerance = kFractionTolerance,
            // 0: equal shares, decided beforehand. Else tasks that threads fetch as they become free, for
            // machines with other load.
            .space = {{"rows_per_task", {0, 8, 64}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
