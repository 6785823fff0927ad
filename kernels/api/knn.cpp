#include "espalier/knn.hpp"

#include <algorithm>
#include <limits>

#include "espalier/smallest_k.hpp"
#include "kernels/api/items.hpp"
#include "kernels/api/resident.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/choose.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/knn.hpp"

namespace espalier::inline v0 {

using knn::Buffers;
using knn::Problem;

/// A training set where its device reaches it.
struct KnnModel {
    Device device;
    Problem problem;                   ///< without queries
    std::vector<AttributeType> types;  ///< on the host; the rule's span is not kept
    Resident<AttributeType> device_types;
    Resident<float> points;  ///< attribute-major
    Resident<std::int32_t> classes;
    Resident<float> targets;

    [[nodiscard]] DistanceRule rule() const { return {problem.metric, problem.missing, types}; }
};

namespace {

using Model = std::shared_ptr<const KnnModel>;

std::optional<Error> invalid_fit(const Items& points, std::size_t labels, const char* name, const NeighbourRule& rule) {
    if (rule.k < 1 || rule.k > kMaxSmallestK)
        return invalid("k is " + std::to_string(rule.k) + ": it goes from 1 to " + std::to_string(kMaxSmallestK));
    if (!is_enumerator(rule.vote, Vote::distance_weighted))
        return invalid("vote is none of the enumerators of espalier::Vote");
    if (auto error = invalid_comparison({nullptr, 0, points.dims}, points, rule.distance)) return error;
    if (points.count > std::numeric_limits<std::int32_t>::max())
        return invalid("points.count is " + std::to_string(points.count) + ": indices of 32 bits reach 2147483647");
    if (static_cast<std::int64_t>(labels) != points.count)
        return invalid("there are " + std::to_string(points.count) + " points, but " + std::to_string(labels) + " " +
                       name);
    return invalid_arrays({input_array("points.values", points.values, value_count(points))});
}

/// The largest class number is reserved by the variants' vote.
std::optional<Error> invalid_classes(std::span<const std::int32_t> classes) {
    constexpr auto kReserved = std::numeric_limits<std::int32_t>::max();
    const auto wrong = std::ranges::find_if(classes, [](std::int32_t c) { return c < 0 || c == kReserved; });
    if (wrong == classes.end()) return std::nullopt;
    return invalid("the class of point " + std::to_string(wrong - classes.begin()) + " is " + std::to_string(*wrong) +
                   ": classes go from 0 to " + std::to_string(kReserved - 1));
}

std::shared_ptr<KnnModel> model_of(const Device& device, const Items& points, const NeighbourRule& rule, Task task) {
    const DeviceState& state = state_of(device);
    auto model = std::make_shared<KnnModel>(KnnModel{.device = device});
    model->problem = {.queries = 0,
                      .points = points.count,
                      .dims = points.dims,
                      .k = rule.k,
                      .classes = 1,
                      .metric = rule.distance.metric,
                      .missing = rule.distance.missing,
                      .vote = rule.vote,
                      .task = task};
    if (rule.distance.metric == Metric::mixed_euclidean) {
        model->types.assign(rule.distance.types.begin(), rule.distance.types.end());
        model->device_types = {state, model->types.data(), points.dims};
    }
    const AttributeMajor ordered(points);
    model->points = {state, ordered.values(), value_count(points)};
    return model;
}

Problem problem_for(const KnnModel& model, std::int64_t queries) {
    Problem problem = model.problem;
    problem.queries = queries;
    return problem;
}

Result<Explanation> explain_queries(const KnnModel& model, std::int64_t queries, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_sizes({{"queries", queries}, {"points.count", model.problem.points}})) return *error;
        return explain(problem_for(model, queries), state_of(model.device).info, options);
    });
}

/// Predicts into one of the two vectors, the one that the task needs.
Result<void> predict_into(const KnnModel& model, const Items& queries, std::string_view variant,
                          std::vector<std::int32_t>& classes, std::vector<float>& targets) {
    const Items points{nullptr, model.problem.points, model.problem.dims, Layout::attribute_major};
    if (auto error = invalid_comparison(queries, points, model.rule())) return *error;
    if (auto error = invalid_arrays({input_array("queries.values", queries.values, value_count(queries))}))
        return *error;
    const auto results = static_cast<std::size_t>(queries.count);
    model.problem.task == Task::classification ? classes.resize(results) : targets.resize(results);
    const AttributeMajor ordered(queries);
    const Options options{.variant = variant};
    const auto bind = [&](Arrays& arrays) -> Buffers {
        Buffers buffers;
        buffers.query_values = arrays.input(ordered.values(), value_count(queries));
        buffers.point_values = model.points.data();
        buffers.point_classes = model.classes.data();
        buffers.point_targets = model.targets.data();
        buffers.types = model.device_types.data();
        buffers.types_on_host = model.types.data();
        buffers.classes = arrays.output(classes.data(), static_cast<std::int64_t>(classes.size()));
        buffers.targets = arrays.output(targets.data(), static_cast<std::int64_t>(targets.size()));
        buffers.stages = {choose<distance::Problem>, choose<smallest_k::Problem>};
        return buffers;
    };
    return run(model.device, problem_for(model, queries.count), options, bind);
}

}  // namespace

Result<KnnClassifier> KnnClassifier::fit(const Device& device, const Items& points,
                                         std::span<const std::int32_t> classes, const NeighbourRule& rule) {
    return guarded([&]() -> Result<KnnClassifier> {
        if (auto error = invalid_fit(points, classes.size(), "classes", rule)) return *error;
        if (auto error = invalid_classes(classes)) return *error;
        const CurrentDevice current(state_of(device));
        const auto model = model_of(device, points, rule, Task::classification);
        if (!classes.empty()) model->problem.classes = std::int64_t{*std::ranges::max_element(classes)} + 1;
        model->classes = {state_of(device), classes.data(), points.count};
        return KnnClassifier(model);
    });
}

Result<std::vector<std::int32_t>> KnnClassifier::predict(const Items& queries, std::string_view variant) const {
    return guarded([&]() -> Result<std::vector<std::int32_t>> {
        std::vector<std::int32_t> classes;
        std::vector<float> none;
        if (auto done = predict_into(*model_, queries, variant, classes, none); !done) return done.error();
        return classes;
    });
}

Result<Explanation> KnnClassifier::explain_predict(std::int64_t queries, const Options& options) const {
    return explain_queries(*model_, queries, options);
}

Result<KnnRegressor> KnnRegressor::fit(const Device& device, const Items& points, std::span<const float> targets,
                                       const NeighbourRule& rule) {
    return guarded([&]() -> Result<KnnRegressor> {
        if (auto error = invalid_fit(points, targets.size(), "targets", rule)) return *error;
        const CurrentDevice current(state_of(device));
        const auto model = model_of(device, points, rule, Task::regression);
        model->targets = {state_of(device), targets.data(), points.count};
        return KnnRegressor(model);
    });
}

Result<std::vector<float>> KnnRegressor::predict(const Items& queries, std::string_view variant) const {
    return guarded([&]() -> Result<std::vector<float>> {
        std::vector<std::int32_t> none;
        std::vector<float> targets;
        if (auto done = predict_into(*model_, queries, variant, none, targets); !done) return done.error();
        return targets;
    });
}

Result<Explanation> KnnRegressor::explain_predict(std::int64_t queries, const Options& options) const {
    return explain_queries(*model_, queries, options);
}

}  // namespace espalier::inline v0
