#pragma once

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
#include "espalier/knn.hpp"
#include "espalier/matrix_layout.hpp"
#include "espalier/options.hpp"

namespace espalier::inline v1 {

/// `count` items of `dims` numbers each, in host memory; or a part of a larger table, as `Items` may be.
struct ItemsOfDoubles {
    const double* values = nullptr;      ///< count * dims numbers
    std::int64_t count = 0;              ///< items
    std::int64_t dims = 0;               ///< attributes of each
    Layout layout = Layout::item_major;  ///< which of them lie side by side
    /// Numbers from one item to the next, or if attribute-major from one attribute to the next; 0: `dims`, or `count`.
    std::int64_t stride = 0;
};

/// Items that a model takes over: it keeps them where they are, so that they are never there twice.
struct OwnedItemsOfDoubles {
    std::vector<double> values;  ///< count * dims numbers, those of an item side by side
    std::int64_t count = 0;      ///< items
    std::int64_t dims = 0;       ///< attributes of each
};

/// Neighbours as in `Neighbours`, with distances in double precision.
struct ExactNeighbours {
    std::int64_t queries = 0;           ///< lists
    std::int64_t k = 0;                 ///< entries of each
    std::vector<double> distances;      ///< nearest first
    std::vector<std::int32_t> indices;  ///< of the points
};

/// Arrays as in `NeighbourLists`, for distances in double precision. In host memory.
struct ExactNeighbourLists {
    double* distances = nullptr;                    ///< queries x k
    std::int32_t* indices = nullptr;                ///< the same, of the points
    MatrixLayout layout = MatrixLayout::row_major;  ///< a list's entries side by side, or the lists'
    std::int64_t stride = 0;  ///< of both arrays, in elements; 0: k, or the number of queries if transposed
};

/// Neighbours within a radius: those of query q are entries offsets[q] to offsets[q + 1], the nearest first.
struct ExactRadiusNeighbours {
    std::vector<std::int64_t> offsets;  ///< one more than queries
    std::vector<double> distances;      ///< nearest first
    std::vector<std::int32_t> indices;  ///< of the points
};

/// Metrics that models in double precision have beside those of `Metric`.
enum class ExactMetric {
    of_rule,    ///< the one of `NeighbourRule::distance`
    minkowski,  ///< (sum of |x - y|^p)^(1/p), the sum scaled up for missing cells as that of manhattan
    /// The angle between two places as seen from the earth's centre, in radians (times 6371: kilometres). The two
    /// attributes are the latitude and the longitude, in this order, in radians or in degrees. A place that lacks one
    /// has no distance.
    haversine,
    hamming,  ///< the share of the attributes whose values differ, numbers or codes; of those that both items have
};

/// The distance of models in double precision, beyond `NeighbourRule::distance`.
struct ExactDistance {
    ExactMetric metric = ExactMetric::of_rule;  ///< how items are compared
    double p = 2;                               ///< of minkowski, 1 or more; infinity is chebyshev
    bool degrees = false;                       ///< of haversine: what the coordinates are in
    /// One per attribute, finite and not negative; none: 1 each. Numeric attributes are multiplied by theirs before
    /// they are compared. Nominal values that differ count the weight as a difference: its square is added up by
    /// mixed_euclidean. By hamming an attribute counts as its weight. A weight of 0 leaves the attribute out. Not for
    /// haversine.
    std::span<const double> weights{};
};

struct ExactKnnModel;

/// The base of the models in double precision. Their answers are those of a scan of the whole training set in double
/// precision: distances by the rule's metric, equally distant points in their order.
///
/// The device finds candidates in single precision, among attributes whose medians are subtracted before they become
/// floats; the host computes the candidates' distances in double. A bound on every rounding of the device's tells
/// whether a point that is no candidate could be nearer than the k-th neighbour; queries for which it cannot be
/// excluded get up to 1,024 candidates, and those for which this is not enough are scanned on the host. The last is
/// slow, and rare: equal points are compared once, however many there are; cells that are much larger than most (1e30
/// for "no data") do not widen the bound; and where single precision is exact, as it is for small whole numbers, a
/// CPU's lists need no bound. Always scanned are cosine with missing cells, minkowski, haversine, and k beyond 1,024.
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
    /// The nearest points of each of the `queries`.
    [[nodiscard]] Result<ExactNeighbours> kneighbors(const ItemsOfDoubles& queries, const Options& options = {}) const;

    /// Lists the `neighbours` of `queries` in the lists' layout, into those of the arrays that are not null.
    Result<void> kneighbors(const ItemsOfDoubles& queries, const ExactNeighbourLists& neighbours,
                            const Options& options = {}) const;

    /// The points of each of the `queries` at distance `radius` or less, which may be none. `radius` is not negative
    /// and may be infinite. Beside `invalid_argument` for another one the errors are those of `kneighbors`.
    [[nodiscard]] Result<ExactRadiusNeighbours> radius_neighbours(const ItemsOfDoubles& queries, double radius,
                                                                  const Options& options = {}) const;

    /// Explains what the device would run for so many `queries`; `missing` says whether some of them have missing
    /// cells.
    [[nodiscard]] Result<Explanation> explain_predict(std::int64_t queries, const Options& options = {},
                                                      Missing missing = Missing::none) const;

    /// Bytes of host memory, beside the caller's arrays, that predictions for so many `queries` take, without what
    /// `explain_predict` tells of the device's part. Of a model that was moved from, 0.
    [[nodiscard]] std::size_t predict_bytes(std::int64_t queries) const noexcept;

    /// Writes the model to the file `path`, which `load` of the same class reads: the points as they are compared,
    /// their labels and the rule, otherwise as `KnnBase::save` does. Errors: bad_file if it cannot be written;
    /// invalid_argument, out_of_memory.
    Result<void> save(const std::string& path) const;

protected:
    /// @cond
    explicit ExactKnnBase(std::shared_ptr<const ExactKnnModel> model) noexcept : model_(std::move(model)) {}
    [[nodiscard]] const std::shared_ptr<const ExactKnnModel>& model() const noexcept { return model_; }
    /// @endcond

private:
    std::shared_ptr<const ExactKnnModel> model_;
};

/// k-nearest-neighbour classification in double precision.
class ESPALIER_API ExactKnnClassifier : public ExactKnnBase {
public:
    /// `points` and `classes` (0 or more, one per point) may go after the call; `rule` says how they are asked.
    /// Options: as for the queries.
    static Result<ExactKnnClassifier> fit(const Device& device, const ItemsOfDoubles& points,
                                          std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                          const Options& options = {});

    /// The same of `points`, `classes` and `rule` by a `distance` that only models in double precision have. `rule.k`
    /// may be any number from 1 on.
    static Result<ExactKnnClassifier> fit(const Device& device, const ItemsOfDoubles& points,
                                          std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                          const ExactDistance& distance, const Options& options = {});

    /// The same of `points` that the model takes over, with `classes`, `rule` and `distance` as above. They are gone
    /// even if this fails.
    static Result<ExactKnnClassifier> fit(const Device& device, OwnedItemsOfDoubles points,
                                          std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                          const ExactDistance& distance = {}, const Options& options = {});

    /// The class of each of the `queries`, kNoClass for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<std::int32_t>> predict(const ItemsOfDoubles& queries,
                                                            const Options& options = {}) const;

    /// Predicts for `queries` into an array `classes` of one per query, with the `neighbours` that voted if their
    /// arrays are not null.
    Result<void> predict(const ItemsOfDoubles& queries, std::int32_t* classes,
                         const ExactNeighbourLists& neighbours = {}, const Options& options = {}) const;

    /// The class of each of the `queries` by all neighbours within a `radius`; kNoClass for one that has none.
    [[nodiscard]] Result<std::vector<std::int32_t>> predict_within(const ItemsOfDoubles& queries, double radius,
                                                                   const Options& options = {}) const;

    /// The share of the votes that each class has of the neighbours of each of the `queries`, the shares of one query
    /// side by side: that of class c at [q * class_count() + c]. They sum to 1, or are all NaN for a query without a
    /// neighbour that has a say.
    [[nodiscard]] Result<std::vector<double>> predict_proba(const ItemsOfDoubles& queries,
                                                            const Options& options = {}) const;

    /// One more than the points' largest class; 0 without points, and of a model that was moved from.
    [[nodiscard]] std::int64_t class_count() const noexcept;

    /// The model that `save` wrote to `path`, on any device: its answers have the same bits. Nothing of a file is
    /// believed before its size, version and checksum are right. Options: `stream`, `threads`. Errors: bad_file for
    /// what cannot be read, is damaged, is of a newer version, or is no classifier in double precision; out_of_memory,
    /// device_failure.
    static Result<ExactKnnClassifier> load(const Device& device, const std::string& path, const Options& options = {});

private:
    using ExactKnnBase::ExactKnnBase;
};

/// k-nearest-neighbour regression in double precision; everything as for `ExactKnnClassifier`.
class ESPALIER_API ExactKnnRegressor : public ExactKnnBase {
public:
    /// `points` as for a classifier, `targets`: one per point; `rule` says how they are asked.
    static Result<ExactKnnRegressor> fit(const Device& device, const ItemsOfDoubles& points,
                                         std::span<const double> targets, const NeighbourRule& rule,
                                         const Options& options = {});

    /// The same of `points`, `targets` and `rule` by a `distance` that only models in double precision have. `rule.k`
    /// may be any number from 1 on.
    static Result<ExactKnnRegressor> fit(const Device& device, const ItemsOfDoubles& points,
                                         std::span<const double> targets, const NeighbourRule& rule,
                                         const ExactDistance& distance, const Options& options = {});

    /// The same of `points` that the model takes over, with `targets`, `rule` and `distance` as above. They are gone
    /// even if this fails.
    static Result<ExactKnnRegressor> fit(const Device& device, OwnedItemsOfDoubles points,
                                         std::span<const double> targets, const NeighbourRule& rule,
                                         const ExactDistance& distance = {}, const Options& options = {});

    /// The mean target of all neighbours of each of the `queries` within a `radius`, NaN for one that has none.
    [[nodiscard]] Result<std::vector<double>> predict_within(const ItemsOfDoubles& queries, double radius,
                                                             const Options& options = {}) const;

    /// The mean target of the neighbours of each of the `queries`, NaN for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<double>> predict(const ItemsOfDoubles& queries, const Options& options = {}) const;

    /// Predicts for `queries` into an array `targets` of one per query, with the `neighbours` that voted if their
    /// arrays are not null.
    Result<void> predict(const ItemsOfDoubles& queries, double* targets, const ExactNeighbourLists& neighbours = {},
                         const Options& options = {}) const;

    /// As `ExactKnnClassifier::load`, of a regressor's file at `path`.
    static Result<ExactKnnRegressor> load(const Device& device, const std::string& path, const Options& options = {});

private:
    using ExactKnnBase::ExactKnnBase;
};

/// Nearest neighbours without labels, in double precision.
class ESPALIER_API ExactNearestNeighbours : public ExactKnnBase {
public:
    /// `points` may go after the call; `rule` says how they are asked, its vote is of no account. Options: as for the
    /// queries.
    static Result<ExactNearestNeighbours> fit(const Device& device, const ItemsOfDoubles& points,
                                              const NeighbourRule& rule, const Options& options = {});

    /// The same of `points` and `rule` by a `distance` that only models in double precision have. `rule.k` may be any
    /// number from 1 on.
    static Result<ExactNearestNeighbours> fit(const Device& device, const ItemsOfDoubles& points,
                                              const NeighbourRule& rule, const ExactDistance& distance,
                                              const Options& options = {});

    /// The same of `points` that the model takes over, with `rule` and `distance` as above. They are gone
    /// even if this fails.
    static Result<ExactNearestNeighbours> fit(const Device& device, OwnedItemsOfDoubles points,
                                              const NeighbourRule& rule, const ExactDistance& distance = {},
                                              const Options& options = {});

    /// As `ExactKnnClassifier::load`, of a file of nearest neighbours at `path`.
    static Result<ExactNearestNeighbours> load(const Device& device, const std::string& path,
                                               const Options& options = {});

private:
    using ExactKnnBase::ExactKnnBase;
};

}  // namespace espalier::inline v1
