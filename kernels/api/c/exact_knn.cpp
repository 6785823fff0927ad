#include <utility>
#include <variant>

#include "espalier/c/exact.h"
#include "kernels/api/c/call.hpp"
#include "kernels/api/c/radius_lists.hpp"

using namespace espalier;
using c::call;

struct espalier_exact_model {
    std::variant<ExactKnnClassifier, ExactKnnRegressor, ExactNearestNeighbours> model;
};

namespace {

ItemsOfDoubles items_of(const espalier_exact_items* given, const char* name) {
    const auto items = c::known(given, name);
    const bool row_major = c::is_row_major(items.layout, (std::string(name) + ".layout").c_str());
    return {items.values, items.count, items.dims, row_major ? Layout::item_major : Layout::attribute_major,
            items.stride};
}

/// Refers to the caller's weights.
ExactDistance distance_of(const espalier_exact_distance* given) {
    if (!given) return {};
    const auto distance = c::known(given, "distance");
    c::check_array(distance.weights, "distance.weights", distance.weight_count);
    if (distance.weights && distance.weight_count == 0)
        throw InvalidCall("distance.weight_count is 0: set it to how many weights there are, or the weights to null");
    return {.metric = c::enumerator(distance.metric, ExactMetric::hamming, "distance.metric", "EXACT_METRIC"),
            .p = distance.p == 0 ? 2 : distance.p,
            .degrees = distance.degrees != 0,
            .weights = c::span_of(distance.weights, {{"distance.weight_count", distance.weight_count}})};
}

ExactNeighbourLists lists_of(const espalier_exact_neighbours* given) {
    if (!given) return {};
    const auto lists = c::known(given, "neighbours");
    return {lists.distances, lists.indices, c::matrix_layout(lists.layout, "neighbours.layout"), lists.stride};
}

template <class Model, class Label>
Result<void> fit(const espalier_device* device, const espalier_exact_items* points, const Label* labels,
                 const char* name, const espalier_neighbour_rule* rule, const espalier_exact_distance* distance,
                 const espalier_options* options, espalier_exact_model** to) {
    c::take_place(to, "model");
    const ItemsOfDoubles items = items_of(points, "points");
    c::check_array(labels, name, items.count);
    return c::give_model(Model::fit(c::device_of(device), items, c::span_of(labels, {{"points.count", items.count}}),
                                    c::neighbour_rule(rule), distance_of(distance), c::options_of(options)),
                         to);
}

template <class Model>
Result<void> load(const espalier_device* device, const char* path, const espalier_options* options,
                  espalier_exact_model** to) {
    c::take_place(to, "model");
    return c::give_model(Model::load(c::device_of(device), &c::present(path, "path"), c::options_of(options)), to);
}

template <class Model>
const Model& model_as(const espalier_exact_model* model, const char* maker) {
    if (const auto* own = std::get_if<Model>(&c::present(model, "model").model)) return *own;
    throw InvalidCall("the model is of another kind: this function takes one of " + std::string(maker));
}
const ExactKnnClassifier& classifier(const espalier_exact_model* model) {
    return model_as<ExactKnnClassifier>(model, "espalier_exact_fit_classifier()");
}
const ExactKnnRegressor& regressor(const espalier_exact_model* model) {
    return model_as<ExactKnnRegressor>(model, "espalier_exact_fit_regressor()");
}

template <class Model, class Label>
Result<void> predict_within(const Model& model, const espalier_exact_items* queries, double radius, Label* labels,
                            const char* name, const espalier_options* options) {
    const ItemsOfDoubles items = items_of(queries, "queries");
    c::check_array(labels, name, items.count);
    return c::copied(model.predict_within(items, radius, c::options_of(options)), labels);
}

}  // namespace

espalier_status espalier_exact_fit_classifier(const espalier_device* device, const espalier_exact_items* points,
                                              const std::int32_t* classes, const espalier_neighbour_rule* rule,
                                              const espalier_exact_distance* distance, const espalier_options* options,
                                              espalier_exact_model** model) noexcept {
    return call(
        [&] { return fit<ExactKnnClassifier>(device, points, classes, "classes", rule, distance, options, model); });
}

espalier_status espalier_exact_fit_regressor(const espalier_device* device, const espalier_exact_items* points,
                                             const double* targets, const espalier_neighbour_rule* rule,
                                             const espalier_exact_distance* distance, const espalier_options* options,
                                             espalier_exact_model** model) noexcept {
    return call(
        [&] { return fit<ExactKnnRegressor>(device, points, targets, "targets", rule, distance, options, model); });
}

espalier_status espalier_exact_fit_neighbours(const espalier_device* device, const espalier_exact_items* points,
                                              const espalier_neighbour_rule* rule,
                                              const espalier_exact_distance* distance, const espalier_options* options,
                                              espalier_exact_model** model) noexcept {
    return call([&] {
        c::take_place(model, "model");
        return c::give_model(
            ExactNearestNeighbours::fit(c::device_of(device), items_of(points, "points"), c::neighbour_rule(rule),
                                        distance_of(distance), c::options_of(options)),
            model);
    });
}

espalier_status espalier_exact_model_save(const espalier_exact_model* model, const char* path) noexcept {
    return call([&] { return c::base_of<ExactKnnBase>(model).save(&c::present(path, "path")); });
}

espalier_status espalier_exact_load_classifier(const espalier_device* device, const char* path,
                                               const espalier_options* options, espalier_exact_model** model) noexcept {
    return call([&] { return load<ExactKnnClassifier>(device, path, options, model); });
}
espalier_status espalier_exact_load_regressor(const espalier_device* device, const char* path,
                                              const espalier_options* options, espalier_exact_model** model) noexcept {
    return call([&] { return load<ExactKnnRegressor>(device, path, options, model); });
}
espalier_status espalier_exact_load_neighbours(const espalier_device* device, const char* path,
                                               const espalier_options* options, espalier_exact_model** model) noexcept {
    return call([&] { return load<ExactNearestNeighbours>(device, path, options, model); });
}

espalier_status espalier_exact_predict_classes(const espalier_exact_model* model, const espalier_exact_items* queries,
                                               std::int32_t* classes, const espalier_exact_neighbours* neighbours,
                                               const espalier_options* options) noexcept {
    return call([&] {
        return classifier(model).predict(items_of(queries, "queries"), classes, lists_of(neighbours),
                                         c::options_of(options));
    });
}

espalier_status espalier_exact_predict_targets(const espalier_exact_model* model, const espalier_exact_items* queries,
                                               double* targets, const espalier_exact_neighbours* neighbours,
                                               const espalier_options* options) noexcept {
    return call([&] {
        return regressor(model).predict(items_of(queries, "queries"), targets, lists_of(neighbours),
                                        c::options_of(options));
    });
}

espalier_status espalier_exact_predict_classes_within(const espalier_exact_model* model,
                                                      const espalier_exact_items* queries, double radius,
                                                      std::int32_t* classes, const espalier_options* options) noexcept {
    return call([&] { return predict_within(classifier(model), queries, radius, classes, "classes", options); });
}

espalier_status espalier_exact_predict_targets_within(const espalier_exact_model* model,
                                                      const espalier_exact_items* queries, double radius,
                                                      double* targets, const espalier_options* options) noexcept {
    return call([&] { return predict_within(regressor(model), queries, radius, targets, "targets", options); });
}

espalier_status espalier_exact_predict_shares(const espalier_exact_model* model, const espalier_exact_items* queries,
                                              std::int64_t class_count, double* shares,
                                              const espalier_options* options) noexcept {
    return call([&]() -> Result<void> {
        const ExactKnnClassifier& own = classifier(model);
        const ItemsOfDoubles items = items_of(queries, "queries");
        if (class_count != own.class_count())
            return invalid("class_count is " + std::to_string(class_count) + ", but the model has " +
                           std::to_string(own.class_count()) + " classes: ask espalier_exact_class_count()");
        c::check_array(shares, "shares", c::count_of({{"queries.count", items.count}, {"class_count", class_count}}));
        return c::copied(own.predict_proba(items, c::options_of(options)), shares);
    });
}

std::int64_t espalier_exact_class_count(const espalier_exact_model* model) noexcept {
    const auto* const own = model ? std::get_if<ExactKnnClassifier>(&model->model) : nullptr;
    return own ? own->class_count() : 0;
}

espalier_status espalier_exact_kneighbors(const espalier_exact_model* model, const espalier_exact_items* queries,
                                          const espalier_exact_neighbours* neighbours,
                                          const espalier_options* options) noexcept {
    return call([&] {
        const ExactNeighbourLists lists = lists_of(&c::present(neighbours, "neighbours"));
        return c::base_of<ExactKnnBase>(model).kneighbors(items_of(queries, "queries"), lists, c::options_of(options));
    });
}

espalier_status espalier_exact_radius_neighbours(const espalier_exact_model* model, const espalier_exact_items* queries,
                                                 double radius, const espalier_options* options,
                                                 espalier_radius_lists** lists) noexcept {
    return call([&]() -> Result<void> {
        c::take_place(lists, "lists");
        auto found = c::base_of<ExactKnnBase>(model).radius_neighbours(items_of(queries, "queries"), radius,
                                                                       c::options_of(options));
        if (!found) return found.error();
        ExactRadiusNeighbours all = std::move(found).value();
        *lists =
            new espalier_radius_lists{std::move(all.offsets), std::move(all.indices), {}, std::move(all.distances)};
        return {};
    });
}

espalier_status espalier_exact_explain_predict(const espalier_exact_model* model, std::int64_t queries,
                                               std::int32_t missing, const espalier_options* options,
                                               char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(
            c::base_of<ExactKnnBase>(model).explain_predict(
                queries, c::options_of(options), c::enumerator(missing, Missing::allowed, "missing", "MISSING")),
            text);
    });
}

std::size_t espalier_exact_predict_bytes(const espalier_exact_model* model, std::int64_t queries) noexcept {
    return model ? c::base_of<ExactKnnBase>(model).predict_bytes(queries) : 0;
}

void espalier_exact_model_free(espalier_exact_model* model) noexcept { delete model; }
