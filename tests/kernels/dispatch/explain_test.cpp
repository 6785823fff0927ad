// Explanations of a choice: the leaf, its ranking, the tree, and whether equal calls agree.

#include "kernels/dispatch/explain.hpp"

#include <gtest/gtest.h>

#include "tests/kernels/dispatch/invented_trees.hpp"

namespace espalier {
namespace {

using namespace invented_trees;

TEST_F(Dispatch, ExplanationSaysWhetherEqualCallsAgree) {
    const auto entries = unsteady({"fast"});
    const Tables<Problem> all{"convolution_2d", entries, trees_};
    const auto any = explain(all, sized(100, 50), cpu_device(4, Isa::avx2), nullptr);
    EXPECT_EQ(any.value().variant, "fast");
    EXPECT_FALSE(any.value().deterministic());
    EXPECT_NE(any.value().text().find("equal calls may differ: it races"), std::string::npos) << any.value().text();
    const auto same = explain(all, sized(100, 50), cpu_device(4, Isa::avx2), nullptr, {.deterministic = true});
    EXPECT_EQ(same.value().variant, "baseline");
    EXPECT_TRUE(same.value().deterministic());
    EXPECT_EQ(same.value().ranking[1].infeasible, "equal calls may differ: it races");
}

TEST_F(Dispatch, ExplainsTheLeafTheRankingAndTheTree) {
    const auto explained = explain(tables(), sized(100, 50), cpu_device(4, Isa::avx2), nullptr);
    ASSERT_TRUE(explained);
    const Explanation& why = explained.value();
    EXPECT_EQ(why.variant, "fast");
    EXPECT_EQ(why.configuration, "block=128");
    EXPECT_EQ(why.tree, Explanation::Tree::exact);
    EXPECT_EQ(why.tree_device, "cpu-zen4-avx2-4t");
    EXPECT_EQ(why.leaf, 0);
    EXPECT_EQ(why.path, "height <= 100");
    EXPECT_FLOAT_EQ(static_cast<float>(why.margin), 2.7F);
    ASSERT_EQ(why.ranking.size(), 4U);
    EXPECT_EQ(why.ranking[0].infeasible, "it is not in this build");
    EXPECT_EQ(why.ranking[1].infeasible, "");
    EXPECT_EQ(why.ranking[2].infeasible, "wider than a block");
    EXPECT_NE(why.reason.find("choice 2"), std::string::npos) << why.reason;
    EXPECT_NE(why.reason.find("very device"), std::string::npos) << why.reason;
    EXPECT_NE(why.text().find("> 1.10x  fast (block=128)"), std::string::npos) << why.text();
}

TEST_F(Dispatch, ExplainsARelatedTreeABaselineAndAForcedVariant) {
    const auto related = explain(tables(), sized(1, 1), cpu_device(8, Isa::avx512), nullptr);
    ASSERT_TRUE(related);
    EXPECT_EQ(related.value().tree, Explanation::Tree::related);
    EXPECT_EQ(related.value().difference, "avx512 instead of avx2, 8 threads instead of 4");
    EXPECT_NE(related.value().reason.find("cpu-zen4-avx2-4t (here: avx512"), std::string::npos);

    const Tables<Problem> gpu_only{"convolution_2d", registry, std::span(trees_).last(1)};
    const auto without = explain(gpu_only, sized(1, 1), cpu_device(4, Isa::generic), nullptr);
    ASSERT_TRUE(without);
    EXPECT_EQ(without.value().tree, Explanation::Tree::none);
    EXPECT_EQ(without.value().leaf, -1);
    EXPECT_NE(without.value().reason.find("baseline"), std::string::npos);

    const ForcedVariant forced{"baseline", "", "the test"};
    const auto asked = explain(tables(), sized(1, 1), cpu_device(4, Isa::avx2), &forced);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked.value().forced_by, "the test");
    EXPECT_EQ(asked.value().reason, "the test asks for it");
}

}  // namespace
}  // namespace espalier
