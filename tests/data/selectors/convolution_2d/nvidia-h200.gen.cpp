// Made by hand for the tests, in the form that `espalier train` writes. Its numbers are no measurements.

#include "kernels/core/selector.hpp"
#include "kernels/problems/convolution_2d.hpp"
#include "registries/convolution_2d/ids.hpp"

namespace espalier::convolution_2d::selectors {
namespace {

constexpr Choice<Problem> leaf_0[] = {
    {VariantId::global, {}, 1.00F},
};

constexpr Leaf<Problem> leaves[] = {
    {.id = 0, .problems = 30, .margin = 1.00F, .regret = 1.00F, .regret_lo = 1.00F, .regret_hi = 1.00F,
     .ranking = leaf_0},
};

constexpr TreeNode nodes[] = {tree_nodes::leaf(0)};

}  // namespace

Selector<Problem> nvidia_h200() {
    return {.device_key = "nvidia-h200",
            .device = {.kind = DeviceKind::cuda, .sm = 90},
            .data_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
            .nodes = nodes,
            .leaves = leaves};
}

}  // namespace espalier::convolution_2d::selectors
