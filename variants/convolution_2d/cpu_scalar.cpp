// The plain loops: for every value the 25 products, summed in the type that the coefficients need.
// Source C 1.1. Any size and border: the baseline of the CPU.

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_scalar_kernel.hpp"

namespace espalier::convolution_2d {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    with_scalar_kernel(problem, *buffers.filter, [&](const auto& kernel) {
        RowWalker(problem, buffers.image, buffers.result, kernel).rows(0, problem.height);
    });
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "the plain loops on one thread",
            .source = "C 1.1",
            .tolerance = kFractionTolerance,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
