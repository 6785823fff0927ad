// A list per row that grows and is cut, with AVX2: 8 elements are compared with the limit at once, and those that come
// before it are moved to the end of the list by a permutation from a table.

#include "variants/smallest_k/cpu_sampled_lists.hpp"
#include "variants/smallest_k/x86/avx2_lists.hpp"

namespace espalier::smallest_k {
namespace {

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!device.avx2) return Support::no("needs a processor with AVX2");
    return cpu::supports_group(problem, configuration);
}

}  // namespace

Variant<Problem> cpu_avx2() {
    return {.role = Role::modern,
            .summary = "a list per row that grows and is cut, 8 elements at once with AVX2",
            .limits = "AVX2",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"rows", {16, 64}}},
            .optional_features = {"layout"},
            .supports = supports,
            .run = cpu::run<Avx2>};
}

}  // namespace espalier::smallest_k
