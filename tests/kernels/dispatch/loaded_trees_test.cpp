// Trees that the library reads at run time: they decide as the compiled ones do, and what the library runs follows
// them.

#include "kernels/dispatch/loaded_trees.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/tree_path.hpp"
#include "tests/each_family.hpp"
#include "tests/kernels/dispatch/loading_trees.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"
#include "tests/support/trials.hpp"

namespace espalier {
namespace {

using namespace tree_text;

template <class P>
void expect_same(const Leaf<P>& loaded, const Leaf<P>& compiled) {
    ASSERT_EQ(loaded.id, compiled.id);
    ASSERT_EQ(loaded.problems, compiled.problems);
    ASSERT_EQ(loaded.ranking.size(), compiled.ranking.size());
    for (std::size_t i = 0; i < loaded.ranking.size(); ++i) {
        ASSERT_EQ(loaded.ranking[i].variant, compiled.ranking[i].variant);
        ASSERT_EQ(loaded.ranking[i].configuration, compiled.ranking[i].configuration);
    }
}

TEST(LoadedTrees, DecideAsTheSameTreesCompiled) {
    int compared = 0;
    std::mt19937_64 random(3);
    for (const fs::path& file : committed_trees()) {
        SCOPED_TRACE(file.string());
        const TreeFile content = read_tree(read_bytes(file.string()));
        for_each_family([&]<class P>(const P*, const std::string& family) {
            if (family != content.family) return;
            const Tables<P> all = tables<P>();
            const auto loaded = tree_of<P>(content, all.registry);
            const auto compiled = std::ranges::find_if(all.selectors, [&](const Selector<P>& selector) {
                return selector.device_key == content.device_key && selector.file.empty();
            });
            ASSERT_NE(compiled, all.selectors.end());
            EXPECT_EQ(dissimilarity(loaded->selector.device, compiled->device), 0);
            EXPECT_EQ(loaded->selector.data_sha256, compiled->data_sha256);
            ASSERT_EQ(loaded->leaves.size(), compiled->leaves.size());
            for (std::size_t l = 0; l < loaded->leaves.size(); ++l) {
                expect_same(loaded->leaves[l], compiled->leaves[l]);
                ASSERT_EQ(path_to(loaded->selector, loaded->leaves[l]), path_to(*compiled, compiled->leaves[l]));
            }
            for (int i = trials(20'000); i > 0 && !testing::Test::HasFatalFailure(); --i) {
                const P problem = random_problem<P>(random);
                ASSERT_EQ(loaded->selector.leaf_of(problem).id, compiled->leaf_of(problem).id) << problem_key(problem);
            }
            ++compared;
        });
    }
    EXPECT_GT(compared, 50);
}

TEST_F(LoadingTrees, ChangesWhatTheLibraryRuns) {
    const auto before = dot_here();
    const std::string of_another_family = value_of(explain_count_bytes(Device::cpu(), 1000)).tree_file;
    const std::string other = before.variant == "cpu_scalar" ? "cpu_openmp" : "cpu_scalar";
    const std::string first = write("a", one_leaf("dot", kHere, {{other, "default"}, {"cpu_scalar", "default"}}));
    const auto loaded = value_of(load_selectors(first));
    ASSERT_EQ(loaded.size(), 1U);
    EXPECT_EQ(loaded[0].family, "dot");
    EXPECT_EQ(loaded[0].device, kHere);
    EXPECT_EQ(loaded[0].file, first);

    const std::size_t loaded_so_far = in_use();
    const auto after = dot_here();
    EXPECT_EQ(after.variant, other);
    EXPECT_EQ(after.tree, Explanation::Tree::exact);
    EXPECT_EQ(after.tree_file, first);
    EXPECT_EQ(after.leaf, 0);
    EXPECT_EQ(after.problems, 7);
    EXPECT_NE(after.reason.find("loaded from " + first), std::string::npos) << after.reason;
    EXPECT_NE(after.text().find("tree: loaded from " + first), std::string::npos) << after.text();
    float a = 2, b = 3, result = 0;
    expect_ok(dot_product(Device::cpu(), &a, &b, 1, &result));
    EXPECT_EQ(result, 6);

    // A plan keeps what it was made by; a tree that was loaded later takes the place of the earlier one.
    const auto plan = value_of(plan_dot_product(Device::cpu(), 1000));
    const std::string second = write("b", one_leaf("dot", kHere, {{"cpu_scalar", "default"}}));
    ASSERT_TRUE(load_selectors(fs::path(second).parent_path().string()));
    EXPECT_EQ(dot_here().tree_file, second);
    EXPECT_EQ(dot_here().variant, "cpu_scalar");
    EXPECT_EQ(value_of(plan.explain()).tree_file, first);
    EXPECT_EQ(value_of(plan.explain()).variant, other);
    EXPECT_EQ(in_use(), loaded_so_far);
    // Other families go on as they did.
    EXPECT_EQ(value_of(explain_count_bytes(Device::cpu(), 1000)).tree_file, of_another_family);
}

TEST_F(LoadingTrees, FollowsEachConditionOfTheTree) {
    const ordered_json nodes{split(0, "elements", 100, 1, 2), leaf(1, 0, {{"cpu_scalar", "default"}}),
                             leaf(2, 1, {{"cpu_openmp", "default"}, {"cpu_scalar", "default"}})};
    ASSERT_TRUE(load_selectors(write("a", sealed(tree("dot", kHere, nodes)))));
    EXPECT_EQ(dot_here(100).variant, "cpu_scalar");
    EXPECT_EQ(dot_here(100).path, "elements <= 100");
    EXPECT_EQ(dot_here(101).variant, "cpu_openmp");
    EXPECT_EQ(dot_here(101).path, "elements > 100");
}

TEST_F(LoadingTrees, OfOtherDevicesAreRankedByLikeness) {
    ordered_json text = tree("dot", "cpu-test-4t", ordered_json::array({leaf(0, 0, {{"cpu_scalar", "default"}})}));
    text["device"]["microarchitecture"] = "invented";
    ASSERT_TRUE(load_selectors(write("a", sealed(text))));
    DeviceInfo device;
    device.key = "cpu-test-5t";
    device.microarchitecture = "invented";
    device.avx2 = device.fma = true;
    device.threads = 5;
    const auto nearest = value_of(explain("dot", "elements=1000", device, nullptr));
    EXPECT_EQ(nearest.tree, Explanation::Tree::related);
    EXPECT_EQ(nearest.tree_device, "cpu-test-4t");
    EXPECT_EQ(nearest.difference, "5 threads instead of 4");
    device.threads = 16;
    device.microarchitecture = "emeraldrapids";
    EXPECT_EQ(value_of(explain("dot", "elements=1000", device, nullptr)).tree_device, "cpu-emeraldrapids-avx2-16t");
}

TEST_F(LoadingTrees, TakesEveryTreeOfAFolder) {
    for (const fs::path& tree : committed_trees()) {
        const fs::path device = folder_ / "trees" / tree.parent_path().filename();
        fs::create_directories(device);
        fs::copy_file(tree, device / tree.filename());
    }
    const auto all = value_of(load_selectors(folder_ / "trees"));
    EXPECT_EQ(all.size(), committed_trees().size());
    const std::size_t loaded_so_far = in_use();
    EXPECT_GE(loaded_so_far, all.size());
    EXPECT_EQ(value_of(load_selectors(folder_ / "trees")).size(), all.size());
    EXPECT_EQ(in_use(), loaded_so_far);
}

// Dispatches on other threads take the one tree or the other, whole, and what they took stays good.
TEST_F(LoadingTrees, MayHappenWhileOthersDecide) {
    const std::string a = write("a", one_leaf("dot", kHere, {{"cpu_openmp", "default"}, {"cpu_scalar", "default"}}));
    const std::string b = write("b", one_leaf("dot", kHere, {{"cpu_scalar", "default"}}));
    ASSERT_TRUE(load_selectors(a));
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0}, of_a{0}, of_b{0};
    std::vector<std::thread> deciding;
    for (int t = 0; t < 4; ++t)
        deciding.emplace_back([&] {
            while (!done) {
                const auto why = explain_dot_product(Device::cpu(), 1000);
                const bool first = why && why.value().tree_file == a && why.value().variant == "cpu_openmp";
                const bool second = why && why.value().tree_file == b && why.value().variant == "cpu_scalar";
                (first ? of_a : second ? of_b : wrong)++;
            }
        });
    for (int i = 0; i < trials(2000) || (of_a == 0 || of_b == 0); ++i) {
        ASSERT_TRUE(load_selectors(i % 2 ? a : b));
        if (i % 100 == 0) {  // a file that is replaced, and one that is not whole yet
            static_cast<void>(
                write("c", one_leaf("dot", "cpu-other-" + std::to_string(i), {{"cpu_scalar", "default"}})));
            ASSERT_TRUE(load_selectors(folder_ / "c"));
            static_cast<void>(write("c", "{"));
            ASSERT_FALSE(load_selectors(folder_ / "c"));
        }
    }
    done = true;
    for (std::thread& thread : deciding) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(of_a, 0);
    EXPECT_GT(of_b, 0);
}

}  // namespace
}  // namespace espalier
