// The loop shared out to threads and to the lanes of vector registers, partial sums in double precision.
// Source H. The reduction clause lets the compiler reorder the sum, which it otherwise may not.

#include "kernels/problems/dot.hpp"

namespace espalier::dot {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const float* const a = buffers.a;
    const float* const b = buffers.b;
    double sum = 0;
#pragma omp parallel for simd num_threads(context.device.threads) schedule(static) reduction(+ : sum)
    for (std::int64_t i = 0; i < problem.elements; ++i) sum += static_cast<double>(a[i]) * b[i];
    *buffers.result = static_cast<float>(sum);
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.summary = "OpenMP over threads and vector lanes, summed in double precision",
            .source = "H",
            .tolerance = kRoundedOnce,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::dot
