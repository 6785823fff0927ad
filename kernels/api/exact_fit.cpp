#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "espalier/exact_knn.hpp"
#include "kernels/api/arrays.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/api/exact_ask.hpp"
#include "kernels/api/exact_model.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/items.hpp"
#include "kernels/dispatch/refusal.hpp"

namespace espalier::inline v1 {
namespace {

/// Beside the k nearest: so many more are listed by the device, in whose order they may be elsewhere.
std::int64_t candidates_for(std::int64_t k, std::int64_t rows) {
    return std::max<std::int64_t>(1, std::min({2 * k + 16, rows, kMaxSmallestK}));
}

std::optional<Error> invalid_rule(const ItemsOfDoubles& points, const NeighbourRule& rule,
                                  const ExactDistance& distance) {
    if (rule.k < 1) return invalid("k is " + std::to_string(rule.k) + ": it must be 1 or more");
    if (rule.vote != Vote::majority && rule.vote != Vote::distance_weighted)
        return invalid("vote is none of the enumerators of espalier::Vote");
    DistanceRule checked = rule.distance;
    if (distance.metric != ExactMetric::of_rule) checked = {.missing = rule.distance.missing};
    if (auto error = invalid_comparison({nullptr, 0, points.dims}, shape_of(points), checked)) return error;
    if (auto refused = exact::invalid_distance(distance, points.dims)) return invalid(std::move(*refused));
    if (auto refused = refused_count("points.count", points.count)) return invalid(std::move(*refused));
    return std::nullopt;
}

std::optional<Error> invalid_fit(const Device& device, const ItemsOfDoubles& points, std::span<const std::byte> labels,
                                 std::size_t label_bytes, const char* name, const NeighbourRule& rule,
                                 const ExactDistance& distance, const Options& options) {
    if (auto error = not_on_host(options)) return error;
    if (auto error = invalid_rule(points, rule, distance)) return error;
    if (static_cast<std::int64_t>(labels.size() / label_bytes) != points.count)
        return invalid("there are " + std::to_string(points.count) + " points, but " +
                       std::to_string(labels.size() / label_bytes) + " " + name);
    const std::array specs{spec_of("points.values", points)};
    const Pointers<1> pointers{const_cast<double*>(points.values)};
    return wrong_arrays({&state_of(device), Memory::host}, specs, pointers, {});
}

/// How candidates are found: cosine as the euclidean distance of items at unit length, hamming as that of nominal
/// attributes, and without looking for NaN where there is none.
NeighbourRule finding_rule(const exact::Table& table, std::vector<AttributeType>& types, const NeighbourRule& rule) {
    using exact::Comparison;
    const Comparison comparison = table.rule().comparison;
    NeighbourRule finding{.k = candidates_for(rule.k, table.points().count), .distance = {}, .vote = rule.vote};
    if (table.points().missing) finding.distance.missing = rule.distance.missing;
    types = table.rule().types;
    if (comparison == Comparison::hamming)
        types.assign(static_cast<std::size_t>(table.points().dims), AttributeType::nominal);
    finding.distance.types = types;
    finding.distance.metric = !types.empty() || comparison == Comparison::mixed_euclidean ? Metric::mixed_euclidean
                              : comparison == Comparison::manhattan                       ? Metric::manhattan
                              : comparison == Comparison::chebyshev                       ? Metric::chebyshev
                                                                                          : Metric::euclidean;
    return finding;
}

/// The labels of the rows that points are kept as, for the device.
template <class To, class Label>
std::vector<To> labels_of_rows(const exact::Table& table, std::span<const Label> labels) {
    std::vector<To> kept(static_cast<std::size_t>(table.points().count));
    for (std::size_t row = 0; row < kept.size(); ++row)
        kept[row] =
            static_cast<To>(labels[static_cast<std::size_t>(table.copies().first_of(static_cast<std::int64_t>(row)))]);
    return kept;
}

/// Whether single precision helps: it does not know the distance, or cannot list so many neighbours.
bool finds_on_device(const exact::Table& table, std::int64_t k) {
    return !table.rule().host_only() && std::min(k, table.points().count) <= kMaxSmallestK;
}

template <class Model, class Label>
Result<std::vector<Round>> rounds_for(const Device& device, const exact::Table& table, std::span<const Label> labels,
                                      const NeighbourRule& rule, const Options& options) {
    std::vector<AttributeType> types;
    const NeighbourRule finding = finding_rule(table, types, rule);
    const std::int64_t rows = table.points().count;
    const auto floats = table.floats(table.points());
    const Items items{floats.get(), rows, table.float_dims(), Layout::attribute_major};
    const auto model =
        Model::fit(device, items, labels, finding, {.stream = options.stream, .threads = options.threads});
    if (!model) return model.error();
    const Finder first(model.value());
    std::vector<Round> rounds{{finding.k, first, first.allowing_missing()}};
    if (const std::int64_t more = std::min(rows, kMaxSmallestK); more > finding.k) {
        const Finder second = first.with(more);
        rounds.push_back({more, second, second.allowing_missing()});
    }
    return rounds;
}

template <class Model, class DeviceLabel, class Label>
Result<std::shared_ptr<ExactKnnModel>> fitted(const Device& device, const ItemsOfDoubles& points,
                                              std::span<const Label> labels, const NeighbourRule& rule,
                                              const ExactDistance& distance, const Options& options) {
    const HostThreads threads(state_of(device), options);
    const exact::RowRule row_rule = exact::row_rule(rule.distance, distance, points.dims);
    if (auto refused = exact::invalid_places(row_rule, points, "points")) return invalid(std::move(*refused));
    const auto model = std::make_shared<ExactKnnModel>(
        exact::Table(exact::rows_of(points, row_rule, 0, points.count), row_rule, rule.distance.missing), rule.k,
        rule.vote, device);
    if (!finds_on_device(model->table, rule.k)) return model;
    const std::vector<DeviceLabel> of_rows = labels_of_rows<DeviceLabel>(model->table, labels);
    auto rounds = rounds_for<Model>(device, model->table, std::span<const DeviceLabel>(of_rows), rule, options);
    if (!rounds) return rounds.error();
    model->rounds = std::move(rounds).value();
    return model;
}

}  // namespace

Result<ExactKnnClassifier> ExactKnnClassifier::fit(const Device& device, const ItemsOfDoubles& points,
                                                   std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                   const ExactDistance& distance, const Options& options) {
    return guarded([&]() -> Result<ExactKnnClassifier> {
        if (auto error = invalid_fit(device, points, std::as_bytes(classes), sizeof(classes[0]), "classes", rule,
                                     distance, options))
            return *error;
        if (auto error = invalid_classes(classes)) return *error;
        auto model = fitted<KnnClassifier, std::int32_t>(device, points, classes, rule, distance, options);
        if (!model) return model.error();
        model.value()->classes.assign(classes.begin(), classes.end());
        return ExactKnnClassifier(std::move(model).value());
    });
}

Result<ExactKnnClassifier> ExactKnnClassifier::fit(const Device& device, const ItemsOfDoubles& points,
                                                   std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                   const Options& options) {
    return fit(device, points, classes, rule, ExactDistance{}, options);
}

Result<ExactKnnRegressor> ExactKnnRegressor::fit(const Device& device, const ItemsOfDoubles& points,
                                                 std::span<const double> targets, const NeighbourRule& rule,
                                                 const ExactDistance& distance, const Options& options) {
    return guarded([&]() -> Result<ExactKnnRegressor> {
        if (auto error = invalid_fit(device, points, std::as_bytes(targets), sizeof(targets[0]), "targets", rule,
                                     distance, options))
            return *error;
        auto model = fitted<KnnRegressor, float>(device, points, targets, rule, distance, options);
        if (!model) return model.error();
        model.value()->targets.assign(targets.begin(), targets.end());
        return ExactKnnRegressor(std::move(model).value());
    });
}

Result<ExactKnnRegressor> ExactKnnRegressor::fit(const Device& device, const ItemsOfDoubles& points,
                                                 std::span<const double> targets, const NeighbourRule& rule,
                                                 const Options& options) {
    return fit(device, points, targets, rule, ExactDistance{}, options);
}

Result<ExactNearestNeighbours> ExactNearestNeighbours::fit(const Device& device, const ItemsOfDoubles& points,
                                                           const NeighbourRule& rule, const ExactDistance& distance,
                                                           const Options& options) {
    return guarded([&]() -> Result<ExactNearestNeighbours> {
        const std::vector<float> unread(static_cast<std::size_t>(std::max<std::int64_t>(points.count, 0)));
        if (auto error = invalid_fit(device, points, std::as_bytes(std::span(unread)), sizeof(unread[0]), "points",
                                     rule, distance, options))
            return *error;
        auto model =
            fitted<KnnRegressor, float>(device, points, std::span<const float>(unread), rule, distance, options);
        if (!model) return model.error();
        return ExactNearestNeighbours(std::move(model).value());
    });
}

Result<ExactNearestNeighbours> ExactNearestNeighbours::fit(const Device& device, const ItemsOfDoubles& points,
                                                           const NeighbourRule& rule, const Options& options) {
    return fit(device, points, rule, ExactDistance{}, options);
}

}  // namespace espalier::inline v1
