#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/api/items.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/api/planned.hpp"
#include "kernels/dispatch/refusal.hpp"

namespace espalier::inline v1 {
namespace {

using knn::Problem;

/// The points in the memory of their device, attribute-major.
Resident<float> resident(const DeviceState& state, const Items& points, const Options& options) {
    if (options.memory == Memory::host) {
        AttributeMajor ordered(points);
        const float* const values = ordered.values();
        if (auto copy = std::move(ordered).take_copy(); !copy.empty())
            return {state, std::move(copy), value_count(points)};
        return {state, values, value_count(points)};
    }
    const Transport transport{&state, options.memory};
    ArraySpec spec = items_of("points.values", points);
    spec.any_address = true;  // what lies as the variants read it is copied from where it is
    const std::array specs{spec};
    Pointers<1> at{const_cast<float*>(points.values)};
    const CallMemory memory(transport, copies_bytes(transport, specs, at), options.stream);
    bring_in(transport, specs, at, memory.span().data(), options.stream);
    return {state, static_cast<const float*>(at[0]), value_count(points), options};
}

std::shared_ptr<TrainingSet> training_set(const DeviceState& state, Resident<float> points, const NeighbourRule& rule) {
    auto set = std::make_shared<TrainingSet>();
    if (rule.distance.metric == Metric::mixed_euclidean) {
        set->types.assign(rule.distance.types.begin(), rule.distance.types.end());
        set->device_types = {state, set->types.data(), static_cast<std::int64_t>(set->types.size())};
    }
    set->points = std::move(points);
    return set;
}

Problem problem_of(const Items& points, const NeighbourRule& rule, Task task) {
    return {.queries = 0,
            .points = points.count,
            .dims = points.dims,
            .k = rule.k,
            .classes = 1,
            .metric = rule.distance.metric,
            .missing = rule.distance.missing,
            .vote = rule.vote,
            .task = task};
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

KnnModel classifier_of(const Device& device, const Items& points, Resident<float> values,
                       std::span<const std::int32_t> classes, const NeighbourRule& rule) {
    const auto training = training_set(state_of(device), std::move(values), rule);
    training->classes = {state_of(device), classes.data(), points.count};
    KnnModel model{device, problem_of(points, rule, Task::classification), training};
    if (!classes.empty()) model.problem.classes = std::int64_t{*std::ranges::max_element(classes)} + 1;
    return model;
}

KnnModel regressor_of(const Device& device, const Items& points, Resident<float> values, std::span<const float> targets,
                      const NeighbourRule& rule, const Options& options) {
    const auto training = training_set(state_of(device), std::move(values), rule);
    training->targets = {state_of(device), targets.data(), points.count, options};
    return {device, problem_of(points, rule, Task::regression), training};
}

}  // namespace

KnnModel unlabelled(const Device& device, const Items& points, const NeighbourRule& rule,
                    std::shared_ptr<const TrainingSet> training) {
    return {device, problem_of(points, rule, Task::classification), std::move(training), /*is_labelled=*/false};
}

std::optional<Error> invalid_fit(const Device& device, const Items& points, std::size_t labels, const char* name,
                                 const NeighbourRule& rule, const Options& options) {
    if (auto error = invalid_options(state_of(device), options)) return error;
    if (auto refused = refused_k(rule.k)) return invalid(std::move(*refused));
    if (!is_enumerator(rule.vote, Vote::distance_weighted))
        return invalid("vote is none of the enumerators of espalier::Vote");
    if (auto error = invalid_comparison({nullptr, 0, points.dims}, points, rule.distance)) return error;
    if (auto refused = refused_count("points.count", points.count)) return invalid(std::move(*refused));
    if (static_cast<std::int64_t>(labels) != points.count)
        return invalid("there are " + std::to_string(points.count) + " points, but " + std::to_string(labels) + " " +
                       name);
    const std::array specs{items_of("points.values", points)};
    const Pointers<1> pointers{const_cast<float*>(points.values)};
    return wrong_arrays({&state_of(device), options.memory}, specs, pointers, {});
}

Result<std::shared_ptr<const KnnModel>> fit_owned(const Device& device, OwnedItems points,
                                                  std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                  const Options& options) {
    const Items items = points.items();
    if (auto error = invalid_fit(device, items, classes.size(), "classes", rule, options)) return *error;
    if (auto error = invalid_classes(classes)) return *error;
    const CurrentDevice current(state_of(device));
    Resident<float> values(state_of(device), std::move(points.values), value_count(items));
    return shared_model(classifier_of(device, items, std::move(values), classes, rule));
}

Result<std::shared_ptr<const KnnModel>> fit_owned(const Device& device, OwnedItems points,
                                                  std::span<const float> targets, const NeighbourRule& rule,
                                                  const Options& options) {
    const Items items = points.items();
    if (auto error = invalid_fit(device, items, targets.size(), "targets", rule, options)) return *error;
    const CurrentDevice current(state_of(device));
    Resident<float> values(state_of(device), std::move(points.values), value_count(items));
    return shared_model(regressor_of(device, items, std::move(values), targets, rule, options));
}

std::optional<Error> invalid_classes(std::span<const std::int32_t> classes) {
    constexpr auto kReserved = std::numeric_limits<std::int32_t>::max();
    const auto wrong = std::ranges::find_if(classes, [](std::int32_t c) { return c < 0 || c == kReserved; });
    if (wrong == classes.end()) return std::nullopt;
    return invalid("the class of point " + std::to_string(wrong - classes.begin()) + " is " + std::to_string(*wrong) +
                   ": classes go from 0 to " + std::to_string(kReserved - 1));
}

Result<KnnClassifier> KnnClassifier::fit(const Device& device, const Items& points,
                                         std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                         const Options& options) {
    return guarded([&]() -> Result<KnnClassifier> {
        if (auto error = invalid_fit(device, points, classes.size(), "classes", rule, options)) return *error;
        const CurrentDevice current(state_of(device));
        const HostThreads threads(state_of(device), options);
        const std::vector<std::int32_t> checked = labels_on_host(device, classes, options);
        if (auto error = invalid_classes(checked)) return *error;
        Resident<float> values = resident(state_of(device), points, options);
        return KnnClassifier(shared_model(classifier_of(device, points, std::move(values), checked, rule)));
    });
}

Result<KnnRegressor> KnnRegressor::fit(const Device& device, const Items& points, std::span<const float> targets,
                                       const NeighbourRule& rule, const Options& options) {
    return guarded([&]() -> Result<KnnRegressor> {
        if (auto error = invalid_fit(device, points, targets.size(), "targets", rule, options)) return *error;
        const CurrentDevice current(state_of(device));
        const HostThreads threads(state_of(device), options);
        Resident<float> values = resident(state_of(device), points, options);
        return KnnRegressor(shared_model(regressor_of(device, points, std::move(values), targets, rule, options)));
    });
}

Result<NearestNeighbours> NearestNeighbours::fit(const Device& device, const Items& points, const NeighbourRule& rule,
                                                 const Options& options) {
    return guarded([&]() -> Result<NearestNeighbours> {
        const auto count = static_cast<std::size_t>(std::max<std::int64_t>(points.count, 0));
        if (auto error = invalid_fit(device, points, count, "points", rule, options)) return *error;
        const CurrentDevice current(state_of(device));
        const HostThreads threads(state_of(device), options);
        const auto training = training_set(state_of(device), resident(state_of(device), points, options), rule);
        // Every pipeline ends in a vote: one of a single class.
        const std::vector<std::int32_t> classes(count);
        training->classes = {state_of(device), classes.data(), points.count};
        return NearestNeighbours(shared_model(unlabelled(device, points, rule, training)));
    });
}

}  // namespace espalier::inline v1
