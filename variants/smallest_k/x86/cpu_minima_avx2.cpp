// As cpu_avx2, but before anything is listed the minima of parts of the row bound the k smallest (cpu_minima.hpp): a
// list hardly grows beyond k, and the order of the data makes no difference.

#include "variants/smallest_k/cpu_minima.hpp"
#include "variants/smallest_k/x86/avx2_lists.hpp"

namespace espalier::smallest_k {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!device.avx2) return Support::no("needs a processor with AVX2");
    return Support::yes();
}

}  // namespace

Variant<Problem> cpu_minima_avx2() {
    return {.role = Role::modern,
            .summary = "lists bounded by the minima of parts of the row, 8 elements at once with AVX2",
            .limits = "AVX2",
            .tolerance = {.reason = "selects, computes nothing"},
            .optional_features = {"layout"},
            .supports = supports,
            .run = cpu::run_bounded<Avx2>};
}

}  // namespace espalier::smallest_k
