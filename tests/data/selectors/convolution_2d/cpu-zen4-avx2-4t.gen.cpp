// Made by hand for the tests, in the form that `espalier train` writes. Its numbers are no measurements.

#include "kernels/core/selector.hpp"
#include "kernels/problems/convolution_2d.hpp"
#include "registries/convolution_2d/ids.hpp"

namespace espalier::convolution_2d::selectors {
namespace {

constexpr Choice<Problem> leaf_0[] = {
    {VariantId::cpu_scalar, {}, 1.00F},
};
constexpr Choice<Problem> leaf_1[] = {
    {VariantId::cpu_scalar, {}, 1.25F},
};

constexpr Leaf<Problem> leaves[] = {
    {.id = 0, .problems = 4, .margin = 1.00F, .regret = 1.00F, .regret_lo = 1.00F, .regret_hi = 1.02F,
     .ranking = leaf_0},
    {.id = 1, .problems = 9, .margin = 1.50F, .regret = 1.25F, .regret_lo = 1.20F, .regret_hi = 1.31F,
     .ranking = leaf_1},
};

constexpr ReadFeature<Problem> features[] = {
    [](const Problem& problem) { return static_cast<double>(problem.values()); },
};

constexpr Column columns[] = {
    {"values", 0},
};

constexpr TreeNode nodes[] = {
    tree_nodes::at_most(0, 1000, 2),
    tree_nodes::leaf(0),
    tree_nodes::leaf(1),
};

}  // namespace

Selector<Problem> cpu_zen4_avx2_4t() {
    return {.device_key = "cpu-zen4-avx2-4t",
            .device = {.isa = Isa::avx2, .microarchitecture = "zen4", .threads = 4},
            .data_sha256 = "0000000000000000000000000000000000000000000000000000000000000000",
            .features = features,
            .columns = columns,
            .nodes = nodes,
            .leaves = leaves};
}

}  // namespace espalier::convolution_2d::selectors
