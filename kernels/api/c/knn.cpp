#include <variant>

#include "espalier/c/neighbours.h"
#include "kernels/api/c/call.hpp"
#include "kernels/api/c/radius_lists.hpp"

using namespace espalier;
using c::call;

struct espalier_model {
    std::variant<KnnClassifier, KnnRegressor, NearestNeighbours> model;
};

namespace {

template <class Model, class Label>
Result<void> fit(const espalier_device* device, const espalier_items* points, const Label* labels, const char* name,
                 const espalier_neighbour_rule* rule, const espalier_options* options, espalier_model** to) {
    c::take_place(to, "model");
    const Items items = c::items_of(points, "points");
    if (auto error = null_array(labels, name, items.count)) return *error;
    return c::give_model(Model::fit(c::device_of(device), items, c::span_of(labels, {{"points.count", items.count}}),
                                    c::neighbour_rule(rule), c::options_of(options)),
                         to);
}

template <class Model>
Result<void> load(const espalier_device* device, const char* path, const espalier_options* options,
                  espalier_model** to) {
    c::take_place(to, "model");
    return c::give_model(Model::load(c::device_of(device), &c::present(path, "path"), c::options_of(options)), to);
}

template <class Model>
const Model& model_as(const espalier_model* model, const char* maker) {
    if (const auto* own = std::get_if<Model>(&c::present(model, "model").model)) return *own;
    throw InvalidCall("the model is of another kind: this function takes one of " + std::string(maker));
}

template <class Model, class Label>
Result<void> predict(const espalier_model* model, const char* maker, const espalier_items* queries, Label* labels,
                     const espalier_neighbours* neighbours, const espalier_options* options) {
    return model_as<Model>(model, maker)
        .predict(c::items_of(queries, "queries"), labels, c::neighbour_lists(neighbours), c::options_of(options));
}

template <class Label>
Result<void> run(const espalier_plan* plan, const espalier_items* queries, Label* labels,
                 const espalier_neighbours* neighbours, void* stream, std::span<std::byte> workspace) {
    const auto& planned = c::plan_of<KnnPlan>(plan, "espalier_plan_predict()");
    const Items items = c::items_of(queries, "queries");
    return planned.run(items, labels, c::neighbour_lists(neighbours), c::stream_of(stream), workspace);
}

constexpr const char* kClassifier = "espalier_fit_classifier()";
constexpr const char* kRegressor = "espalier_fit_regressor()";
constexpr const char* kNeighbours = "espalier_fit_neighbours()";

}  // namespace

espalier_status espalier_fit_classifier(const espalier_device* device, const espalier_items* points,
                                        const std::int32_t* classes, const espalier_neighbour_rule* rule,
                                        const espalier_options* options, espalier_model** model) noexcept {
    return call([&] { return fit<KnnClassifier>(device, points, classes, "classes", rule, options, model); });
}

espalier_status espalier_fit_regressor(const espalier_device* device, const espalier_items* points,
                                       const float* targets, const espalier_neighbour_rule* rule,
                                       const espalier_options* options, espalier_model** model) noexcept {
    return call([&] { return fit<KnnRegressor>(device, points, targets, "targets", rule, options, model); });
}

espalier_status espalier_fit_neighbours(const espalier_device* device, const espalier_items* points,
                                        const espalier_neighbour_rule* rule, const espalier_options* options,
                                        espalier_model** model) noexcept {
    return call([&] {
        c::take_place(model, "model");
        return c::give_model(NearestNeighbours::fit(c::device_of(device), c::items_of(points, "points"),
                                                    c::neighbour_rule(rule), c::options_of(options)),
                             model);
    });
}

espalier_status espalier_model_allowing_missing(const espalier_model* model, espalier_model** other) noexcept {
    return call([&] {
        c::take_place(other, "other");
        std::visit([&](const auto& own) { *other = new espalier_model{own.allowing_missing()}; },
                   c::present(model, "model").model);
    });
}

espalier_status espalier_model_save(const espalier_model* model, const char* path) noexcept {
    return call([&] { return c::base_of<KnnBase>(model).save(&c::present(path, "path")); });
}

espalier_status espalier_load_classifier(const espalier_device* device, const char* path,
                                         const espalier_options* options, espalier_model** model) noexcept {
    return call([&] { return load<KnnClassifier>(device, path, options, model); });
}
espalier_status espalier_load_regressor(const espalier_device* device, const char* path,
                                        const espalier_options* options, espalier_model** model) noexcept {
    return call([&] { return load<KnnRegressor>(device, path, options, model); });
}
espalier_status espalier_load_neighbours(const espalier_device* device, const char* path,
                                         const espalier_options* options, espalier_model** model) noexcept {
    return call([&] { return load<NearestNeighbours>(device, path, options, model); });
}

espalier_status espalier_predict_classes(const espalier_model* model, const espalier_items* queries,
                                         std::int32_t* classes, const espalier_neighbours* neighbours,
                                         const espalier_options* options) noexcept {
    return call([&] { return predict<KnnClassifier>(model, kClassifier, queries, classes, neighbours, options); });
}

espalier_status espalier_predict_targets(const espalier_model* model, const espalier_items* queries, float* targets,
                                         const espalier_neighbours* neighbours,
                                         const espalier_options* options) noexcept {
    return call([&] { return predict<KnnRegressor>(model, kRegressor, queries, targets, neighbours, options); });
}

espalier_status espalier_kneighbors(const espalier_model* model, const espalier_items* queries,
                                    const espalier_neighbours* neighbours, const espalier_options* options) noexcept {
    return call([&] {
        const NeighbourLists lists = c::neighbour_lists(&c::present(neighbours, "neighbours"));
        return c::base_of<KnnBase>(model).kneighbors(c::items_of(queries, "queries"), lists, c::options_of(options));
    });
}

espalier_status espalier_radius_neighbours(const espalier_model* model, const espalier_items* queries, float radius,
                                           std::int64_t most, const espalier_options* options,
                                           espalier_radius_lists** lists) noexcept {
    return call([&]() -> Result<void> {
        c::take_place(lists, "lists");
        Radius within(radius);
        if (most != 0) within.most = most;
        auto found = model_as<NearestNeighbours>(model, kNeighbours)
                         .radius_neighbours(c::items_of(queries, "queries"), within, c::options_of(options));
        if (!found) return found.error();
        RadiusNeighbours all = std::move(found).value();
        *lists =
            new espalier_radius_lists{std::move(all.offsets), std::move(all.indices), std::move(all.distances), {}};
        return {};
    });
}

espalier_status espalier_plan_predict(const espalier_model* model, const espalier_items* queries,
                                      std::int32_t predictions, std::int32_t distances, std::int32_t indices,
                                      std::int64_t stride, std::int32_t layout, const espalier_options* options,
                                      espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        const PlannedResults results{predictions != 0, distances != 0, indices != 0, c::matrix_layout(layout, "layout"),
                                     stride};
        return c::give_plan(
            c::base_of<KnnBase>(model).plan_predict(c::items_of(queries, "queries"), results, c::options_of(options),
                                                    c::plan_options_of(options)),
            plan);
    });
}

espalier_status espalier_predict_classes_run(const espalier_plan* plan, const espalier_items* queries,
                                             std::int32_t* classes, const espalier_neighbours* neighbours, void* stream,
                                             void* workspace, std::size_t workspace_bytes) noexcept {
    return call(
        [&] { return run(plan, queries, classes, neighbours, stream, c::workspace_of(workspace, workspace_bytes)); });
}

espalier_status espalier_predict_targets_run(const espalier_plan* plan, const espalier_items* queries, float* targets,
                                             const espalier_neighbours* neighbours, void* stream, void* workspace,
                                             std::size_t workspace_bytes) noexcept {
    return call(
        [&] { return run(plan, queries, targets, neighbours, stream, c::workspace_of(workspace, workspace_bytes)); });
}

espalier_status espalier_kneighbors_run(const espalier_plan* plan, const espalier_items* queries,
                                        const espalier_neighbours* neighbours, void* stream, void* workspace,
                                        std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<KnnPlan>(plan, "espalier_plan_predict()");
        const NeighbourLists lists = c::neighbour_lists(&c::present(neighbours, "neighbours"));
        return planned.run(c::items_of(queries, "queries"), lists, c::stream_of(stream),
                           c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_predict(const espalier_model* model, std::int64_t queries,
                                         const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(c::base_of<KnnBase>(model).explain_predict(queries, c::options_of(options)), text);
    });
}

void espalier_model_free(espalier_model* model) noexcept { delete model; }
