// The loop shared out to threads and to the lanes of vector registers, partial sums in double precision.
// Source H. The reduction clause lets the compiler reorder the sum within a share, which it otherwise may not. Of
// threads it would leave open which shares they get and in which order their sums are added: equal calls would differ.

#include "variants/dot/cpu_threads.hpp"

namespace espalier::dot {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

double sum_of_products(const float* a, const float* b, std::int64_t elements) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < elements; ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    sum_shares(problem, buffers, context.device.threads, sum_of_products);
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
