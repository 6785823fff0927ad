// Plans that predict, of every function that has one, by forests that are made up: they rank what no tree does first.

#include <cmath>
#include <fstream>
#include <vector>

#include "kernels/dispatch/predict.hpp"
#include "tests/each_family.hpp"
#include "tests/kernels/api/plan_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {
namespace {

constexpr PlanOptions kPredict{.effort = Effort::predict};

/// A forest of one leaf for the tree that this CPU's choices are made by: the last variant is the best one.
template <class P>
ForestFile last_first(const Tables<P>& all, const Selector<P>& tree) {
    ForestFile file{.family = std::string(all.family),
                    .device_key = std::string(tree.device_key),
                    .data_sha256 = std::string(tree.data_sha256)};
    for (const Registered<P>& entry : all.registry)
        if (entry.linked() && entry.kind == DeviceKind::cpu)
            for (const Configuration& configuration : entry.variant.space.enumerate())
                if (file.choices.size() < 50)
                    file.choices.push_back({std::string(entry.variant.name), configuration.text()});
    file.forest = {.choices = file.choices.size(), .trees = {{0, 0}}, .nodes = {{0, ChoiceForest::Node::kLeaf, 0}}};
    for (std::size_t left = file.choices.size(); left > 0; --left)
        file.forest.leaves.push_back(static_cast<std::uint8_t>(left));
    return file;
}

class PredictedPlan : public testing::Test {
protected:
    PredictedPlan() {
        for_each_family([&]<class P>(const P*, std::string_view family) {
            const Tables<P> all = tables<P>();
            const Selector<P>* const tree = SimilarTrees<P>(all.selectors, state_of(Device::cpu()).info).next();
            if (!tree) return;
            std::filesystem::create_directories(folder_.path() / family);
            std::ofstream(folder_.path() / family / (std::string(tree->device_key) + ".forest"), std::ios::binary)
                << forest_bytes(last_first(all, *tree));
        });
        set_forest_folder(folder_.path().string());
    }

    /// Runs a plan by the tree and a plan by the forest; `run` gives what the plan computes.
    template <class Plan, class Run>
    void expect_same(const Plan& plan, const Run& run) {
        const auto by_tree = value_of(plan(PlanOptions{})), by_forest = value_of(plan(kPredict));
        EXPECT_TRUE(value_of(by_tree.explain()).predicted.empty());
        const Explanation why = value_of(by_forest.explain());
        EXPECT_FALSE(why.predicted.empty()) << why.text();
        EXPECT_EQ(why.ignored, "");
        const std::vector<float> expected = run(by_tree), actual = run(by_forest);
        ASSERT_EQ(actual.size(), expected.size());
        for (std::size_t i = 0; i < actual.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], 1e-3F * (1 + std::abs(expected[i]))) << why.text();
    }

    TemporaryFolder folder_;
    Device cpu_ = Device::cpu();
};

TEST_F(PredictedPlan, ComputesWhatTheTreesDoes) {
    const std::vector<float> a = numbers(5000, 1), b = numbers(5000, 2);
    expect_same([&](const PlanOptions& how) { return plan_dot_product(cpu_, 5000, {}, how); },
                [&](const auto& plan) {
                    std::vector<float> result(1);
                    Workspace workspace(plan);
                    expect_ok(plan.run(a, b, result.data(), nullptr, workspace.span()));
                    return result;
                });
    expect_same([&](const PlanOptions& how) { return plan_count_bytes(cpu_, 4000, {}, how); },
                [&](const auto& plan) {
                    const std::vector<std::uint8_t> bytes(4000, 3);
                    std::vector<std::uint64_t> counts(256);
                    Workspace workspace(plan);
                    expect_ok(plan.run(bytes, counts.data(), nullptr, workspace.span()));
                    return std::vector<float>(counts.begin(), counts.end());
                });
    constexpr ImageShape kShape{40, 30, 3};
    Filter5x5 filter;
    filter.fill(0.04F);
    expect_same([&](const PlanOptions& how) { return plan_convolve_2d(cpu_, kShape, filter, Border::mirror, {}, how); },
                [&](const auto& plan) {
                    std::vector<std::uint8_t> image(40 * 30 * 3), result(image.size());
                    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(i * 7);
                    Workspace workspace(plan);
                    expect_ok(plan.run({image.data(), kShape}, {result.data(), kShape}, nullptr, workspace.span()));
                    return std::vector<float>(result.begin(), result.end());
                });
    expect_same(
        [&](const PlanOptions& how) {
            return plan_interpolate_traces(cpu_, {3, 50, 5, 4}, {}, how);
        },
        [&](const auto& plan) {
            std::vector<float> copies(3 * 4 * 55);
            Workspace workspace(plan);
            expect_ok(plan.run(std::span(a).first(150), copies, nullptr, workspace.span()));
            return copies;
        });
}

TEST_F(PredictedPlan, ComputesNeighboursAndSums) {
    const std::vector<float> a = numbers(5000, 1), b = numbers(5000, 2);
    expect_same(
        [&](const PlanOptions& how) {
            return plan_select_smallest_k(cpu_, {20, 100, 5}, {}, how);
        },
        [&](const auto& plan) {
            std::vector<float> values(100);
            std::vector<std::int32_t> indices(100);
            Workspace workspace(plan);
            expect_ok(plan.run(std::span(a).first(2000), values, indices, nullptr, workspace.span()));
            return values;
        });
    const Items queries{a.data(), 20, 5}, points{b.data(), 30, 5};
    expect_same([&](const PlanOptions& how) { return plan_pairwise_distances(cpu_, queries, points, {}, {}, {}, how); },
                [&](const auto& plan) {
                    std::vector<float> result(600);
                    Workspace workspace(plan);
                    expect_ok(plan.run(queries, points, result.data(), nullptr, workspace.span()));
                    return result;
                });
    const auto model = value_of(NearestNeighbours::fit(cpu_, points, {.k = 3}));
    expect_same(
        [&](const PlanOptions& how) {
            return model.plan_predict(queries, {.predictions = false, .distances = true, .indices = false}, {}, how);
        },
        [&](const auto& plan) {
            std::vector<float> distances(60);
            Workspace workspace(plan);
            expect_ok(plan.run(queries, {distances.data(), nullptr}, nullptr, workspace.span()));
            return distances;
        });
    const std::vector<std::int32_t> delays(30 * 6, 4);
    expect_same(
        [&](const PlanOptions& how) {
            return plan_coherent_sum(cpu_, {6, 40, 30, 20}, Coherence::sums, {}, how);
        },
        [&](const auto& plan) {
            std::vector<float> sums(30 * 40);
            Workspace workspace(plan);
            expect_ok(plan.run(std::span(a).first(6 * 60), delays, sums, nullptr, workspace.span()));
            return sums;
        });
}

}  // namespace
}  // namespace espalier
