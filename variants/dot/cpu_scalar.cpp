// The plain loop, summed in double precision: a float would stop growing at 2^24 times an element, and as
// each addition waits for the one before, it would not be faster either. Source H. The baseline of the CPU.

#include "kernels/problems/dot.hpp"

namespace espalier::dot {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    double sum = 0;
    for (std::int64_t i = 0; i < problem.elements; ++i) sum += static_cast<double>(buffers.a[i]) * buffers.b[i];
    *buffers.result = static_cast<float>(sum);
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "the plain loop, summed in double precision on one thread",
            .source = "H",
            .tolerance = kRoundedOnce,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::dot
