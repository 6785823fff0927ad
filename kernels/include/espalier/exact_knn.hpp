#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/distance.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/knn.hpp"
#include "espalier/matrix_layout.hpp"
#include "espalier/options.hpp"

namespace espalier::inline v1 {

/// `count` items of `dims` numbers each, in host memory; or a part of a larger table, as `Items` may be.
struct ItemsOfDoubles {
    const double* values = nullptr;
    std::int64_t count = 0;
    std::int64_t dims = 0;
    Layout layout = Layout::item_major;
    /// Numbers from one item to the next, or if attribute-major from one attribute to the next; 0: `dims`, or `count`.
    std::int64_t stride = 0;
};

/// Neighbours as in `Neighbours`, with distances in double precision.
struct ExactNeighbours {
    std::int64_t queries = 0;
    std::int64_t k = 0;
    std::vector<double> distances;
    std::vector<std::int32_t> indices;
};

/// Arrays as in `NeighbourLists`, for distances in double precision. In host memory.
struct ExactNeighbourLists {
    double* distances = nullptr;
    std::int32_t* indices = nullptr;
    MatrixLayout layout = MatrixLayout::row_major;
    std::int64_t stride = 0;  ///< of both arrays, in elements; 0: k, or the number of queries if transposed
};

struct ExactKnnModel;

/// What the models in double precision share. Their answers are those of a scan of the whole training set in double
/// precision: distances by the rule's metric, equally distant points in their order.
///
/// The device finds candidates in single precision, among attributes whose medians are subtracted before they become
/// floats; the host computes the candidates' distances in double. A bound on every rounding of the device's tells
/// whether a point that is no candidate could be nearer than the k-th neighbour; queries for which it cannot be
/// excluded are scanned on the host. The last is slow, and rare unless more than k + 16 points are about as far as the
/// k-th neighbour. Cosine with missing cells is always scanned.
///
/// `Missing::allowed` costs nothing where neither points nor queries have NaN. Cosine distances are half the squared
/// distances of the items at unit length, which lose nothing where rows are nearly parallel; what double cannot tell
/// from parallel is at distance 0. Infinite distances are possible for magnitudes beyond 1e150.
///
/// All arrays are in host memory. Copies of a model share it, and any number of threads may use it; one that was moved
/// from is empty, and its functions return invalid_argument. Equal calls give equal bits on every device. Errors:
/// invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure, cancelled.
class ESPALIER_API ExactKnnBase {
public:
    /// The nearest points of each query.
    [[nodiscard]] Result<ExactNeighbours> kneighbors(const ItemsOfDoubles& queries, const Options& options = {}) const;

    /// What the device would run for so many queries, and why; `missing` says whether some of them have missing cells.
    [[nodiscard]] Result<Explanation> explain_predict(std::int64_t queries, const Options& options = {},
                                                      Missing missing = Missing::none) const;

    /// Bytes of host memory, beside the caller's arrays, that predictions for so many queries take, without what
    /// `explain_predict` tells of the device's part. Of a model that was moved from, 0.
    [[nodiscard]] std::size_t predict_bytes(std::int64_t queries) const noexcept;

protected:
    explicit ExactKnnBase(std::shared_ptr<const ExactKnnModel> model) noexcept : model_(std::move(model)) {}
    [[nodiscard]] const std::shared_ptr<const ExactKnnModel>& model() const noexcept { return model_; }

private:
    std::shared_ptr<const ExactKnnModel> model_;
};

/// k-nearest-neighbour classification in double precision.
class ESPALIER_API ExactKnnClassifier : public ExactKnnBase {
public:
    /// `points` and `classes` (0 or more, one per point) may go after the call. Options: as for the queries.
    static Result<ExactKnnClassifier> fit(const Device& device, const ItemsOfDoubles& points,
                                          std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                          const Options& options = {});

    /// The class of each query, kNoClass for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<std::int32_t>> predict(const ItemsOfDoubles& queries,
                                                            const Options& options = {}) const;

    /// Predicts into an array of one class per query, with the neighbours that voted if their arrays are not null.
    Result<void> predict(const ItemsOfDoubles& queries, std::int32_t* classes,
                         const ExactNeighbourLists& neighbours = {}, const Options& options = {}) const;

    /// The share of the votes that each class has of each query's neighbours, the shares of one query side by side:
    /// that of class c at [q * class_count() + c]. They sum to 1, or are all NaN for a query without a neighbour that
    /// has a say.
    [[nodiscard]] Result<std::vector<double>> predict_proba(const ItemsOfDoubles& queries,
                                                            const Options& options = {}) const;

    /// One more than the points' largest class; 0 without points.
    [[nodiscard]] std::int64_t class_count() const;

private:
    using ExactKnnBase::ExactKnnBase;
};

/// k-nearest-neighbour regression in double precision; everything as for `ExactKnnClassifier`.
class ESPALIER_API ExactKnnRegressor : public ExactKnnBase {
public:
    /// `targets`: one per point.
    static Result<ExactKnnRegressor> fit(const Device& device, const ItemsOfDoubles& points,
                                         std::span<const double> targets, const NeighbourRule& rule,
                                         const Options& options = {});

    /// The mean target of each query's neighbours, NaN for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<double>> predict(const ItemsOfDoubles& queries, const Options& options = {}) const;

    /// Predicts into an array of one target per query, with the neighbours that voted if their arrays are not null.
    Result<void> predict(const ItemsOfDoubles& queries, double* targets, const ExactNeighbourLists& neighbours = {},
                         const Options& options = {}) const;

private:
    using ExactKnnBase::ExactKnnBase;
};

/// Nearest neighbours without labels, in double precision.
class ESPALIER_API ExactNearestNeighbours : public ExactKnnBase {
public:
    /// `points` may go after the call. The rule's vote is of no account. Options: as for the queries.
    static Result<ExactNearestNeighbours> fit(const Device& device, const ItemsOfDoubles& points,
                                              const NeighbourRule& rule, const Options& options = {});

private:
    using ExactKnnBase::ExactKnnBase;
};

}  // namespace espalier::inline v1
