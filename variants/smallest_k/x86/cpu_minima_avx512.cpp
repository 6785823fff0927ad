// As cpu_avx512, but before anything is listed the minima of parts of the row bound the k smallest (cpu_minima.hpp): a
// list hardly grows beyond k, and the order of the data makes no difference.

#include "variants/smallest_k/cpu_minima.hpp"
#include "variants/smallest_k/x86/avx512_lists.hpp"

namespace espalier::smallest_k {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo& device) {
    if (!device.avx512) return Support::no("the processor has no AVX-512 (F, BW, DQ, VL)");
    return Support::yes();
}

}  // namespace

Variant<Problem> cpu_minima_avx512() {
    return {.role = Role::modern,
            .summary = "lists bounded by the minima of parts of the row, 16 elements at once with AVX-512",
            .limits = "AVX-512 (F, BW, DQ, VL)",
            .tolerance = {.reason = "selects, computes nothing"},
            .optional_features = {"layout"},
            .supports = supports,
            .run = cpu::run_bounded<Avx512>};
}

}  // namespace espalier::smallest_k
