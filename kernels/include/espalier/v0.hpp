#pragma once

/// The interface of version 0 for programs that were written for it: `espalier::v0` in place of `espalier`. Matrices
/// are transposed unless asked otherwise, and layouts come after the options. It goes with the next minor version; what
/// to write instead stands in each warning and in docs/abi.md.

#include "espalier/espalier.hpp"

namespace espalier::v0 {

// Names that did not change since version 0.
using namespace espalier::v1;

/// `SelectionShape`, transposed unless asked otherwise.
struct SelectionShape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t k = 1;
    MatrixLayout layout = MatrixLayout::transposed;
    ListOrder order = ListOrder::ascending;
    KeyType keys = KeyType::float32;

    /// The shape as of today.
    operator v1::SelectionShape() const {
        return {.rows = rows, .columns = columns, .k = k, .layout = layout, .order = order, .keys = keys};
    }
};

/// Arrays for the neighbours, the j-th nearest of query q at [j * queries + q].
struct NeighbourLists {
    float* distances = nullptr;
    std::int32_t* indices = nullptr;

    /// The lists as of today.
    operator v1::NeighbourLists() const { return {distances, indices, MatrixLayout::transposed}; }
};

/// Arrays for the neighbours in double precision, the j-th nearest of query q at [j * queries + q].
struct ExactNeighbourLists {
    double* distances = nullptr;
    std::int32_t* indices = nullptr;

    /// The lists as of today.
    operator v1::ExactNeighbourLists() const { return {distances, indices, MatrixLayout::transposed}; }
};

/// Which results the runs of a plan are given arrays for.
struct PlannedResults {
    bool predictions = true;
    bool distances = false;
    bool indices = false;

    /// The results as of today.
    operator v1::PlannedResults() const { return {predictions, distances, indices, MatrixLayout::transposed}; }
};

/// `espalier::pairwise_distances` of version 0.
[[deprecated("write espalier::pairwise_distances(device, queries, points, rule, {result, layout}, options)")]]  //
inline Result<void>
pairwise_distances(const Device& device, const Items& queries, const Items& points, const DistanceRule& rule,
                   float* result, const Options& options = {}, MatrixLayout layout = MatrixLayout::transposed) {
    return v1::pairwise_distances(device, queries, points, rule, {result, layout}, options);
}

/// `espalier::DistancesPlan` of version 0, which knows the layout of its runs.
class DistancesPlan : public v1::DistancesPlan {
public:
    /// Of a plan and the layout that it was made for.
    DistancesPlan(v1::DistancesPlan plan, MatrixLayout layout) : v1::DistancesPlan(std::move(plan)), layout_(layout) {}

    /// Does what `pairwise_distances` does.
    Result<void> run(const Items& queries, const Items& points, float* result, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const {
        return v1::DistancesPlan::run(queries, points, {result, layout_}, stream, workspace);
    }

private:
    MatrixLayout layout_;
};

/// `espalier::plan_pairwise_distances` of version 0.
[[deprecated("write espalier::plan_pairwise_distances(device, queries, points, rule, {nullptr, layout}, options)")]]  //
inline Result<DistancesPlan>
plan_pairwise_distances(const Device& device, const Items& queries, const Items& points, const DistanceRule& rule,
                        const Options& options = {}, MatrixLayout layout = MatrixLayout::transposed) {
    auto plan = v1::plan_pairwise_distances(device, queries, points, rule, {nullptr, layout}, options);
    if (!plan) return plan.error();
    return DistancesPlan(std::move(plan).value(), layout);
}

/// `espalier::explain_pairwise_distances` of version 0.
[[deprecated(
    "write espalier::explain_pairwise_distances(device, queries, points, rule, {nullptr, layout}, options)")]]  //
inline Result<Explanation>
explain_pairwise_distances(const Device& device, const Items& queries, const Items& points, const DistanceRule& rule,
                           const Options& options = {}, MatrixLayout layout = MatrixLayout::transposed) {
    return v1::explain_pairwise_distances(device, queries, points, rule, {nullptr, layout}, options);
}

/// `espalier::select_smallest_k` of version 0.
[[deprecated("write espalier::select_smallest_k, whose shape is row-major unless it says transposed")]]  //
inline Result<void>
select_smallest_k(const Device& device, const SelectionShape& shape, const float* distances, float* values,
                  std::int32_t* indices, const Options& options = {}) {
    return v1::select_smallest_k(device, shape, distances, values, indices, options);
}

/// `espalier::select_smallest_k_of` of version 0.
[[deprecated("write espalier::select_smallest_k_of, whose shape is row-major unless it says transposed")]]  //
inline Result<void>
select_smallest_k_of(const Device& device, const SelectionShape& shape, const void* keys, void* values,
                     std::int32_t* indices, const Options& options = {}) {
    return v1::select_smallest_k_of(device, shape, keys, values, indices, options);
}

/// `espalier::plan_select_smallest_k` of version 0.
[[deprecated("write espalier::plan_select_smallest_k, whose shape is row-major unless it says transposed")]]  //
inline Result<SelectionPlan>
plan_select_smallest_k(const Device& device, const SelectionShape& shape, const Options& options = {}) {
    return v1::plan_select_smallest_k(device, shape, options);
}

/// `espalier::explain_select_smallest_k` of version 0.
[[deprecated("write espalier::explain_select_smallest_k, whose shape is row-major unless it says transposed")]]  //
inline Result<Explanation>
explain_select_smallest_k(const Device& device, const SelectionShape& shape, const Options& options = {}) {
    return v1::explain_select_smallest_k(device, shape, options);
}

/// `espalier::KnnPlan` of version 0, whose lists are transposed.
class KnnPlan : public v1::KnnPlan {
public:
    /// Of a plan for transposed lists.
    explicit KnnPlan(v1::KnnPlan plan) : v1::KnnPlan(std::move(plan)) {}

    /// `espalier::KnnPlan::run` of a classification or a regression, with transposed lists.
    template <class Label>
    Result<void> run(const Items& queries, Label* labels, const NeighbourLists& neighbours = {},
                     Stream stream = nullptr, std::span<std::byte> workspace = {}) const {
        return v1::KnnPlan::run(queries, labels, neighbours, stream, workspace);
    }
};

/// The models of version 0 transpose lists in arrays of the caller's.
template <class Model, class Label>
class TransposedLists : public Model {
public:
    /// Of a model as of today.
    explicit TransposedLists(Model model) : Model(std::move(model)) {}

    /// `espalier::KnnBase::kneighbors`.
    [[nodiscard]] Result<Neighbours> kneighbors(const Items& queries, const Options& options = {}) const {
        return Model::kneighbors(queries, options);
    }
    /// Lists neighbours into arrays of k x queries elements: the j-th nearest of query q at [j * queries + q].
    [[deprecated("write kneighbors(queries, {distances, indices, MatrixLayout::transposed}, options)")]]  //
    Result<void>
    kneighbors(const Items& queries, float* distances, std::int32_t* indices, const Options& options = {}) const {
        return Model::kneighbors(queries, {distances, indices, MatrixLayout::transposed}, options);
    }

    /// The labels of the queries.
    [[nodiscard]] Result<std::vector<Label>> predict(const Items& queries, const Options& options = {}) const {
        return Model::predict(queries, options);
    }
    /// Predicts into an array of one label per query.
    Result<void> predict(const Items& queries, Label* labels, const Options& options = {}) const {
        return Model::predict(queries, labels, options);
    }
    /// Predicts, and lists the neighbours that voted.
    [[deprecated("write predict(queries, labels, {distances, indices, MatrixLayout::transposed}, options)")]]  //
    Result<void>
    predict(const Items& queries, Label* labels, const NeighbourLists& neighbours, const Options& options = {}) const {
        return Model::predict(queries, labels, neighbours, options);
    }

    /// A plan for so many queries of a layout, whose lists are transposed.
    [[deprecated("write plan_predict with PlannedResults::layout")]] [[nodiscard]]  //
    Result<KnnPlan>
    plan_predict(std::int64_t queries, Layout layout = Layout::item_major, const PlannedResults& results = {},
                 const Options& options = {}) const {
        auto plan = Model::plan_predict(queries, layout, results, options);
        if (!plan) return plan.error();
        return KnnPlan(std::move(plan).value());
    }
};

/// `espalier::KnnClassifier` of version 0.
class KnnClassifier : public TransposedLists<v1::KnnClassifier, std::int32_t> {
public:
    /// `espalier::KnnClassifier::fit`.
    static Result<KnnClassifier> fit(const Device& device, const Items& points, std::span<const std::int32_t> classes,
                                     const NeighbourRule& rule, const Options& options = {}) {
        auto model = v1::KnnClassifier::fit(device, points, classes, rule, options);
        if (!model) return model.error();
        return KnnClassifier(std::move(model).value());
    }

    /// `espalier::KnnClassifier::allowing_missing`.
    [[nodiscard]] KnnClassifier allowing_missing() const noexcept {
        return KnnClassifier(v1::KnnClassifier::allowing_missing());
    }

private:
    using TransposedLists::TransposedLists;
};

/// `espalier::KnnRegressor` of version 0.
class KnnRegressor : public TransposedLists<v1::KnnRegressor, float> {
public:
    /// `espalier::KnnRegressor::fit`.
    static Result<KnnRegressor> fit(const Device& device, const Items& points, std::span<const float> targets,
                                    const NeighbourRule& rule, const Options& options = {}) {
        auto model = v1::KnnRegressor::fit(device, points, targets, rule, options);
        if (!model) return model.error();
        return KnnRegressor(std::move(model).value());
    }

    /// `espalier::KnnRegressor::allowing_missing`.
    [[nodiscard]] KnnRegressor allowing_missing() const noexcept {
        return KnnRegressor(v1::KnnRegressor::allowing_missing());
    }

private:
    using TransposedLists::TransposedLists;
};

/// The models in double precision of version 0 transpose them, too.
template <class Model, class Label>
class TransposedExactLists : public Model {
public:
    /// Of a model as of today.
    explicit TransposedExactLists(Model model) : Model(std::move(model)) {}

    /// The labels of the queries.
    [[nodiscard]] Result<std::vector<Label>> predict(const ItemsOfDoubles& queries, const Options& options = {}) const {
        return Model::predict(queries, options);
    }
    /// Predicts, and lists the neighbours that voted if their arrays are not null.
    [[deprecated("write predict(queries, labels, {distances, indices, MatrixLayout::transposed}, options)")]]  //
    Result<void>
    predict(const ItemsOfDoubles& queries, Label* labels, const ExactNeighbourLists& neighbours = {},
            const Options& options = {}) const {
        return Model::predict(queries, labels, neighbours, options);
    }
};

/// `espalier::ExactKnnClassifier` of version 0.
class ExactKnnClassifier : public TransposedExactLists<v1::ExactKnnClassifier, std::int32_t> {
public:
    /// `espalier::ExactKnnClassifier::fit`.
    static Result<ExactKnnClassifier> fit(const Device& device, const ItemsOfDoubles& points,
                                          std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                          const Options& options = {}) {
        auto model = v1::ExactKnnClassifier::fit(device, points, classes, rule, options);
        if (!model) return model.error();
        return ExactKnnClassifier(std::move(model).value());
    }

private:
    using TransposedExactLists::TransposedExactLists;
};

/// `espalier::ExactKnnRegressor` of version 0.
class ExactKnnRegressor : public TransposedExactLists<v1::ExactKnnRegressor, double> {
public:
    /// `espalier::ExactKnnRegressor::fit`.
    static Result<ExactKnnRegressor> fit(const Device& device, const ItemsOfDoubles& points,
                                         std::span<const double> targets, const NeighbourRule& rule,
                                         const Options& options = {}) {
        auto model = v1::ExactKnnRegressor::fit(device, points, targets, rule, options);
        if (!model) return model.error();
        return ExactKnnRegressor(std::move(model).value());
    }

private:
    using TransposedExactLists::TransposedExactLists;
};

}  // namespace espalier::v0
