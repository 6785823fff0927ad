// Which variant runs where: the walk down a leaf's ranking, trees that have nothing for a problem, and the baseline,
// over trees and registries that are made here.

#include "kernels/dispatch/dispatch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "tests/kernels/dispatch/invented_trees.hpp"

namespace espalier {
namespace {

using namespace invented_trees;

// Fewer threads for one call are no other device: its own tree is asked, and its key stays.
TEST_F(Dispatch, CallOnFewerThreadsAsksTheDevicesTrees) {
    trees_ = {cpu_tree("cpu-zen4-avx2-1t", 1, Isa::avx2), cpu_tree("cpu-zen4-avx2-16t", 16, Isa::avx2)};
    DeviceInfo device = cpu_device(8, Isa::avx2);
    EXPECT_EQ(order(trees_, device), "cpu-zen4-avx2-16t cpu-zen4-avx2-1t");
    device.all_threads = 8;
    device.threads = 1;
    EXPECT_EQ(order(trees_, device), "cpu-zen4-avx2-16t cpu-zen4-avx2-1t");
    const Explanation why = explain(tables(), sized(10, 10), device, nullptr).value();
    EXPECT_EQ(why.threads, 1);
    EXPECT_EQ(why.all_threads, 8);
    EXPECT_NE(why.text().find("threads: 1 of 8\n"), std::string::npos) << why.text();
    EXPECT_EQ(why.difference, "8 threads instead of 16");
}

TEST_F(Dispatch, DeterministicTakesTheNextChoiceThatIs) {
    const DeviceInfo device = cpu_device(4, Isa::avx2);
    const auto decided_of = [&](const std::vector<Registered<Problem>>& entries, const Problem& problem) {
        const auto decision = decide(Tables<Problem>{"convolution_2d", entries, trees_}, problem, device, nullptr,
                                     {.deterministic = true});
        return decision ? std::string(decision.value().entry->variant.name) : "error: " + decision.error().message;
    };
    EXPECT_EQ(decided_of(registry, sized(100, 50)), "fast");
    EXPECT_EQ(decided_of(unsteady({"fast"}), sized(100, 50)), "baseline");
    EXPECT_EQ(decided_of(unsteady({"baseline"}), sized(100, 50)), "fast");
    // Where the baseline is the only choice, whatever else runs the problem.
    EXPECT_EQ(decided_of(unsteady({"baseline"}), sized(10, 1000)), "fast");
    EXPECT_EQ(decided_of(unsteady({"baseline", "fast"}), sized(10, 1000)), "vector");
    const std::string nothing = decided_of(unsteady({"baseline", "fast", "vector"}), sized(10, 1000));
    EXPECT_NE(nothing.find("error: convolution_2d"), std::string::npos) << nothing;
    EXPECT_NE(nothing.find("do not ask for deterministic"), std::string::npos) << nothing;
}

TEST_F(Dispatch, WalksTheRankingToTheFirstChoiceThatIsLinkedAndSupportsTheProblem) {
    const auto device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(100, 50), device), "fast block=128");    // the first is not linked
    EXPECT_EQ(decided(sized(200, 50), device), "baseline default");  // too wide for every block
    EXPECT_EQ(decided(sized(10, 500), device), "baseline default");  // another leaf
}

TEST_F(Dispatch, FallsToTheBaselineWhenTheRankingHasNothingForTheDevice) {
    // A tree that names a Hopper variant only, asked for an emulated GPU that cannot run it.
    auto device = gpu_device("host-executor", 90);
    device.emulated = true;
    EXPECT_EQ(decided(sized(10, 10), device), "gpu_baseline default");
}

TEST_F(Dispatch, IsTheBaselineWithoutATree) {
    trees_ = {gpu_tree("nvidia-h200", 90)};
    EXPECT_EQ(decided(sized(10, 10), cpu_device(4, Isa::generic)), "baseline default");
}

TEST_F(Dispatch, AnotherMajorVersionRunsWhatItCan) {
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-b200", 100)), "gpu_fast block=128");
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-a100", 80)), "gpu_baseline default");  // needs 9.0
}

TEST_F(Dispatch, SkipsTreesWhoseLeafCannotRunHere) {
    trees_ = {vector_tree("near", 4, Isa::avx2), cpu_tree("far", 64, Isa::avx512)};
    EXPECT_EQ(decided(sized(10, 10), cpu_device(4, Isa::generic)), "fast block=128");  // no AVX2: the farther tree's
    EXPECT_EQ(decided(sized(10, 10), cpu_device(4, Isa::avx2)), "vector default");
    EXPECT_EQ(decided(sized(10, 500), cpu_device(4, Isa::generic)), "baseline default");  // the fastest, far away
}

TEST_F(Dispatch, TakesAnotherLeafBeforeTheBaseline) {
    // In the leaf of images this wide nothing runs here; the leaf of low ones ranks what does.
    constexpr static Choice<Problem> wide[] = {{kMissing, {}, 1.0F}, {kBaseline, {}, 5.0F}};
    constexpr static Leaf<Problem> leaves[] = {cpu_leaves[0], {1, 3, 1.0F, 1.0F, 1.0F, 1.0F, wide}};
    constexpr static TreeNode nodes[] = {TreeNode::at_most(1, 10, 2), TreeNode::leaf(0), TreeNode::leaf(1)};
    trees_ = {{"cpu-zen4-avx2-4t",
               {.isa = Isa::avx2, .microarchitecture = "zen4", .threads = 4},
               "",
               sizes,
               sizes_asked,
               nodes,
               leaves}};
    EXPECT_EQ(decided(sized(100, 50), cpu_device(4, Isa::avx2)), "fast block=128");
    const auto why = explain(tables(), sized(100, 50), cpu_device(4, Isa::avx2), nullptr);
    ASSERT_TRUE(why);
    EXPECT_TRUE(why.value().other_leaf);
    EXPECT_NE(why.value().reason.find("another leaf"), std::string::npos) << why.value().reason;
    EXPECT_EQ(decided(sized(1000, 50), cpu_device(4, Isa::avx2)), "baseline default");  // too wide for anything
}

TEST_F(Dispatch, NeverRunsAVariantBelowItsArchitecture) {
    trees_ = {gpu_tree("nvidia-a100", 80)};
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-a100", 80)), "gpu_baseline default");
    EXPECT_EQ(decided(sized(10, 10), gpu_device("x", 80), "gpu_fast"),
              "error: the test asks for convolution_2d/gpu_fast: needs compute capability 90, this is 80; leave the "
              "choice to the library or name one of gpu_fast, gpu_baseline");
}

TEST_F(Dispatch, RunsCodeForOneArchitectureOnNoOther) {
    auto exact = registry;
    exact[3].exact_sm = true;
    trees_ = {gpu_tree("nvidia-b200", 100), gpu_tree("nvidia-h200", 90)};
    const Tables<Problem> all{"convolution_2d", exact, trees_};
    EXPECT_EQ(decide(all, sized(1, 1), gpu_device("nvidia-h200", 90), nullptr).value().entry, &exact[3]);
    EXPECT_EQ(decide(all, sized(1, 1), gpu_device("nvidia-b200", 100), nullptr).value().entry, &exact[4]);
}

TEST_F(Dispatch, SaysWhyWhenEvenTheBaselineDeclines) {
    auto refusing = registry;
    refusing[1].variant.supports = [](const Problem&, const Configuration&, const DeviceInfo&) {
        return Support::no("the grid is full");
    };
    const Tables<Problem> tables{"convolution_2d", refusing, {}};
    const auto decision = decide(tables, sized(1, 1), cpu_device(1, Isa::generic), nullptr);
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error().code, ErrorCode::unsupported);
    EXPECT_NE(decision.error().message.find("the grid is full"), std::string::npos);
}

TEST_F(Dispatch, SaysWhenABuildHasNothingForAKindOfDevice) {
    const std::span cpu_only(registry.data(), 3);
    const auto decision =
        decide(Tables<Problem>{"convolution_2d", cpu_only, {}}, sized(1, 1), gpu_device("x", 90), nullptr);
    ASSERT_FALSE(decision);
    EXPECT_EQ(decision.error().code, ErrorCode::unsupported);
}

TEST(Selector, IsAskedAboutASingleRowInOneLayout) {
    using P = smallest_k::Problem;
    static const Leaf<P> leaves[]{{.id = 0}, {.id = 1}};
    static constexpr ReadFeature<P> features[]{[](const P& p) { return static_cast<double>(p.layout); }};
    static constexpr Column columns[]{{"layout", 0}};
    static constexpr TreeNode nodes[]{
        TreeNode::one_of(0, std::uint64_t{1} << static_cast<int>(MatrixLayout::transposed), 2), TreeNode::leaf(0),
        TreeNode::leaf(1)};
    Selector<P> selector{};
    selector.features = features, selector.columns = columns, selector.nodes = nodes, selector.leaves = leaves;
    const auto leaf_of = [&](std::int64_t rows, MatrixLayout layout) {
        P problem;
        problem.rows = rows, problem.layout = layout;
        return selector.leaf_of(problem).id;
    };
    EXPECT_EQ(leaf_of(2, MatrixLayout::transposed), 0);
    EXPECT_EQ(leaf_of(2, MatrixLayout::row_major), 1);
    EXPECT_EQ(leaf_of(1, MatrixLayout::transposed), 1);
    EXPECT_EQ(leaf_of(1, MatrixLayout::row_major), 1);
}

}  // namespace
}  // namespace espalier
