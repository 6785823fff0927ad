// Models of nearest neighbours to files and back.

#include <algorithm>
#include <utility>

#include "espalier/knn.hpp"
#include "kernels/api/knn_file.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/api/planned.hpp"

namespace espalier::inline v1 {
namespace {

using knn_file::Contents;
using knn_file::Kind;
using model_file::guarded_file;

Kind kind_of(const KnnModel& model) {
    if (!model.is_labelled) return Kind::neighbours;
    return model.problem.task == Task::classification ? Kind::classifier : Kind::regressor;
}

Contents contents_of(const KnnModel& model) {
    const knn::Problem& problem = model.problem;
    const TrainingSet& training = *model.training;
    const CurrentDevice current(state_of(model.device));
    return {.kind = kind_of(model),
            .points = problem.points,
            .dims = problem.dims,
            .k = problem.k,
            .metric = problem.metric,
            .missing = problem.missing,
            .vote = problem.vote,
            .types = training.types,
            .values = training.points.on_host(),
            .classes = model.is_labelled ? training.classes.on_host() : std::vector<std::int32_t>{},
            .targets = training.targets.on_host()};
}

/// Fits what a file holds.
template <class Model, class Fit>
Result<Model> loaded(const std::string& path, Kind kind, const Options& options, Fit fit) {
    return guarded_file([&]() -> Result<Model> {
        if (options.memory != Memory::host)
            return invalid("Options::memory is device, but a file is read into host memory: leave it at host");
        const Contents contents = knn_file::read(path, kind);
        const Items points{contents.values.data(), contents.points, contents.dims, Layout::attribute_major};
        NeighbourRule rule{.k = contents.k, .distance = {contents.metric, contents.missing, {}}, .vote = contents.vote};
        rule.distance.types = contents.types;
        return fit(points, contents, rule);
    });
}

}  // namespace

Result<void> KnnBase::save(const std::string& path) const {
    return guarded_file([&]() -> Result<void> {
        knn_file::write(path, contents_of(*present(model_)));
        return {};
    });
}

Result<KnnClassifier> KnnClassifier::load(const Device& device, const std::string& path, const Options& options) {
    return loaded<KnnClassifier>(path, Kind::classifier, options,
                                 [&](const Items& points, const Contents& contents, const NeighbourRule& rule) {
                                     return fit(device, points, contents.classes, rule, options);
                                 });
}

Result<KnnRegressor> KnnRegressor::load(const Device& device, const std::string& path, const Options& options) {
    return loaded<KnnRegressor>(path, Kind::regressor, options,
                                [&](const Items& points, const Contents& contents, const NeighbourRule& rule) {
                                    return fit(device, points, contents.targets, rule, options);
                                });
}

Result<NearestNeighbours> NearestNeighbours::load(const Device& device, const std::string& path,
                                                  const Options& options) {
    return loaded<NearestNeighbours>(path, Kind::neighbours, options,
                                     [&](const Items& points, const Contents&, const NeighbourRule& rule) {
                                         return fit(device, points, rule, options);
                                     });
}

}  // namespace espalier::inline v1
