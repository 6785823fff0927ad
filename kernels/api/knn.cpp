#include "espalier/knn.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <type_traits>

#include "espalier/smallest_k.hpp"
#include "kernels/api/items.hpp"
#include "kernels/api/resident.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/choose.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/refusal.hpp"
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

    /// Of a GPU's model, made when a pipeline first runs a stage on the CPU.
    struct OnHost {
        std::once_flag made;
        std::vector<float> points;
        std::vector<std::int32_t> classes;
        std::vector<float> targets;
    };
    mutable OnHost on_host{};

    [[nodiscard]] DistanceRule rule() const { return {problem.metric, problem.missing, types}; }
};

namespace {

std::optional<Error> invalid_fit(const Device& device, const Items& points, std::size_t labels, const char* name,
                                 const NeighbourRule& rule, const Options& options) {
    if (auto error = invalid_options(state_of(device), options)) return error;
    if (auto error = invalid_layout(points, "the points", options)) return error;
    if (auto refused = refused_k(rule.k)) return invalid(std::move(*refused));
    if (!is_enumerator(rule.vote, Vote::distance_weighted))
        return invalid("vote is none of the enumerators of espalier::Vote");
    if (auto error = invalid_comparison({nullptr, 0, points.dims}, points, rule.distance)) return error;
    if (auto refused = refused_count("points.count", points.count)) return invalid(std::move(*refused));
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

std::shared_ptr<KnnModel> model_of(const Device& device, const Items& points, const NeighbourRule& rule, Task task,
                                   const Options& options) {
    const DeviceState& state = state_of(device);
    auto model = std::make_shared<KnnModel>(device);
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
    model->points = {state, ordered.values(), value_count(points), options};
    return model;
}

/// Queries that a GPU gets from the host are another problem than those that it has.
Problem problem_for(const KnnModel& model, std::int64_t queries, const Options& options) {
    Problem problem = model.problem;
    problem.queries = queries;
    if (model.device.is_cuda() && options.memory == Memory::host) problem.queries_in = QueriesIn::host;
    return problem;
}

/// Where results go. Null for what nobody wants to know.
struct Wanted {
    std::int32_t* classes = nullptr;
    float* targets = nullptr;
    float* distances = nullptr;
    std::int32_t* indices = nullptr;
};

std::optional<Error> invalid_queries(const KnnModel& model, const Items& queries, const Options& options) {
    const Items points{nullptr, model.problem.points, model.problem.dims, Layout::attribute_major};
    if (auto error = invalid_comparison(queries, points, model.rule())) return error;
    if (auto error = invalid_sizes({{"queries.count", queries.count}, {"k", model.problem.k}})) return error;
    if (auto error = invalid_layout(queries, "the queries", options)) return error;
    return invalid_options(state_of(model.device), options);
}

/// Of all pipelines it alone reads the points on the host.
bool computes_on_both(const Decision<Problem>& decision) { return decision.entry->variant.name == "placement"; }

/// Nobody else may look at them: another thread may be making them.
const KnnModel::OnHost& host_copies(const KnnModel& model) {
    std::call_once(model.on_host.made, [&] {
        model.on_host.points = model.points.on_host();
        model.on_host.classes = model.classes.on_host();
        model.on_host.targets = model.targets.on_host();
    });
    return model.on_host;
}

template <class T>
const T* data_or_null(const std::vector<T>& values) {
    return values.empty() ? nullptr : values.data();
}

/// The part of the buffers that queries in host memory have on a GPU: nothing is copied to it beforehand. `points` is
/// null for pipelines that leave them to the GPU.
knn::OnHost on_host(const KnnModel::OnHost* points, const float* queries, void* predictions) {
    knn::OnHost buffers{.query_values = queries, .predictions = static_cast<std::byte*>(predictions)};
    if (points) {
        buffers.point_values = data_or_null(points->points);
        buffers.point_classes = data_or_null(points->classes);
        buffers.point_targets = data_or_null(points->targets);
    }
    return buffers;
}

/// Runs for valid queries.
Result<void> ask(const KnnModel& model, const Items& queries, const Wanted& wanted, const Options& options) {
    const DeviceState& state = state_of(model.device);
    const Problem problem = problem_for(model, queries.count, options);
    const auto decision = decide(problem, state.info, options);
    if (!decision) return decision.error();
    const CurrentDevice current(state);
    const auto* const points_on_host = computes_on_both(decision.value()) ? &host_copies(model) : nullptr;
    const AttributeMajor ordered(queries);
    const bool streamed = problem.queries_in == QueriesIn::host;
    const std::int64_t lists = queries.count * problem.k;
    // A prediction is made whether it is wanted or not.
    void* predictions = wanted.classes ? static_cast<void*>(wanted.classes) : wanted.targets;
    std::vector<float> unwanted;
    if (!predictions && options.memory == Memory::host) {
        unwanted.resize(static_cast<std::size_t>(queries.count));
        predictions = unwanted.data();
    }
    run_decided(state, problem, decision.value(), options, [&](Arrays& arrays) -> Buffers {
        Buffers buffers;
        buffers.point_values = model.points.data();
        buffers.point_classes = model.classes.data();
        buffers.point_targets = model.targets.data();
        buffers.types = model.device_types.data();
        buffers.types_on_host = model.types.empty() ? nullptr : model.types.data();
        const auto result = [&]<class T>(T* wanted_here) -> T* {
            if (wanted_here && !streamed) return arrays.output(wanted_here, queries.count);
            return model.device.is_cuda() ? arrays.scratch<T>(queries.count) : reinterpret_cast<T*>(unwanted.data());
        };
        if (problem.task == Task::classification)
            buffers.classes = result(wanted.classes);
        else
            buffers.targets = result(wanted.targets);
        if (wanted.distances) buffers.neighbour_distances = arrays.output(wanted.distances, lists);
        if (wanted.indices) buffers.neighbour_indices = arrays.output(wanted.indices, lists);
        if (streamed)
            buffers.on_host = on_host(points_on_host, ordered.values(), predictions);
        else
            buffers.query_values = arrays.input(ordered.values(), value_count(queries));
        buffers.stages = {choose<distance::Problem>, choose<smallest_k::Problem>};
        return buffers;
    });
    return {};
}

/// A vector of predictions is in host memory, and so must be what they are made of.
std::optional<Error> invalid_for_vectors(const Options& options) {
    if (options.memory == Memory::host) return std::nullopt;
    return invalid("Options::memory is device, but the results are a vector: pass an array for them");
}

template <class T>
Result<void> predict_into(const KnnModel& model, const Items& queries, T* results, const char* name,
                          const Options& options) {
    if (auto error = invalid_queries(model, queries, options)) return *error;
    if (auto error = invalid_arrays({input_array("queries.values", queries.values, value_count(queries)),
                                     output_array(name, results, queries.count)}))
        return *error;
    Wanted wanted;
    if constexpr (std::is_same_v<T, float>)
        wanted.targets = results;
    else
        wanted.classes = results;
    return ask(model, queries, wanted, options);
}

template <class T>
Result<std::vector<T>> predictions(const KnnModel& model, const Items& queries, const Options& options) {
    return guarded([&]() -> Result<std::vector<T>> {
        if (auto error = invalid_for_vectors(options)) return *error;
        if (auto error = invalid_queries(model, queries, options)) return *error;
        std::vector<T> results(static_cast<std::size_t>(queries.count));
        if (auto done = predict_into(model, queries, results.data(), "results", options); !done) return done.error();
        return results;
    });
}

/// From lists whose entries lie `queries` apart to lists side by side.
template <class T>
std::vector<T> side_by_side(const std::vector<T>& lists, std::size_t queries, std::size_t k) {
    std::vector<T> turned(lists.size());
    for (std::size_t q = 0; q < queries; ++q)
        for (std::size_t j = 0; j < k; ++j) turned[q * k + j] = lists[j * queries + q];
    return turned;
}

/// Labels in host memory, wherever they were given.
template <class T>
std::vector<T> labels_on_host(const Device& device, std::span<const T> labels, const Options& options) {
    if (!device.is_cuda() || options.memory == Memory::host) return {labels.begin(), labels.end()};
    std::vector<T> copy(labels.size());
    device::copy_to_host(copy.data(), labels.data(), labels.size_bytes(), options.stream);
    device::synchronize(options.stream);
    return copy;
}

}  // namespace

Result<void> KnnBase::kneighbors(const Items& queries, float* distances, std::int32_t* indices,
                                 const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_queries(model(), queries, options)) return *error;
        const std::int64_t lists = queries.count * model().problem.k;
        if (auto error =
                invalid_arrays({input_array("queries.values", queries.values, value_count(queries)),
                                output_array("distances", distances, lists), output_array("indices", indices, lists)}))
            return *error;
        return ask(model(), queries, {.distances = distances, .indices = indices}, options);
    });
}

Result<Neighbours> KnnBase::kneighbors(const Items& queries, const Options& options) const {
    return guarded([&]() -> Result<Neighbours> {
        if (auto error = invalid_for_vectors(options)) return *error;
        if (auto error = invalid_queries(model(), queries, options)) return *error;
        const auto count = static_cast<std::size_t>(queries.count), k = static_cast<std::size_t>(model().problem.k);
        std::vector<float> distances(count * k);
        std::vector<std::int32_t> indices(count * k);
        if (auto done = kneighbors(queries, distances.data(), indices.data(), options); !done) return done.error();
        return Neighbours{queries.count, model().problem.k, side_by_side(distances, count, k),
                          side_by_side(indices, count, k)};
    });
}

Result<Explanation> KnnBase::explain_predict(std::int64_t queries, const Options& options) const {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_sizes({{"queries", queries}, {"points.count", model().problem.points}})) return *error;
        return explain(problem_for(model(), queries, options), state_of(model().device).info, options);
    });
}

Result<KnnClassifier> KnnClassifier::fit(const Device& device, const Items& points,
                                         std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                         const Options& options) {
    return guarded([&]() -> Result<KnnClassifier> {
        if (auto error = invalid_fit(device, points, classes.size(), "classes", rule, options)) return *error;
        const CurrentDevice current(state_of(device));
        const std::vector<std::int32_t> checked = labels_on_host(device, classes, options);
        if (auto error = invalid_classes(checked)) return *error;
        const auto model = model_of(device, points, rule, Task::classification, options);
        if (!checked.empty()) model->problem.classes = std::int64_t{*std::ranges::max_element(checked)} + 1;
        model->classes = {state_of(device), checked.data(), points.count};
        return KnnClassifier(model);
    });
}

Result<std::vector<std::int32_t>> KnnClassifier::predict(const Items& queries, const Options& options) const {
    return predictions<std::int32_t>(model(), queries, options);
}

Result<void> KnnClassifier::predict(const Items& queries, std::int32_t* classes, const Options& options) const {
    return guarded([&] { return predict_into(model(), queries, classes, "classes", options); });
}

Result<KnnRegressor> KnnRegressor::fit(const Device& device, const Items& points, std::span<const float> targets,
                                       const NeighbourRule& rule, const Options& options) {
    return guarded([&]() -> Result<KnnRegressor> {
        if (auto error = invalid_fit(device, points, targets.size(), "targets", rule, options)) return *error;
        const CurrentDevice current(state_of(device));
        const auto model = model_of(device, points, rule, Task::regression, options);
        model->targets = {state_of(device), targets.data(), points.count, options};
        return KnnRegressor(model);
    });
}

Result<std::vector<float>> KnnRegressor::predict(const Items& queries, const Options& options) const {
    return predictions<float>(model(), queries, options);
}

Result<void> KnnRegressor::predict(const Items& queries, float* targets, const Options& options) const {
    return guarded([&] { return predict_into(model(), queries, targets, "targets", options); });
}

}  // namespace espalier::inline v0
