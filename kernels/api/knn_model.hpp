#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "espalier/knn.hpp"
#include "kernels/api/checks.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/resident.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/problems/knn.hpp"

namespace espalier::inline v1 {

/// A training set where its device reaches it.
struct TrainingSet {
    std::vector<AttributeType> types;  ///< on the host; the rule's span is not kept
    Resident<AttributeType> device_types;
    Resident<float> points;  ///< attribute-major
    Resident<std::int32_t> classes;
    Resident<float> targets;

    /// The host's copy of a GPU's model, made when a pipeline first runs a stage on the CPU.
    struct OnHost {
        std::once_flag made;
        std::vector<float> points;
        std::vector<std::int32_t> classes;
        std::vector<float> targets;
    };
    mutable OnHost on_host{};
};

/// A training set and what is asked of it.
struct KnnModel {
    Device device;
    knn::Problem problem;  ///< without queries
    std::shared_ptr<const TrainingSet> training;
    bool is_labelled = true;                     ///< else the problem is a classification of one class
    const KnnModel* allowing_missing = nullptr;  ///< lives as long as this one

    [[nodiscard]] DistanceRule rule() const { return {problem.metric, problem.missing, training->types}; }
};

/// The result of a fit: the model, and the one for queries with missing cells, so that handing out that one takes no
/// memory.
struct FittedKnn {
    explicit FittedKnn(KnnModel model) : as_fitted(std::move(model)), allowing_missing(as_fitted) {
        allowing_missing.problem.missing = Missing::allowed;
        as_fitted.allowing_missing = allowing_missing.allowing_missing = &allowing_missing;
    }
    FittedKnn(const FittedKnn&) = delete;
    FittedKnn& operator=(const FittedKnn&) = delete;

    KnnModel as_fitted, allowing_missing;
};

inline std::shared_ptr<const KnnModel> shared_model(KnnModel model) {
    const auto both = std::make_shared<const FittedKnn>(std::move(model));
    return {both, &both->as_fitted};
}

/// Says what is wrong with what a model is fitted to; `name` is what its labels are called.
std::optional<Error> invalid_fit(const Device& device, const Items& points, std::size_t labels, const char* name,
                                 const NeighbourRule& rule, const Options& options);

/// A model of points without labels, of which only the number and the width count; the training set has a class for
/// each.
KnnModel unlabelled(const Device& device, const Items& points, const NeighbourRule& rule,
                    std::shared_ptr<const TrainingSet> training);

/// Points in host memory, attribute-major, for a model to take over.
struct OwnedItems {
    device::HostArray<float> values;
    std::int64_t count = 0, dims = 0;

    [[nodiscard]] Items items() const { return {values.data(), count, dims, Layout::attribute_major}; }
};

/// Makes the result of `KnnClassifier::fit` and `KnnRegressor::fit`, of points that need no copy on a CPU.
Result<std::shared_ptr<const KnnModel>> fit_owned(const Device& device, OwnedItems points,
                                                  std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                  const Options& options);
Result<std::shared_ptr<const KnnModel>> fit_owned(const Device& device, OwnedItems points,
                                                  std::span<const float> targets, const NeighbourRule& rule,
                                                  const Options& options);

/// Says what is wrong with the classes of points. The largest number is reserved by the variants' vote.
std::optional<Error> invalid_classes(std::span<const std::int32_t> classes);

/// Says what is wrong with the layout and the stride of lists of neighbours.
inline std::optional<Error> invalid_lists(MatrixLayout layout, std::int64_t stride, std::int64_t queries,
                                          std::int64_t k) {
    if (!is_enumerator(layout, MatrixLayout::row_major))
        return invalid("the layout of the neighbours is none of the enumerators of espalier::MatrixLayout");
    const bool by_query = layout == MatrixLayout::row_major;
    return invalid_stride({.name = "the stride of the neighbours",
                           .of = by_query ? "a list" : "a column",
                           .given = stride,
                           .rows = by_query ? queries : k,
                           .row = by_query ? k : queries});
}

/// Throws InvalidCall for a model that was moved from.
template <class Model>
const std::shared_ptr<const Model>& present(const std::shared_ptr<const Model>& model) {
    if (model) return model;
    throw InvalidCall("the model is empty because it was moved from: ask the one that it was moved to, or fit another");
}

}  // namespace espalier::inline v1
