#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/knn.hpp"

namespace espalier::reference {

struct NearPoint {
    double distance;
    std::int32_t index;
};

/// The k nearest of all points by distance, then by index, NaN after everything; all of them if there are
/// fewer than k.
std::vector<NearPoint> nearest(const std::vector<double>& distances, std::int64_t k);

/// The weight of each neighbour's vote: see `Vote`. 0 for one at distance NaN.
std::vector<double> vote_weights(const std::vector<NearPoint>& neighbours, Vote vote);

/// The prediction of the neighbours: see `Task`. kNoClass or NaN if none has a say.
std::int32_t knn_class(const std::vector<NearPoint>& neighbours, std::span<const std::int32_t> point_classes,
                       Vote vote);
double knn_target(const std::vector<NearPoint>& neighbours, std::span<const float> point_targets, Vote vote);

}  // namespace espalier::reference
