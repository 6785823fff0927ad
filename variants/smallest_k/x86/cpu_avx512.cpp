// A list per row that grows and is cut, with AVX-512: 16 elements are compared with the limit at once, and those that
// come before it are compressed to the end of the list.

#include "variants/smallest_k/cpu_sampled_lists.hpp"
#include "variants/smallest_k/x86/avx512_lists.hpp"

namespace espalier::smallest_k {
namespace {

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.avx512) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return cpu::supports_group(problem, configuration);
}

}  // namespace

Variant<Problem> cpu_avx512() {
    return {.role = Role::modern,
            .summary = "a list per row that grows and is cut, 16 elements at once with AVX-512",
            .limits = "AVX-512 (F, BW, DQ, VL)",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"rows", {16, 64}}},
            .optional_features = {"layout"},
            .supports = supports,
            .run = cpu::run<Avx512>};
}

}  // namespace espalier::smallest_k
