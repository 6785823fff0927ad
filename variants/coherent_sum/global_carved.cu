// global_cached with the part of a multiprocessor's memory that the driver is to keep as shared memory, which nothing
// here uses: what is left is L1. Source S names the preference as a parameter where the device has one; its cards knew
// 16 and 48 of 64 KiB, later ones take any percentage and round it up to what they can do.

#include "variants/coherent_sum/global_sum.cuh"
#include "variants/coherent_sum/tolerance.hpp"

namespace espalier::coherent_sum {

Variant<Problem> global_carved() {
    return {
        .role = Role::documented,
        .summary = "global_cached with a preference for L1 or shared memory",
        .source = "S 6",
        .limits = "sources < 2^31, samples <= 65,535 blocks",
        .tolerance = kSinglePrecision,
        .space = {{"block", {256}}, {"shared_percent", {0, 50, 100}}},
        .supports = [](const Problem& problem, const Configuration& configuration,
                       const DeviceInfo&) { return fits_the_grid(problem, configuration["block"]); },
        .workspace = [](const Problem& problem, const Configuration&,
                        const DeviceInfo&) { return peak_bytes(problem); },
        .run =
            [](Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
                device::prefer_shared_memory(sum_from_global, configuration["shared_percent"]);
                sum_window(context, problem, buffers, configuration["block"], 0, sum_from_global);
            }};
}

}  // namespace espalier::coherent_sum
