// The naive kernel of `global` in wider blocks, 32 x 16 and 32 x 32 threads, which the lab tries beside 16 x 16 (source
// C 2.1): a warp is then one row of pixels instead of two halves. A variant of its own, for `global` is the baseline,
// which has no settings.

#include "variants/convolution_2d/pixel_per_thread.cuh"

namespace espalier::convolution_2d {
namespace {

struct Wide {
    static constexpr int kWidth = 32, kMostThreads = 32 * kWidth;
    __device__ static unsigned height() { return blockDim.y; }
};

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    correlate_in_blocks<Wide>(context, problem, buffers, configuration["rows"]);
}

}  // namespace

Variant<Problem> global_blocks() {
    return {.summary = "global in blocks of 32 x 16 or 32 x 32 threads",
            .source = "C 2.1",
            .tolerance = kFractionTolerance,
            .space = {{"rows", {16, 32}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
