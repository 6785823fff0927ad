#include "espalier/knn.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "kernels/api/items.hpp"
#include "kernels/api/knn_call.hpp"

namespace espalier::inline v0 {

using knn::Problem;

namespace {

std::optional<Error> invalid_queries(const KnnModel& model, const Items& queries) {
    const Items points{nullptr, model.problem.points, model.problem.dims, Layout::attribute_major};
    if (auto error = invalid_comparison(queries, points, model.rule())) return error;
    return invalid_sizes({{"queries.count", queries.count}, {"k", model.problem.k}});
}

/// Whether it is `placement`, the only pipeline that reads the points on the host.
bool computes_on_both(const DispatchResult<Problem>& decision) { return decision.entry->variant.name == "placement"; }

/// Nobody else may look at them: another thread may be making them.
const TrainingSet::OnHost& host_copies(const TrainingSet& training) {
    std::call_once(training.on_host.made, [&] {
        training.on_host.points = training.points.on_host();
        training.on_host.classes = training.classes.on_host();
        training.on_host.targets = training.targets.on_host();
    });
    return training.on_host;
}

/// Queries that are on the device, or are brought there by the call.
Problem problem_of(const KnnModel& model, std::int64_t queries) {
    Problem problem = model.problem;
    problem.queries = queries;
    return problem;
}

/// Queries that a GPU gets from the host are another problem: a pipeline copies them.
Problem streamed_problem_of(const KnnModel& model, std::int64_t queries, const Options& options) {
    Problem problem = problem_of(model, queries);
    if (model.device.is_cuda() && options.memory == Memory::host) problem.queries_in = QueriesIn::host;
    return problem;
}

/// What is wrong with the arrays of a call whose queries and predictions stay on the host: they are checked as if they
/// were brought to the device.
std::optional<Error> wrong_host_arrays(const Planned<KnnCall>& planned, const Items& queries, const Wanted& wanted) {
    KnnCall brought = planned.call;
    brought.problem.queries_in = QueriesIn::device;
    return wrong_arrays(planned.transport, brought.arrays(), pointers(queries, wanted), {});
}

/// Runs for valid queries in the host's memory through one of the pipelines that copy them to a GPU.
Result<void> stream(Planned<KnnCall> planned, const Items& queries, const Wanted& wanted, const Options& options) {
    KnnCall& call = planned.call;
    if (auto error = wrong_host_arrays(planned, queries, wanted)) return *error;
    const CurrentDevice current(*planned.transport.device);
    const HostThreads threads(*planned.transport.device, options);
    const AttributeMajor ordered(queries);
    std::vector<float> unwanted(wanted.predictions ? 0 : static_cast<std::size_t>(queries.count));
    call.on_host.query_values = ordered.values();
    call.on_host.predictions =
        static_cast<std::byte*>(wanted.predictions ? wanted.predictions : static_cast<void*>(unwanted.data()));
    if (computes_on_both(planned.decision)) {
        const TrainingSet::OnHost& copies = host_copies(*call.model->training);
        call.on_host.point_values = data_or_null(copies.points);
        call.on_host.point_classes = data_or_null(copies.classes);
        call.on_host.point_targets = data_or_null(copies.targets);
    }
    return run_once(planned, pointers(queries, wanted), options);
}

/// Runs for valid queries.
Result<void> ask(const std::shared_ptr<const KnnModel>& model, const Items& queries, const Wanted& wanted,
                 const Options& options) {
    const DeviceState& state = state_of(model->device);
    if (auto error = invalid_options(state, options)) return *error;
    KnnCall call{.problem = streamed_problem_of(*model, queries.count, options),
                 .model = model,
                 .layout = queries.layout,
                 .predicts = wanted.predictions != nullptr,
                 .lists_distances = wanted.distances != nullptr,
                 .lists_indices = wanted.indices != nullptr};
    auto planned = decide_call(state, std::move(call), options, {.deterministic = options.deterministic});
    if (!planned) return planned.error();
    if (planned.value().call.problem.queries_in == QueriesIn::host)
        return stream(std::move(planned).value(), queries, wanted, options);
    return run_once(planned.value(), pointers(queries, wanted), options);
}

/// A vector of predictions is in host memory, and so must be what they are made of.
std::optional<Error> invalid_for_vectors(const Options& options) {
    if (options.memory == Memory::host) return std::nullopt;
    if (auto error = invalid_memory(options.memory)) return error;
    return invalid("Options::memory is device, but the results are a vector: pass an array for them");
}

Result<void> predict_into(const std::shared_ptr<const KnnModel>& model, const Items& queries, void* results,
                          const NeighbourLists& neighbours, const Options& options) {
    if (auto error = invalid_queries(*present(model), queries)) return *error;
    const bool classifies = model->problem.task == Task::classification;
    if (auto error = null_array(results, classifies ? "classes" : "targets", queries.count)) return *error;
    return ask(model, queries, {results, neighbours.distances, neighbours.indices}, options);
}

template <class T>
Result<std::vector<T>> predictions(const std::shared_ptr<const KnnModel>& model, const Items& queries,
                                   const Options& options) {
    return guarded([&]() -> Result<std::vector<T>> {
        if (auto error = invalid_for_vectors(options)) return *error;
        if (auto error = invalid_queries(*present(model), queries)) return *error;
        std::vector<T> results(static_cast<std::size_t>(queries.count));
        const Result<void> done = ask(model, queries, {.predictions = results.data()}, options);
        if (!done) return done.error();
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

}  // namespace

Result<void> KnnBase::kneighbors(const Items& queries, float* distances, std::int32_t* indices,
                                 const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_queries(*present(model_), queries)) return *error;
        if (auto error = null_array(distances, "distances", queries.count)) return *error;
        if (auto error = null_array(indices, "indices", queries.count)) return *error;
        return ask(model_, queries, {.distances = distances, .indices = indices}, options);
    });
}

Result<Neighbours> KnnBase::kneighbors(const Items& queries, const Options& options) const {
    return guarded([&]() -> Result<Neighbours> {
        if (auto error = invalid_for_vectors(options)) return *error;
        if (auto error = invalid_queries(*present(model_), queries)) return *error;
        const auto count = static_cast<std::size_t>(queries.count), k = static_cast<std::size_t>(model_->problem.k);
        std::vector<float> distances(count * k);
        std::vector<std::int32_t> indices(count * k);
        const Result<void> done =
            ask(model_, queries, {.distances = distances.data(), .indices = indices.data()}, options);
        if (!done) return done.error();
        return Neighbours{queries.count, model_->problem.k, side_by_side(distances, count, k),
                          side_by_side(indices, count, k)};
    });
}

Result<Explanation> KnnBase::explain_predict(std::int64_t queries, const Options& options) const {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_sizes({{"queries", queries}, {"points.count", present(model_)->problem.points}}))
            return *error;
        return explain(streamed_problem_of(*model_, queries, options), state_of(model_->device), options);
    });
}

Result<KnnPlan> KnnBase::plan_predict(std::int64_t queries, Layout layout, const PlannedResults& results,
                                      const Options& options) const {
    return guarded([&]() -> Result<KnnPlan> {
        const KnnModel& model = *present(model_);  // before anything of it is asked: arguments have no order
        if (auto error = invalid_queries(model, {nullptr, queries, model.problem.dims, layout})) return *error;
        if (!results.predictions && !results.distances && !results.indices)
            return invalid("the plan has no results: ask for predictions, distances or indices");
        KnnCall call{.problem = problem_of(*model_, queries),
                     .model = model_,
                     .layout = layout,
                     .predicts = results.predictions,
                     .lists_distances = results.distances,
                     .lists_indices = results.indices};
        return plan_call<KnnPlan>(model_->device, std::move(call), options);
    });
}

std::shared_ptr<const KnnModel> KnnBase::with_missing_allowed() const noexcept {
    if (!model_) return nullptr;
    return {model_, model_->allowing_missing};
}

namespace {

Result<void> run_plan(const PlanState* state, Task task, const Items& queries, const Wanted& wanted, Stream stream,
                      std::span<std::byte> workspace) {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<KnnCall>(state);
        const KnnCall& call = planned.call;
        if (call.problem.task != task)
            return invalid(std::string("the plan is for a ") + (task == Task::classification
                                                                    ? "regression: its results are numbers"
                                                                    : "classification: its results are classes"));
        const Items planned_for{nullptr, call.problem.queries, call.problem.dims, call.layout};
        if (auto error = other_items(queries, "queries", planned_for)) return *error;
        return run_planned(planned, pointers(queries, wanted), stream, workspace);
    });
}

}  // namespace

Result<void> KnnPlan::run(const Items& queries, std::int32_t* classes, const NeighbourLists& neighbours, Stream stream,
                          std::span<std::byte> workspace) const {
    return run_plan(state(), Task::classification, queries, {classes, neighbours.distances, neighbours.indices}, stream,
                    workspace);
}

Result<void> KnnPlan::run(const Items& queries, float* targets, const NeighbourLists& neighbours, Stream stream,
                          std::span<std::byte> workspace) const {
    return run_plan(state(), Task::regression, queries, {targets, neighbours.distances, neighbours.indices}, stream,
                    workspace);
}

Result<std::vector<std::int32_t>> KnnClassifier::predict(const Items& queries, const Options& options) const {
    return predictions<std::int32_t>(model(), queries, options);
}

Result<void> KnnClassifier::predict(const Items& queries, std::int32_t* classes, const Options& options) const {
    return predict(queries, classes, {}, options);
}

Result<void> KnnClassifier::predict(const Items& queries, std::int32_t* classes, const NeighbourLists& neighbours,
                                    const Options& options) const {
    return guarded([&] { return predict_into(model(), queries, classes, neighbours, options); });
}

Result<std::vector<float>> KnnRegressor::predict(const Items& queries, const Options& options) const {
    return predictions<float>(model(), queries, options);
}

Result<void> KnnRegressor::predict(const Items& queries, float* targets, const Options& options) const {
    return predict(queries, targets, {}, options);
}

Result<void> KnnRegressor::predict(const Items& queries, float* targets, const NeighbourLists& neighbours,
                                   const Options& options) const {
    return guarded([&] { return predict_into(model(), queries, targets, neighbours, options); });
}

}  // namespace espalier::inline v0
