#include <variant>
#include <vector>

#include "espalier/c/sharded.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

struct espalier_sharded_model {
    std::variant<ShardedKnnClassifier, ShardedKnnRegressor, ShardedNearestNeighbours> model;
};

namespace {

std::vector<Device> devices_of(const espalier_device* const* devices, std::int64_t count) {
    c::check_array(devices, "devices", c::count_of({{"device_count", count}}));
    std::vector<Device> all;
    for (std::int64_t d = 0; d < count; ++d) all.push_back(c::device_of(devices[d]));
    return all;
}

template <class Model, class Label>
Result<void> predict(const espalier_sharded_model* model, const char* name, const espalier_items* queries,
                     Label* results, const espalier_options* options) {
    const auto* const own = std::get_if<Model>(&c::present(model, "model").model);
    if (!own) throw InvalidCall(std::string("the model has no ") + name + ": fit one with them");
    const Items items = c::items_of(queries, "queries");
    c::check_array(results, name, items.count);
    return c::copied(own->predict(items, c::options_of(options)), results);
}

}  // namespace

espalier_status espalier_sharded_fit(const espalier_device* const* devices, std::int64_t device_count,
                                     const espalier_items* points, const std::int32_t* classes, const float* targets,
                                     const espalier_neighbour_rule* rule, std::size_t bytes_per_device,
                                     const espalier_options* options, espalier_sharded_model** model) noexcept {
    return call([&]() -> Result<void> {
        c::take_place(model, "model");
        if (classes && targets) throw InvalidCall("there are classes and targets: a model has one of them");
        const std::vector<Device> all = devices_of(devices, device_count);
        const Items items = c::items_of(points, "points");
        const NeighbourRule asked = c::neighbour_rule(rule);
        const ShardOptions shards{bytes_per_device};
        const Options how = c::options_of(options);
        if (classes)
            return c::give_model(
                ShardedKnnClassifier::fit(all, items, c::span_of(classes, {{"points.count", items.count}}), asked,
                                          shards, how),
                model);
        if (targets)
            return c::give_model(
                ShardedKnnRegressor::fit(all, items, c::span_of(targets, {{"points.count", items.count}}), asked,
                                         shards, how),
                model);
        return c::give_model(ShardedNearestNeighbours::fit(all, items, asked, shards, how), model);
    });
}

espalier_status espalier_sharded_counts(const espalier_sharded_model* model, std::int64_t* shards,
                                        std::int64_t* resident) noexcept {
    return call([&] {
        c::present(shards, "shards") = c::base_of<ShardedKnnBase>(model).shard_count();
        c::present(resident, "resident") = c::base_of<ShardedKnnBase>(model).resident_count();
    });
}

espalier_status espalier_sharded_kneighbors(const espalier_sharded_model* model, const espalier_items* queries,
                                            const espalier_neighbours* neighbours,
                                            const espalier_options* options) noexcept {
    return call([&] {
        return c::base_of<ShardedKnnBase>(model).kneighbors(c::items_of(queries, "queries"),
                                                            c::neighbour_lists(&c::present(neighbours, "neighbours")),
                                                            c::options_of(options));
    });
}

espalier_status espalier_sharded_predict_classes(const espalier_sharded_model* model, const espalier_items* queries,
                                                 std::int32_t* classes, const espalier_options* options) noexcept {
    return call([&] { return predict<ShardedKnnClassifier>(model, "classes", queries, classes, options); });
}

espalier_status espalier_sharded_predict_targets(const espalier_sharded_model* model, const espalier_items* queries,
                                                 float* targets, const espalier_options* options) noexcept {
    return call([&] { return predict<ShardedKnnRegressor>(model, "targets", queries, targets, options); });
}

void espalier_sharded_model_free(espalier_sharded_model* model) noexcept { delete model; }
