// Uses that no program should make and some do: plans and models that were moved from, values that are no enumerators,
// keys that name an axis twice. Each is an error value.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "espalier/espalier.hpp"
#include "kernels/dispatch/loaded_trees.hpp"

namespace espalier {
namespace {

/// EXPECT an invalid_argument whose message has the part.
template <class T>
void expect_invalid(const Result<T>& result, const std::string& part) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

/// What every plan says once it was moved from; the one that it was moved to still says what it did.
template <class PublicPlan, class Run>
void expect_empty(Result<PublicPlan> made, Run run) {
    ASSERT_TRUE(made);
    PublicPlan plan = std::move(made).value();
    const std::size_t bytes = plan.workspace_bytes();
    const PublicPlan other = std::move(plan);
    expect_invalid(run(plan), "moved from");
    expect_invalid(plan.explain(), "moved from");
    EXPECT_EQ(plan.workspace_bytes(), 0U);
    EXPECT_TRUE(plan.deterministic());
    EXPECT_EQ(plan.device(), Device::cpu());
    EXPECT_EQ(other.workspace_bytes(), bytes);
    EXPECT_TRUE(other.explain());
    plan = other;
    EXPECT_TRUE(plan.explain());
}

/// A thread may hold what was ignored so far while another reads the environment, so what it holds never changes. The
/// first test: the environment is read once in a process.
TEST(Environment, WhatWasIgnoredNeverChanges) {
    const pid_t child = fork();
    if (child == 0) {
        setenv("ESPALIER_SELECTORS", "/nowhere", 1);
        const std::string& early = ignored_selectors_so_far();
        const bool was_empty = early.empty();
        const std::string& later = ignored_selectors();
        _exit(was_empty && early.empty() && !later.empty() && &later == &ignored_selectors_so_far() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

const Device kCpu = Device::cpu();
const float kPoints[12]{};
const std::int32_t kClasses[4]{};
const float kTargets[4]{};
float results[64];
std::int32_t indices[64];

TEST(MovedFrom, PlansGiveErrors) {
    expect_empty(plan_dot_product(kCpu, 4), [](const DotProductPlan& p) { return p.run(kTargets, kTargets, results); });
    expect_empty(plan_count_bytes(kCpu, 4), [](const HistogramPlan& p) { return p.run({}, nullptr); });
    expect_empty(plan_convolve_2d(kCpu, {2, 2, 1}, Filter5x5{}, Border::zero),
                 [](const ConvolutionPlan& p) { return p.run(ConstImage{}, Image{}); });
    expect_empty(plan_convolve_2d(kCpu, {2, 2, 1}, Filter7x7{}, Border::zero),
                 [](const ConvolutionPlan& p) { return p.run(ConstImage{}, Image{}); });
    expect_empty(plan_pairwise_distances(kCpu, {nullptr, 4, 3}, {nullptr, 4, 3}, {}), [](const DistancesPlan& p) {
        return p.run({kPoints, 4, 3}, {kPoints, 4, 3}, results);
    });
    expect_empty(plan_select_smallest_k(kCpu, {4, 3, 1}),
                 [](const SelectionPlan& p) { return p.run(kPoints, results, indices); });
    expect_empty(plan_select_smallest_k(kCpu, {4, 3, 1}), [](const SelectionPlan& p) { return p.run_of({}, {}, {}); });
    expect_empty(plan_coherent_sum(kCpu, {}, Coherence::sums),
                 [](const CoherentSumPlan& p) { return p.run({}, {}, std::span<float>()); });
    expect_empty(plan_coherent_sum(kCpu, {}, Coherence::maximum),
                 [](const CoherentSumPlan& p) { return p.run({}, {}, std::span<float>(), std::span<std::int32_t>()); });
    expect_empty(plan_interpolate_traces(kCpu, {}), [](const InterpolationPlan& p) { return p.run({}, {}); });
    const auto model = KnnClassifier::fit(kCpu, {kPoints, 4, 3}, kClasses, {.k = 1});
    ASSERT_TRUE(model);
    expect_empty(model.value().plan_predict(2), [](const KnnPlan& p) { return p.run({kPoints, 2, 3}, indices); });
    expect_empty(model.value().plan_predict(2), [](const KnnPlan& p) { return p.run({kPoints, 2, 3}, results); });
}

template <class Model>
void expect_empty_model(Result<Model> fitted, auto* to) {
    ASSERT_TRUE(fitted);
    Model model = std::move(fitted).value();
    const Items queries{kPoints, 2, 3};
    const Model other = std::move(model);
    expect_invalid(model.predict(queries), "moved from");
    expect_invalid(model.predict(queries, to), "moved from");
    expect_invalid(model.predict(queries, to, NeighbourLists{}), "moved from");
    expect_invalid(model.kneighbors(queries), "moved from");
    expect_invalid(model.kneighbors(queries, results, indices), "moved from");
    expect_invalid(model.plan_predict(2), "moved from");
    expect_invalid(model.explain_predict(2), "moved from");
    expect_invalid(model.allowing_missing().predict(queries), "moved from");
    EXPECT_TRUE(other.predict(queries));
    EXPECT_TRUE(other.allowing_missing().predict(queries));
    // The model for missing cells keeps what it needs.
    auto missing = std::make_unique<Model>(other)->allowing_missing();
    EXPECT_TRUE(missing.predict(queries));
    EXPECT_TRUE(missing.allowing_missing().predict(queries));
}

TEST(MovedFrom, ModelsGiveErrors) {
    expect_empty_model(KnnClassifier::fit(kCpu, {kPoints, 4, 3}, kClasses, {.k = 1}), indices);
    expect_empty_model(KnnRegressor::fit(kCpu, {kPoints, 4, 3}, kTargets, {.k = 1}), results);
}

template <class Model>
void expect_empty_exact_model(Result<Model> fitted, auto* to) {
    ASSERT_TRUE(fitted);
    Model model = std::move(fitted).value();
    const double values[6]{};
    const ItemsOfDoubles queries{values, 2, 3};
    const Model other = std::move(model);
    expect_invalid(model.predict(queries), "moved from");
    expect_invalid(model.predict(queries, to), "moved from");
    double distances[2];
    expect_invalid(model.kneighbors(queries), "moved from");
    expect_invalid(model.kneighbors(queries, {distances, nullptr}), "moved from");
    expect_invalid(model.radius_neighbours(queries, 1), "moved from");
    expect_invalid(model.predict_within(queries, 1), "moved from");
    expect_invalid(model.explain_predict(2), "moved from");
    expect_invalid(model.save("model"), "moved from");
    EXPECT_EQ(model.predict_bytes(2), 0U);
    EXPECT_EQ(other.predict_bytes(-2), 0U);
    if constexpr (requires { model.class_count(); }) {
        EXPECT_EQ(model.class_count(), 0);
        expect_invalid(model.predict_proba(queries), "moved from");
    }
    EXPECT_TRUE(other.predict(queries));
    EXPECT_GT(other.predict_bytes(2), 0U);
}

TEST(MovedFrom, ExactModelsGiveErrors) {
    const double points[12]{};
    const double targets[4]{};
    double predicted[2];
    expect_empty_exact_model(ExactKnnClassifier::fit(kCpu, {points, 4, 3}, kClasses, {.k = 1}), indices);
    expect_empty_exact_model(ExactKnnRegressor::fit(kCpu, {points, 4, 3}, targets, {.k = 1}), predicted);
}

TEST(MovedFrom, AllowingMissingServesMissingCells) {
    const float points[4]{0, 1, 2, 3};
    const float query[1]{std::numeric_limits<float>::quiet_NaN()};
    const auto model = KnnClassifier::fit(kCpu, {points, 4, 1}, kClasses, {.k = 1, .distance = {}});
    ASSERT_TRUE(model);
    const auto why = model.value().allowing_missing().explain_predict(1), plain = model.value().explain_predict(1);
    ASSERT_TRUE(why && plain);
    EXPECT_NE(why.value().problem.find("missing=allowed"), std::string::npos) << why.value().problem;
    EXPECT_EQ(plain.value().problem.find("missing=allowed"), std::string::npos) << plain.value().problem;
    EXPECT_TRUE(model.value().allowing_missing().predict({query, 1, 1}));
}

template <class Enum>
constexpr Enum none_of() {
    return static_cast<Enum>(77);
}

TEST(NoEnumerator, MemoryIsRefusedEverywhere) {
    for (const int value : {77, 2, -1}) {
        const Options options{.memory = static_cast<Memory>(value)};
        const auto refused = [](const auto& result) { expect_invalid(result, "Options::memory is none"); };
        refused(dot_product(kCpu, kTargets, kTargets, 4, results, options));
        refused(plan_dot_product(kCpu, 4, options));
        refused(explain_dot_product(kCpu, 4, options));
        refused(explain(kCpu, "dot", "elements=4", options));
        refused(plan_count_bytes(kCpu, 4, options));
        refused(plan_convolve_2d(kCpu, {2, 2, 1}, Filter5x5{}, Border::zero, options));
        refused(plan_convolve_2d(kCpu, {2, 2, 1}, Filter7x7{}, Border::zero, options));
        refused(pairwise_distances(kCpu, {kPoints, 4, 3}, {kPoints, 4, 3}, {}, results, options));
        refused(select_smallest_k(kCpu, {4, 3, 1}, kPoints, results, indices, options));
        refused(plan_coherent_sum(kCpu, {}, Coherence::sums, options));
        refused(plan_interpolate_traces(kCpu, {}, options));
        refused(explain_compute_delays(kCpu, 1, {}, {}, options));
        refused(KnnClassifier::fit(kCpu, {kPoints, 4, 3}, kClasses, {.k = 1}, options));
        const auto model = KnnRegressor::fit(kCpu, {kPoints, 4, 3}, kTargets, {.k = 1});
        ASSERT_TRUE(model);
        refused(model.value().predict({kPoints, 2, 3}, options));
        refused(model.value().predict({kPoints, 2, 3}, results, options));
        refused(model.value().kneighbors({kPoints, 2, 3}, options));
        refused(model.value().plan_predict(2, Layout::item_major, {}, options));
        refused(model.value().explain_predict(2, options));
        const double points[12]{};
        refused(ExactKnnClassifier::fit(kCpu, {points, 4, 3}, kClasses, {.k = 1}, options));
        const auto exact = ExactKnnClassifier::fit(kCpu, {points, 4, 3}, kClasses, {.k = 1});
        ASSERT_TRUE(exact);
        refused(exact.value().predict({points, 2, 3}, options));
        refused(exact.value().kneighbors({points, 2, 3}, options));
        refused(exact.value().explain_predict(2, options));
    }
}

TEST(NoEnumerator, OthersAreRefused) {
    expect_invalid(plan_convolve_2d(kCpu, {2, 2, 1}, Filter5x5{}, none_of<Border>()), "espalier::Border");
    expect_invalid(plan_convolve_2d(kCpu, {2, 2, 1}, Filter7x7{}, none_of<Border>()), "espalier::Border");
    expect_invalid(plan_coherent_sum(kCpu, {}, none_of<Coherence>()), "espalier::Coherence");
    expect_invalid(plan_coherent_sum(kCpu, {.precision = none_of<SumPrecision>()}, Coherence::sums), "SumPrecision");
    expect_invalid(plan_select_smallest_k(kCpu, {.rows = 1, .columns = 1, .layout = none_of<MatrixLayout>()}),
                   "espalier::MatrixLayout");
    expect_invalid(plan_select_smallest_k(kCpu, {.rows = 1, .columns = 1, .order = none_of<ListOrder>()}), "ListOrder");
    expect_invalid(plan_select_smallest_k(kCpu, {.rows = 1, .columns = 1, .keys = none_of<KeyType>()}), "KeyType");
    const Items items{kPoints, 4, 3};
    expect_invalid(plan_pairwise_distances(kCpu, items, items, {none_of<Metric>()}), "espalier::Metric");
    expect_invalid(plan_pairwise_distances(kCpu, items, items, {.missing = none_of<Missing>()}), "espalier::Missing");
    expect_invalid(plan_pairwise_distances(kCpu, {kPoints, 4, 3, none_of<Layout>()}, items, {}), "espalier::Layout");
    expect_invalid(plan_pairwise_distances(kCpu, items, items, {}, {nullptr, none_of<MatrixLayout>()}), "MatrixLayout");
    const std::array types{AttributeType::numeric, none_of<AttributeType>(), AttributeType::numeric};
    expect_invalid(plan_pairwise_distances(kCpu, items, items, {Metric::mixed_euclidean, Missing::none, types}),
                   "espalier::AttributeType");
    expect_invalid(KnnClassifier::fit(kCpu, items, kClasses, {.k = 1, .vote = none_of<Vote>()}), "espalier::Vote");
    const double points[12]{};
    expect_invalid(ExactKnnClassifier::fit(kCpu, {points, 4, 3}, kClasses, {.k = 1, .vote = none_of<Vote>()}),
                   "espalier::Vote");
    const auto model = KnnClassifier::fit(kCpu, items, kClasses, {.k = 1});
    const auto exact = ExactKnnClassifier::fit(kCpu, {points, 4, 3}, kClasses, {.k = 1});
    ASSERT_TRUE(model && exact);
    expect_invalid(model.value().plan_predict(2, none_of<Layout>()), "espalier::Layout");
    expect_invalid(exact.value().explain_predict(2, {}, none_of<Missing>()), "espalier::Missing");
}

TEST(GivenTwice, AxisOfAKeyIsRefused) {
    expect_invalid(explain(kCpu, "dot", "elements=5;elements=6"), "elements is given twice");
    expect_invalid(explain(kCpu, "dot", "elements=5;elements=5"), "elements is given twice");
    expect_invalid(explain(kCpu, "convolution_2d", "width=5;border=zero;height=6;border=mirror"),
                   "border is given twice");
    EXPECT_TRUE(explain(kCpu, "convolution_2d", "height=5;width=5;border=mirror"));
    const auto twice = explain_dot_product(kCpu, 8, {.variant = "cpu_avx2:parallel=0;parallel=0"});
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, ErrorCode::unknown_variant);
}

}  // namespace
}  // namespace espalier
