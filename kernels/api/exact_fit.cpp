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

using model_file::Kind;

namespace {

/// Beside the k nearest: so many more are listed by the device, in whose order they may be elsewhere.
std::int64_t candidates_for(std::int64_t k, std::int64_t rows) {
    return std::max<std::int64_t>(1, std::min({2 * std::min(k, rows) + 16, rows, kMaxSmallestK}));
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

std::optional<Error> invalid_fit(const Device& device, const ItemsOfDoubles& points, std::size_t labels,
                                 const char* name, const NeighbourRule& rule, const ExactDistance& distance,
                                 const Options& options) {
    if (auto error = not_on_host(options)) return error;
    if (auto error = invalid_rule(points, rule, distance)) return error;
    if (static_cast<std::int64_t>(labels) != points.count)
        return invalid("there are " + std::to_string(points.count) + " points, but " + std::to_string(labels) + " " +
                       name);
    const std::array specs{spec_of("points.values", points)};
    const Pointers<1> pointers{const_cast<double*>(points.values)};
    return wrong_arrays({&state_of(device), Memory::host}, specs, pointers, {});
}

/// How candidates are found: cosine as the euclidean distance of items at unit length, hamming as that of nominal
/// attributes, and without looking for NaN where there is none.
NeighbourRule finding_rule(const exact::Table& table, std::vector<AttributeType>& types, const ExactTask& task) {
    using exact::Comparison;
    const Comparison comparison = table.rule().comparison;
    NeighbourRule finding{.k = candidates_for(task.k, table.points().count), .distance = {}, .vote = task.vote};
    if (table.points().missing) finding.distance.missing = task.missing;
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

/// The labels of the rows that points are kept as, for the device; zeros if there are none.
template <class To, class Label>
std::vector<To> labels_of_rows(const exact::Table& table, const std::vector<Label>& labels) {
    std::vector<To> kept(static_cast<std::size_t>(table.points().count));
    if (labels.empty()) return kept;
    for (std::size_t row = 0; row < kept.size(); ++row)
        kept[row] =
            static_cast<To>(labels[static_cast<std::size_t>(table.copies().first_of(static_cast<std::int64_t>(row)))]);
    return kept;
}

/// Whether single precision helps: it does not know the distance, or cannot list so many neighbours.
bool finds_on_device(const exact::Table& table, std::int64_t k) {
    return !table.rule().host_only() && std::min(k, table.points().count) <= kMaxSmallestK;
}

/// `labels`: one for each row.
template <class Label>
Result<std::vector<Round>> rounds_for(const Device& device, const exact::Table& table, const std::vector<Label>& labels,
                                      const ExactTask& task, const Options& options) {
    std::vector<AttributeType> types;
    const NeighbourRule finding = finding_rule(table, types, task);
    const std::int64_t rows = table.points().count;
    auto model = fit_owned(device, {table.floats(table.points()), rows, table.float_dims()}, std::span(labels), finding,
                           {.stream = options.stream, .threads = options.threads});
    if (!model) return model.error();
    const Finder first(std::move(model).value());
    std::vector<Round> rounds{{finding.k, first, first.allowing_missing()}};
    if (const std::int64_t more = std::min(rows, kMaxSmallestK); more > finding.k) {
        const Finder second = first.with(more);
        rounds.push_back({more, second, second.allowing_missing()});
    }
    return rounds;
}

/// Points that are the caller's, or the model's from now on.
struct Points {
    ItemsOfDoubles items;
    OwnedItemsOfDoubles* owned = nullptr;

    [[nodiscard]] exact::Rows rows(const exact::RowRule& rule) const {
        return owned ? exact::rows_of(std::move(*owned), rule) : exact::rows_of(items, rule, 0, items.count);
    }
};

Result<std::shared_ptr<const ExactKnnModel>> fitted(const Device& device, const Points& points,
                                                    const NeighbourRule& rule, const ExactDistance& distance,
                                                    ExactTask task, const Options& options) {
    const HostThreads threads(state_of(device), options);
    const exact::RowRule row_rule = exact::row_rule(rule.distance, distance, points.items.dims);
    if (auto refused = exact::invalid_places(row_rule, points.items, "points")) return invalid(std::move(*refused));
    task.k = rule.k;
    task.vote = rule.vote;
    task.missing = rule.distance.missing;
    return fit_rows(device, points.rows(row_rule), row_rule, std::move(task), options);
}

Result<std::shared_ptr<const ExactKnnModel>> classifier(const Device& device, const Points& points,
                                                        std::span<const std::int32_t> classes,
                                                        const NeighbourRule& rule, const ExactDistance& distance,
                                                        const Options& options) {
    if (auto error = invalid_fit(device, points.items, classes.size(), "classes", rule, distance, options))
        return *error;
    if (auto error = invalid_classes(classes)) return *error;
    ExactTask task{.kind = Kind::exact_classifier, .classes = {classes.begin(), classes.end()}};
    return fitted(device, points, rule, distance, std::move(task), options);
}

Result<std::shared_ptr<const ExactKnnModel>> regressor(const Device& device, const Points& points,
                                                       std::span<const double> targets, const NeighbourRule& rule,
                                                       const ExactDistance& distance, const Options& options) {
    if (auto error = invalid_fit(device, points.items, targets.size(), "targets", rule, distance, options))
        return *error;
    ExactTask task{.kind = Kind::exact_regressor, .targets = {targets.begin(), targets.end()}};
    return fitted(device, points, rule, distance, std::move(task), options);
}

Result<std::shared_ptr<const ExactKnnModel>> neighbours(const Device& device, const Points& points,
                                                        const NeighbourRule& rule, const ExactDistance& distance,
                                                        const Options& options) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(points.items.count, 0));
    if (auto error = invalid_fit(device, points.items, count, "points", rule, distance, options)) return *error;
    return fitted(device, points, rule, distance, {.kind = Kind::exact_neighbours}, options);
}

std::optional<Error> invalid_size(const OwnedItemsOfDoubles& points) {
    const auto given = static_cast<std::int64_t>(points.values.size());
    if (points.dims > 0 ? given % points.dims == 0 && given / points.dims == points.count : given == 0)
        return std::nullopt;
    return invalid("points.values has " + std::to_string(given) + " numbers, which are not " +
                   std::to_string(points.count) + " items of " + std::to_string(points.dims) + " attributes");
}

/// The model of points that are taken over, made by one of the functions above.
template <class Make>
Result<std::shared_ptr<const ExactKnnModel>> of_owned(OwnedItemsOfDoubles& points, Make make) {
    if (auto error = invalid_size(points)) return *error;
    return make(Points{{points.values.data(), points.count, points.dims}, &points});
}

}  // namespace

Result<std::shared_ptr<const ExactKnnModel>> fit_rows(const Device& device, exact::Rows rows,
                                                      const exact::RowRule& rule, ExactTask task,
                                                      const Options& options) {
    const HostThreads threads(state_of(device), options);
    const Missing missing = task.missing;
    const auto model =
        std::make_shared<ExactKnnModel>(std::move(task), exact::Table(std::move(rows), rule, missing), device);
    if (!finds_on_device(model->table, model->k)) return {model};
    const exact::Table& table = model->table;
    if (!device.is_cuda()) model->bytes = exact::ByteRows(table);
    auto rounds = model->kind == Kind::exact_classifier
                      ? rounds_for(device, table, labels_of_rows<std::int32_t>(table, model->classes), *model, options)
                      : rounds_for(device, table, labels_of_rows<float>(table, model->targets), *model, options);
    if (!rounds) return rounds.error();
    model->rounds = std::move(rounds).value();
    return {model};
}

Result<ExactKnnClassifier> ExactKnnClassifier::fit(const Device& device, const ItemsOfDoubles& points,
                                                   std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                   const ExactDistance& distance, const Options& options) {
    return guarded([&]() -> Result<ExactKnnClassifier> {
        auto model = classifier(device, {points}, classes, rule, distance, options);
        if (!model) return model.error();
        return ExactKnnClassifier(std::move(model).value());
    });
}

Result<ExactKnnClassifier> ExactKnnClassifier::fit(const Device& device, const ItemsOfDoubles& points,
                                                   std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                   const Options& options) {
    return fit(device, points, classes, rule, ExactDistance{}, options);
}

Result<ExactKnnClassifier> ExactKnnClassifier::fit(const Device& device, OwnedItemsOfDoubles points,
                                                   std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                   const ExactDistance& distance, const Options& options) {
    return guarded([&]() -> Result<ExactKnnClassifier> {
        auto model = of_owned(
            points, [&](const Points& owned) { return classifier(device, owned, classes, rule, distance, options); });
        if (!model) return model.error();
        return ExactKnnClassifier(std::move(model).value());
    });
}

Result<ExactKnnRegressor> ExactKnnRegressor::fit(const Device& device, const ItemsOfDoubles& points,
                                                 std::span<const double> targets, const NeighbourRule& rule,
                                                 const ExactDistance& distance, const Options& options) {
    return guarded([&]() -> Result<ExactKnnRegressor> {
        auto model = regressor(device, {points}, targets, rule, distance, options);
        if (!model) return model.error();
        return ExactKnnRegressor(std::move(model).value());
    });
}

Result<ExactKnnRegressor> ExactKnnRegressor::fit(const Device& device, const ItemsOfDoubles& points,
                                                 std::span<const double> targets, const NeighbourRule& rule,
                                                 const Options& options) {
    return fit(device, points, targets, rule, ExactDistance{}, options);
}

Result<ExactKnnRegressor> ExactKnnRegressor::fit(const Device& device, OwnedItemsOfDoubles points,
                                                 std::span<const double> targets, const NeighbourRule& rule,
                                                 const ExactDistance& distance, const Options& options) {
    return guarded([&]() -> Result<ExactKnnRegressor> {
        auto model = of_owned(
            points, [&](const Points& owned) { return regressor(device, owned, targets, rule, distance, options); });
        if (!model) return model.error();
        return ExactKnnRegressor(std::move(model).value());
    });
}

Result<ExactNearestNeighbours> ExactNearestNeighbours::fit(const Device& device, const ItemsOfDoubles& points,
                                                           const NeighbourRule& rule, const ExactDistance& distance,
                                                           const Options& options) {
    return guarded([&]() -> Result<ExactNearestNeighbours> {
        auto model = neighbours(device, {points}, rule, distance, options);
        if (!model) return model.error();
        return ExactNearestNeighbours(std::move(model).value());
    });
}

Result<ExactNearestNeighbours> ExactNearestNeighbours::fit(const Device& device, const ItemsOfDoubles& points,
                                                           const NeighbourRule& rule, const Options& options) {
    return fit(device, points, rule, ExactDistance{}, options);
}

Result<ExactNearestNeighbours> ExactNearestNeighbours::fit(const Device& device, OwnedItemsOfDoubles points,
                                                           const NeighbourRule& rule, const ExactDistance& distance,
                                                           const Options& options) {
    return guarded([&]() -> Result<ExactNearestNeighbours> {
        auto model =
            of_owned(points, [&](const Points& owned) { return neighbours(device, owned, rule, distance, options); });
        if (!model) return model.error();
        return ExactNearestNeighbours(std::move(model).value());
    });
}

}  // namespace espalier::inline v1
