#include <algorithm>
#include <cstddef>
#include <memory>

#include "espalier/espalier.h"
#include "tests/kernels/api/allocation_calls.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {
namespace {

Outcome outcome_of_c(espalier_status status) {
    if (status == ESPALIER_OK) return {};
    return {.error = static_cast<ErrorCode>(status - 1), .told = *espalier_last_error() != '\0'};
}

struct Free {
    void operator()(espalier_device* device) const { espalier_device_free(device); }
    void operator()(espalier_plan* plan) const { espalier_plan_free(plan); }
    void operator()(espalier_model* model) const { espalier_model_free(model); }
    void operator()(espalier_exact_model* model) const { espalier_exact_model_free(model); }
    void operator()(espalier_sharded_model* model) const { espalier_sharded_model_free(model); }
    void operator()(espalier_radius_lists* lists) const { espalier_radius_lists_free(lists); }
    void operator()(char* text) const { espalier_free_text(text); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;

/// Of a function that gives a handle away: what is given is freed, and of an error nothing may be.
template <class T, class Function>
espalier_status given(Handle<T>& handle, Function function) {
    T* made = nullptr;
    const espalier_status status = function(&made);
    handle.reset(made);
    return (status == ESPALIER_OK) == (made != nullptr) ? status : ESPALIER_ERROR_INTERNAL;
}

struct Arrays {
    std::vector<float> a = std::vector<float>(400, 1), b = std::vector<float>(4000);
    std::vector<std::int32_t> whole = std::vector<std::int32_t>(4000);
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4000, 7), more = std::vector<std::uint8_t>(4000);
    std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(256);
    std::vector<double> doubles = std::vector<double>(400, 1), numbers = std::vector<double>(4000);
    TemporaryFolder folder;
    std::string path = folder / "model";
    alignas(64) std::byte workspace[1 << 16] = {};
};

/// A call that has a device, arrays, and memory for runs of plans.
using Body = espalier_status (*)(const espalier_device*, Arrays&);

espalier_status dot(const espalier_device* cpu, Arrays& use) {
    return espalier_dot_product(cpu, 400, use.a.data(), use.a.data(), use.b.data(), nullptr);
}

espalier_status planned_dot(const espalier_device* cpu, Arrays& use) {
    Handle<espalier_plan> plan;
    if (const auto status = given(plan, [&](auto** to) { return espalier_plan_dot_product(cpu, 400, nullptr, to); }))
        return status;
    Handle<char> text;
    if (const auto status = given(text, [&](auto** to) { return espalier_plan_explain(plan.get(), to); }))
        return status;
    return espalier_dot_product_run(plan.get(), 400, use.a.data(), use.a.data(), use.b.data(), nullptr, use.workspace,
                                    sizeof use.workspace);
}

espalier_status explained(const espalier_device* cpu, Arrays&) {
    Handle<char> text;
    return given(text, [&](auto** to) { return espalier_explain(cpu, "knn", "queries=5", nullptr, to); });
}

espalier_status histogram(const espalier_device* cpu, Arrays& use) {
    return espalier_count_bytes(cpu, 4000, use.bytes.data(), use.counts.data(), nullptr);
}

espalier_status convolution(const espalier_device* cpu, Arrays& use) {
    espalier_image_shape shape{sizeof shape, 60, 50};
    shape.channels = 1;
    for (const int side : {3, 5, 7})
        if (const auto status = espalier_convolve_2d(cpu, &shape, use.a.data(), side, ESPALIER_BORDER_MIRROR,
                                                     use.bytes.data(), use.more.data(), nullptr))
            return status;
    return ESPALIER_OK;
}

espalier_status coherent_sum(const espalier_device* cpu, Arrays& use) {
    const espalier_coherent_sum_shape shape{sizeof shape, 4, 50, 6, 50};
    std::ranges::fill(use.whole, 3);
    if (const auto status = espalier_sum_coherently(cpu, &shape, use.a.data(), use.whole.data(), use.b.data(), nullptr))
        return status;
    return espalier_maximum_coherence(cpu, &shape, use.a.data(), use.whole.data(), use.b.data(),
                                      use.whole.data() + 1000, nullptr);
}

espalier_status distances(const espalier_device* cpu, Arrays& use) {
    const espalier_items queries{sizeof queries, use.a.data(), 20, 4}, points{sizeof points, use.a.data(), 100, 4};
    const espalier_selection_shape shape{sizeof shape, 20, 100, 5};
    if (const auto status =
            espalier_pairwise_distances(cpu, &queries, &points, nullptr, use.b.data(), 0, ESPALIER_ROW_MAJOR, nullptr))
        return status;
    return espalier_select_smallest_k(cpu, &shape, use.b.data(), use.b.data() + 2000, use.whole.data(), nullptr);
}

espalier_status neighbours(const espalier_device* cpu, Arrays& use) {
    const espalier_items queries{sizeof queries, use.a.data(), 20, 4}, points{sizeof points, use.a.data(), 100, 4};
    const espalier_neighbour_rule rule{sizeof rule, nullptr, 0, 5};
    const espalier_neighbours lists{sizeof lists, use.b.data(), use.whole.data() + 1000};
    std::ranges::fill(use.whole, 3);
    Handle<espalier_model> model;
    if (const auto status = given(model, [&](auto** to) {
            return espalier_fit_classifier(cpu, &points, use.whole.data(), &rule, nullptr, to);
        }))
        return status;
    return espalier_predict_classes(model.get(), &queries, use.whole.data() + 2000, &lists, nullptr);
}

espalier_status planned_neighbours(const espalier_device* cpu, Arrays& use) {
    const espalier_items items{sizeof items, use.a.data(), 20, 4};
    const espalier_neighbour_rule rule{sizeof rule, nullptr, 0, 5};
    Handle<espalier_model> model;
    Handle<espalier_plan> plan;
    if (const auto status = given(
            model, [&](auto** to) { return espalier_fit_regressor(cpu, &items, use.a.data(), &rule, nullptr, to); }))
        return status;
    return given(plan,
                 [&](auto** to) { return espalier_plan_predict(model.get(), &items, 1, 0, 0, 0, 0, nullptr, to); });
}

espalier_status planned_large_filter(const espalier_device* cpu, Arrays& use) {
    espalier_image_shape shape{sizeof shape, 60, 50};
    shape.channels = 1;
    Handle<espalier_plan> plan;
    if (const auto status = given(plan, [&](auto** to) {
            return espalier_plan_convolve_2d(cpu, &shape, use.a.data(), 7, ESPALIER_BORDER_ZERO, nullptr, to);
        }))
        return status;
    return espalier_convolve_2d_run(plan.get(), &shape, use.bytes.data(), use.more.data(), nullptr, use.workspace,
                                    sizeof use.workspace);
}

espalier_status traces(const espalier_device* cpu, Arrays& use) {
    const espalier_source_grid grid{sizeof grid, {0, 0, 0}, {1, 1, 1}, 4, 5, 6};
    const espalier_delay_rule rule{sizeof rule, 2};
    const espalier_interpolation_shape shape{sizeof shape, 4, 50, 10, 3};
    if (const auto status =
            espalier_compute_delays(cpu, 10, use.doubles.data(), &grid, &rule, use.whole.data(), nullptr))
        return status;
    Handle<espalier_plan> plan;
    if (const auto status =
            given(plan, [&](auto** to) { return espalier_plan_interpolate_traces(cpu, &shape, nullptr, to); }))
        return status;
    if (const auto status = espalier_interpolate_traces_run(plan.get(), &shape, use.a.data(), use.b.data(), nullptr,
                                                            use.workspace, sizeof use.workspace))
        return status;
    return espalier_interpolate_traces(cpu, &shape, use.a.data(), use.b.data(), nullptr);
}

espalier_status radius_and_files(const espalier_device* cpu, Arrays& use) {
    const espalier_items items{sizeof items, use.a.data(), 20, 4};
    const espalier_neighbour_rule rule{sizeof rule, nullptr, 0, 5};
    Handle<espalier_model> model, missing, again;
    Handle<espalier_radius_lists> lists;
    if (const auto status =
            given(model, [&](auto** to) { return espalier_fit_neighbours(cpu, &items, &rule, nullptr, to); }))
        return status;
    if (const auto status = espalier_model_save(model.get(), use.path.c_str())) return status;
    if (const auto status =
            given(again, [&](auto** to) { return espalier_load_neighbours(cpu, use.path.c_str(), nullptr, to); }))
        return status;
    if (const auto status = given(missing, [&](auto** to) { return espalier_model_allowing_missing(again.get(), to); }))
        return status;
    return given(lists,
                 [&](auto** to) { return espalier_radius_neighbours(missing.get(), &items, 2, 0, nullptr, to); });
}

espalier_status shards(const espalier_device* cpu, Arrays& use) {
    const espalier_items items{sizeof items, use.a.data(), 20, 4};
    const espalier_neighbour_rule rule{sizeof rule, nullptr, 0, 5};
    Handle<espalier_sharded_model> model;
    if (const auto status = given(model, [&](auto** to) {
            return espalier_sharded_fit(&cpu, 1, &items, nullptr, use.b.data(), &rule, 1 << 10, nullptr, to);
        }))
        return status;
    return espalier_sharded_predict_targets(model.get(), &items, use.b.data() + 1000, nullptr);
}

espalier_status exact(const espalier_device* cpu, Arrays& use) {
    const espalier_exact_items items{sizeof items, use.doubles.data(), 20, 4};
    const espalier_neighbour_rule rule{sizeof rule, nullptr, 0, 5};
    const double weights[4] = {1, 2, 0, 1};
    const espalier_exact_distance distance{sizeof distance, weights, 4};
    const espalier_exact_neighbours lists{sizeof lists, use.numbers.data(), use.whole.data() + 1000};
    std::ranges::fill(use.whole, 3);
    Handle<espalier_exact_model> model, again;
    if (const auto status = given(model, [&](auto** to) {
            return espalier_exact_fit_classifier(cpu, &items, use.whole.data(), &rule, &distance, nullptr, to);
        }))
        return status;
    if (const auto status = espalier_exact_model_save(model.get(), use.path.c_str())) return status;
    if (const auto status =
            given(again, [&](auto** to) { return espalier_exact_load_classifier(cpu, use.path.c_str(), nullptr, to); }))
        return status;
    if (const auto status =
            espalier_exact_predict_classes(again.get(), &items, use.whole.data() + 2000, &lists, nullptr))
        return status;
    if (const auto status = espalier_exact_predict_classes_within(again.get(), &items, 1, use.whole.data(), nullptr))
        return status;
    return espalier_exact_predict_shares(again.get(), &items, 4, use.numbers.data(), nullptr);
}

espalier_status exact_regression(const espalier_device* cpu, Arrays& use) {
    const espalier_exact_items items{sizeof items, use.doubles.data(), 20, 4};
    const espalier_neighbour_rule rule{sizeof rule, nullptr, 0, 5};
    const espalier_exact_neighbours lists{sizeof lists, use.numbers.data(), use.whole.data()};
    Handle<espalier_exact_model> model;
    Handle<espalier_radius_lists> within;
    Handle<char> text;
    if (const auto status = given(model, [&](auto** to) {
            return espalier_exact_fit_regressor(cpu, &items, use.doubles.data(), &rule, nullptr, nullptr, to);
        }))
        return status;
    if (const auto status =
            espalier_exact_predict_targets(model.get(), &items, use.numbers.data() + 1000, nullptr, nullptr))
        return status;
    if (const auto status = espalier_exact_kneighbors(model.get(), &items, &lists, nullptr)) return status;
    if (const auto status =
            given(text, [&](auto** to) { return espalier_exact_explain_predict(model.get(), 20, 0, nullptr, to); }))
        return status;
    return given(within,
                 [&](auto** to) { return espalier_exact_radius_neighbours(model.get(), &items, 1, nullptr, to); });
}

espalier_status devices(const espalier_device*, Arrays&) {
    Handle<espalier_device> best;
    return given(best, [](auto** to) { return espalier_device_best(to); });
}

espalier_status refused(const espalier_device* cpu, Arrays& use) {
    const espalier_options options{sizeof options, nullptr, "a variant of a name that needs memory to be told of"};
    return espalier_dot_product(cpu, 400, use.a.data(), use.a.data(), use.b.data(), &options);
}

espalier_status overlapping(const espalier_device* cpu, Arrays& use) {
    const espalier_items items{sizeof items, use.a.data(), 20, 4, 3};  // of 4 numbers, 3 apart
    return espalier_pairwise_distances(cpu, &items, &items, nullptr, use.b.data(), 0, ESPALIER_ROW_MAJOR, nullptr);
}

NamedCall call_of(const char* name, Body body, bool succeeds = true) {
    const auto prepare = [body]() -> Call {
        return [body, use = std::make_shared<Arrays>()] {
            Handle<espalier_device> cpu;
            const auto status = given(cpu, [](auto** to) { return espalier_device_cpu(to); });
            return outcome_of_c(status ? status : body(cpu.get(), *use));
        };
    };
    return {name, prepare, succeeds};
}

}  // namespace

std::vector<NamedCall> calls_of_c() {
    return {call_of("dot", dot),
            call_of("planned_dot", planned_dot),
            call_of("explained", explained),
            call_of("histogram", histogram),
            call_of("convolution", convolution),
            call_of("coherent_sum", coherent_sum),
            call_of("distances", distances),
            call_of("neighbours", neighbours),
            call_of("planned_neighbours", planned_neighbours),
            call_of("planned_large_filter", planned_large_filter),
            call_of("traces", traces),
            call_of("radius_and_files", radius_and_files),
            call_of("shards", shards),
            call_of("exact", exact),
            call_of("exact_regression", exact_regression),
            call_of("devices", devices),
            call_of("refused", refused, false),
            call_of("overlapping", overlapping, false)};
}

}  // namespace espalier
