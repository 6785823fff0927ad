// Trees that are read at run time, over the registry that is made up: what goes first, and what their nodes may ask.

#include "kernels/dispatch/loaded_tree.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "tests/kernels/dispatch/invented_trees.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"

namespace espalier {
namespace {

using namespace invented_trees;

/// The tree of one leaf over the registry that is made up.
std::unique_ptr<LoadedTreeOf<Problem>> loaded(const std::string& device, tree_text::Ranking ranking) {
    return tree_of<Problem>(read_tree(tree_text::one_leaf("convolution_2d", device, ranking)), registry);
}

TEST_F(Dispatch, LoadedTreeGoesBeforeTheCompiledOneOfItsDevice) {
    const auto tree = loaded("cpu-zen4-avx2-4t", {{"vector", "default"}, {"baseline", "default"}});
    const auto compiled = trees_;
    trees_ = {tree->selector};
    trees_.insert(trees_.end(), compiled.begin(), compiled.end());
    const DeviceInfo device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(100, 50), device), "vector default");
    // Where nothing in the loaded one runs, the compiled one is next.
    EXPECT_EQ(decided(sized(110, 50), device), "fast block=128");
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-h200", 90)), "gpu_fast block=128");
}

TEST_F(Dispatch, LoadedTreeMayRankWhatIsNotLinked) {
    const auto tree =
        loaded("cpu-zen4-avx2-4t",
               {{"missing", "block=8;items=2"}, {"fast", "block=64"}, {"fast", "block=128"}, {"baseline", "default"}});
    trees_ = {tree->selector};
    const DeviceInfo device = cpu_device(4, Isa::avx2);
    EXPECT_EQ(decided(sized(100, 50), device), "fast block=128");
    const auto why = explain(tables(), sized(100, 50), device, nullptr).value();
    EXPECT_EQ(why.ranking[0].variant, "missing");
    EXPECT_EQ(why.ranking[0].configuration, "block=8;items=2");
    EXPECT_EQ(why.ranking[0].infeasible, "it is not in this build");
    EXPECT_EQ(decided(sized(10, 10), device, "missing").substr(0, 6), "error:");
    for (const char* wrong : {"block", "block=", "=8", "block=8x", "a=1;b=2;c=3;d=4;e=5;f=6", "block=99999999999"})
        EXPECT_THROW(loaded("x", {{"missing", wrong}, {"baseline", "default"}}), BadData) << wrong;
}

// Its key is this device's, but its kind is not.
TEST_F(Dispatch, LoadedTreeOfAnotherKindOfDeviceIsNotAsked) {
    const auto tree = loaded("nvidia-h200", {{"vector", "default"}, {"baseline", "default"}});
    trees_.insert(trees_.begin(), tree->selector);
    EXPECT_EQ(decided(sized(10, 10), gpu_device("nvidia-h200", 90)), "gpu_fast block=128");
}

TEST_F(Dispatch, LoadedTreeAsksForCategoriesAndPairs) {
    using tree_text::leaf;
    using tree_text::ordered_json;
    const tree_text::Ranking fast{{"fast", "block=64"}, {"baseline", "default"}};
    const tree_text::Ranking vector{{"vector", "default"}, {"baseline", "default"}};
    const auto leaf_of = [&](const ordered_json& question, const Problem& problem) {
        ordered_json nodes{question, leaf(1, 0, fast), leaf(2, 1, vector)};
        nodes[0].update({{"id", 0}, {"left", 1}, {"right", 2}});
        const std::string text = tree_text::sealed(tree_text::tree("convolution_2d", "x", nodes));
        const auto tree = tree_of<Problem>(read_tree(text), registry);
        return path_to(tree->selector, tree->selector.leaf_of(problem));
    };
    Problem problem = sized(10, 20);
    problem.border = Border::mirror;
    const ordered_json of_border{{"feature", "border"}, {"categories", {"mirror"}}};
    EXPECT_EQ(leaf_of(of_border, problem), "border == mirror");
    problem.border = Border::zero;
    EXPECT_EQ(leaf_of(of_border, problem), "border != mirror");
    EXPECT_EQ(leaf_of({{"feature", "border"}, {"categories", {"mirror", "zero"}}}, problem),
              "border == zero or mirror");
    EXPECT_THROW(leaf_of({{"feature", "border"}, {"categories", {"zero", "zero"}}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "border"}, {"categories", {"none"}}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "border"}, {"threshold", 1}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "border * width"}, {"threshold", 1}}, problem), BadData);
    EXPECT_THROW(leaf_of({{"feature", "width / height"}, {"categories", {"zero"}}}, problem), BadData);
    EXPECT_EQ(leaf_of({{"feature", "width / height"}, {"threshold", 0.5}}, problem), "width / height <= 0.5");
    EXPECT_EQ(leaf_of({{"feature", "width / height"}, {"threshold", 0.4}}, problem), "width / height > 0.4");
    EXPECT_EQ(leaf_of({{"feature", "width * height"}, {"threshold", 200}}, problem), "width * height <= 200");
    EXPECT_EQ(leaf_of({{"feature", "width * height"}, {"threshold", 199}}, problem), "width * height > 199");
}

}  // namespace
}  // namespace espalier
