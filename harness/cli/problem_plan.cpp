#include "harness/cli/problem_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "espalier/espalier.hpp"
#include "harness/base/random.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/families/knn_data.hpp"
#include "kernels/problems/coherent_sum.hpp"
#include "kernels/problems/convolution_2d.hpp"
#include "kernels/problems/distance.hpp"
#include "kernels/problems/dot.hpp"
#include "kernels/problems/histogram.hpp"
#include "kernels/problems/knn.hpp"
#include "kernels/problems/polyphase.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::bench::cli {
namespace {

/// Where and how a plan is made.
struct Wish {
    const Device& device;
    const Options& options;
    const PlanOptions& planning;
};

template <class T>
Result<void> without_value(const Result<T>& result) {
    if (!result) return result.error();
    return {};
}

Result<void> plan_of(const coherent_sum::Problem& p, const Wish& wish) {
    const DelayPattern delays = p.delays == coherent_sum::Delays::cube ? DelayPattern::grid : DelayPattern::scattered;
    const CoherentSumShape shape{p.receivers, p.samples, p.sources, p.span, p.precision, delays};
    return without_value(plan_coherent_sum(wish.device, shape, p.output, wish.options, wish.planning));
}

/// A filter that needs this arithmetic.
Filter5x5 filter_of(convolution_2d::Coefficients coefficients) {
    Filter5x5 filter;
    filter.fill(coefficients == convolution_2d::Coefficients::narrow  ? -1
                : coefficients == convolution_2d::Coefficients::int16 ? -1000
                                                                      : -0.04F);
    filter[12] *= -24;
    return filter;
}

Result<void> plan_of(const convolution_2d::Problem& p, const Wish& wish) {
    const ImageShape shape{p.width, p.height, static_cast<int>(p.channels)};
    return without_value(
        plan_convolve_2d(wish.device, shape, filter_of(p.coefficients), p.border, wish.options, wish.planning));
}

/// Types of attributes, a third of them nominal, for the metric that asks for them; else none.
std::vector<AttributeType> types_of(Metric metric, std::int64_t dims) {
    std::vector<AttributeType> types;
    for (std::int64_t a = 0; metric == Metric::mixed_euclidean && a < dims; ++a)
        types.push_back(a % 3 == 1 ? AttributeType::nominal : AttributeType::numeric);
    return types;
}

Result<void> plan_of(const distance::Problem& p, const Wish& wish) {
    const std::vector<AttributeType> types = types_of(p.metric, p.dims);
    const Items queries{nullptr, p.queries, p.dims, Layout::attribute_major};
    const Items points{nullptr, p.points, p.dims, Layout::attribute_major};
    return without_value(plan_pairwise_distances(wish.device, queries, points, {p.metric, p.missing, types},
                                                 {nullptr, MatrixLayout::transposed}, wish.options, wish.planning));
}

Result<void> plan_of(const dot::Problem& p, const Wish& wish) {
    return without_value(plan_dot_product(wish.device, p.elements, wish.options, wish.planning));
}

Result<void> plan_of(const histogram::Problem& p, const Wish& wish) {
    return without_value(plan_count_bytes(wish.device, p.bytes, wish.options, wish.planning));
}

Result<void> plan_of(const polyphase::Problem& p, const Wish& wish) {
    const InterpolationShape shape{p.receivers, p.samples, p.padding, p.phases};
    return without_value(plan_interpolate_traces(wish.device, shape, wish.options, wish.planning));
}

Result<void> plan_of(const smallest_k::Problem& p, const Wish& wish) {
    const SelectionShape shape{p.rows, p.columns, p.k, p.layout, p.order, p.keys};
    return without_value(plan_select_smallest_k(wish.device, shape, wish.options, wish.planning));
}

/// Points of the problem's kind of data, attribute-major; where cells may be missing, a tenth of them is.
std::vector<float> points_of(const ::espalier::knn::Problem& p, std::span<const AttributeType> types) {
    constexpr std::uint64_t kSeed = 3;
    const auto count = static_cast<std::size_t>(p.points), dims = static_cast<std::size_t>(p.dims);
    const bench::knn::DrawnRows rows{p.data, true, count, dims, kSeed};
    std::vector<float> points(count * dims);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::uint64_t bits = random_bits(kSeed, i);
        const bool nominal = !types.empty() && types[i / count] == AttributeType::nominal;
        points[i] = nominal ? static_cast<float>((bits >> 8) % 4) : rows.value(i % count, i / count, bits);
    }
    if (p.data == bench::knn::Data::directions && types.empty())
        for (std::size_t item = 0; item < count; ++item) bench::knn::to_unit_length(points, count, item, types);
    for (std::size_t i = 0; p.missing == Missing::allowed && i < points.size(); i += 10)
        points[i] = std::numeric_limits<float>::quiet_NaN();
    return points;
}

Result<void> plan_of(const ::espalier::knn::Problem& p, const Wish& wish) {
    const std::vector<AttributeType> types = types_of(p.metric, p.dims);
    const std::vector<float> values = points_of(p, types);
    const Items points{values.data(), p.points, p.dims, Layout::attribute_major};
    const NeighbourRule rule{p.k, {p.metric, p.missing, types}, p.vote};
    const auto count = static_cast<std::size_t>(p.points);
    const auto plan = [&](const auto& model) -> Result<void> {
        if (!model) return model.error();
        return without_value(
            model.value().plan_predict(p.queries, Layout::attribute_major, {}, wish.options, wish.planning));
    };
    if (p.task == Task::regression)
        return plan(KnnRegressor::fit(wish.device, points, std::vector<float>(count, 1), rule, wish.options));
    std::vector<std::int32_t> classes(count);
    for (std::size_t i = 0; i < count; ++i)
        classes[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(std::max<std::int64_t>(p.classes, 1)));
    return plan(KnnClassifier::fit(wish.device, points, classes, rule, wish.options));
}

template <class P>
Result<void> plan_of_key(std::string_view key, const Wish& wish) {
    std::string wrong;
    const auto problem = parse_problem<P>(key, wrong);
    if (!problem) throw BadProblem(wrong);
    return plan_of(*problem, wish);
}

struct PlannedFamily {
    std::string_view name;
    Result<void> (*plan)(std::string_view key, const Wish&);
};

constexpr std::array kPlanned{PlannedFamily{"coherent_sum", plan_of_key<coherent_sum::Problem>},
                              PlannedFamily{"convolution_2d", plan_of_key<convolution_2d::Problem>},
                              PlannedFamily{"distance", plan_of_key<distance::Problem>},
                              PlannedFamily{"dot", plan_of_key<dot::Problem>},
                              PlannedFamily{"histogram", plan_of_key<histogram::Problem>},
                              PlannedFamily{"knn", plan_of_key<::espalier::knn::Problem>},
                              PlannedFamily{"polyphase", plan_of_key<polyphase::Problem>},
                              PlannedFamily{"smallest_k", plan_of_key<smallest_k::Problem>}};

const PlannedFamily* find_planned(std::string_view family) {
    const auto found = std::ranges::find(kPlanned, family, &PlannedFamily::name);
    return found == kPlanned.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> without_plan(std::string_view family, std::string_view problem) {
    if (!find_planned(family)) return "there are no plans of " + std::string(family);
    if (family == "knn" && problem.find("queries_in=host") != std::string_view::npos)
        return "plans have their queries on the device: `espalier sweep --problems` measures it";
    return std::nullopt;
}

Result<void> make_plan(std::string_view family, std::string_view problem, const Device& device, const Options& options,
                       const PlanOptions& planning) {
    const PlannedFamily* const planned = find_planned(family);
    if (!planned) return Error{ErrorCode::unsupported, *without_plan(family, problem)};
    return planned->plan(problem, {device, options, planning});
}

}  // namespace espalier::bench::cli
