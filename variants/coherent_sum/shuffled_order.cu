// random_order with a permutation that is as good as random instead of a constant stride, by which neighbouring threads
// keep their distance. Source S says "random" and not what is: the samples here, in the same order for every source.
// Receivers in random order would still be read coalesced.

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

/// The place of `i` in a random permutation of 0..count-1: four rounds of a Feistel network on the least even number of
/// bits that holds them all, again while it leads beyond the end, which it does at most three times in four.
__device__ std::uint32_t shuffled(std::uint32_t i, std::uint32_t count) {
    int half = 1;
    while (half < 16 && (count - 1) >> (2 * half) != 0) ++half;
    const std::uint32_t mask = (1U << half) - 1;
    do {
        std::uint32_t left = i >> half, right = i & mask;
        for (std::uint32_t round = 1; round <= 4; ++round) {
            std::uint32_t mixed = (right + round) * 0x9E3779B9U;
            mixed ^= mixed >> 15;
            mixed *= 0x85EBCA6BU;
            mixed ^= mixed >> 13;
            const std::uint32_t next = left ^ (mixed & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= count);
    return i;
}

__global__ void sum_in_shuffled_order(Problem problem, Buffers buffers, unsigned long long* peaks) {
    const std::int64_t source = blockIdx.x;
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = place < problem.samples;
    const std::int64_t sample =
        inside ? shuffled(static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(problem.samples)) : 0;
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    const float sum = inside ? sum_over_receivers(problem, buffers.traces + sample, delays) : 0;
    keep(problem, buffers, peaks, source, sample, sum, inside);
}

}  // namespace

Variant<Problem> shuffled_order() {
    return {
        .role = Role::documented,
        .summary = "random_order by a permutation as good as random",
        .source = "S",
        .limits = "sources < 2^31, samples <= 65,535 blocks",
        .tolerance = kSinglePrecision,
        .space = {{"block", {256}}},
        .supports = [](const Problem& problem, const Configuration& configuration,
                       const DeviceInfo&) { return fits_the_grid(problem, configuration["block"]); },
        .workspace = [](const Problem& problem, const Configuration&,
                        const DeviceInfo&) { return peak_bytes(problem); },
        .run =
            [](Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
                sum_window(context, problem, buffers, configuration["block"], 0, sum_in_shuffled_order);
            }};
}

}  // namespace espalier::coherent_sum
