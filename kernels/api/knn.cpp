#include "espalier/knn.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/api/items.hpp"
#include "kernels/api/knn_call.hpp"
#include "kernels/api/planning.hpp"

namespace espalier::inline v1 {

using knn::Problem;

namespace {

std::optional<Error> invalid_queries(const KnnModel& model, const Items& queries) {
    const Items points{nullptr, model.problem.points, model.problem.dims, Layout::attribute_major};
    if (auto error = invalid_comparison(queries, points, model.rule())) return error;
    return invalid_sizes({{"queries.count", queries.count}, {"k", model.problem.k}});
}

/// Whether a stage runs on the host, and may read the points there: a pipeline's configuration says so, gpu_vote=0.
bool computes_on_both(const DispatchResult<Problem>& decision) {
    return std::ranges::any_of(decision.configuration, [](const Setting& setting) {
        return setting.name.starts_with("gpu_") && setting.value == 0;
    });
}

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

/// Says what is wrong with arrays of a call whose queries and predictions stay on the host: they are checked as if they
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

Result<void> ask_at_once(const std::shared_ptr<const KnnModel>& model, const Items& queries, const Wanted& wanted,
                         const Options& options) {
    const DeviceState& state = state_of(model->device);
    KnnCall call{.problem = streamed_problem_of(*model, queries.count, options),
                 .model = model,
                 .given = queries,
                 .predicts = wanted.predictions != nullptr,
                 .lists_distances = wanted.lists.distances != nullptr,
                 .lists_indices = wanted.lists.indices != nullptr,
                 .list_layout = wanted.lists.layout,
                 .list_stride = wanted.lists.stride};
    auto planned = decide_call(state, std::move(call), options, {.deterministic = options.deterministic});
    if (!planned) return planned.error();
    if (planned.value().call.problem.queries_in == QueriesIn::host)
        return stream(std::move(planned).value(), queries, wanted, options);
    return run_once(planned.value(), pointers(queries, wanted), options);
}

/// Runs for valid queries.
Result<void> ask(const std::shared_ptr<const KnnModel>& model, const Items& queries, const Wanted& wanted,
                 const Options& options) {
    const knn::Problem& problem = model->problem;
    if (auto error = invalid_lists(wanted.lists.layout, wanted.lists.stride, queries.count, problem.k)) return *error;
    if (auto error = invalid_options(state_of(model->device), options)) return *error;
    const Progress progress(options);
    if (!progress.is_wanted()) return ask_at_once(model, queries, wanted, options);
    const std::int64_t at_once = items_in_part(problem.points * problem.dims, model->device.is_cuda());
    progress.at_start();
    for (std::int64_t first = 0; first == 0 || first < queries.count; first += at_once) {
        const std::int64_t count = std::min(at_once, queries.count - first);
        const auto done = ask_at_once(model, part_of(queries, first, count),
                                      part_of(wanted, first, problem.k, queries.count), of_part(options));
        if (!done) return done;
        progress.after(first + count, queries.count);
    }
    progress.at_end();
    return {};
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
    return ask(model, queries, {results, neighbours}, options);
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

}  // namespace

Result<void> KnnBase::kneighbors(const Items& queries, float* distances, std::int32_t* indices,
                                 const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_queries(*present(model_), queries)) return *error;
        if (auto error = null_array(distances, "distances", queries.count)) return *error;
        if (auto error = null_array(indices, "indices", queries.count)) return *error;
        return ask(model_, queries, {.lists = {distances, indices}}, options);
    });
}

Result<void> KnnBase::kneighbors(const Items& queries, const NeighbourLists& neighbours, const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_queries(*present(model_), queries)) return *error;
        if (!neighbours.distances && !neighbours.indices && queries.count > 0)
            return invalid("there is an array for neither distances nor indices: give one of them");
        return ask(model_, queries, {.lists = neighbours}, options);
    });
}

Result<Neighbours> KnnBase::kneighbors(const Items& queries, const Options& options) const {
    return guarded([&]() -> Result<Neighbours> {
        if (auto error = invalid_for_vectors(options)) return *error;
        if (auto error = invalid_queries(*present(model_), queries)) return *error;
        const auto count = static_cast<std::size_t>(queries.count), k = static_cast<std::size_t>(model_->problem.k);
        std::vector<float> distances(count * k);
        std::vector<std::int32_t> indices(count * k);
        const Result<void> done = ask(model_, queries, {.lists = {distances.data(), indices.data()}}, options);
        if (!done) return done.error();
        return Neighbours{queries.count, model_->problem.k, std::move(distances), std::move(indices)};
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
                                      const Options& options, const PlanOptions& planning) const {
    return guarded([&]() -> Result<KnnPlan> {
        const std::int64_t dims = present(model_)->problem.dims;
        return plan_predict({nullptr, queries, dims, layout}, results, options, planning);
    });
}

Result<KnnPlan> KnnBase::plan_predict(const Items& queries, const PlannedResults& results, const Options& options,
                                      const PlanOptions& planning) const {
    return guarded([&]() -> Result<KnnPlan> {
        const KnnModel& model = *present(model_);
        if (auto error = invalid_queries(model, queries)) return *error;
        if (!results.predictions && !results.distances && !results.indices)
            return invalid("the plan has no results: ask for predictions, distances or indices");
        if (results.predictions && !model.is_labelled)
            return invalid("the model has no labels to predict: set PlannedResults::predictions to false");
        if (auto error = invalid_lists(results.layout, results.stride, queries.count, model.problem.k)) return *error;
        KnnCall call{.problem = problem_of(model, queries.count),
                     .model = model_,
                     .given = queries,
                     .predicts = results.predictions,
                     .lists_distances = results.distances,
                     .lists_indices = results.indices,
                     .list_layout = results.layout,
                     .list_stride = results.stride};
        return plan_call<KnnPlan>(model_->device, std::move(call), options, planning);
    });
}

std::shared_ptr<const KnnModel> KnnBase::with_missing_allowed() const noexcept {
    if (!model_) return nullptr;
    return {model_, model_->allowing_missing};
}

namespace {

/// Says what is wrong with the lists of a run of a plan that has some.
std::optional<Error> other_lists(const NeighbourLists& lists, const KnnCall& call) {
    if (!call.lists_distances && !call.lists_indices) return std::nullopt;
    if (lists.layout != call.list_layout)
        return invalid("the layout of the neighbours is not the one that the plan is for: make another plan for it");
    const std::int64_t row = call.list_layout == MatrixLayout::row_major ? call.problem.k : call.problem.queries;
    return other_sizes({{"the stride of the neighbours", lists.stride == 0 ? row : lists.stride,
                         call.list_stride == 0 ? row : call.list_stride}});
}

Result<void> run_plan(const PlanState* state, std::optional<Task> task, const Items& queries, const Wanted& wanted,
                      Stream stream, std::span<std::byte> workspace) {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<KnnCall>(state);
        const KnnCall& call = planned.call;
        if (!task && call.predicts) return invalid("the plan has predictions: give the run an array for them");
        if (task && call.problem.task != *task)
            return invalid(std::string("the plan is for a ") + (task == Task::classification
                                                                    ? "regression: its results are numbers"
                                                                    : "classification: its results are classes"));
        if (auto error = other_items(queries, "queries", call.given)) return *error;
        if (auto error = other_lists(wanted.lists, call)) return *error;
        return run_planned(planned, pointers(queries, wanted), stream, workspace);
    });
}

}  // namespace

Result<void> KnnPlan::run(const Items& queries, std::int32_t* classes, const NeighbourLists& neighbours, Stream stream,
                          std::span<std::byte> workspace) const {
    return run_plan(state(), Task::classification, queries, {classes, neighbours}, stream, workspace);
}

Result<void> KnnPlan::run(const Items& queries, float* targets, const NeighbourLists& neighbours, Stream stream,
                          std::span<std::byte> workspace) const {
    return run_plan(state(), Task::regression, queries, {targets, neighbours}, stream, workspace);
}

Result<void> KnnPlan::run(const Items& queries, const NeighbourLists& neighbours, Stream stream,
                          std::span<std::byte> workspace) const {
    return run_plan(state(), std::nullopt, queries, {.lists = neighbours}, stream, workspace);
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

}  // namespace espalier::inline v1
