#include "reference_cpu/knn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace espalier::reference {

std::vector<NearPoint> nearest(const std::vector<double>& distances, std::int64_t k) {
    std::vector<NearPoint> all;
    all.reserve(distances.size());
    for (const double distance : distances) all.push_back({distance, static_cast<std::int32_t>(all.size())});
    const auto before = [](const NearPoint& a, const NearPoint& b) {
        if (std::isnan(a.distance) != std::isnan(b.distance)) return std::isnan(b.distance);
        if (a.distance < b.distance || b.distance < a.distance) return a.distance < b.distance;
        return a.index < b.index;
    };
    const auto wanted = std::min(static_cast<std::size_t>(k), all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted), all.end(), before);
    all.resize(wanted);
    return all;
}

std::vector<double> vote_weights(const std::vector<NearPoint>& neighbours, Vote vote) {
    const bool coincides =
        std::any_of(neighbours.begin(), neighbours.end(), [](const NearPoint& n) { return n.distance == 0; });
    std::vector<double> weights;
    for (const NearPoint& neighbour : neighbours) {
        if (std::isnan(neighbour.distance))
            weights.push_back(0);
        else if (vote == Vote::majority)
            weights.push_back(1);
        else if (coincides)
            weights.push_back(neighbour.distance == 0 ? 1 : 0);
        else
            weights.push_back(1 / neighbour.distance);
    }
    return weights;
}

std::int32_t knn_class(const std::vector<NearPoint>& neighbours, std::span<const std::int32_t> point_classes,
                       Vote vote) {
    const auto weights = vote_weights(neighbours, vote);
    std::map<std::int32_t, double> votes;
    for (std::size_t i = 0; i < neighbours.size(); ++i)
        if (!std::isnan(neighbours[i].distance))
            votes[point_classes[static_cast<std::size_t>(neighbours[i].index)]] += weights[i];
    // The first of the largest, and a map is in ascending order.
    const auto most =
        std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == votes.end() ? kNoClass : most->first;
}

double knn_target(const std::vector<NearPoint>& neighbours, std::span<const float> point_targets, Vote vote) {
    auto weights = vote_weights(neighbours, vote);
    if (std::none_of(weights.begin(), weights.end(), [](double w) { return w > 0; }))
        weights = vote_weights(neighbours, Vote::majority);
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        if (weights[i] == 0) continue;
        sum += weights[i] * static_cast<double>(point_targets[static_cast<std::size_t>(neighbours[i].index)]);
        total += weights[i];
    }
    return total > 0 ? sum / total : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace espalier::reference
