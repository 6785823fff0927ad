// The sums of global_cached with the samples dealt to threads in a scattered order: a warp touches 32
// unrelated cache lines per receiver. Nobody would compute so; the distance to global_cached is what
// coalescing and cache hits are worth (source S, table of memory kinds).

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

/// i * p mod n is a permutation of 0..n-1 for every n that is no multiple of the prime p; windows are
/// shorter than 2^31 < p.
constexpr unsigned long long kPrime = 2654435761ULL;

__global__ void sum_in_random_order(Problem problem, Buffers buffers, unsigned long long* peaks) {
    const std::int64_t source = blockIdx.x;
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = place < problem.samples;
    const auto sample = static_cast<std::int64_t>(static_cast<unsigned long long>(place) * kPrime %
                                                  static_cast<unsigned long long>(problem.samples));
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    const float sum = inside ? sum_over_receivers(problem, buffers.traces + sample, delays) : 0;
    keep(problem, buffers, peaks, source, sample, sum, inside);
}

}  // namespace

Variant<Problem> random_order() {
    return {
        .role = Role::documented,
        .summary = "samples dealt to threads in scattered order: what cache hits are worth",
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
                sum_window(context, problem, buffers, configuration["block"], 0, sum_in_random_order);
            }};
}

}  // namespace espalier::coherent_sum
