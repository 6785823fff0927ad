#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/distance.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/matrix_layout.hpp"
#include "espalier/options.hpp"
#include "espalier/plan.hpp"

namespace espalier::inline v1 {

/// How neighbours' labels are combined. A neighbour at distance NaN has no vote.
enum class Vote {
    majority,  ///< each counts as much as another
    /// Each counts 1 / distance. Neighbours at distance 0, if there are any, are the only ones that count.
    distance_weighted,
};

/// The kind of prediction.
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

/// Arrays for the neighbours of each query. The j-th nearest of query q is at [q * stride + j] if `row_major`, at
/// [j * stride + q] if `transposed`, as most variants write it; the other layout costs them a copy. Null for what
/// nobody wants to know. Of arrays that are parts of larger ones nothing else is written.
struct NeighbourLists {
    float* distances = nullptr;                     ///< nearest first
    std::int32_t* indices = nullptr;                ///< of the points
    MatrixLayout layout = MatrixLayout::row_major;  ///< a list's entries side by side, or the lists'
    std::int64_t stride = 0;  ///< of both arrays, in elements; 0: k, or the number of queries if transposed
};

/// Which results the runs of a plan are given arrays for, and how those of the neighbours lie.
struct PlannedResults {
    bool predictions = true;                        ///< classes or targets
    bool distances = false;                         ///< the neighbours' distances
    bool indices = false;                           ///< which points they are
    MatrixLayout layout = MatrixLayout::row_major;  ///< as in `NeighbourLists`
    std::int64_t stride = 0;                        ///< as in `NeighbourLists`
};

/// The points within a radius of some queries: those of query q are entries offsets[q] up to, without, offsets[q + 1]
/// of both lists, the nearest first and of equally distant points the one with the lower index.
struct RadiusNeighbours {
    std::vector<std::int64_t> offsets;  ///< one more than there are queries; the first is 0
    std::vector<float> distances;       ///< nearest first
    std::vector<std::int32_t> indices;  ///< of the points, in the order in which they were given
};

/// Which points are near, and how many of them a call may list.
struct Radius {
    float distance = 1;  ///< points at this distance are near, too; 0 or more
    /// Neighbours of all queries together, of 8 bytes each. A call that finds more is an error, so that a radius that
    /// is too large ends no program.
    std::int64_t most = std::int64_t{1} << 28;

    Radius() = default;
    /// `within` is the distance, `at_most` the neighbours of all queries together.
    Radius(float within, std::int64_t at_most = std::int64_t{1} << 28) : distance(within), most(at_most) {}
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

    /// Does what `kneighbors` does, in a plan without predictions.
    Result<void> run(const Items& queries, const NeighbourLists& neighbours, Stream stream = nullptr,
                     std::span<std::byte> workspace = {}) const;

    using Plan::Plan;
};

struct KnnModel;

/// The base of classifiers and regressors: a copy of the training set in the memory of its device. Copies of a model
/// share it, and any number of threads may use it. A model that was moved from is empty: its functions return
/// invalid_argument.
///
/// Arrays are in host memory, or where `Options::memory` says. Queries that come from host memory go to a GPU through
/// the pipeline that the tree chooses, page-locked and double-buffered where that is the fastest. Queries have the
/// points' attributes. With `Options::progress` queries are asked in parts, each as a call of its own.
/// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure, cancelled.
class ESPALIER_API KnnBase {
public:
    /// The nearest points of each of the `queries`, in host memory.
    [[nodiscard]] Result<Neighbours> kneighbors(const Items& queries, const Options& options = {}) const;

    /// Lists the neighbours of `queries` into the arrays `distances` and `indices` of queries x k elements: the j-th
    /// nearest of query q at [q * k + j].
    Result<void> kneighbors(const Items& queries, float* distances, std::int32_t* indices,
                            const Options& options = {}) const;

    /// Lists the `neighbours` of `queries` in the lists' layout, into those of the arrays that are not null.
    Result<void> kneighbors(const Items& queries, const NeighbourLists& neighbours, const Options& options = {}) const;

    /// A plan for so many `queries` of a `layout`, whose runs give `results`. Options: all but `stream`, `wait` and
    /// `progress`.
    [[nodiscard]] Result<KnnPlan> plan_predict(std::int64_t queries, Layout layout = Layout::item_major,
                                               const PlannedResults& results = {}, const Options& options = {},
                                               const PlanOptions& planning = {}) const;

    /// A plan whose runs give `results`, for as many queries as there are in `queries`, in that layout and stride;
    /// nobody looks at their values.
    [[nodiscard]] Result<KnnPlan> plan_predict(const Items& queries, const PlannedResults& results,
                                               const Options& options = {}, const PlanOptions& planning = {}) const;

    /// Writes the model to the file `path`, which `load` of the same class reads: the points, their labels and the
    /// rule, in a format of its own with a version and a checksum. The file is complete or not there: it gets its name
    /// when it is written, replaces a file of that name and follows no symbolic link. Errors: bad_file if it cannot be
    /// written; invalid_argument, out_of_memory, device_failure.
    Result<void> save(const std::string& path) const;

    /// Explains what `predict` and `kneighbors` would run for so many `queries`. The variant then chooses those of its
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

    /// The model that `save` wrote to `path`, on any device: on the same one it gives the same bits.
    /// Nothing of a file is believed before its size, version and checksum are right. Options: `stream`, `threads`.
    /// Errors: bad_file for what cannot be read, is damaged, is of a newer version, or is no classifier; out_of_memory,
    /// device_failure.
    static Result<KnnClassifier> load(const Device& device, const std::string& path, const Options& options = {});

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

    /// As `KnnClassifier::load`, of a regressor's file at `path`.
    static Result<KnnRegressor> load(const Device& device, const std::string& path, const Options& options = {});

private:
    using KnnBase::KnnBase;
};

/// Nearest neighbours without labels: `kneighbors` for the k nearest, `radius_neighbours` for all within a radius.
class ESPALIER_API NearestNeighbours : public KnnBase {
public:
    /// `points` may go after the call; they are where `Options::memory` says, `rule` says how they are asked. Its vote
    /// is of no account, and plans have no predictions.
    static Result<NearestNeighbours> fit(const Device& device, const Items& points, const NeighbourRule& rule,
                                         const Options& options = {});

    /// All points at a distance of at most `radius` from one of `queries`, in host memory. Distances are computed and
    /// compared in single precision; one that is NaN is beyond every radius. The rule's k is of no account.
    /// Queries are asked in parts of some 2^24 distances, which need 64 MiB on the device and on the host; beside these
    /// and the queries a call takes up to three times what its lists take while they grow. `Options::variant` names a
    /// variant of `distance`. Errors: invalid_argument, also if there are more neighbours than `radius.most`.
    [[nodiscard]] Result<RadiusNeighbours> radius_neighbours(const Items& queries, const Radius& radius,
                                                             const Options& options = {}) const;

    /// A model of the same points for queries with missing cells: `Missing::allowed`, whatever the model was fitted
    /// with.
    [[nodiscard]] NearestNeighbours allowing_missing() const noexcept {
        return NearestNeighbours(with_missing_allowed());
    }

    /// As `KnnClassifier::load`, of a file of nearest neighbours at `path`.
    static Result<NearestNeighbours> load(const Device& device, const std::string& path, const Options& options = {});

private:
    using KnnBase::KnnBase;
};

}  // namespace espalier::inline v1
