// global_cached with the part of a multiprocessor's memory that the driver is to keep as shared memory, which nothing
// here uses: what is left is L1. Source S names the preference as a parameter where the device has one; its cards knew
// 16 and 48 of 64 KiB, later ones take any percentage and round it up to what they can do.

#include "variants/coherent_sum/sample_per_thread.cuh"

namespace espalier::coherent_sum {

Variant<Problem> global_carved() {
    return {.role = Role::documented,
            .summary = "global_cached with a preference for L1 or shared memory",
            .source = "S 6",
            .limits = "sources < 2^31, samples <= 65,535 blocks",
            .tolerance = kSinglePrecision,
            .space = {{"block", {256}}, {"shared_percent", {0, 50, 100}}},
            .supports = supports,
            .workspace = workspace,
            .run = [](Context& context, const Problem& problem, const Buffers& buffers,
                      const Configuration& configuration) {
                device::prefer_shared_memory(sum_from_global<InOrder>, configuration["shared_percent"]);
                run<InOrder>(context, problem, buffers, configuration);
            }};
}

}  // namespace espalier::coherent_sum
