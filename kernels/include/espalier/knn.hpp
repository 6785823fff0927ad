#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/distance.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/options.hpp"
#include "espalier/plan.hpp"

namespace espalier::inline v0 {

/// How neighbours' labels are combined. A neighbour at distance NaN has no vote.
enum class Vote {
    majority,  ///< each counts as much as another
    /// Each counts 1 / distance. Neighbours at distance 0, if there are any, are the only ones that count.
    distance_weighted,
};

/// What is predicted.
enum class Task {
    classification,  ///< the class with the most votes; of several, the one with the smallest number
    regression,      ///< the mean of the neighbours' targets, weighted as the vote says
};

/// Where the queries come from and the predictions go to. The points are where the work runs in any case.
enum class QueriesIn {
    device,  ///< memory of the device
    host,    ///< pageable memory of the host, so that host-device transfers are part of the work
};

/// The class of a query that has no neighbour with a say (its target of a regression is NaN then).
inline constexpr std::int32_t kNoClass = -1;

/// Which neighbours are asked, and how they vote. Of equally distant points the one with the lower index is
/// nearer. With fewer points than k all of them are neighbours.
struct NeighbourRule {
    std::int64_t k = 5;          ///< 1..kMaxSmallestK
    DistanceRule distance;       ///< which of them are near
    Vote vote = Vote::majority;  ///< how those vote
};

/// The nearest neighbours of some queries, the lists of one query side by side: the j-th nearest of query q at
/// [q * k + j]. A list of fewer points than k ends in entries of distance NaN and index kNoIndex.
struct Neighbours {
    std::int64_t queries = 0;           ///< lists
    std::int64_t k = 0;                 ///< entries of each
    std::vector<float> distances;       ///< nearest first
    std::vector<std::int32_t> indices;  ///< of the points, in the order in which they were given
};

/// Arrays for the neighbours as `select_smallest_k` writes them, k x queries elements each: the j-th nearest of query q
/// at [j * queries + q]. Null for what nobody wants to know.
struct NeighbourLists {
    float* distances = nullptr;       ///< nearest first
    std::int32_t* indices = nullptr;  ///< of the points
};

/// Which results the runs of a plan are given arrays for.
struct PlannedResults {
    bool predictions = true;  ///< classes or targets
    bool distances = false;   ///< the neighbours' distances
    bool indices = false;     ///< which points they are
};

/// Predictions for so many queries of a model. Queries in host memory are copied in one piece: to stream many of them,
/// `predict`.
class ESPALIER_API KnnPlan : public Plan {
public:
    /// Does what `predict` and `kneighbors` do. Arrays that the plan is not for are left alone and may be null.
    Result<void> run(const Items& queries, std::int32_t* classes, const NeighbourLists& neighbours = {},
                     Stream stream = nullptr, std::span<std::byte> workspace = {}) const;
    /// The same for a regressor, with `targets`.
    Result<void> run(const Items& queries, float* targets, const NeighbourLists& neighbours = {},
                     Stream stream = nullptr, std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

struct KnnModel;

/// What classifiers and regressors share: a copy of the training set in the memory of its device. Copies of a model
/// share it, and any number of threads may use it. A model that was moved from is empty: its functions return
/// invalid_argument.
///
/// Arrays are in host memory, or where `Options::memory` says. Queries that come from host memory go to a GPU through
/// the pipeline that the tree chooses, page-locked and double-buffered where that is the fastest. Queries have the
/// points' attributes. Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
class ESPALIER_API KnnBase {
public:
    /// The nearest points of each of the `queries`, in host memory.
    [[nodiscard]] Result<Neighbours> kneighbors(const Items& queries, const Options& options = {}) const;

    /// Lists the neighbours of `queries` into the arrays `distances` and `indices` of k x queries elements as
    /// `select_smallest_k` writes them: the j-th nearest of query q at [j * queries + q].
    Result<void> kneighbors(const Items& queries, float* distances, std::int32_t* indices,
                            const Options& options = {}) const;

    /// A plan for so many `queries` of a `layout`, whose runs give `results`. Options: all but `stream` and `wait`.
    [[nodiscard]] Result<KnnPlan> plan_predict(std::int64_t queries, Layout layout = Layout::item_major,
                                               const PlannedResults& results = {}, const Options& options = {}) const;

    /// What `predict` and `kneighbors` would run for so many `queries`, and why. The variant then chooses those of its
    /// stages by their own trees. Options: `variant`, `deterministic` and `memory`.
    [[nodiscard]] Result<Explanation> explain_predict(std::int64_t queries, const Options& options = {}) const;

protected:
    /// @cond
    explicit KnnBase(std::shared_ptr<const KnnModel> model) noexcept : model_(std::move(model)) {}
    [[nodiscard]] const std::shared_ptr<const KnnModel>& model() const noexcept { return model_; }
    [[nodiscard]] std::shared_ptr<const KnnModel> with_missing_allowed() const noexcept;
    /// @endcond

private:
    std::shared_ptr<const KnnModel> model_;
};

/// k-nearest-neighbour classification.
class ESPALIER_API KnnClassifier : public KnnBase {
public:
    /// `points` and `classes` (0 or more, one per point) may go after the call, `rule` says how they are asked; both
    /// are where `Options::memory` says.
    static Result<KnnClassifier> fit(const Device& device, const Items& points, std::span<const std::int32_t> classes,
                                     const NeighbourRule& rule, const Options& options = {});

    /// The class of each query, kNoClass for one without a neighbour that has a say. `queries` are in host memory.
    [[nodiscard]] Result<std::vector<std::int32_t>> predict(const Items& queries, const Options& options = {}) const;

    /// Predicts for `queries` into an array `classes` of one per query.
    Result<void> predict(const Items& queries, std::int32_t* classes, const Options& options = {}) const;

    /// Predicts for `queries` into `classes`, and lists the `neighbours` that voted.
    Result<void> predict(const Items& queries, std::int32_t* classes, const NeighbourLists& neighbours,
                         const Options& options = {}) const;

    /// A model of the same training set for queries with missing cells: `Missing::allowed`, whatever the model was
    /// fitted with.
    [[nodiscard]] KnnClassifier allowing_missing() const noexcept { return KnnClassifier(with_missing_allowed()); }

private:
    using KnnBase::KnnBase;
};

/// k-nearest-neighbour regression; everything as for `KnnClassifier`.
class ESPALIER_API KnnRegressor : public KnnBase {
public:
    /// `points` as for a classifier, `targets`: one per point; `rule` says how they are asked.
    static Result<KnnRegressor> fit(const Device& device, const Items& points, std::span<const float> targets,
                                    const NeighbourRule& rule, const Options& options = {});

    /// The mean target of the neighbours of each of the `queries`, NaN for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<float>> predict(const Items& queries, const Options& options = {}) const;

    /// Predicts for `queries` into an array `targets` of one per query.
    Result<void> predict(const Items& queries, float* targets, const Options& options = {}) const;

    /// Predicts for `queries` into `targets`, and lists the `neighbours` that voted.
    Result<void> predict(const Items& queries, float* targets, const NeighbourLists& neighbours,
                         const Options& options = {}) const;

    /// A model of the same training set for queries with missing cells: `Missing::allowed`, whatever the model was
    /// fitted with.
    [[nodiscard]] KnnRegressor allowing_missing() const noexcept { return KnnRegressor(with_missing_allowed()); }

private:
    using KnnBase::KnnBase;
};

}  // namespace espalier::inline v0
