#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference_cpu/knn.hpp"

namespace espalier::bench::knn {

/// How far off distances may be, and with them the choice of neighbours and their weights. Zero where the
/// arithmetic is exact.
struct DistanceError {
    double absolute = 0;
    double relative = 0;

    [[nodiscard]] double at(double distance) const { return absolute + relative * distance; }
    friend bool operator==(const DistanceError&, const DistanceError&) = default;
};

/// Checks predictions for one query whose true distances to all points are known.
///
/// A prediction is a step function of the distances: where the k-th neighbour is as near as the next one,
/// within the error of single precision, either choice is right. So a prediction that differs from the
/// oracle's passes if some choice among such neighbours, with weights as far off as their distances, leads
/// to it. Without such neighbours, and always where the error is zero, only the oracle's own passes.
class PredictionCheck {
public:
    PredictionCheck(const std::vector<double>& distances, std::int64_t k, Vote vote, DistanceError error);

    [[nodiscard]] std::int32_t expected_class(std::span<const std::int32_t> point_classes) const;
    [[nodiscard]] double expected_target(std::span<const float> point_targets) const;
    [[nodiscard]] bool accepts_class(std::int32_t actual, std::span<const std::int32_t> point_classes) const;
    [[nodiscard]] bool accepts_target(float actual, std::span<const float> point_targets) const;

private:
    struct Voter {
        std::int32_t index;
        double weight;
    };

    Vote vote_;
    std::vector<reference::NearPoint> neighbours_;
    std::vector<Voter> certain_;  ///< neighbours whatever the error
    std::vector<Voter> perhaps_;  ///< `places_` of these are neighbours too; their weights are equal
    std::size_t places_ = 0;
    double weight_error_ = 0;  ///< the largest relative one
    bool coincident_ = false;  ///< a neighbour is at distance 0 give or take the error, and weighs all or nothing
};

}  // namespace espalier::bench::knn
