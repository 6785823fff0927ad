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
#include "espalier/options.hpp"

namespace espalier::inline v0 {

/// What the k nearest neighbours of a query say together. A neighbour at distance NaN says nothing.
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
    host,    ///< pageable memory of the host, so that their way there and back is part of the work
};

/// The class of a query that has no neighbour with a say (its target of a regression is NaN then).
inline constexpr std::int32_t kNoClass = -1;

/// Which neighbours are asked, and how they vote. Of equally distant points the one with the lower index is
/// nearer. With fewer points than k all of them are neighbours.
struct NeighbourRule {
    std::int64_t k = 5;  ///< 1..kMaxSmallestK
    DistanceRule distance;
    Vote vote = Vote::majority;
};

struct KnnModel;

/// k-nearest-neighbour classification. Holds a copy of the training set in its device's memory; copies of a
/// classifier share it, and any number of threads may use it.
class ESPALIER_API KnnClassifier {
public:
    /// `points` and `classes` (0 or more, one per point) are in host memory and may go after the call.
    /// Errors: invalid_argument, out_of_memory, device_failure.
    static Result<KnnClassifier> fit(const Device& device, const Items& points, std::span<const std::int32_t> classes,
                                     const NeighbourRule& rule);

    /// The class of each query, kNoClass for one without a neighbour that has a say. `queries` are in host
    /// memory and have the points' attributes. Options: `variant` and `deterministic`.
    /// Errors: invalid_argument, unsupported, unknown_variant, out_of_memory, device_failure.
    [[nodiscard]] Result<std::vector<std::int32_t>> predict(const Items& queries, std::string_view variant = {}) const;

    /// What `predict` would run for so many queries, and why. The variant then chooses those of its stages by
    /// their own trees.
    [[nodiscard]] Result<Explanation> explain_predict(std::int64_t queries, const Options& options = {}) const;

private:
    explicit KnnClassifier(std::shared_ptr<const KnnModel> model) : model_(std::move(model)) {}
    std::shared_ptr<const KnnModel> model_;
};

/// k-nearest-neighbour regression; everything as for `KnnClassifier`.
class ESPALIER_API KnnRegressor {
public:
    /// `targets`: one per point.
    static Result<KnnRegressor> fit(const Device& device, const Items& points, std::span<const float> targets,
                                    const NeighbourRule& rule);

    /// The mean target of each query's neighbours, NaN for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<float>> predict(const Items& queries, std::string_view variant = {}) const;

    [[nodiscard]] Result<Explanation> explain_predict(std::int64_t queries, const Options& options = {}) const;

private:
    explicit KnnRegressor(std::shared_ptr<const KnnModel> model) : model_(std::move(model)) {}
    std::shared_ptr<const KnnModel> model_;
};

}  // namespace espalier::inline v0
