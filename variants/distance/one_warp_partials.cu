// One warp per distance (one_warp.cuh); each thread sums every 32nd attribute, so that a warp reads neighbouring words.

#include "variants/distance/one_warp.cuh"

namespace espalier::distance {
namespace {

struct InTurns {
    static constexpr std::int64_t kStep = kThreads;
    std::int64_t begin, end;

    __device__ InTurns(unsigned thread, std::int64_t dims) : begin(thread), end(dims) {}
};

}  // namespace

Variant<Problem> one_warp_partials() {
    return {.summary = "one warp per distance, partial sums in shared memory",
            .source = "K 3.2.3",
            .limits = "needs the item-major copies; fewer than 2^31 distances",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run<InTurns>};
}

}  // namespace espalier::distance
