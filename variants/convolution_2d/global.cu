// The naive kernel (pixel_per_thread.cuh, source C 2.1) in 16x16 blocks: the baseline of GPUs.

#include "variants/convolution_2d/pixel_per_thread.cuh"

namespace espalier::convolution_2d {
namespace {

struct Square {
    static constexpr int kWidth = 16, kMostThreads = 0;
    __device__ static constexpr int height() { return kWidth; }
};

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    correlate_in_blocks<Square>(context, problem, buffers, Square::kWidth);
}

}  // namespace

Variant<Problem> global() {
    return {.role = Role::baseline,
            .summary = "one thread per pixel, taps from global memory, coefficients in constant memory",
            .source = "C 2.1",
            .tolerance = kFractionTolerance,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
