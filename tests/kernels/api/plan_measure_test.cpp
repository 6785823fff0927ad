// Plans that measure, of every function that has one: on the CPU and on GPU 0, over host and device memory.

#include <chrono>
#include <vector>

#include "kernels/api/planning.hpp"
#include "tests/each_family.hpp"
#include "tests/kernels/api/plan_support.hpp"

namespace espalier {
namespace {

using namespace std::chrono_literals;

constexpr PlanOptions kMeasure{.effort = Effort::measure, .budget = 2s};

/// The explanation of a plan that measured; on a device with a single choice there is nothing to measure.
template <class P>
Explanation learned(const Result<P>& plan) {
    const Explanation why = value_of(value_of(plan).explain());
    EXPECT_TRUE(why.measured_at.empty() ? why.measured_choices == 0 : why.measured_choices >= 1) << why.text();
    EXPECT_EQ(why.ignored, "");
    return why;
}

/// How many choices there are for an explained problem.
std::size_t choices_for(const Device& device, const Explanation& why) {
    std::size_t count = 0;
    for_each_family([&]<class P>(const P*, std::string_view family) {
        if (why.family != family) return;
        std::string wrong;
        const auto problem = parse_problem<P>(why.problem, wrong);
        const DeviceInfo& here = state_of(device).on_threads(why.threads);
        const Demands demands{.only_enqueues = true};
        Tables<P> trees = tables<P>();
        trees.wisdom = nullptr;
        const auto tree = decide(trees, *problem, here, nullptr, demands);
        count = TrialChoices<P>(trees, *problem, here, demands).of(tree.value(), true).size();
    });
    return count;
}

class MeasuredPlan : public testing::Test {
protected:
    MeasuredPlan() { forget_wisdom(); }
    ~MeasuredPlan() override { forget_wisdom(); }
};

TEST_F(MeasuredPlan, ComputesADotProduct) {
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const auto plan = value_of(plan_dot_product(where.device, 1000, {.memory = where.memory}, kMeasure));
        EXPECT_NE(value_of(plan.explain()).measured_at, "") << value_of(plan.explain()).text();
        Array<float> ones(std::vector<float>(1000, 1.0F), where.memory), result(1, where.memory);
        Workspace workspace(plan);
        expect_ok(plan.run(ones.span(), ones.span(), result.data(), nullptr, workspace.span()));
        wait(where.device);
        EXPECT_EQ(result.values(), std::vector{1000.0F});
    }
}

TEST_F(MeasuredPlan, EveryChoiceOfAnotherFunctionAgrees) {
    std::vector<float> table(40 * 5);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i * 7 % 31);
    std::vector<std::int32_t> classes(40);
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i % 3);
    Filter5x5 filter;
    filter.fill(0.04F);
    const PlanOptions all{.effort = Effort::exhaustive};
    for (const Where& where : places()) {
        SCOPED_TRACE(name(where));
        const Device& device = where.device;
        const Options options{.memory = where.memory};
        const std::vector<Explanation> plans{
            learned(plan_count_bytes(device, 3000, options, all)),
            learned(plan_convolve_2d(device, ImageShape{33, 21, 3}, filter, Border::mirror, options, all)),
            learned(plan_select_smallest_k(device, {20, 100, 5}, options, all)),
            learned(
                plan_select_smallest_k(device, {20, 100, 5, MatrixLayout::row_major, ListOrder::any}, options, all)),
            learned(plan_select_smallest_k(
                device, {20, 100, 5, MatrixLayout::row_major, ListOrder::ascending, KeyType::float16}, options, all)),
            learned(plan_pairwise_distances(device, {nullptr, 20, 5}, {nullptr, 30, 5}, {}, {}, options, all)),
            learned(plan_coherent_sum(device, {6, 40, 30, 20}, Coherence::sums, options, all)),
            learned(plan_coherent_sum(device, {6, 40, 30, 20}, Coherence::maximum, options, all)),
            learned(plan_coherent_sum(device, {6, 40, 30, 20, SumPrecision::half}, Coherence::sums, options, all)),
            learned(plan_interpolate_traces(device, {3, 50, 5, 4}, options, all)),
        };
        for (const Explanation& why : plans) EXPECT_TRUE(device.is_cuda() || why.measured_choices >= 2) << why.text();
        const auto model = KnnClassifier::fit(device, {table.data(), 40, 5}, classes, {.k = 3});
        const Explanation why =
            learned(value_of(model).plan_predict(10, Layout::item_major, {.predictions = true}, options, all));
        EXPECT_EQ(static_cast<std::size_t>(why.measured_choices), choices_for(device, why)) << why.text();
    }
}

TEST_F(MeasuredPlan, AFilterOfSevenHasNoChoice) {
    Filter7x7 filter{};
    filter[24] = 1;
    const auto plan = plan_convolve_2d(Device::cpu(), ImageShape{9, 9, 1}, filter, Border::zero, {}, kMeasure);
    EXPECT_EQ(value_of(value_of(plan).explain()).measured_at, "");
}

TEST_F(MeasuredPlan, HasNothingToDoForNothing) {
    for (const Where& where : places()) {
        learned(plan_dot_product(where.device, 0, {.memory = where.memory}, kMeasure));
        learned(plan_count_bytes(where.device, 0, {.memory = where.memory}, kMeasure));
        learned(plan_select_smallest_k(where.device, {0, 100, 5}, {.memory = where.memory}, kMeasure));
        learned(plan_select_smallest_k(where.device, {3, 4, 10}, {.memory = where.memory}, kMeasure));
    }
}

}  // namespace
}  // namespace espalier
