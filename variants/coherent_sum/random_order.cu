// The sums of global_cached with the samples dealt to threads in a scattered order: a warp touches 32
// unrelated cache lines per receiver. Nobody would compute so; the distance to global_cached is what
// coalescing and cache hits are worth (source S, table of memory kinds).

#include "variants/coherent_sum/sample_per_thread.cuh"

namespace espalier::coherent_sum {
namespace {

/// i * p mod n is a permutation of 0..n-1 for every n that is no multiple of the prime p; windows are
/// shorter than 2^31 < p.
constexpr unsigned long long kPrime = 2654435761ULL;

struct Scattered {
    __device__ static std::int64_t sample(std::int64_t place, std::int64_t samples) {
        return static_cast<std::int64_t>(static_cast<unsigned long long>(place) * kPrime %
                                         static_cast<unsigned long long>(samples));
    }
};

}  // namespace

Variant<Problem> random_order() {
    return {.role = Role::documented,
            .summary = "samples dealt to threads in scattered order: what cache hits are worth",
            .source = "S",
            .limits = "sources < 2^31, samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"block", {256}}},
            .supports = supports,
            .workspace = workspace,
            .run = run<Scattered>};
}

}  // namespace espalier::coherent_sum
