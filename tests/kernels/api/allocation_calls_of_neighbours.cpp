#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/api/allocation_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {
namespace {

const Names kPipelines{"", "cpu_two_stage", "cpu_fused_avx2", "cpu_fused_avx512"};

void add_classifications(Calls& calls) {
    struct Table {
        std::int64_t points, queries;
        Metric metric;
    };
    // By all forms of the pipelines: blocks of queries, few of them with the points dealt out, and points as they lie.
    for (const auto& [name, table] : {std::pair{"many", Table{300, 400, Metric::euclidean}},
                                      {"few", Table{6000, 40, Metric::euclidean}},
                                      {"handful", Table{6000, 5, Metric::manhattan}}})
        calls.add_each(std::string("classify_") + name, kPipelines, [table = table](const Options& options) {
            return [table, options, points = numbers<float>(table.points * 4),
                    classes = numbers<std::int32_t>(table.points), queries = numbers<float>(table.queries * 4, 7)] {
                const auto model = KnnClassifier::fit(cpu(), {points.data(), table.points, 4}, classes,
                                                      {.k = 3, .distance = {table.metric}});
                if (!model) return made(model);
                return made(model.value().predict({queries.data(), table.queries, 4}, options));
            };
        });
}

/// Fits a model to points that it has from before.
struct Regressor {
    std::vector<float> points = numbers<float>(300 * 4), targets = numbers<float>(300);

    Result<KnnRegressor> operator()() const {
        return KnnRegressor::fit(cpu(), {points.data(), 300, 4}, targets, {.k = 3});
    }
};

void add_regressions(Calls& calls) {
    const Regressor regressor;
    calls.add("regress_and_list", [regressor] {
        return [regressor, queries = numbers<float>(80 * 4, 7), lists = results<float>(240),
                indices = results<std::int32_t>(240), targets = results<float>(80)] {
            const auto model = regressor();
            if (!model) return made(model);
            const Result<void> done =
                model.value().predict({queries.data(), 80, 4}, targets->data(), {lists->data(), indices->data()});
            return written(done, *targets, *lists, *indices);
        };
    });
    calls.add("kneighbors_allowing_missing", [regressor] {
        return [regressor, queries = numbers<float>(80 * 4, 7)] {
            const auto model = regressor();
            if (!model) return made(model);
            return made(model.value().allowing_missing().kneighbors({queries.data(), 80, 4}));
        };
    });
    calls.add("plan_predict", [regressor] {
        return planned(
            [regressor]() -> Result<KnnPlan> {
                const auto model = regressor();
                if (!model) return model.error();
                return model.value().plan_predict(20);
            },
            [queries = numbers<float>(20 * 4, 7), to = results<float>(20)](const KnnPlan& plan, auto room) {
                return written(plan.run({queries.data(), 20, 4}, to->data(), {}, nullptr, room), *to);
            });
    });
    calls.add("radius_neighbours", [] {
        return [points = numbers<float>(300 * 4), queries = numbers<float>(80 * 4, 7)] {
            const auto model = NearestNeighbours::fit(cpu(), {points.data(), 300, 4}, {.k = 3});
            if (!model) return made(model);
            return made(model.value().radius_neighbours({queries.data(), 80, 4}, 5));
        };
    });
    calls.add("sharded", [] {
        return [points = numbers<float>(300 * 4), targets = numbers<float>(300), queries = numbers<float>(80 * 4, 7)] {
            const Device devices[] = {cpu(), cpu()};
            const auto model = ShardedKnnRegressor::fit(devices, {points.data(), 300, 4}, targets, {.k = 3},
                                                        {.bytes_per_device = std::size_t{16} * 40 * 16});
            if (!model) return made(model);
            return made(model.value().predict({queries.data(), 80, 4}));
        };
    });
    calls.add("save_and_load", [regressor] {
        const auto folder = std::make_shared<TemporaryFolder>();
        return [regressor, folder, path = std::string(*folder / "model"), queries = numbers<float>(80 * 4, 7)] {
            const auto model = regressor();
            if (!model) return made(model);
            if (const Result<void> saved = model.value().save(path); !saved) return made(saved);
            const auto again = KnnRegressor::load(cpu(), path);
            if (!again) return made(again);
            return made(again.value().predict({queries.data(), 80, 4}));
        };
    });
    calls.add("explain_predict",
              [regressor] { return [model = regressor().value()] { return made(model.explain_predict(100)); }; });
}

}  // namespace

void add_neighbours(Calls& calls) {
    add_classifications(calls);
    add_regressions(calls);
}

void add_exact_neighbours(Calls& calls) {
    // Equal points beyond the candidates: some queries are decided by a scan.
    const auto rule = [](Metric metric) { return NeighbourRule{.k = 3, .distance = {metric, Missing::allowed}}; };
    calls.add("exact_classify", [rule] {
        return [rule, points = std::vector<double>(200 * 3, 1.5), classes = numbers<std::int32_t>(200),
                queries = numbers<double>(60 * 3, 7)] {
            const auto model =
                ExactKnnClassifier::fit(cpu(), {points.data(), 200, 3}, classes, rule(Metric::euclidean));
            if (!model) return made(model);
            const auto why = model.value().explain_predict(60);
            if (!why) return made(why);
            return made(model.value().predict({queries.data(), 60, 3}));
        };
    });
    calls.add("exact_codes", [] {
        return [types = std::vector<AttributeType>(3, AttributeType::nominal), points = numbers<double>(200 * 3, 5),
                classes = numbers<std::int32_t>(200), queries = numbers<double>(60 * 3, 7)] {
            const NeighbourRule by_type{.k = 3, .distance = {Metric::mixed_euclidean, Missing::allowed, types}};
            const auto model = ExactKnnClassifier::fit(cpu(), {points.data(), 200, 3}, classes, by_type);
            if (!model) return made(model);
            return made(model.value().predict({queries.data(), 60, 3}));
        };
    });
    calls.add("exact_regress", [rule] {
        return [rule, points = numbers<double>(200 * 3), targets = numbers<double>(200),
                queries = numbers<double>(60 * 3, 7)] {
            const auto model = ExactKnnRegressor::fit(cpu(), {points.data(), 200, 3}, targets, rule(Metric::cosine));
            if (!model) return made(model);
            const auto lists = model.value().kneighbors({queries.data(), 60, 3});
            if (!lists) return made(lists);
            return made(model.value().predict({queries.data(), 60, 3}));
        };
    });
    calls.add("exact_save_and_load", [rule] {
        const auto folder = std::make_shared<TemporaryFolder>();
        // Every second point is there twice.
        std::vector<double> points = numbers<double>(100 * 3);
        points.insert(points.end(), points.begin(), points.begin() + 150);
        return [rule, folder, points, path = std::string(*folder / "model"), classes = numbers<std::int32_t>(150),
                queries = numbers<double>(60 * 3, 7), distances = results<double>(180)] {
            const auto model =
                ExactKnnClassifier::fit(cpu(), {points.data(), 150, 3}, classes, rule(Metric::euclidean));
            if (!model) return made(model);
            if (const Result<void> saved = model.value().save(path); !saved) return made(saved);
            const auto again = ExactKnnClassifier::load(cpu(), path);
            if (!again) return made(again);
            return written(again.value().kneighbors({queries.data(), 60, 3}, {distances->data(), nullptr}), *distances);
        };
    });
}

}  // namespace espalier
