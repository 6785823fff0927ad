// random_order with a permutation that is as good as random instead of a constant stride, by which neighbouring threads
// keep their distance. Source S says "random" and not what is: the samples here, in the same order for every source.
// Receivers in random order would still be read coalesced.

#include "variants/coherent_sum/sample_per_thread.cuh"

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

struct Shuffled {
    __device__ static std::int64_t sample(std::int64_t place, std::int64_t samples) {
        const auto count = static_cast<std::uint32_t>(samples);
        return place < samples ? shuffled(static_cast<std::uint32_t>(place), count) : 0;
    }
};

}  // namespace

Variant<Problem> shuffled_order() {
    return {.role = Role::documented,
            .summary = "random_order by a permutation as good as random",
            .source = "S",
            .limits = "sources < 2^31, samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"block", {256}}},
            .supports = supports,
            .workspace = workspace,
            .run = run<Shuffled>};
}

}  // namespace espalier::coherent_sum
